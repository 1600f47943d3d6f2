//! The facts of a whole cluster, and its state at one revision.

use fulgurite_cluster::{Epoch, Head, NodeId, NodeState, Position};
use serde_json::{Value, json};

use crate::error::EtcdError;
use crate::keys::read_state;
use crate::log::EtcdLog;
use crate::question::{Answer, Do, created_at, get, put, range, transaction};

/// The format of keys and batches.
const FORMAT: u64 = 1;

/// The facts of a cluster, in the key `meta`. They never change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterMeta {
    /// The format of keys.
    pub format: u64,
    /// The suffix of the database, as it was written.
    pub suffix: String,
    /// The oldest format of batches that a node must read to join.
    pub least_version: u64,
}

impl ClusterMeta {
    /// Returns the facts of a new cluster.
    #[must_use]
    pub fn new(suffix: &str) -> ClusterMeta {
        ClusterMeta {
            format: FORMAT,
            suffix: suffix.to_owned(),
            least_version: u64::from(fulgurite_cluster::VERSION_NEWEST),
        }
    }

    fn write(&self, database: u32) -> String {
        let database = json!({"id": database, "suffix": self.suffix});
        let text = json!({
            "format": self.format,
            "least_version": self.least_version,
            "databases": [database],
        });
        text.to_string()
    }

    /// Reads the facts. Later programs may say more.
    fn read(bytes: &[u8], database: u32) -> Option<ClusterMeta> {
        let text: Value = serde_json::from_slice(bytes).ok()?;
        let databases = text.get("databases")?.as_array()?;
        let is_it = |one: &&Value| one.get("id").and_then(Value::as_u64) == Some(database.into());
        Some(ClusterMeta {
            format: text.get("format")?.as_u64()?,
            suffix: databases
                .iter()
                .find(is_it)?
                .get("suffix")?
                .as_str()?
                .to_owned(),
            least_version: text.get("least_version")?.as_u64()?,
        })
    }
}

/// The outcome of an attempt to make a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Creation {
    /// It is there now.
    Created,
    /// There was one of this name before.
    Present(ClusterMeta),
}

/// The state of a cluster at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// The facts of the cluster; `None` if there is none of this name.
    pub meta: Option<ClusterMeta>,
    /// The sequencer.
    pub leader: Option<NodeId>,
    /// The number of its leadership, which grows with each one.
    pub epoch: Option<Epoch>,
    /// The end of the log.
    pub head: Head,
    /// The first batch that the log keeps.
    pub first: Option<Position>,
    /// The nodes that are alive.
    pub nodes: Vec<NodeState>,
}

impl EtcdLog {
    /// Makes a cluster, if there is none of this name.
    ///
    /// # Errors
    /// [`EtcdError`]. After [`EtcdError::Silence`], the cluster may be there.
    pub fn create(&self, meta: &ClusterMeta) -> Result<Creation, EtcdError> {
        let key = self.keys().meta();
        let text = meta.write(self.database());
        let question = transaction(
            vec![created_at(&key, 0)],
            vec![Do::Put(put(&key, text.as_bytes(), 0))],
            vec![Do::Get(get(&key))],
        );
        let (answer, was_given_up) = self.ask(&question);
        let answer = answer?;
        if answer.succeeded {
            return Ok(Creation::Created);
        }
        let item = answer.one(0).ok_or_else(form)?;
        let present = ClusterMeta::read(&item.value, self.database()).ok_or_else(form)?;
        // An earlier try of this call may have made it.
        Ok(match was_given_up && present == *meta {
            true => Creation::Created,
            false => Creation::Present(present),
        })
    }

    /// Returns the state of the cluster.
    ///
    /// # Errors
    /// [`EtcdError`], also for values in a form that this program does not know.
    pub fn overview(&self) -> Result<Overview, EtcdError> {
        let keys = self.keys();
        let [nodes, nodes_end] = keys.nodes();
        let (first, end) = (keys.batch(Position(0)), keys.batches_end());
        let mut batches = range(&first, &end, 1);
        batches["keys_only"] = json!(true);
        let reads = vec![
            Do::Get(get(&keys.meta())),
            Do::Get(get(&keys.leader())),
            Do::Get(get(&keys.head())),
            Do::Get(batches),
            Do::Get(range(&nodes, &nodes_end, 0)),
        ];
        let (answer, _) = self.ask(&transaction(vec![], reads, vec![]));
        self.read_overview(&answer?).ok_or_else(form)
    }

    fn read_overview(&self, answer: &Answer) -> Option<Overview> {
        let meta = match answer.one(0) {
            Some(item) => Some(ClusterMeta::read(&item.value, self.database())?),
            None => None,
        };
        let leader = match answer.one(1) {
            Some(item) => Some(NodeId(str::from_utf8(&item.value).ok()?.parse().ok()?)),
            None => None,
        };
        let first = match answer.one(3) {
            Some(item) => Some(self.keys().position(&item.key)?),
            None => None,
        };
        let states = answer.reads.get(4)?.iter();
        Some(Overview {
            meta,
            leader,
            epoch: answer.one(1).map(|item| Epoch(item.created_at)),
            head: self.head_of(answer, 2)?,
            first,
            nodes: states
                .map(|item| read_state(&item.value))
                .collect::<Option<_>>()?,
        })
    }
}

fn form() -> EtcdError {
    EtcdError::Silence("a value of another form: check the version of this program".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_back() {
        let meta = ClusterMeta::new("dc=example,dc=com");
        let text = meta.write(3);
        assert_eq!(ClusterMeta::read(text.as_bytes(), 3), Some(meta));
        assert_eq!(ClusterMeta::read(text.as_bytes(), 4), None);
        assert_eq!(ClusterMeta::read(b"{}", 3), None);
    }
}
