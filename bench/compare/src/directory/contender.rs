//! The servers that take part, each with the settings that make it fast.

use super::slapd_conf::{Backend, Caching};

/// A product, in one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Make {
    Fulgurite,
    /// Debian's own.
    Slapd,
    /// OpenLDAP 2.4, the last release with back-hdb and back-bdb.
    OldSlapd,
    Ds389,
    /// Answers without a directory.
    Echo,
}

/// When a server takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    EveryRound,
    FirstRound,
    /// In the first round, if it is named.
    Named,
}

/// A server with its settings.
#[derive(Debug)]
pub(crate) struct Contender {
    /// In reports and options.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) make: Make,
    pub(crate) backend: Backend,
    /// slapd's threads; none for the server's own choice.
    pub(crate) threads: Option<u32>,
    /// Its settings, as the report prints them.
    pub(crate) tuning: &'static str,
    pub(crate) presence: Presence,
}

/// The name of the server that others are compared with, and of ours.
pub(crate) const REFERENCE: &str = "slapd";
pub(crate) const OURS: &str = "fulgurite";

/// Threads of slapd on one core. More of them cost switches, fewer wait for each other.
const THREADS: u32 = 4;

const fn old(
    (name, title): (&'static str, &'static str),
    backend: Backend,
    tuning: &'static str,
) -> Contender {
    Contender {
        name,
        title,
        make: Make::OldSlapd,
        backend,
        threads: Some(THREADS),
        tuning,
        presence: Presence::Named,
    }
}

/// All servers. Ours comes first, then the reference.
pub(crate) const CONTENDERS: &[Contender] = &[
    Contender {
        name: OURS,
        title: "Fulgurite",
        make: Make::Fulgurite,
        backend: Backend::Mdb,
        threads: None,
        tuning: "slapd's slapd.conf without its threads; log level error; one worker, as it has one core",
        presence: Presence::EveryRound,
    },
    Contender {
        name: REFERENCE,
        title: "slapd, back-mdb",
        make: Make::Slapd,
        backend: Backend::Mdb,
        threads: Some(THREADS),
        tuning: "loglevel 0; threads 4; tool-threads 2, slapadd -q; maxsize 32 GiB; dbnosync unless durable",
        presence: Presence::EveryRound,
    },
    Contender {
        name: "389-ds",
        title: "389-ds, mdb",
        make: Make::Ds389,
        backend: Backend::Mdb,
        threads: None,
        tuning: "access and security logs off; entry cache 1 GiB, DN cache 256 MiB; no limits of look-through; \
                 durable transactions off unless durable",
        presence: Presence::FirstRound,
    },
    old(("mdb-2.4", "slapd 2.4, back-mdb"), Backend::Mdb, "as slapd"),
    old(
        ("hdb", "back-hdb, all cached"),
        Backend::Hdb(Caching::All),
        "loglevel 0; threads 4; cachesize of all entries, idlcachesize three times that; \
         Berkeley DB's cache 1 GiB, set_tas_spins 1, DB_TXN_NOSYNC and dbnosync unless durable",
    ),
    old(
        ("hdb-entries", "back-hdb, entries cached"),
        Backend::Hdb(Caching::Entries),
        "as hdb, with idlcachesize 0",
    ),
    old(
        ("hdb-tenth", "back-hdb, a tenth cached"),
        Backend::Hdb(Caching::Tenth),
        "as hdb, with cachesize of a tenth of the entries, idlcachesize three times that",
    ),
    old(
        ("hdb-uncached", "back-hdb, without caches"),
        Backend::Hdb(Caching::Off),
        "as hdb, with cachesize 1 and idlcachesize 0; Berkeley DB's cache stays",
    ),
    old(
        ("bdb", "back-bdb, all cached"),
        Backend::Bdb(Caching::All),
        "as hdb",
    ),
    Contender {
        name: "echo",
        title: "echo, no directory",
        make: Make::Echo,
        backend: Backend::Mdb,
        threads: None,
        tuning: "none",
        presence: Presence::EveryRound,
    },
];

impl Contender {
    pub(crate) fn named(name: &str) -> Option<&'static Contender> {
        CONTENDERS.iter().find(|one| one.name == name)
    }

    /// Returns true if a run with these servers has it; none means all that need no name.
    pub(crate) fn takes_part(&self, with: &[String]) -> bool {
        match with {
            [] => self.presence != Presence::Named,
            with => with.iter().any(|name| name == self.name),
        }
    }

    pub(crate) fn is_old(&self) -> bool {
        self.make == Make::OldSlapd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_differ() {
        let names: HashSet<_> = CONTENDERS.iter().map(|one| one.name).collect();
        assert_eq!(names.len(), CONTENDERS.len());
    }

    #[test]
    fn every_server_tells_its_settings() {
        assert!(CONTENDERS.iter().all(|one| !one.tuning.is_empty()));
        let slapd = Contender::named(REFERENCE).expect("the reference");
        let threads = slapd.threads.map(|count| format!("threads {count};"));
        assert!(threads.is_some_and(|text| slapd.tuning.contains(&text)));
    }

    #[test]
    fn old_servers_take_part_if_named() {
        let hdb = Contender::named("hdb").expect("hdb");
        assert!(!hdb.takes_part(&[]) && hdb.takes_part(&["hdb".to_owned()]));
    }
}
