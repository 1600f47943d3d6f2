//! The copy of a store, from one node to another.
//!
//! ```text
//!   asks: Hello, Fetch(copy, offset) --TLS--> answers: Copy(copy, length, digest), Part, Part, ...
//! ```
//! A copy has a name. A node whose connection ends asks for the rest of the same copy.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::time::Duration;

use fulgurite_cluster::NodeId;
use rustls::{ServerConnection, StreamOwned};

use crate::deadline::Deadline;
use crate::frame::{FRAME_BYTES_MAX, Frame};
use crate::links::connect;
use crate::reading::read_frame;
use crate::settings::LinkSettings;
use crate::trust::PeerTrust;

/// Bytes of a part.
const PART_BYTES: usize = 1 << 20;

/// A copy of the store that a node keeps for others.
#[derive(Debug)]
pub struct ServedCopy {
    /// Its name.
    pub name: [u8; 16],
    /// Its file.
    pub file: File,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256.
    pub digest: [u8; 32],
}

/// The copies that a node gives to others.
pub trait CopyServer: Send + Sync {
    /// Returns a copy for a node: the one of this name if it still exists, or a new one. A new one
    /// takes its time.
    ///
    /// # Errors
    /// Those of the store and the disk.
    fn copy(&self, to: NodeId, name: [u8; 16]) -> io::Result<ServedCopy>;
}

/// A copy as it comes from another node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyHeader {
    /// Its name.
    pub name: [u8; 16],
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256.
    pub digest: [u8; 32],
}

/// The receiver of a copy.
pub trait CopyReceiver {
    /// Returns the copy of which a part is here, and the length of that part.
    fn present(&self) -> (CopyHeader, u64);

    /// Begins with a copy. Its parts follow from here on.
    ///
    /// # Errors
    /// Those of the disk.
    fn begin(&mut self, header: CopyHeader, from: u64) -> io::Result<()>;

    /// Takes the next part.
    ///
    /// # Errors
    /// Those of the disk.
    fn part(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// Fetches a copy, or the rest of one, from a node at `host:port`.
///
/// # Errors
/// Those of the connection. The parts that have come stay with the receiver.
pub fn fetch(
    trust: &PeerTrust,
    settings: LinkSettings,
    (node, address): (NodeId, &str),
    receiver: &mut dyn CopyReceiver,
) -> io::Result<()> {
    let mut stream = connect(trust, settings, node, address)?;
    let (header, from) = receiver.present();
    let question = Frame::Fetch {
        copy: header.name,
        offset: from,
    };
    stream.sock.extend(settings.write);
    stream.write_all(&question.packed().map_err(io::Error::other)?)?;
    stream.flush()?;
    // The other node makes the copy now.
    stream.sock.extend(settings.copy);
    let wrong = || io::Error::from(io::ErrorKind::InvalidData);
    let Frame::Copy {
        copy,
        bytes,
        digest,
    } = read_frame(&mut stream, FRAME_BYTES_MAX)?
    else {
        return Err(wrong());
    };
    let given = CopyHeader {
        name: copy,
        bytes,
        digest,
    };
    let mut at = if given == header { from.min(bytes) } else { 0 };
    receiver.begin(given, at)?;
    while at < bytes {
        stream.sock.extend(settings.read);
        let Frame::Part(part) = read_frame(&mut stream, FRAME_BYTES_MAX)? else {
            return Err(wrong());
        };
        at += part.len() as u64;
        if part.is_empty() || at > bytes {
            return Err(wrong());
        }
        receiver.part(&part)?;
    }
    Ok(())
}

/// The connection of another node.
pub(crate) type ServedStream = StreamOwned<ServerConnection, Deadline>;

/// Sends a copy from an offset on, if it is the one that the other node has a part of.
pub(crate) fn serve(
    mut copy: ServedCopy,
    (wanted, offset): ([u8; 16], u64),
    out: &mut ServedStream,
    wait: Duration,
) -> io::Result<()> {
    out.sock.extend(wait);
    let frame = Frame::Copy {
        copy: copy.name,
        bytes: copy.bytes,
        digest: copy.digest,
    };
    out.write_all(&frame.packed().map_err(io::Error::other)?)?;
    out.flush()?;
    let mut at = match wanted == copy.name {
        true => offset.min(copy.bytes),
        false => 0,
    };
    copy.file.seek(SeekFrom::Start(at))?;
    while at < copy.bytes {
        let left = usize::try_from(copy.bytes - at).unwrap_or(PART_BYTES);
        let mut part = vec![0; left.min(PART_BYTES)];
        copy.file.read_exact(&mut part)?;
        at += part.len() as u64;
        out.sock.extend(wait);
        out.write_all(&Frame::Part(part).packed().map_err(io::Error::other)?)?;
        out.flush()?;
    }
    Ok(())
}
