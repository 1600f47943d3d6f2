//! A batch of the log: one value, which is appended as a whole.
//!
//! ```text
//!   "FGB1"  version u16  flags u16  position u64  epoch u64  node u64  batch id 16
//!   first CSN 18  count u32  digest of the batch before 32  body length u32  CRC32C u32
//!   body:   number of strings, strings      (names of attributes and entries, in order of use)
//!           number of requests, requests    (from version 2 on: node, number, code of the result)
//!           records
//!   record: kind  flags  CSN  [previous CSN]  UUID  [parent's UUID]  begun  took  session
//!           author  DN  [new RDN  [superior]]  operations
//!   operation: operator  attribute  number of values, values
//! ```
//! Numbers of fixed size are little-endian, all others LEB128. The checksum covers everything but
//! itself. Each content has one form only: the decoder refuses any other.
//!
//! Version 1 has no requests. Its values above 256 KiB are parts outside, which nothing writes.

mod bounds;
mod bytes;
mod header;
mod malformed;
mod record;
mod request;
mod strings;

use sha2::{Digest as _, Sha256};

pub use bounds::{
    BATCH_BYTES_MAX, INLINE_VALUE_BYTES_MAX, LONG_BATCH_BYTES_MAX, VERSION_NEWEST, VERSION_OLDEST,
};
pub(crate) use bounds::{batch_bytes_max, has_requests};
pub use header::seal;
pub use malformed::{Malformed, TooLong};
pub use record::{Operation, Operator, Record, RecordKind, Renaming, Value};
pub use request::RequestMark;

use crate::values::{BatchId, Csn, Digest, Epoch, Head, NodeId, Position};
use bytes::Reader;
use header::{HEADER_BYTES, Header};
use strings::{StringReader, StringWriter};

/// The effects of some updates, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The version of the format.
    pub version: u16,
    /// The position in the log.
    pub position: Position,
    /// The leadership under which it was written.
    pub epoch: Epoch,
    /// The node that wrote it.
    pub node: NodeId,
    /// Its random name.
    pub id: BatchId,
    /// The digest of the batch before.
    pub previous: Digest,
    /// The requests of other nodes that it settles. None in version 1.
    pub requests: Vec<RequestMark>,
    /// The changes; at least one.
    pub records: Vec<Record>,
}

/// Returns the digest of an encoded batch, which the next one names.
#[must_use]
pub fn digest(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

impl Batch {
    /// Returns the bytes for the log.
    ///
    /// # Errors
    /// [`TooLong`] beyond the bounds of its version.
    ///
    /// # Panics
    /// If the batch breaks a rule that the decoder checks: that is a mistake of this program.
    pub fn encode(&self) -> Result<Vec<u8>, TooLong> {
        record::assert_order(&self.records);
        let mut strings = StringWriter::default();
        let mut records = Vec::new();
        for record in &self.records {
            record.encode(self.version, &mut strings, &mut records)?;
        }
        let mut requests = Vec::new();
        if has_requests(self.version) {
            RequestMark::encode_all(&self.requests, &mut requests);
        } else {
            assert!(self.requests.is_empty(), "this version has no requests");
        }
        let body = [strings.finish(), requests, records].concat();
        let bytes = HEADER_BYTES + body.len();
        if bytes > batch_bytes_max(self.version) {
            return Err(TooLong::Batch { bytes });
        }
        let header = Header {
            version: self.version,
            position: self.position,
            epoch: self.epoch,
            node: self.node,
            id: self.id,
            previous: self.previous,
            first_csn: self
                .records
                .first()
                .map_or_else(Csn::default, |first| first.csn),
            count: self.records.len() as u32,
        };
        Ok(header.encode(&body))
    }

    /// Reads the bytes of a batch.
    ///
    /// # Errors
    /// [`Malformed`], for every byte sequence that [`Batch::encode`] does not write.
    pub fn decode(bytes: &[u8]) -> Result<Batch, Malformed> {
        let (header, body) = Header::decode(bytes)?;
        let mut reader = Reader(body);
        let mut strings = StringReader::read(&mut reader)?;
        let requests = match has_requests(header.version) {
            true => RequestMark::decode_all(&mut reader)?,
            false => Vec::new(),
        };
        let mut records = Vec::new();
        for _ in 0..header.count {
            records.push(Record::decode(header.version, &mut strings, &mut reader)?);
        }
        strings.finish()?;
        if !reader.0.is_empty() {
            return Err(Malformed::Trailing(reader.0.len()));
        }
        record::check_order(&records, header.first_csn)?;
        Ok(Batch {
            version: header.version,
            position: header.position,
            epoch: header.epoch,
            node: header.node,
            id: header.id,
            previous: header.previous,
            requests,
            records,
        })
    }

    /// Returns the end of the log behind this batch, whose encoded form has `digest`.
    #[must_use]
    pub fn head(&self, before: &Head, digest: Digest) -> Head {
        let ordered = self.records.iter().filter(|record| !record.is_unordered);
        let csn = ordered.map(|record| record.csn).max();
        Head {
            position: self.position,
            csn: csn.map_or(before.csn, |csn| csn.max(before.csn)),
            digest,
        }
    }
}

#[cfg(test)]
mod tests;
