//! The events of a PC's guest: a file that is mapped as memory and as long as the table says.

use fslab_sys::os::FileExt;
use std::fs::File;
use std::io::{self, Read};

use super::table::{Table, TableFile};

/// Reads what the guest has appended so far; then end-of-file, until there is more.
pub(in crate::guest) struct TableEvents {
    exchange: File,
    events: File,
    position: usize,
    file: TableFile,
    read: u64,
}

impl TableEvents {
    /// The events `name` of `table`, whose exchange and file are open.
    pub(in crate::guest) fn new(
        table: &Table,
        name: &str,
        exchange: File,
        events: File,
    ) -> io::Result<Self> {
        let position = table.position(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self {
            exchange,
            events,
            position,
            file: table.files()[position].clone(),
            read: 0,
        })
    }
}

impl Read for TableEvents {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = Table::length(&self.exchange, self.position, &self.file)?;
        let left = usize::try_from(length.saturating_sub(self.read)).unwrap_or(usize::MAX);
        let share = left.min(buffer.len());
        let got = self.events.read_at(&mut buffer[..share], self.read)?;
        self.read += got as u64;
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_as_far_as_the_guest_has_counted_them() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = |name: &str| folder.path().join(name);
        let mut table = Table::default();
        table.add_device(TableFile {
            name: "share/events".into(),
            slot: 6,
            is_writable: true,
            offset: 0,
            capacity: 64,
            bytes: 0,
        });
        table.write(&path("exchange")).expect("written");
        std::fs::write(path("events"), "one\ntwo\nthree\n").expect("written");
        let count = |bytes: u64| {
            let exchange = File::options()
                .write(true)
                .open(path("exchange"))
                .expect("open");
            exchange
                .write_all_at(&bytes.to_le_bytes(), 16 + 64)
                .expect("written");
        };
        let open = |name: &str| File::open(path(name)).expect("open");
        let mut events = TableEvents::new(&table, "share/events", open("exchange"), open("events"))
            .expect("it is in the table");
        let mut text = String::new();
        events.read_to_string(&mut text).expect("read");
        assert_eq!(text, "");
        count(4);
        events.read_to_string(&mut text).expect("read");
        assert_eq!(text, "one\n");
        count(1 << 40);
        events.read_to_string(&mut text).expect("read");
        assert_eq!(text, "one\ntwo\nthree\n");
    }
}
