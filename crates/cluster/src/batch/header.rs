//! The fixed part of a batch, with its checksum.

use crc::{CRC_32_ISCSI, Crc};

use super::bounds::{LONG_BATCH_BYTES_MAX, VERSION_NEWEST, VERSION_OLDEST, batch_bytes_max};
use super::bytes::Reader;
use super::malformed::Malformed;
use crate::values::{BatchId, Csn, Digest, Epoch, NodeId, Position};

const MAGIC: [u8; 4] = *b"FGB1";

/// Length of the header in bytes.
pub(super) const HEADER_BYTES: usize = 4 + 2 + 2 + 8 + 8 + 8 + 16 + Csn::LEN + 4 + 32 + 4 + 4;

/// Length of the header up to the checksum, in bytes.
const CHECKED_BYTES: usize = HEADER_BYTES - 4;

/// CRC32C, as iSCSI has it.
const CRC32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

/// The fields of the header.
pub(super) struct Header {
    pub(super) version: u16,
    pub(super) position: Position,
    pub(super) epoch: Epoch,
    pub(super) node: NodeId,
    pub(super) id: BatchId,
    pub(super) previous: Digest,
    pub(super) first_csn: Csn,
    pub(super) count: u32,
}

impl Header {
    /// Returns the header and the body.
    pub(super) fn encode(&self, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_BYTES + body.len());
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&self.version.to_le_bytes());
        out.extend_from_slice(&0_u16.to_le_bytes());
        out.extend_from_slice(&self.position.0.to_le_bytes());
        out.extend_from_slice(&self.epoch.0.to_le_bytes());
        out.extend_from_slice(&self.node.0.to_le_bytes());
        out.extend_from_slice(&self.id.0);
        out.extend_from_slice(self.first_csn.as_bytes());
        out.extend_from_slice(&self.count.to_le_bytes());
        out.extend_from_slice(&self.previous.0);
        out.extend_from_slice(&(body.len() as u32).to_le_bytes());
        let checksum = checksum(&out, body);
        out.extend_from_slice(&checksum.to_le_bytes());
        debug_assert_eq!(out.len(), HEADER_BYTES);
        out.extend_from_slice(body);
        out
    }

    /// Reads the header, and checks the body against it.
    pub(super) fn decode(bytes: &[u8]) -> Result<(Header, &[u8]), Malformed> {
        if bytes.len() > LONG_BATCH_BYTES_MAX {
            return Err(Malformed::TooLong(bytes.len()));
        }
        let mut reader = Reader(bytes);
        if reader.array()? != MAGIC {
            return Err(Malformed::Magic);
        }
        // Another version may have another header, so nothing else is read before it.
        let version = u16::from_le_bytes(reader.array()?);
        if !(VERSION_OLDEST..=VERSION_NEWEST).contains(&version) {
            return Err(Malformed::Version(version));
        }
        if bytes.len() > batch_bytes_max(version) {
            return Err(Malformed::TooLong(bytes.len()));
        }
        let flags = u16::from_le_bytes(reader.array()?);
        let position = Position(u64::from_le_bytes(reader.array()?));
        let epoch = Epoch(u64::from_le_bytes(reader.array()?));
        let node = NodeId(u64::from_le_bytes(reader.array()?));
        let id = BatchId(reader.array()?);
        let first_csn = Csn::from_bytes(reader.array()?);
        let count = u32::from_le_bytes(reader.array()?);
        let previous = Digest(reader.array()?);
        let said = u32::from_le_bytes(reader.array()?);
        let expected = u32::from_le_bytes(reader.array()?);
        let body = reader.0;
        if said as usize != body.len() {
            let found = body.len();
            return Err(Malformed::Length { found, said });
        }
        let checked = bytes.get(..CHECKED_BYTES).ok_or(Malformed::Truncated)?;
        if checksum(checked, body) != expected {
            return Err(Malformed::Checksum);
        }
        if flags != 0 {
            return Err(Malformed::Flags(flags));
        }
        if count == 0 || position == Position(0) {
            return Err(Malformed::Empty);
        }
        if count as usize > body.len() {
            return Err(Malformed::Count(u64::from(count)));
        }
        let header = Header {
            version,
            position,
            epoch,
            node,
            id,
            previous,
            first_csn: first_csn.ok_or(Malformed::Csn)?,
            count,
        };
        Ok((header, body))
    }
}

fn checksum(header: &[u8], body: &[u8]) -> u32 {
    let mut sum = CRC32C.digest();
    sum.update(header);
    sum.update(body);
    sum.finalize()
}

/// Returns the bytes with the checksum and the length that fit them; `None` below a header.
#[must_use]
pub fn seal(bytes: &[u8]) -> Option<Vec<u8>> {
    let (header, body) = bytes.split_at_checked(HEADER_BYTES)?;
    let mut out = header.get(..CHECKED_BYTES - 4)?.to_vec();
    out.extend_from_slice(&u32::try_from(body.len()).ok()?.to_le_bytes());
    let checksum = checksum(&out, body);
    out.extend_from_slice(&checksum.to_le_bytes());
    out.extend_from_slice(body);
    Some(out)
}
