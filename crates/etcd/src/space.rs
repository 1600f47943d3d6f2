//! The space of etcd: compaction, defragmentation, and the alarm of a full database.

use std::time::Duration;

use serde_json::{Value, json};
use thiserror::Error;

use crate::error::EtcdError;
use crate::log::EtcdLog;
use crate::question::number;

/// The wait for a member's defragmentation. It answers nothing else meanwhile.
const DEFRAGMENT_WAIT: Duration = Duration::from_secs(60);
/// The wait for a member's word about itself.
const STATUS_WAIT: Duration = Duration::from_secs(2);

/// The space of one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// The size of its database in bytes, which counts for the quota.
    pub bytes: u64,
    /// The part in use. A defragmentation frees the rest.
    pub bytes_in_use: u64,
    /// True if it leads etcd.
    pub is_leader: bool,
    revision: u64,
}

/// The reason why space was not freed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("member {member} of etcd: {error}")]
pub struct SpaceError {
    /// The number of the member in the settings, from 0.
    pub member: usize,
    /// The reason.
    pub error: EtcdError,
}

impl EtcdLog {
    /// Returns the space of each member that answers.
    ///
    /// # Errors
    /// [`SpaceError`] of the last member, if none answers.
    pub fn spaces(&self) -> Result<Vec<(usize, Space)>, SpaceError> {
        let mut spaces = Vec::new();
        let mut failed = None;
        for member in 0..self.client().members() {
            match self.space(member) {
                Ok(space) => spaces.push((member, space)),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if spaces.is_empty() => Err(error),
            _ => Ok(spaces),
        }
    }

    /// Frees what was deleted, and disarms the alarm NOSPACE: compacts, then defragments one member
    /// after another, the leader last. Returns the number of alarms that were disarmed.
    ///
    /// # Errors
    /// [`SpaceError`] of a member. The others are not begun.
    pub fn reclaim(&self) -> Result<usize, SpaceError> {
        let mut spaces = self.spaces()?;
        spaces.sort_by_key(|(_, space)| space.is_leader);
        if let Some(revision) = spaces.iter().map(|(_, space)| space.revision).max() {
            self.compact(revision);
        }
        for (member, _) in spaces {
            let path = "/v3/maintenance/defragment";
            self.at(member, path, &json!({}), DEFRAGMENT_WAIT)?;
        }
        self.disarm()
    }

    /// Drops the revisions before one. Another node may have done it before, so errors say
    /// nothing.
    pub(crate) fn compact(&self, revision: u64) {
        let question = json!({"revision": revision.to_string(), "physical": false});
        let _ = self.client().call("/v3/kv/compaction", &question);
    }

    fn space(&self, member: usize) -> Result<Space, SpaceError> {
        let status = self.at(member, "/v3/maintenance/status", &json!({}), STATUS_WAIT)?;
        let form = || SpaceError {
            member,
            error: EtcdError::Silence("an answer of another form".to_owned()),
        };
        let read = |of: &Value, name| number(of, name).ok_or_else(form);
        let header = status.get("header").ok_or_else(form)?;
        Ok(Space {
            bytes: read(&status, "dbSize")?,
            bytes_in_use: read(&status, "dbSizeInUse")?,
            is_leader: read(&status, "leader")? == read(header, "member_id")?,
            revision: read(header, "revision")?,
        })
    }

    /// Disarms the alarm of each member that has raised it. etcd wants its number.
    fn disarm(&self) -> Result<usize, SpaceError> {
        let path = "/v3/maintenance/alarm";
        let failed = |error| SpaceError { member: 0, error };
        let list = self.client().call(path, &json!({"action": "GET"}));
        let list = list.result.map_err(failed)?;
        let alarms = list.get("alarms").and_then(Value::as_array);
        let mut disarmed = 0;
        for alarm in alarms.into_iter().flatten() {
            if alarm.get("alarm").and_then(Value::as_str) == Some("NOSPACE") {
                let member = alarm.get("memberID").cloned().unwrap_or_default();
                let question =
                    json!({"action": "DEACTIVATE", "memberID": member, "alarm": "NOSPACE"});
                self.client().call(path, &question).result.map_err(failed)?;
                disarmed += 1;
            }
        }
        Ok(disarmed)
    }

    fn at(
        &self,
        member: usize,
        path: &str,
        question: &Value,
        wait: Duration,
    ) -> Result<Value, SpaceError> {
        let result = self.client().call_member(member, path, question, wait);
        result.map_err(|error| SpaceError { member, error })
    }
}
