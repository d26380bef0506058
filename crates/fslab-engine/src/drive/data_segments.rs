//! A file divided into segments: each operation goes to the segment with its offset.
//!
//! A segment is a multiple of the record, so that no record crosses a boundary. A sync goes to the
//! segments written since the last one.

use std::io;
use std::path::Path;

use fslab_model::Bytes;

use super::data_loop::run_data_loop;
use super::data_worker::{DataThread, DataWorker};
use super::target::DataTarget;
use super::worker_group::WorkerGroup;
use crate::EngineError;
use crate::access::Extent;
use crate::jobs::SyncCall;
use crate::recording::{MonotonicClock, ThreadOutcome};

/// A prepared worker, waiting for the others.
pub(crate) type ReadyWorker<'a> =
    Box<dyn FnOnce(&WorkerGroup<'_>) -> Result<ThreadOutcome, EngineError> + 'a>;

/// A worker on the files of a thread, opened by `open` with the path and the required length.
pub(crate) fn ready_worker<'a, T: DataTarget + 'a>(
    of: DataThread<'a>,
    open: impl Fn(&Path, u64) -> Result<T, EngineError>,
) -> Result<ReadyWorker<'a>, EngineError> {
    let worker = DataWorker::new(of, true);
    let DataThread { job, thread, .. } = of;
    let open = |(index, file)| open(&of.context.root.join::<&Path>(file), job.length_of(index));
    match job.segment {
        None => Ok(run_on(worker, open((0, &job.file_of(thread)))?)),
        Some(Bytes(segment_bytes)) => {
            let files = job.files_of(thread);
            let opened = files.iter().map(|file| &**file).enumerate().map(open);
            let segments = opened.collect::<Result<Vec<T>, _>>()?;
            Ok(run_on(worker, Segmented::new(segments, segment_bytes)))
        }
    }
}

fn run_on<'a, T: DataTarget + 'a>(worker: DataWorker<'a>, target: T) -> ReadyWorker<'a> {
    Box::new(move |group| run_data_loop(worker, target, &MonotonicClock, group))
}

/// The open segments of a file.
struct Segmented<T> {
    segments: Vec<Segment<T>>,
    segment_bytes: u64,
}

struct Segment<T> {
    target: T,
    /// True if it was written since the last sync.
    written: bool,
}

impl<T> Segmented<T> {
    fn new(targets: Vec<T>, segment_bytes: u64) -> Self {
        let segment = |target| Segment {
            target,
            written: false,
        };
        Self {
            segments: targets.into_iter().map(segment).collect(),
            segment_bytes,
        }
    }

    /// The segment of `extent`, and the offset in it.
    #[inline]
    fn locate(&mut self, extent: Extent) -> (&mut Segment<T>, Extent) {
        let index = extent.offset / self.segment_bytes;
        let within = Extent {
            offset: extent.offset % self.segment_bytes,
            ..extent
        };
        (&mut self.segments[index as usize], within)
    }
}

impl<T: DataTarget> DataTarget for Segmented<T> {
    const HOLDS_DATA: bool = T::HOLDS_DATA;
    const BUFFERS: bool = T::BUFFERS;

    #[inline]
    fn read(&mut self, extent: Extent, into: &mut [u8]) -> io::Result<()> {
        let (segment, extent) = self.locate(extent);
        segment.target.read(extent, into)
    }

    #[inline]
    fn write(&mut self, extent: Extent, data: &[u8]) -> io::Result<()> {
        let (segment, extent) = self.locate(extent);
        segment.written = true;
        segment.target.write(extent, data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.segments
            .iter_mut()
            .try_for_each(|segment| segment.target.flush())
    }

    fn sync(&mut self, call: SyncCall) -> io::Result<()> {
        for segment in &mut self.segments {
            if segment.written {
                segment.target.sync(call)?;
                segment.written = false;
            }
        }
        Ok(())
    }

    fn close(self) -> io::Result<()> {
        self.segments
            .into_iter()
            .try_for_each(|segment| segment.target.close())
    }
}
