//! The look at the end of a node's certificates.

use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fulgurite_config::ClusterSettings;

use super::state::ClusterState;
use crate::tls::certificate::certificate_facts;
use crate::tls::certificate_watch::{CertificateNotice, CertificateWatch};

/// The files of certificates without which the other nodes do not hear this one.
pub(super) struct Certificates {
    node: u64,
    files: [PathBuf; 2],
    watch: CertificateWatch,
}

impl Certificates {
    pub(super) fn new(settings: &ClusterSettings) -> Certificates {
        Certificates {
            node: settings.node,
            files: [settings.pair.0.clone(), settings.ca.clone()],
            watch: CertificateWatch::default(),
        }
    }

    /// Looks once, and warns from 30 days before the first end.
    pub(super) fn look(&mut self, state: &ClusterState) {
        let ends = self.files.iter().filter_map(|file| {
            let facts = certificate_facts(file).ok()?;
            Some(facts.not_after_s)
        });
        let end_s = ends.min();
        if let Some(end_s) = end_s {
            state.set_certificate_end_s(end_s);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_s = now.map_or(0, |now| now.as_secs());
        let node = self.node;
        match self.watch.notice(end_s, now_s, Instant::now()) {
            Some(CertificateNotice::Expired) => tracing::error!(
                "cluster: the certificate of node {node} has expired, and others do not hear it: \
                 renew it with `fulgurite cluster renew`"
            ),
            Some(CertificateNotice::Ends(days)) => tracing::warn!(
                "cluster: the certificate of node {node} expires in {days} days: renew it with \
                 `fulgurite cluster renew`"
            ),
            None => {}
        }
    }
}
