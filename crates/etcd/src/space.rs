//! The space of etcd: compaction, defragmentation, and the alarm of a full database.

use std::time::Duration;

use serde_json::{Value, json};
use thiserror::Error;

use crate::error::EtcdError;
use crate::log::EtcdLog;
use crate::question::number;

/// The wait for a member's defragmentation. It answers nothing else meanwhile.
const DEFRAGMENT_WAIT: Duration = Duration::from_secs(60);
/// The path of the alarms.
const ALARM: &str = "/v3/maintenance/alarm";
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

    /// Returns the quota of a member's database in bytes; `None` if it does not tell. Only its
    /// metrics have it.
    #[must_use]
    pub fn quota(&self, member: usize) -> Option<u64> {
        let text = self.client().page(member, "/metrics", STATUS_WAIT).ok()?;
        read_quota(&text)
    }

    /// Returns true if some member has raised the alarm NOSPACE. Then etcd takes deletions only.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub fn is_full(&self) -> Result<bool, EtcdError> {
        Ok(self.alarms()?.next().is_some())
    }

    /// Returns the numbers of the members that have raised the alarm NOSPACE.
    fn alarms(&self) -> Result<impl Iterator<Item = Value>, EtcdError> {
        let list = self
            .client()
            .call(ALARM, &json!({"action": "GET"}))
            .result?;
        let alarms = list.get("alarms").and_then(Value::as_array).cloned();
        let is_space =
            |alarm: &Value| alarm.get("alarm").and_then(Value::as_str) == Some("NOSPACE");
        let alarms = alarms.unwrap_or_default().into_iter().filter(is_space);
        Ok(alarms.map(|alarm| alarm.get("memberID").cloned().unwrap_or_default()))
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
        let failed = |error| SpaceError { member: 0, error };
        let mut disarmed = 0;
        for member in self.alarms().map_err(failed)? {
            let question = json!({"action": "DEACTIVATE", "memberID": member, "alarm": "NOSPACE"});
            self.client()
                .call(ALARM, &question)
                .result
                .map_err(failed)?;
            disarmed += 1;
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

/// Reads the quota from the metrics of a member, which write it as `2.147483648e+09`.
fn read_quota(metrics: &str) -> Option<u64> {
    let name = "etcd_server_quota_backend_bytes ";
    let mut lines = metrics.lines();
    let number = lines.find_map(|line| line.strip_prefix(name))?;
    let quota: f64 = number.trim().parse().ok()?;
    // More than the 53 bits of a quota that a number of this form has exactly is not sensible.
    (0.0..9e15).contains(&quota).then_some(quota as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_read_from_metrics() {
        let line = "# HELP etcd_server_quota_backend_bytes x\netcd_server_quota_backend_bytes ";
        let of = |number: &str| read_quota(&format!("{line}{number}\nother 1\n"));
        assert_eq!(of("2.147483648e+09"), Some(2_147_483_648));
        assert_eq!(of("1.6777216e+07"), Some(16_777_216));
        for wrong in ["", "x", "-1", "NaN", "+Inf"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(read_quota(""), None);
    }
}
