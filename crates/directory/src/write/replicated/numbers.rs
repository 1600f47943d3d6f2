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
    /// True if another entry gets the name, so that the entry may be in the content still.
    pub(super) is_of_loser: bool,
}

impl Deletion {
    /// Returns a deletion that ends all states below its number.
    pub(super) fn numbered(csn: Option<PackedCsn>) -> Deletion {
        Deletion {
            csn,
            ends: csn,
            is_of_loser: false,
        }
    }

    /// Returns the deletion of an entry that loses its name, with the greatest number that loses.
    pub(super) fn of_loser(ends: Option<PackedCsn>) -> Deletion {
        Deletion {
            csn: None,
            ends,
            is_of_loser: true,
        }
    }

    /// Reads the numbers that a provider tells.
    pub(super) fn told(csn: Option<&str>, ends: Option<&str>) -> Deletion {
        let number = |csn: Option<&str>| PackedCsn::parse(csn?.as_bytes());
        Deletion {
            csn: number(csn),
            ends: number(ends.or(csn)),
            is_of_loser: false,
        }
    }
}
