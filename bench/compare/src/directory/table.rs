//! The questions to servers, as rows.

use super::data_set::DataSet;
use super::duty::Duty;
use super::people::BOTH;
use crate::workload::{Figure, Tier};

/// A filter, and the number of entries that it finds.
type Sought = (&'static str, fn(DataSet, u64) -> u64);

/// The work of others during a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    Nothing,
    /// Two clients modify.
    Modifies,
    /// The largest file of the database is read and forgotten.
    FileReads,
}

/// One kind of question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// A section of the report.
    pub(crate) part: &'static str,
    /// The load generator's word for it.
    pub(crate) kind: &'static str,
    pub(crate) connections: u64,
    pub(crate) depth: u64,
    pub(crate) requests: u64,
    /// The filter of a scan, and the number of entries that it finds.
    pub(crate) filter: Option<Sought>,
    /// As whom: the root for changes, each user for binds, nobody otherwise.
    pub(crate) as_root: bool,
    pub(crate) figure: Figure,
    /// The server's work besides its answers.
    pub(crate) duty: Duty,
    /// The other work meanwhile.
    pub(crate) beside: Beside,
    pub(crate) tier: Tier,
}

const fn ask(
    name: &'static str,
    title: &'static str,
    part: &'static str,
    kind: &'static str,
) -> Question {
    Question {
        name,
        title,
        part,
        kind,
        connections: 16,
        depth: 1,
        requests: 30_000,
        filter: None,
        as_root: false,
        figure: Figure::Cpu,
        duty: Duty::Nothing,
        beside: Beside::Nothing,
        tier: Tier::Short,
    }
}

impl Question {
    /// Returns true if fewer requests than planned are as good. Neither another question nor a log
    /// depends on their number then.
    pub(crate) fn may_end_early(&self) -> bool {
        let is_counted = matches!(self.kind, "add" | "delete") || self.duty == Duty::Logging;
        !is_counted && self.beside != Beside::Modifies
    }
}

/// Two filters in turn: the address of delivery, and an alias.
const fn mail_server(name: &'static str, title: &'static str, connections: u64) -> Question {
    Question {
        connections,
        requests: 20_000,
        figure: Figure::Wall,
        tier: Tier::Full,
        ..ask(name, title, SEARCHES, "mail-server")
    }
}

const SEARCHES: &str = "Searches";
pub(crate) const SCANS: &str = "Scans";
const OTHERS: &str = "Binds and compares";
pub(crate) const CHANGES: &str = "Changes";
/// The filter of scans that return everything.
pub(crate) const EVERYTHING: &str = "(objectClass=*)";

/// Sections in addition to the questions.
pub(crate) const WHOLE: &str = "The whole database";
pub(crate) const MEMORY: &str = "Memory";

