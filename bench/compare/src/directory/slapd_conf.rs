//! The settings of OpenLDAP's servers, as an administrator who wants speed writes them.

use std::fmt::Write as _;
use std::path::Path;

use super::data_set::DataSet;
use super::databases;
use super::people::ROOT_PASSWORD;

/// The file of a data set's own schema, in the server's folder.
pub(crate) const SCHEMA: &str = "own.schema";

/// The database of the log of changes, and its folder next to the data.
const LOG_DN: &str = "cn=log";
pub(crate) const LOG_FOLDER: &str = "changes";

/// The part of slapd that keeps entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    Mdb,
    Hdb(Caching),
    Bdb(Caching),
}

/// The entries and sets of ids that a server keeps decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caching {
    All,
    /// All entries, and no sets of ids.
    Entries,
    Tenth,
    Off,
}

/// One configuration.
pub(crate) struct SlapdConf<'a> {
    /// Where the package is unpacked: schema and modules.
    pub(crate) root: &'a Path,
    /// The server's folder; the database is in `data` below it.
    pub(crate) folder: &'a Path,
    pub(crate) backend: Backend,
    pub(crate) data_set: DataSet,
    /// Databases of [`DataSet::Databases`].
    pub(crate) databases: u64,
    /// Entries of the database, for caches.
    pub(crate) entries: u64,
    /// True if a commit is on the disk before its answer.
    pub(crate) durable: bool,
    /// slapd's threads; none leaves the number to the server.
    pub(crate) threads: Option<u32>,
}

impl Backend {
    fn name(self) -> &'static str {
        match self {
            Backend::Mdb => "mdb",
            Backend::Hdb(_) => "hdb",
            Backend::Bdb(_) => "bdb",
        }
    }

    fn caching(self) -> Option<Caching> {
        match self {
            Backend::Mdb => None,
            Backend::Hdb(caching) | Backend::Bdb(caching) => Some(caching),
        }
    }
}

