//! `fslab mkfs`: formats a device or an image with fslab's own formatters.

use std::path::{Path, PathBuf};

use clap::Args;
use fslab_format::{FormatOptions, Formatter, Volume};
use fslab_fs::Signature;
use fslab_model::{Bytes, Failure, FailureKind};
use fslab_report::{Column, Table, TableCell};

use crate::defaults::absolute_path;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::{screen, table};

/// The time of reproducible builds, used instead of the clock's.
const EPOCH_VARIABLE: &str = "SOURCE_DATE_EPOCH";

/// Arguments of `fslab mkfs`.
#[derive(Debug, Args)]
#[command(
    after_help = "Images are reproducible: the same identity, time (SOURCE_DATE_EPOCH in the \
                  environment) and options yield the same bytes."
)]
pub(crate) struct MkfsArgs {
    /// File system to create; --list shows all
    #[arg(required_unless_present = "list")]
    name: Option<String>,
    /// Image file or block device
    #[arg(required_unless_present = "list")]
    image: Option<PathBuf>,
    /// Create a sparse image of this size, for example 1GiB
    #[arg(long, allow_hyphen_values = true)]
    size: Option<Bytes>,
    /// Volume label
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Block size in bytes [default: chosen for the size]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    block_size: Option<u32>,
    /// Identity from which the UUID or serial number is derived: 32 hexadecimal digits, with or
    /// without dashes [default: random]
    #[arg(long, value_name = "UUID", value_parser = fslab_format::parse_identity)]
    identity: Option<[u8; 16]>,
    /// Overwrite an existing file system
    #[arg(long)]
    force: bool,
    /// List the supported file systems
    #[arg(long)]
    list: bool,
}

impl MkfsArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let (Some(name), Some(image)) = (&self.name, &self.image) else {
            return list();
        };
        let formatter = fslab_format::find(name)?;
        let path = absolute_path(image)?;
        let volume = match self.size {
            Some(size) => Volume::create(&path, size)?,
            None => {
                self.ensure_free(&path)?;
                Volume::open(&path)?
            }
        };
        let made = fslab_format::format(formatter, &volume, &self.options()?);
        if made.is_err() && self.size.is_some() {
            // Removes the new image.
            let _ = std::fs::remove_file(&path);
        }
        made?;
        screen::print(&format!(
            "{} on {}, {}\n",
            formatter.title(),
            path.display(),
            volume.size()
        ))?;
        Ok(Exit::Done)
    }

    fn options(&self) -> Result<FormatOptions, CommandError> {
        let identity = match self.identity {
            Some(identity) => identity,
            None => fslab_sys::random_bytes()
                .map_err(|error| CommandError::io("cannot generate an identity", &error))?,
        };
        Ok(FormatOptions {
            label: self.label.clone(),
            block_bytes: self.block_size,
            identity,
            created_unix_s: creation_time()?,
        })
    }

    /// Refuses an image or a device in use, and without --force one with a file system.
    fn ensure_free(&self, path: &Path) -> Result<(), CommandError> {
        let refuse = |why: String| {
            let text = format!("cannot format {}: {why}", path.display());
            Failure::new(FailureKind::BadInput, text)
        };
        if let Some(user) = fslab_sys::file_in_use(path).map_err(|error| {
            CommandError::io(
                format!("cannot determine whether {} is in use", path.display()),
                &error,
            )
        })? {
            return Err(refuse(user.to_string()).into());
        }
        match fslab_fs::signature(path)? {
            Some(Signature { title, .. }) if !self.force => {
                Err(refuse(format!("it contains {title}"))
                    .hint("use --force to overwrite it; its data will be lost")
                    .into())
            }
            _ => Ok(()),
        }
    }
}

fn creation_time() -> Result<u64, CommandError> {
    let Some(text) = std::env::var_os(EPOCH_VARIABLE) else {
        return Ok(fslab_sys::unix_seconds());
    };
    let seconds = text.to_str().and_then(|text| text.trim().parse().ok());
    seconds.ok_or_else(|| {
        CommandError::bad_input(format!(
            "{EPOCH_VARIABLE} must be in seconds since 1970, not '{}'",
            text.display()
        ))
    })
}

fn list() -> CommandResult {
    let rows = fslab_format::all().iter().map(|formatter| row(*formatter));
    let table = Table {
        caption: "File systems that fslab formats itself".into(),
        columns: ["Name", "Title", "Block sizes", "From", "To", "Label"]
            .map(Column::left)
            .into(),
        rows: rows.collect(),
        notes: Vec::new(),
    };
    screen::print_styled(&table::render(&table))?;
    Ok(Exit::Done)
}

fn row(formatter: &dyn Formatter) -> Vec<TableCell> {
    let sizes: Vec<_> = formatter.block_sizes().iter().map(u32::to_string).collect();
    let limits = |block| formatter.limits(block);
    let smallest = limits(formatter.block_sizes().first().copied())
        .0
        .min(limits(None).0);
    let largest = limits(formatter.block_sizes().last().copied())
        .1
        .max(limits(None).1);
    vec![
        TableCell::new(formatter.name()),
        TableCell::new(formatter.title()),
        TableCell::new(sizes.join(" ")),
        TableCell::new(smallest.to_string()),
        TableCell::new(largest.to_string()),
        TableCell::new(formatter.label_rule()),
    ]
}
