//! Change sequence numbers by which changes of an entry are compared.

use fulgurite_store::PackedCsn;

/// The numbers of an entry: those of its values and of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryNumbers {
    pub(super) values: Option<PackedCsn>,
    pub(super) place: Option<PackedCsn>,
}

/// The numbers of a deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Deletion {
    /// The number of the change, if it is known.
    pub(super) csn: Option<PackedCsn>,
    /// The greatest number of the states that it ends, if it is known.
    pub(super) ends: Option<PackedCsn>,
}

impl Deletion {
    /// Returns a deletion that ends all states below its number.
    pub(super) fn numbered(csn: Option<PackedCsn>) -> Deletion {
        Deletion { csn, ends: csn }
    }

    /// Reads the numbers that a provider tells.
    pub(super) fn told(csn: Option<&str>, ends: Option<&str>) -> Deletion {
        let number = |csn: Option<&str>| PackedCsn::parse(csn?.as_bytes());
        Deletion {
            csn: number(csn),
            ends: number(ends.or(csn)),
        }
    }
}
