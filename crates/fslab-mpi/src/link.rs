//! Frames between ranks over MPI. Polls: a waiting receive of MPI would keep a processor busy.

use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, MatchedReceiveVec, Source};

use crate::frame::{self, Kind, PAYLOAD_MAX};

/// A rank of the job.
pub(crate) type Rank = i32;

/// The connection of this rank with all others.
pub(crate) struct Link<'a> {
    world: &'a SimpleCommunicator,
}

impl<'a> Link<'a> {
    pub(crate) fn new(world: &'a SimpleCommunicator) -> Self {
        Self { world }
    }

    pub(crate) fn rank(&self) -> Rank {
        self.world.rank()
    }

    /// Number of ranks.
    pub(crate) fn size(&self) -> Rank {
        self.world.size()
    }

    /// Sends `payload`, in as many frames as it needs.
    pub(crate) fn send(&self, to: Rank, kind: Kind, payload: &[u8]) {
        let to = self.world.process_at_rank(to);
        if payload.is_empty() {
            to.send(&frame::encode(kind, payload)[..]);
        }
        for part in payload.chunks(PAYLOAD_MAX) {
            to.send(&frame::encode(kind, part)[..]);
        }
    }

    /// The next frame that has arrived, with its sender.
    pub(crate) fn receive(&self) -> Option<(Rank, Kind, Vec<u8>)> {
        let matched = self.world.any_process().immediate_matched_probe()?;
        let (bytes, status) = matched.matched_receive_vec::<u8>();
        let (kind, payload) = frame::decode(&bytes)?;
        Some((status.source_rank(), kind, payload.to_vec()))
    }
}
