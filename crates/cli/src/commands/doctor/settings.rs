//! The settings, read as a server reads them.

use std::path::Path;

use fulgurite_config::Settings;
use fulgurite_server::{check_settings, check_tls};

use super::finding::{Findings, Severity};
use crate::arguments::tools::ConfigFlags;

/// The file of settings that a setup writes.
pub(crate) const CONFIG: &str = "/etc/fulgurite/fulgurite.toml";

const CHECK: &str = "settings";

/// Returns the settings if they can be read. Without a file, those of the environment count.
pub(super) fn read(flags: &ConfigFlags, findings: &mut Findings) -> Option<Settings> {
    let given = [&flags.config, &flags.slapd_conf, &flags.slapd_dir];
    let given = given.into_iter().flatten().next();
    let place = given.map_or(Path::new(CONFIG), |path| path.as_path());
    let is_environment = given.is_none() && !place.exists();
    let flags = ConfigFlags {
        config: match (&flags.slapd_conf, &flags.slapd_dir, is_environment) {
            (None, None, false) => Some(place.to_owned()),
            _ => None,
        },
        slapd_conf: flags.slapd_conf.clone(),
        slapd_dir: flags.slapd_dir.clone(),
    };
    let settings = match flags.settings() {
        Ok(settings) => settings,
        Err(error) => {
            let remedy = "correct the line, then ask fulgurite config check";
            findings.add(CHECK, Severity::Failure, error.to_string(), remedy);
            return None;
        }
    };
    if is_environment && settings.suffix().is_err() {
        let text = format!("{} does not exist", place.display());
        let remedy = "fulgurite setup makes it; --config names another file";
        findings.add(CHECK, Severity::Failure, text, remedy);
        return None;
    }
    Some(settings)
}

/// Checks the meaning of the settings, and the files of TLS.
pub(super) fn check(settings: &Settings, findings: &mut Findings) {
    for note in settings.notes.iter().filter(|note| note.warning) {
        let text = format!("{}: {}", note.origin, note.text);
        findings.add(CHECK, Severity::Warning, text, "");
    }
    match check_settings(settings) {
        Ok(_) => findings.ok(CHECK, "a server can use them"),
        Err(error) => findings.add(CHECK, Severity::Failure, error.to_string(), ""),
    }
    match check_tls(settings) {
        Ok(()) => {}
        Err(error) => findings.add("TLS", Severity::Failure, error.to_string(), ""),
    }
}
