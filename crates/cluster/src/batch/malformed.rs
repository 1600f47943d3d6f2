//! The ways in which bytes are no batch.

use thiserror::Error;

/// The reason why bytes are no batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// The bytes end too early.
    #[error("the batch ends too early")]
    Truncated,
    /// The first bytes are others.
    #[error("this is no batch: it does not begin with FGB1")]
    Magic,
    /// A version that this program does not know.
    #[error(
        "the batch has format {0}, and this program reads formats 1 and 2: use a newer program"
    )]
    Version(u16),
    /// Unknown flags of the batch.
    #[error("the batch has unknown flags {0:#06x}")]
    Flags(u16),
    /// More than a batch may have.
    #[error("the batch has {0} bytes, more than the bound")]
    TooLong(usize),
    /// The body is longer or shorter than the header says.
    #[error("the batch has a body of {found} bytes, and its header says {said}")]
    Length {
        /// The bytes behind the header.
        found: usize,
        /// The length that the header gives.
        said: u32,
    },
    /// The checksum does not fit.
    #[error("the checksum of the batch does not fit its bytes")]
    Checksum,
    /// A position of 0, or no record.
    #[error("the batch is empty, or has position 0")]
    Empty,
    /// More records, strings, operations or values than bytes.
    #[error("a count of {0} exceeds the bytes of the batch")]
    Count(u64),
    /// A number in a longer form than needed, or above 64 bits.
    #[error("a number of the batch is not in its only form")]
    Number,
    /// A string that is not UTF-8.
    #[error("a string of the batch is not UTF-8")]
    Text,
    /// A string twice in the table, unused, or not in the order of use.
    #[error("the strings of the batch are not in the order of their use")]
    Strings,
    /// A number of a string that there is none for.
    #[error("the batch has no string {0}")]
    StringNumber(u64),
    /// Digits of a CSN that are none.
    #[error("a change number of the batch is none")]
    Csn,
    /// An ordered change with a number that is not greater than the one before.
    #[error("the change numbers of the batch do not ascend")]
    CsnOrder,
    /// The header names another first change.
    #[error("the header of the batch names another first change")]
    FirstCsn,
    /// An unknown kind of record.
    #[error("a record has the unknown kind {0}")]
    Kind(u8),
    /// Flags of a record that are unknown, or do not fit its kind.
    #[error("a record of kind {kind} has the flags {flags:#04x}")]
    RecordFlags {
        /// The code of the kind.
        kind: u8,
        /// The flags.
        flags: u8,
    },
    /// An unknown operator.
    #[error("an operation has the unknown operator {0:#04x}")]
    Operator(u8),
    /// A value inside that must be a part, or a part that must be inside.
    #[error("a value of {0} bytes is on the wrong side of the bound for parts")]
    ValueLength(u64),
    /// Bytes behind the last record.
    #[error("{0} bytes follow the last record")]
    Trailing(usize),
}

/// The reason why changes fit into no batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TooLong {
    /// The batch as a whole.
    #[error("the changes need {bytes} bytes of a batch: send fewer at a time")]
    Batch {
        /// The bytes that it needs.
        bytes: usize,
    },
    /// An inline value, which must be a part.
    #[error("a value of {bytes} bytes must be stored as a part")]
    Value {
        /// Its length.
        bytes: usize,
    },
}
