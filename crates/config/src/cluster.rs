//! The node of a cluster that the settings describe.

use std::path::{Path, PathBuf};

use fulgurite_policy::ClusterReads;

use crate::error::ConfigError;
use crate::interval::Interval;
use crate::setting::Setting as _;
use crate::{Database, Settings, SocketAddress, Sourced};

/// A node of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterSettings {
    /// The name of the cluster.
    pub name: String,
    /// The number of the node.
    pub node: u64,
    /// The URLs of etcd's members.
    pub etcd: Vec<String>,
    /// The authorities of etcd's members.
    pub etcd_ca: Option<PathBuf>,
    /// The certificate and the key for etcd.
    pub etcd_pair: Option<(PathBuf, PathBuf)>,
    /// The user of etcd, and the file with the password.
    pub etcd_user: Option<(String, PathBuf)>,
    /// The address for the other nodes.
    pub listen: SocketAddress,
    /// The address by which the other nodes reach this one.
    pub address: SocketAddress,
    /// The authorities of the nodes.
    pub ca: PathBuf,
    /// The certificate of the node, and its key.
    pub pair: (PathBuf, PathBuf),
    /// The state that reads see.
    pub reads: ClusterReads,
    /// The silence of etcd after which reads are refused, in seconds.
    pub stale_after_s: Option<u32>,
    /// The time between two checkpoints, in seconds; `None` if each batch is flushed.
    pub checkpoint_every_s: Option<u32>,
}

impl Settings {
    /// Returns the node of a cluster that the server is; `None` for a server that is alone.
    ///
    /// # Errors
    /// [`ConfigError::Conflict`] for a setting that is missing.
    pub fn cluster(&self) -> Result<Option<ClusterSettings>, ConfigError> {
        let global = &self.global;
        let Some(name) = global.cluster_name.value.clone() else {
            return Ok(None);
        };
        if global.cluster_etcd.value.is_empty() {
            return Err(missing("cluster.etcd"));
        }
        let etcd_pair = pair(
            ("cluster.etcd_certificate", &global.cluster_etcd_certificate),
            ("cluster.etcd_key", &global.cluster_etcd_key),
        )?;
        let etcd_user = pair(
            ("cluster.etcd_user", &global.cluster_etcd_user),
            (
                "cluster.etcd_password_file",
                &global.cluster_etcd_password_file,
            ),
        )?;
        let listen = needed("cluster.listen", &global.cluster_listen)?;
        let address = global.cluster_address.value.clone();
        let address = address.unwrap_or_else(|| listen.clone());
        if address.host.is_empty() {
            return Err(ConfigError::Conflict(format!(
                "the other nodes reach this one by no name: set cluster.address, because \
                 cluster.listen is \"{}\"",
                global.cluster_listen.value.show()
            )));
        }
        Ok(Some(ClusterSettings {
            name,
            node: u64::from(global.cluster_node.get()),
            etcd: global.cluster_etcd.value.clone(),
            etcd_ca: global.cluster_etcd_ca.value.clone(),
            etcd_pair,
            etcd_user,
            listen,
            address,
            ca: needed("cluster.ca", &global.cluster_ca)?,
            pair: (
                needed("cluster.certificate", &global.cluster_certificate)?,
                needed("cluster.key", &global.cluster_key)?,
            ),
            reads: *global.cluster_reads,
            stale_after_s: global.cluster_stale_after.as_ref().map(|Interval(s)| *s),
            checkpoint_every_s: global
                .cluster_checkpoint_every
                .as_ref()
                .map(|Interval(s)| *s),
        }))
    }

    /// Returns the database that the nodes of the cluster share.
    ///
    /// # Errors
    /// [`ConfigError::Conflict`] if there is none, or more than one without `cluster.suffix`.
    pub fn cluster_database(&self) -> Result<&Database, ConfigError> {
        let stores: Vec<&Database> = self.served_stores().collect();
        let wanted = self.global.cluster_suffix.value.as_deref();
        match (wanted, stores.as_slice()) {
            (None, [only]) => Ok(only),
            (None, []) => Err(ConfigError::Conflict(
                "a node of a cluster needs a database".to_owned(),
            )),
            (None, _) => Err(ConfigError::Conflict(
                "the settings have several databases: name that of the cluster in cluster.suffix"
                    .to_owned(),
            )),
            (Some(wanted), _) => {
                let is_wanted = |database: &&&Database| {
                    let mut suffixes = database.content.suffixes.iter();
                    suffixes.any(|suffix| suffix.value.eq_ignore_ascii_case(wanted))
                };
                let found = stores.iter().find(is_wanted).copied();
                found.ok_or_else(|| {
                    let text = format!("cluster.suffix is {wanted:?}, and no database has it");
                    ConfigError::Conflict(text)
                })
            }
        }
    }

    /// Returns true if a database is that of a node that makes checkpoints.
    #[must_use]
    pub fn has_checkpoints(&self, database: &Database) -> bool {
        let global = &self.global;
        global.cluster_name.value.is_some()
            && global.cluster_checkpoint_every.value.is_some()
            && self
                .cluster_database()
                .is_ok_and(|found| std::ptr::eq(found, database))
    }

