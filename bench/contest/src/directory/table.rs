//! What servers are asked, as rows; and what is asked of us.

use super::people::{BOTH, entries};

/// A filter, and how many of so many people it finds.
type Sought = (&'static str, fn(u64) -> u64);

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
    /// What a scan looks for, and how many there are.
    pub(crate) filter: Option<Sought>,
    /// As whom: the root for changes, each user for binds, nobody otherwise.
    pub(crate) as_root: bool,
    /// Time on the clock is what counts.
    pub(crate) by_wall: bool,
    /// Whether commits are waited for.
    pub(crate) durable: bool,
    /// Whether two clients modify meanwhile.
    pub(crate) beside_modifies: bool,
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
        by_wall: false,
        durable: false,
        beside_modifies: false,
    }
}

const SEARCHES: &str = "Searches";
const SCANS: &str = "Scans";
const OTHERS: &str = "Binds and compares";
const CHANGES: &str = "Changes";

/// Sections beside those of questions.
pub(crate) const WHOLE: &str = "The whole database";

/// In the order in which they are asked.
pub(crate) const QUESTIONS: &[Question] = &[
    Question {
        connections: 1,
        requests: 1,
        filter: Some(("(objectClass=*)", entries)),
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
        filter: Some(("(objectClass=*)", entries)),
        ..ask("scan", "all entries, one client", SCANS, "scan")
    },
    Question {
        requests: 16,
        filter: Some(("(objectClass=*)", entries)),
        ..ask("scan-16", "all entries, 16 clients at once", SCANS, "scan")
    },
    Question {
        connections: 4,
        requests: 4,
        filter: Some(("(description=no such text)", |_| 0)),
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
    ask("mail-16", "mail, 16 connections", SEARCHES, "mail"),
    ask(
        "missing-16",
        "a uid that nobody has, 16 connections",
        SEARCHES,
        "missing",
    ),
    Question {
        requests: 10_000,
        ..ask(
            "substring-16",
            "cn=*word*, 16 connections",
            SEARCHES,
            "substring",
        )
    },
    Question {
        connections: 2,
        requests: 6,
        filter: Some(("(&(l=A)(st=X))", |_| BOTH)),
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
        by_wall: true,
        beside_modifies: true,
        ..ask(
            "uid-beside-modify",
            "uid, 16 connections, while two clients modify",
            CHANGES,
            "uid",
        )
    },
    Question {
        as_root: true,
        by_wall: true,
        durable: true,
        requests: 1_000,
        ..ask(
            "modify-durable",
            "description replaced, durably, 16 connections",
            CHANGES,
            "modify",
        )
    },
];

/// What is asked of us: name of the row, factor, and what would be fine.
pub(crate) const ASKED: &[(&str, f64, f64)] = &[
    ("uid-16", 3.0, 3.8),
    ("mail-16", 3.0, 3.8),
    ("uid-16x8", 8.0, 14.0),
    ("bind-16", 2.2, 3.0),
    ("compare-16", 2.2, 3.0),
    ("substring-16", 4.0, 10.0),
    ("both", 100.0, 1000.0),
    ("scan", 6.0, 15.0),
    ("scan-16", 6.0, 12.0),
    ("load", 4.0, 10.0),
    ("load-wall", 6.0, 10.0),
    ("export", 2.0, 5.0),
    ("modify", 2.5, 5.0),
    ("modify-durable", 5.0, 12.0),
    ("add", 5.0, 10.0),
    ("delete", 5.0, 10.0),
    ("uid-beside-modify", 3.0, 4.0),
    ("group-add", 100.0, 1000.0),
    ("start", 1.0, 2.0),
];

/// How large our database may be, as a part of slapd's.
pub(crate) const SIZE_AT_MOST: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_asked_is_measured() {
        for (name, asked, hoped) in ASKED {
            let known = ["load", "load-wall", "export", "start"].contains(name);
            assert!(
                known || QUESTIONS.iter().any(|question| question.name == *name),
                "{name}"
            );
            assert!(asked <= hoped);
        }
    }
}
