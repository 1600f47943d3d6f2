//! The certificate in force.

use fulgurite_directory::TreeEntry;

use super::figures::{Monitor, generalized};
use crate::statistics::seconds_now;

impl Monitor {
    /// Adds the entry of the certificate; there is none without.
    pub(super) fn certificate(&self, out: &mut Vec<TreeEntry>) {
        let Some(end_s) = self.statistics.certificate_end_s() else {
            return;
        };
        let end = generalized(end_s);
        let state = match end_s.checked_sub(seconds_now()) {
            Some(left_s) => format!("seconds left: {left_s}"),
            None => format!("expired: {end}"),
        };
        let entry = self.entry("monitoredObject", "Certificate", "cn=TLS,cn=Monitor");
        out.push(entry.with("monitoredInfo", [format!("ends: {end}"), state]));
    }
}
