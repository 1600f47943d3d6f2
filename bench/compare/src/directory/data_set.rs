//! The data sets: who is in the directory.

use std::io::{self, Write};

use super::{people, staff};
use crate::results::Half;

/// A data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DataSet {
    /// People of one shape, each with a different word in its cn, and one large group.
    People,
    /// The same with twenty attributes more.
    Wide,
    /// Staff in departments: long names, several values, other distributions, many groups.
    Staff,
}

impl DataSet {
    /// Entries of a directory of this many people.
    pub(crate) fn entries(self, people: u64) -> u64 {
        match self {
            DataSet::People | DataSet::Wide => people::entries(people),
            DataSet::Staff => staff::entries(people),
        }
    }

    /// Writes it as LDIF.
    pub(crate) fn write(self, people: u64, out: &mut impl Write) -> io::Result<()> {
        match self {
            DataSet::People => people::write(people, false, out),
            DataSet::Wide => people::write(people, true, out),
            DataSet::Staff => staff::write(people, out),
        }
    }

    /// The beginning of files' names.
    pub(crate) fn stem(self) -> &'static str {
        match self {
            DataSet::People => "directory",
            DataSet::Wide => "wide",
            DataSet::Staff => "staff",
        }
    }

    /// The end of a report's title.
    pub(crate) fn title(self) -> &'static str {
        match self {
            DataSet::People => "",
            DataSet::Wide => ", wide ones",
            DataSet::Staff => ", the second data set",
        }
    }

    pub(crate) fn half(self) -> Half {
        match self {
            DataSet::People => Half::Directory,
            DataSet::Wide => Half::Wide,
            DataSet::Staff => Half::Staff,
        }
    }
}
