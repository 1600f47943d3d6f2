//! The data sets: who is in the directory.

use std::io::{self, Write};

use super::{accounts, databases, people, staff};
use crate::results::Half;

const INDEXES: &str = "index objectClass,entryUUID,entryCSN eq\nindex uid,mail eq,pres,sub\n\
    index cn,sn,givenName eq,sub\nindex l,st eq\nindex member eq\n";
const UNSTAMPED: &str = "index objectClass eq\nindex uid,mail eq,pres,sub\n\
    index cn,sn,givenName eq,sub\nindex l,st eq\nindex member eq\n";

/// A data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DataSet {
    /// People of one shape, each with a different word in its cn, and one large group.
    People,
    /// The same with twenty attributes more.
    Wide,
    /// The first one without indexes of entryCSN and entryUUID.
    Unstamped,
    /// The first one with a log of changes.
    Logged,
    /// Accounts of a mail server, with 29 indexes.
    Accounts,
    /// Entries of 21 attributes in several databases.
    #[value(skip)]
    Databases,
    /// Staff in departments: long names, several values, other distributions, many groups.
    Staff,
}

impl DataSet {
    /// Entries of a directory of this many people.
    pub(crate) fn entries(self, people: u64) -> u64 {
        match self {
            DataSet::People | DataSet::Wide | DataSet::Unstamped | DataSet::Logged => {
                people::entries(people)
            }
            DataSet::Accounts => accounts::entries(people),
            DataSet::Databases => people + 1,
            DataSet::Staff => staff::entries(people),
        }
    }

    /// Writes it as LDIF.
    pub(crate) fn write(self, people: u64, out: &mut impl Write) -> io::Result<()> {
        match self {
            DataSet::People | DataSet::Unstamped | DataSet::Logged => {
                people::write(people, false, out)
            }
            DataSet::Accounts => accounts::write(people, out),
            DataSet::Databases => {
                databases::write_top(0, out)?;
                databases::write_people(0, people, out)
            }
            DataSet::Wide => people::write(people, true, out),
            DataSet::Staff => staff::write(people, out),
        }
    }

    /// The name of the database, and where searches begin.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            DataSet::Accounts => accounts::SUFFIX,
            _ => people::SUFFIX,
        }
    }

    /// The indexes of every server.
    pub(crate) fn indexes(self) -> &'static str {
        match self {
            DataSet::Accounts => accounts::INDEXES,
            DataSet::Databases => databases::INDEXES,
            DataSet::Unstamped => UNSTAMPED,
            _ => INDEXES,
        }
    }

    /// Its own schema, if it needs one.
    pub(crate) fn schema(self) -> Option<String> {
        (self == DataSet::Accounts).then(accounts::schema)
    }

    /// The beginning of files' names.
    pub(crate) fn stem(self) -> &'static str {
        match self {
            DataSet::People => "directory",
            DataSet::Wide => "wide",
            DataSet::Unstamped => "unstamped",
            DataSet::Logged => "logged",
            DataSet::Accounts => "accounts",
            DataSet::Databases => "databases",
            DataSet::Staff => "staff",
        }
    }

    /// The end of a report's title.
    pub(crate) fn title(self) -> &'static str {
        match self {
            DataSet::People => "",
            DataSet::Wide => ", wide ones",
            DataSet::Logged => ", a log of changes",
            DataSet::Unstamped => ", no index of entryCSN and entryUUID",
            DataSet::Accounts => ", accounts of a mail server",
            DataSet::Databases => ", several databases",
            DataSet::Staff => ", the second data set",
        }
    }

    pub(crate) fn half(self) -> Half {
        match self {
            DataSet::People => Half::Directory,
            DataSet::Wide => Half::Wide,
            DataSet::Unstamped | DataSet::Logged | DataSet::Accounts | DataSet::Databases => {
                Half::Founding
            }
            DataSet::Staff => Half::Staff,
        }
    }
}