/// In the order in which they are asked.
pub(crate) const QUESTIONS: &[Question] = &[
    Question {
        connections: 1,
        requests: 1,
        filter: Some((EVERYTHING, DataSet::entries)),
        ..ask(
            "scan-first",
            "all entries, first time after the start",
            SCANS,
            "scan",
        )
    },
    Question {
        connections: 1,
        requests: 2,
        filter: Some((EVERYTHING, DataSet::entries)),
        ..ask("scan", "all entries, once more", SCANS, "scan")
    },
    Question {
        requests: 16,
        filter: Some((EVERYTHING, DataSet::entries)),
        ..ask("scan-16", "all entries, 16 clients at once", SCANS, "scan")
    },
    Question {
        connections: 2,
        requests: 2,
        filter: Some((EVERYTHING, DataSet::entries)),
        tier: Tier::Full,
        ..ask("scan-2", "all entries, 2 clients at once", SCANS, "scan")
    },
    Question {
        connections: 4,
        requests: 4,
        filter: Some((EVERYTHING, DataSet::entries)),
        tier: Tier::Full,
        ..ask("scan-4", "all entries, 4 clients at once", SCANS, "scan")
    },
    Question {
        connections: 8,
        requests: 8,
        filter: Some((EVERYTHING, DataSet::entries)),
        tier: Tier::Full,
        ..ask("scan-8", "all entries, 8 clients at once", SCANS, "scan")
    },
    Question {
        connections: 1,
        requests: 2,
        filter: Some((EVERYTHING, DataSet::entries)),
        figure: Figure::Wall,
        beside: Beside::FileReads,
        tier: Tier::Full,
        ..ask(
            "scan-beside-reads",
            "all entries, while the file of the database is read",
            SCANS,
            "scan",
        )
    },
    Question {
        connections: 4,
        requests: 4,
        filter: Some(("(description=no such text)", |_, _| 0)),
        ..ask(
            "scan-none",
            "all entries looked at, none found",
            SCANS,
            "scan",
        )
    },
    Question {
        connections: 1,
        ..ask("uid-1", "uid, one connection", SEARCHES, "uid")
    },
    ask("uid-16", "uid, 16 connections", SEARCHES, "uid"),
    Question {
        depth: 8,
        requests: 100_000,
        ..ask(
            "uid-16x8",
            "uid, 16 connections, 8 requests in flight on each",
            SEARCHES,
            "uid",
        )
    },
    Question {
        connections: 4,
        tier: Tier::Full,
        ..ask("uid-4", "uid, 4 connections", SEARCHES, "uid")
    },
    Question {
        connections: 64,
        tier: Tier::Full,
        ..ask("uid-64", "uid, 64 connections", SEARCHES, "uid")
    },
    Question {
        connections: 64,
        depth: 32,
        requests: 100_000,
        tier: Tier::Full,
        ..ask(
            "uid-64x32",
            "uid, 64 connections, 32 requests in flight on each",
            SEARCHES,
            "uid",
        )
    },
    ask("mail-16", "mail, 16 connections", SEARCHES, "mail"),
    Question {
        depth: 8,
        requests: 100_000,
        ..ask(
            "mail-16x8",
            "mail, 16 connections, 8 requests in flight on each",
            SEARCHES,
            "mail",
        )
    },
    mail_server("mail-server-1", "as a mail server asks, one connection", 1),
    mail_server("mail-server-2", "the same, 2 connections", 2),
    mail_server("mail-server-4", "the same, 4 connections", 4),
    mail_server("mail-server-8", "the same, 8 connections", 8),
    mail_server("mail-server-16", "the same, 16 connections", 16),
    mail_server("mail-server-32", "the same, 32 connections", 32),
    mail_server("mail-server-64", "the same, 64 connections", 64),
    ask(
        "missing-16",
        "a uid that nobody has, 16 connections",
        SEARCHES,
        "missing",
    ),
    ask(
        "base-16",
        "an entry read by its name, 16 connections",
        SEARCHES,
        "base",
    ),
    Question {
        requests: 10_000,
        ..ask(
            "substring-16",
            "cn=*word*, six letters of one entry, 16 connections",
            SEARCHES,
            "substring",
        )
    },
    Question {
        requests: 5_000,
        ..ask(
            "substring-initial",
            "cn=text*, 4 to 12 letters, at most 100 results",
            SEARCHES,
            "substring-initial",
        )
    },
    Question {
        requests: 5_000,
        ..ask(
            "substring-any",
            "cn=*text*, 4 to 12 letters of any position, at most 100 results",
            SEARCHES,
            "substring-any",
        )
    },
    Question {
        requests: 5_000,
        ..ask(
            "substring-final",
            "cn=*text, 4 to 12 letters, at most 100 results",
            SEARCHES,
            "substring-final",
        )
    },
    Question {
        duty: Duty::Logging,
        ..ask(
            "uid-16-logged",
            "uid, 16 connections, a line for each operation to a file in memory",
            SEARCHES,
            "uid",
        )
    },
    Question {
        connections: 2,
        requests: 6,
        filter: Some(("(&(l=A)(st=X))", |_, _| BOTH)),
        ..ask(
            "both",
            "(&(l=A)(st=X)), each a third of all, ten results",
            SEARCHES,
            "scan",
        )
    },
    ask(
        "bind-16",
        "simple bind as a user, 16 connections",
        OTHERS,
        "bind",
    ),
    ask(
        "compare-16",
        "compare of a mail address, 16 connections",
        OTHERS,
        "compare",
    ),
    Question {
        as_root: true,
        requests: 10_000,
        ..ask(
            "modify",
            "description replaced, 16 connections",
            CHANGES,
            "modify",
        )
    },
    Question {
        as_root: true,
        requests: 10_000,
        ..ask(
            "modify-indexed",
            "givenName replaced, which is indexed",
            CHANGES,
            "modify-indexed",
        )
    },
    Question {
        as_root: true,
        requests: 3_000,
        ..ask("add", "people added", CHANGES, "add")
    },
    Question {
        as_root: true,
        requests: 3_000,
        ..ask("delete", "the same deleted", CHANGES, "delete")
    },
    Question {
        as_root: true,
        connections: 1,
        requests: 20,
        ..ask(
            "group-add",
            "one member added to a group of 100,000",
            CHANGES,
            "group-add",
        )
    },
    Question {
        requests: 1_000_000_000,
        figure: Figure::Wall,
        beside: Beside::Modifies,
        ..ask(
            "uid-beside-modify",
            "uid, 16 connections, while two clients modify",
            CHANGES,
            "uid",
        )
    },
    Question {
        as_root: true,
        figure: Figure::Wall,
        duty: Duty::Durable,
        requests: 1_000,
        ..ask(
            "modify-durable",
            "description replaced, durably, 16 connections",
            CHANGES,
            "modify",
        )
    },
];

/// The rows of accounts alone begin so.
pub(crate) const ROWS_OF_ACCOUNTS: &str = "mail-server-";

/// The rows that other data sets than the first have no answer to.
pub(crate) const ROWS_OF_PEOPLE: &[&str] = &["both", "substring-16"];

/// Rows that are not questions: of the whole database, and of the server after all of them.
pub(crate) const OTHER_ROWS: &[&str] = &[
    "load",
    "load-wall",
    "export",
    "start",
    "modifies-beside",
    "reads-beside",
    "memory",
    "resident",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets;

    #[test]
    fn everything_asked_is_measured() {
        for line in targets::of_directory() {
            let name = line.workload.as_str();
            let question = QUESTIONS.iter().find(|question| question.name == name);
            let is_short = question.is_some_and(|question| question.tier == Tier::Short);
            assert!(is_short || OTHER_ROWS.contains(&name), "{name}");
        }
    }
}
