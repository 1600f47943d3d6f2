//! The room of etcd. Its sequencer makes some, before and after etcd takes no more writes.

use std::collections::BTreeMap;

use fulgurite_etcd::{EtcdLog, Space};

use super::member_space::MemberSpace;
use super::state::ClusterState;

/// Looks at the nodes between two looks at the room: about ten seconds.
const LOOKS: u32 = 5;

/// The part of the quota from which on deleted batches are worth a defragmentation. The member
/// answers nothing meanwhile.
const QUOTA_PERCENT: u64 = 60;

/// Looks at the room between two questions about the quota. Only a restart changes that.
const QUOTA_LOOKS: u32 = 30;

/// The look at the room, now and then.
pub(super) struct SpaceKeeper {
    /// The URLs of etcd's members.
    members: Vec<String>,
    looks: u32,
    quota_looks: u32,
    quotas: BTreeMap<usize, u64>,
    was_leading: bool,
}

impl SpaceKeeper {
    pub(super) fn new(members: Vec<String>) -> SpaceKeeper {
        SpaceKeeper {
            members,
            looks: 0,
            quota_looks: 0,
            quotas: BTreeMap::new(),
            was_leading: false,
        }
    }

    /// Looks at the room of each member, for the figures. Each node does, so they are there without
    /// a sequencer too. Only a node that leads makes room. The trim of the log is the node's own
    /// work.
    pub(super) fn look(&mut self, log: &EtcdLog, state: &ClusterState) {
        let is_leading = state.status().is_leading;
        let is_new = is_leading && !self.was_leading;
        self.was_leading = is_leading;
        self.looks = self.looks.saturating_sub(1);
        if self.looks > 0 && !is_new {
            return;
        }
        self.looks = LOOKS;
        let spaces = log.spaces().unwrap_or_default();
        self.ask_quotas(log, &spaces);
        let of_member = spaces.iter().map(|(member, space)| MemberSpace {
            member: self.members.get(*member).cloned().unwrap_or_default(),
            bytes: space.bytes,
            quota: self.quotas.get(member).copied(),
        });
        state.set_space(of_member.collect());
        if !is_leading {
            return;
        }
        let is_full = log.is_full().unwrap_or(false);
        if !is_full && !self.has_waste(&spaces) {
            return;
        }
        match log.reclaim() {
            Ok(0) => tracing::info!("cluster: etcd is defragmented"),
            Ok(_) => tracing::warn!("cluster: etcd was full: it is defragmented, and goes on"),
            Err(error) => tracing::warn!("cluster: etcd gets no room: {error}"),
        }
    }

    fn ask_quotas(&mut self, log: &EtcdLog, spaces: &[(usize, Space)]) {
        self.quota_looks = self.quota_looks.saturating_sub(1);
        let is_due = self.quota_looks == 0;
        if is_due {
            self.quota_looks = QUOTA_LOOKS;
        }
        for (member, _) in spaces {
            if is_due || !self.quotas.contains_key(member) {
                let quota = log.quota(*member);
                self.quotas.extend(quota.map(|quota| (*member, quota)));
            }
        }
    }

    /// Returns true if a member is near its quota, and half of its database was deleted.
    fn has_waste(&self, spaces: &[(usize, Space)]) -> bool {
        spaces.iter().any(|(member, space)| {
            let is_half_empty = space.bytes_in_use < space.bytes / 2;
            let near =
                |quota: &u64| space.bytes.saturating_mul(100) > quota.saturating_mul(QUOTA_PERCENT);
            is_half_empty && self.quotas.get(member).is_some_and(near)
        })
    }
}
