//! The dates of certificates. The check of TLS compares key and certificate.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use fulgurite_client::health::CERTIFICATE_WARNING_DAYS;
use fulgurite_config::Settings;
use fulgurite_server::certificate_facts;

use super::finding::{Findings, Severity};

const CHECK: &str = "certificate";

const DAY_S: u64 = 86_400;

pub(super) fn check(settings: &Settings, findings: &mut Findings) {
    let global = &settings.global;
    let Some(certificate) = &global.tls_certificate.value else {
        let text = "there is none: passwords cross the network in clear";
        findings.add(CHECK, Severity::Note, text, "fulgurite setup makes one");
        return;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_s = now.map_or(0, |now| now.as_secs());
    check_file(certificate, now_s, findings);
    if let Some(authority) = &global.tls_ca.value {
        check_file(authority, now_s, findings);
    }
}

fn check_file(path: &Path, now_s: u64, findings: &mut Findings) {
    let shown = path.display();
    let remedy = "replace the file, or sign a new one with fulgurite setup --renew; the server \
                  reads it by itself";
    let facts = match certificate_facts(path) {
        Ok(facts) => facts,
        Err(error) => return findings.add(CHECK, Severity::Failure, error.to_string(), ""),
    };
    let days = facts.not_after_s.saturating_sub(now_s) / DAY_S;
    if now_s > facts.not_after_s {
        findings.add(
            CHECK,
            Severity::Failure,
            format!("{shown} has expired"),
            remedy,
        );
    } else if now_s < facts.not_before_s {
        let text = format!("{shown} is not valid yet");
        findings.add(
            CHECK,
            Severity::Failure,
            text,
            "look at the clock of this machine",
        );
    } else if days < CERTIFICATE_WARNING_DAYS {
        let text = format!("{shown} expires in {days} days");
        findings.add(CHECK, Severity::Warning, text, remedy);
    } else {
        findings.ok(CHECK, format!("{shown} is valid for {days} more days"));
    }
}