impl SlapdConf<'_> {
    /// Returns the file's text.
    pub(crate) fn text(&self) -> String {
        let (root, folder) = (self.root.display(), self.folder.display());
        let mut out = ["core", "cosine", "inetorgperson"]
            .map(|name| format!("include {root}/etc/ldap/schema/{name}.schema\n"))
            .concat();
        if self.data_set.schema().is_some() {
            let _ = writeln!(out, "include {folder}/{SCHEMA}");
        }
        let name = self.backend.name();
        let _ = write!(
            out,
            "modulepath {root}/usr/lib/ldap\nmoduleload back_{name}.so\nsizelimit unlimited\n\
             loglevel 0\ntool-threads 2\npidfile {folder}/pid\n"
        );
        if let Some(threads) = self.threads {
            let _ = writeln!(out, "threads {threads}");
        }
        if self.data_set == DataSet::Logged {
            self.log_of_changes(&mut out);
        }
        if self.data_set == DataSet::Databases {
            for database in 0..self.databases {
                let (suffix, root_dn) = (databases::suffix(database), databases::root_dn(database));
                self.database(
                    (&suffix, &root_dn),
                    &format!("{folder}/data/{database}"),
                    &mut out,
                );
            }
            return out;
        }
        let suffix = self.data_set.suffix();
        let root_dn = format!("cn=admin,{suffix}");
        self.database((suffix, &root_dn), &format!("{folder}/data"), &mut out);
        if self.data_set == DataSet::Logged {
            let _ = writeln!(out, "overlay accesslog\nlogdb {LOG_DN}\nlogops writes");
        }
        out
    }

    /// One database, the names of its top entry and of its root, its folder.
    fn database(&self, (suffix, root_dn): (&str, &str), folder: &str, out: &mut String) {
        let _ = write!(
            out,
            "database {}\nsuffix \"{suffix}\"\nrootdn \"{root_dn}\"\nrootpw \"{ROOT_PASSWORD}\"\n\
             directory {folder}\n",
            self.backend.name()
        );
        match self.backend.caching() {
            None => out.push_str("maxsize 34359738368\n"),
            Some(caching) => self.caches(caching, out),
        }
        if !self.durable {
            out.push_str("dbnosync\n");
        }
        *out += self.data_set.indexes();
    }

    /// A second database of the same kind, for the overlay accesslog.
    fn log_of_changes(&self, out: &mut String) {
        let (name, folder) = (self.backend.name(), self.folder.display());
        let _ = write!(
            out,
            "moduleload accesslog.so\ndatabase {name}\nsuffix {LOG_DN}\nrootdn {LOG_DN}\n\
             directory {folder}/{LOG_FOLDER}\ndbnosync\nindex objectClass,entryCSN,reqStart eq\n"
        );
        match self.backend.caching() {
            None => out.push_str("maxsize 34359738368\n"),
            Some(caching) => self.caches(caching, out),
        }
    }

    /// slapd-hdb(5) advises three times as many sets of ids as entries. Berkeley DB has a cache of
    /// pages, larger than the database.
    fn caches(&self, caching: Caching, out: &mut String) {
        let entries = match caching {
            Caching::All | Caching::Entries => self.entries + self.entries / 10 + 1000,
            Caching::Tenth => self.entries / 10,
            Caching::Off => 1,
        };
        let sets = match caching {
            Caching::Entries | Caching::Off => 0,
            Caching::All | Caching::Tenth => 3 * entries,
        };
        let _ = write!(
            out,
            "cachesize {entries}\nidlcachesize {sets}\ncheckpoint 65536 30\n\
             dbconfig set_cachesize 1 0 1\ndbconfig set_tas_spins 1\ndbconfig set_lg_bsize 2097152\n\
             dbconfig set_lg_max 104857600\ndbconfig set_flags DB_LOG_AUTOREMOVE\n\
             dbconfig set_lk_max_objects 30000\ndbconfig set_lk_max_locks 30000\n\
             dbconfig set_lk_max_lockers 3000\n"
        );
        if !self.durable {
            out.push_str("dbconfig set_flags DB_TXN_NOSYNC\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(backend: Backend, durable: bool) -> String {
        let conf = SlapdConf {
            root: Path::new("/r"),
            folder: Path::new("/f"),
            backend,
            data_set: DataSet::People,
            databases: 1,
            entries: 5000,
            durable,
            threads: Some(4),
        };
        conf.text()
    }

    #[test]
    fn several_databases_have_their_own_folders() {
        let conf = SlapdConf {
            root: Path::new("/r"),
            folder: Path::new("/f"),
            backend: Backend::Mdb,
            data_set: DataSet::Databases,
            databases: 2,
            entries: 5000,
            durable: true,
            threads: None,
        };
        let text = conf.text();
        assert_eq!(text.matches("\ndatabase mdb\n").count(), 2);
        for line in [
            "suffix \"dc=dm0000001,dc=com\"",
            "directory /f/data/1",
            "index objectClass,uid eq",
        ] {
            assert!(text.contains(&format!("\n{line}\n")), "{line}: {text}");
        }
    }

    #[test]
    fn no_server_logs() {
        for backend in [
            Backend::Mdb,
            Backend::Hdb(Caching::All),
            Backend::Bdb(Caching::Off),
        ] {
            assert!(text(backend, true).contains("\nloglevel 0\n"));
        }
    }

    #[test]
    fn caches_have_their_sizes() {
        assert!(
            text(Backend::Hdb(Caching::All), true)
                .contains("\ncachesize 6500\nidlcachesize 19500\n")
        );
        assert!(
            text(Backend::Hdb(Caching::Tenth), true)
                .contains("\ncachesize 500\nidlcachesize 1500\n")
        );
        assert!(
            text(Backend::Hdb(Caching::Entries), true)
                .contains("\ncachesize 6500\nidlcachesize 0\n")
        );
        assert!(text(Backend::Bdb(Caching::Off), true).contains("\ncachesize 1\nidlcachesize 0\n"));
        assert!(!text(Backend::Mdb, true).contains("cachesize"));
    }

    #[test]
    fn durable_servers_flush() {
        assert!(text(Backend::Mdb, false).contains("dbnosync"));
        for backend in [Backend::Mdb, Backend::Hdb(Caching::All)] {
            let durable = text(backend, true);
            assert!(!durable.to_lowercase().contains("nosync"), "{durable}");
        }
    }
}
