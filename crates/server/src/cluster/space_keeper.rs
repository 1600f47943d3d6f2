//! The room of etcd. Its sequencer makes some, before and after etcd takes no more writes.

use fulgurite_etcd::EtcdLog;

/// Looks at the nodes between two looks at the room: about ten seconds.
const LOOKS: u32 = 5;

/// The part of the quota from which on deleted batches are worth a defragmentation. The member
/// answers nothing meanwhile.
const QUOTA_PERCENT: u64 = 60;

/// The look at the room, now and then.
#[derive(Default)]
pub(super) struct SpaceKeeper {
    looks: u32,
}

impl SpaceKeeper {
    /// Looks at the room, if this node leads. The trim of the log is the node's own work.
    pub(super) fn look(&mut self, log: &EtcdLog, is_leading: bool) {
        self.looks = self.looks.saturating_sub(1);
        if self.looks > 0 || !is_leading {
            return;
        }
        self.looks = LOOKS;
        let is_full = log.is_full().unwrap_or(false);
        if !is_full && !has_waste(log) {
            return;
        }
        match log.reclaim() {
            Ok(0) => tracing::info!("cluster: etcd is defragmented"),
            Ok(_) => tracing::warn!("cluster: etcd was full: it is defragmented, and goes on"),
            Err(error) => tracing::warn!("cluster: etcd gets no room: {error}"),
        }
    }
}

/// Returns true if a member is near its quota, and half of its database was deleted.
fn has_waste(log: &EtcdLog) -> bool {
    let spaces = log.spaces().unwrap_or_default();
    spaces.iter().any(|(member, space)| {
        let is_half_empty = space.bytes_in_use < space.bytes / 2;
        let near =
            |quota: u64| space.bytes.saturating_mul(100) > quota.saturating_mul(QUOTA_PERCENT);
        is_half_empty && log.quota(*member).is_some_and(near)
    })
}
