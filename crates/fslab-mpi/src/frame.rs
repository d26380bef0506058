//! What ranks send to each other: a byte for the kind, and at most [`PAYLOAD_MAX`] bytes.

/// Small enough that every MPI library sends a frame without waiting for its receiver, which may be
/// dead.
pub(crate) const PAYLOAD_MAX: usize = 2000;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Versions and host of a rank, as text: see `hello`.
    Hello,
    /// Bytes of a connection.
    Data,
    /// The end of a connection.
    Close,
    /// The rank is alive.
    Alive,
    /// The job ends; from rank 0.
    End,
    /// The rank has undone everything; the answer to [`Kind::End`].
    Bye,
    /// A question for the time of a rank, and its answer: see `clocks`.
    Time,
    /// The difference of a rank's clock.
    Clock,
    /// Bytes of a trial of a load, or for it: see `exchange`.
    Trial,
    /// The trial of a rank has ended.
    TrialEnd,
    /// The worker of a rank has ended, with its reason as text.
    WorkerEnd,
}

const KINDS: [Kind; 11] = [
    Kind::Hello,
    Kind::Data,
    Kind::Close,
    Kind::Alive,
    Kind::End,
    Kind::Bye,
    Kind::Time,
    Kind::Clock,
    Kind::Trial,
    Kind::TrialEnd,
    Kind::WorkerEnd,
];

/// The frame as bytes.
pub(crate) fn encode(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1 + payload.len());
    bytes.push(kind as u8);
    bytes.extend_from_slice(payload);
    bytes
}

/// Kind and payload of a frame; `None` for bytes that are none.
pub(crate) fn decode(bytes: &[u8]) -> Option<(Kind, &[u8])> {
    let (first, payload) = bytes.split_first()?;
    Some((*KINDS.get(usize::from(*first))?, payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        for kind in KINDS {
            let bytes = encode(kind, b"abc");
            assert_eq!(decode(&bytes), Some((kind, &b"abc"[..])));
        }
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&[KINDS.len() as u8]), None);
    }
}
