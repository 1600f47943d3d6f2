//! The limit of file descriptors: each connection needs one, which exceeds the usual soft limit.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::settings::ServerSettings;

/// File descriptors reserved for stores, event loops and logs.
const DESCRIPTORS_RESERVED: u64 = 64;

impl ServerSettings {
    /// Limits connections to the available file descriptors.
    pub(crate) fn fit_descriptors(&mut self) {
        let Some(descriptors) = raise_descriptor_limit() else {
            return;
        };
        let available = descriptors.saturating_sub(DESCRIPTORS_RESERVED).max(1);
        let available = usize::try_from(available).unwrap_or(usize::MAX);
        if available < self.connections_max {
            tracing::warn!(
                "only {available} connections at once: the system's limit of open files is {descriptors}"
            );
            self.connections_max = available;
        }
    }
}

/// Raises the limit of open descriptors to the system's maximum and returns it.
///
/// `None` means no limit. A failure to raise it is not an error; the function returns the old limit
/// then.
pub fn raise_descriptor_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    }
}
