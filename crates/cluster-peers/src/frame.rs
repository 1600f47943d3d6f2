//! The frames between nodes. Each content has one form.

use fulgurite_cluster::{Epoch, NodeId, Outcome, Position};

use crate::bytes::{Reader, put_bytes};
use crate::error::{FORMAT, FrameError};
use crate::trust::PeerTrust;

/// Bytes of a frame, at most: an LDAP message of 4 MiB, which is slapd's bound, and its facts.
pub const FRAME_BYTES_MAX: usize = (4 << 20) + (64 << 10);
/// Bytes of an update in a frame, at most.
pub(crate) const UPDATE_BYTES_MAX: usize = FRAME_BYTES_MAX - 21;
/// Bytes of the first frame, at most.
pub(crate) const HELLO_BYTES_MAX: usize = 1024;

/// The first bytes of the first frame.
const MAGIC: [u8; 4] = *b"FGP1";

/// The outcome of an update, with its answer in bytes.
pub type WireOutcome = Outcome<Vec<u8>>;

/// A message from one node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The first one.
    Hello {
        /// The name of the cluster, its UUID.
        cluster: String,
        /// The node that speaks.
        node: NodeId,
        /// The node that it wants to reach.
        to: NodeId,
    },
    /// An update of a client of the node that speaks.
    Forward {
        /// Its number.
        number: u64,
        /// The leadership under which it may be done. Older programs do not read one, and get none.
        epoch: Option<Epoch>,
        /// Its bytes.
        update: Vec<u8>,
    },
    /// The node has no outcome of an update that it has forwarded to a leadership.
    Inquire {
        /// The number of the update.
        number: u64,
        /// The leadership.
        epoch: Epoch,
    },
    /// An update is in the log up to a position, or will never be done.
    Absent {
        /// The number of the update.
        number: u64,
        /// The position.
        upto: Position,
    },
    /// The outcome of a forwarded update.
    Outcome {
        /// The number of the update.
        number: u64,
        /// Its outcome.
        outcome: Outcome<Vec<u8>>,
    },
    /// The node is alive, and has applied the log up to a position.
    Alive(Position),
    /// The node wants a copy of the store, or the rest of one. The answer comes by the same
    /// connection.
    Fetch {
        /// The name of the copy that it has a part of, or zeros.
        copy: [u8; 16],
        /// The length of that part.
        offset: u64,
    },
    /// A copy follows.
    Copy {
        /// Its name.
        copy: [u8; 16],
        /// Its length.
        bytes: u64,
        /// Its SHA-256.
        digest: [u8; 32],
    },
    /// The next bytes of a copy.
    Part(Vec<u8>),
}

impl Frame {
    /// Returns the first frame to a node. It is also the answer to that node's first frame.
    pub(crate) fn hello(trust: &PeerTrust, to: NodeId) -> Frame {
        Frame::Hello {
            cluster: trust.cluster().to_owned(),
            node: trust.node(),
            to,
        }
    }

    /// Returns the bytes, without their length.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Frame::Hello { cluster, node, to } => {
                out.push(0);
                out.extend(MAGIC);
                out.extend(FORMAT.to_be_bytes());
                put_bytes(&mut out, cluster.as_bytes());
                out.extend(node.0.to_be_bytes());
                out.extend(to.0.to_be_bytes());
            }
            Frame::Forward {
                number,
                epoch,
                update,
            } => {
                out.push(if epoch.is_some() { 7 } else { 1 });
                out.extend(number.to_be_bytes());
                out.extend(epoch.iter().flat_map(|epoch| epoch.0.to_be_bytes()));
                put_bytes(&mut out, update);
            }
            Frame::Inquire { number, epoch } => {
                out.push(8);
                out.extend(number.to_be_bytes());
                out.extend(epoch.0.to_be_bytes());
            }
            Frame::Absent { number, upto } => {
                out.push(9);
                out.extend(number.to_be_bytes());
                out.extend(upto.0.to_be_bytes());
            }
            Frame::Outcome { number, outcome } => {
                out.push(2);
                out.extend(number.to_be_bytes());
                put_outcome(&mut out, outcome);
            }
            Frame::Alive(position) => {
                out.push(3);
                out.extend(position.0.to_be_bytes());
            }
            Frame::Fetch { copy, offset } => {
                out.push(4);
                out.extend(copy);
                out.extend(offset.to_be_bytes());
            }
            Frame::Copy {
                copy,
                bytes,
                digest,
            } => {
                out.push(5);
                out.extend(copy);
                out.extend(bytes.to_be_bytes());
                out.extend(digest);
            }
            Frame::Part(bytes) => {
                out.push(6);
                put_bytes(&mut out, bytes);
            }
        }
        out
    }

    /// Reads the bytes of one frame.
    ///
    /// # Errors
    /// [`FrameError`].
    pub fn decode(bytes: &[u8]) -> Result<Frame, FrameError> {
        let mut reader = Reader(bytes);
        let frame = match reader.byte()? {
            0 => hello(&mut reader)?,
            kind @ (1 | 7) => Frame::Forward {
                number: reader.number()?,
                epoch: match kind {
                    1 => None,
                    _ => Some(Epoch(reader.number()?)),
                },
                update: reader.bytes()?.to_vec(),
            },
            2 => Frame::Outcome {
                number: reader.number()?,
                outcome: outcome(&mut reader)?,
            },
            3 => Frame::Alive(Position(reader.number()?)),
            4 => Frame::Fetch {
                copy: reader.array()?,
                offset: reader.number()?,
            },
            5 => Frame::Copy {
                copy: reader.array()?,
                bytes: reader.number()?,
                digest: reader.array()?,
            },
            6 => Frame::Part(reader.bytes()?.to_vec()),
            8 => Frame::Inquire {
                number: reader.number()?,
                epoch: Epoch(reader.number()?),
            },
            9 => Frame::Absent {
                number: reader.number()?,
                upto: Position(reader.number()?),
            },
            kind => return Err(FrameError::Kind(kind)),
        };
        reader.end()?;
        Ok(frame)
    }

    /// Returns the bytes of the frame behind their length.
    ///
    /// # Errors
    /// [`FrameError::TooLong`].
    pub(crate) fn packed(&self) -> Result<Vec<u8>, FrameError> {
        let bytes = self.encode();
        if bytes.len() > FRAME_BYTES_MAX {
            return Err(FrameError::TooLong(bytes.len()));
        }
        let mut out = Vec::with_capacity(bytes.len() + 4);
        put_bytes(&mut out, &bytes);
        Ok(out)
    }
}