    /// Refuses a cluster whose settings are not complete, and a database that has another source.
    pub(crate) fn refuse_cluster_conflicts(&self) -> Result<(), ConfigError> {
        if self.cluster()?.is_none() {
            return Ok(());
        }
        let database = self.cluster_database()?;
        let problem = if !database.content.syncrepl.is_empty() {
            "a database of a cluster has no syncrepl: the log of the cluster is its only source"
        } else if !database.content.update_refs.is_empty() {
            "a database of a cluster has no updateref: its sequencer takes all updates"
        } else if !*database.policy.last_mod {
            "a cluster needs the setting lastmod: entries are compared by entryCSN"
        } else {
            return Ok(());
        };
        Err(ConfigError::Conflict(problem.to_owned()))
    }

    /// Returns the folder of the database that the nodes share.
    ///
    /// # Errors
    /// As [`cluster_database`](Self::cluster_database).
    pub fn cluster_folder(&self) -> Result<&Path, ConfigError> {
        self.cluster_database()?.directory()
    }
}

fn missing(key: &str) -> ConfigError {
    ConfigError::Conflict(format!("a node of a cluster needs {key}"))
}

fn needed<T: Clone>(key: &str, setting: &Sourced<Option<T>>) -> Result<T, ConfigError> {
    setting.value.clone().ok_or_else(|| missing(key))
}

/// Returns two settings that need each other.
fn pair<A: Clone, B: Clone>(
    (first_key, first): (&str, &Sourced<Option<A>>),
    (second_key, second): (&str, &Sourced<Option<B>>),
) -> Result<Option<(A, B)>, ConfigError> {
    match (&first.value, &second.value) {
        (None, None) => Ok(None),
        (Some(first), Some(second)) => Ok(Some((first.clone(), second.clone()))),
        _ => Err(ConfigError::Conflict(format!(
            "{first_key} and {second_key} need each other"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Layer;

    const NODE: &str = "suffix = \"dc=a\"\n[cluster]\nname = \"c\"\nnode = 2\n\
        etcd = [\"http://127.0.0.1:2379\"]\nlisten = \"127.0.0.1:7390\"\nca = \"ca\"\n\
        certificate = \"c\"\nkey = \"k\"\n";

    fn read(text: &str) -> Result<Settings, ConfigError> {
        Settings::new(Layer::from_toml(text, Path::new("x.toml")).expect("TOML"))
    }

    fn refusal(text: &str) -> String {
        read(text).expect_err("a refusal").to_string()
    }

    #[test]
    fn a_node_is_described() {
        let settings = read(NODE).expect("a node");
        let node = settings.cluster().expect("complete").expect("a node");
        assert_eq!((node.name.as_str(), node.node), ("c", 2));
        assert_eq!(node.address, node.listen);
        assert_eq!(
            settings.cluster_database().unwrap().suffix().unwrap(),
            "dc=a"
        );
        assert_eq!(read("suffix = \"dc=a\"").unwrap().cluster().unwrap(), None);
    }

    #[test]
    fn what_is_missing_is_named() {
        for key in ["etcd", "listen", "ca", "certificate", "key"] {
            let lines = NODE.lines();
            let lines = lines.filter(|line| !line.starts_with(&format!("{key} =")));
            let text: String = lines.map(|line| format!("{line}\n")).collect();
            assert!(refusal(&text).contains(&format!("cluster.{key}")), "{key}");
        }
        let text = NODE.replace("127.0.0.1:7390", ":7390");
        assert!(refusal(&text).contains("cluster.address"));
        let text = format!("{NODE}etcd_user = \"x\"\n");
        assert!(refusal(&text).contains("cluster.etcd_password_file"));
    }

    #[test]
    fn other_sources_of_the_database_are_refused() {
        let database =
            |more: &str| NODE.replace("suffix = \"dc=a\"", &format!("suffix = \"dc=a\"\n{more}"));
        assert!(refusal(&database("last_mod = false")).contains("lastmod"));
        let copied = database(
            "root.dn = \"cn=r,dc=a\"\n\
             syncrepl = [\"rid=1 provider=ldap://p searchbase=dc=a bindmethod=simple\"]",
        );
        assert!(refusal(&copied).contains("syncrepl"));
    }

    #[test]
    fn only_the_database_of_the_cluster_has_checkpoints() {
        let text = NODE.replace("suffix = \"dc=a\"\n", "")
            + "[[database]]\nsuffix = \"dc=a\"\n[[database]]\nsuffix = \"dc=b\"\n";
        let more = "node = 2\nsuffix = \"dc=b\"\n";
        let with = |more: &str| read(&text.replace("node = 2\n", more)).expect("a node");
        let list = |settings: &Settings| -> Vec<bool> {
            let stores = settings.served_stores();
            let found = stores.map(|database| settings.has_checkpoints(database));
            found.collect()
        };
        assert_eq!(list(&with(more)), [false, false]);
        let settings = with(&format!("{more}checkpoint_every = \"1min\"\n"));
        assert_eq!(list(&settings), [false, true]);
        let node = settings.cluster().expect("complete").expect("a node");
        assert_eq!(node.checkpoint_every_s, Some(60));
        assert_eq!(list(&read("suffix = \"dc=a\"").unwrap()), [false]);
    }

    #[test]
    fn one_of_several_databases_is_named() {
        let text = NODE.replace("suffix = \"dc=a\"\n", "")
            + "[[database]]\nsuffix = \"dc=a\"\n[[database]]\nsuffix = \"dc=b\"\n";
        assert!(refusal(&text).contains("cluster.suffix"));
        let named = text.replace("node = 2", "node = 2\nsuffix = \"dc=B\"");
        let settings = read(&named).expect("a node");
        assert_eq!(
            settings.cluster_database().unwrap().suffix().unwrap(),
            "dc=b"
        );
    }
}