fn hello(reader: &mut Reader<'_>) -> Result<Frame, FrameError> {
    for expected in MAGIC {
        if reader.byte()? != expected {
            return Err(FrameError::Magic);
        }
    }
    let format = reader.short()?;
    if format != FORMAT {
        return Err(FrameError::Format(format));
    }
    Ok(Frame::Hello {
        cluster: reader.text()?,
        node: NodeId(reader.number()?),
        to: NodeId(reader.number()?),
    })
}

fn outcome(reader: &mut Reader<'_>) -> Result<WireOutcome, FrameError> {
    Ok(match reader.byte()? {
        0 => {
            let position = Position(reader.number()?);
            Outcome::Settled(position, reader.bytes()?.to_vec())
        }
        1 => Outcome::Busy,
        2 => Outcome::TooLong,
        3 => Outcome::Unknown,
        kind => return Err(FrameError::Kind(kind)),
    })
}

fn put_outcome(out: &mut Vec<u8>, outcome: &WireOutcome) {
    match outcome {
        Outcome::Settled(position, answer) => {
            out.push(0);
            out.extend(position.0.to_be_bytes());
            put_bytes(out, answer);
        }
        Outcome::Busy => out.push(1),
        Outcome::TooLong => out.push(2),
        // Each node reads the log itself.
        Outcome::Recorded(..) | Outcome::Unknown => out.push(3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_back_and_no_others() {
        let outcome = |outcome| Frame::Outcome { number: 9, outcome };
        let frames = [
            Frame::Hello {
                cluster: "c".to_owned(),
                node: NodeId(1),
                to: NodeId(2),
            },
            Frame::Forward {
                number: u64::MAX,
                epoch: None,
                update: b"abc".to_vec(),
            },
            Frame::Forward {
                number: 3,
                epoch: Some(Epoch(8)),
                update: b"abc".to_vec(),
            },
            Frame::Inquire {
                number: 3,
                epoch: Epoch(8),
            },
            Frame::Absent {
                number: 3,
                upto: Position(7),
            },
            outcome(Outcome::Settled(Position(7), b"done".to_vec())),
            outcome(Outcome::Busy),
            outcome(Outcome::TooLong),
            outcome(Outcome::Unknown),
            Frame::Alive(Position(3)),
            Frame::Fetch {
                copy: [1; 16],
                offset: 5,
            },
            Frame::Copy {
                copy: [2; 16],
                bytes: 1 << 40,
                digest: [3; 32],
            },
            Frame::Part(b"page".to_vec()),
        ];
        for frame in frames {
            let bytes = frame.encode();
            assert_eq!(Frame::decode(&bytes), Ok(frame));
            for len in 0..bytes.len() {
                assert!(Frame::decode(&bytes[..len]).is_err());
            }
            let longer = [&bytes[..], b"0"].concat();
            assert_eq!(Frame::decode(&longer), Err(FrameError::Rest));
            // Each changed byte gives an error, or another frame in its one form.
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] ^= 0x81;
                if let Ok(frame) = Frame::decode(&other) {
                    assert_eq!(frame.encode(), other);
                }
            }
        }
    }

    #[test]
    fn other_formats_are_named() {
        let mut bytes = Frame::Hello {
            cluster: "c".to_owned(),
            node: NodeId(1),
            to: NodeId(2),
        }
        .encode();
        bytes[6] = 9;
        assert_eq!(Frame::decode(&bytes), Err(FrameError::Format(9)));
        bytes[1] = b'X';
        assert_eq!(Frame::decode(&bytes), Err(FrameError::Magic));
    }

    #[test]
    fn a_frame_has_a_bound() {
        let frame = Frame::Forward {
            number: 1,
            epoch: None,
            update: vec![0; FRAME_BYTES_MAX],
        };
        assert!(matches!(frame.packed(), Err(FrameError::TooLong(_))));
    }
}
