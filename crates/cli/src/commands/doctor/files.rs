//! The rights of files with secrets: nobody else reads them, and the server's user does.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use fulgurite_config::Settings;

use super::finding::{Findings, Severity};

const CHECK: &str = "rights";

/// Permission bits: reading for others and for the group.
const OTHERS: u32 = 0o004;
const GROUP: u32 = 0o040;

pub(super) fn check(settings: &Settings, findings: &mut Findings) {
    // The owner of the data is the user of the server.
    let data = settings.served_stores().next();
    let data = data.and_then(|database| database.directory().ok());
    let owner = data.and_then(|path| fs::metadata(path).ok());
    let mut secrets = Vec::new();
    secrets.extend(settings.global.tls_key.value.as_deref());
    secrets.extend(settings.global.metrics_token_file.value.as_deref());
    for database in settings.databases.iter().chain([&settings.config]) {
        secrets.extend(database.content.root_password_file.value.as_deref());
    }
    let before = findings.worst();
    for path in secrets {
        check_secret(path, owner.as_ref(), findings);
    }
    for database in settings.served_stores() {
        if let Ok(directory) = database.directory() {
            let wanted = database.storage.mode.value.0;
            check_data(directory, wanted, findings);
        }
    }
    if findings.worst() == before {
        findings.ok(CHECK, "only the server reads keys, passwords and data");
    }
}

fn check_secret(path: &Path, owner: Option<&Metadata>, findings: &mut Findings) {
    let shown = path.display();
    let Ok(file) = fs::metadata(path) else {
        // The check of the settings names a file that is missing.
        return;
    };
    if file.mode() & OTHERS != 0 {
        let text = format!("other users can read {shown}, which is secret");
        findings.add(CHECK, Severity::Failure, text, format!("chmod 600 {shown}"));
    }
    if let Some(owner) = owner.filter(|owner| !can_read(owner, &file)) {
        let text = format!(
            "the owner of the data, user {}, cannot read {shown}",
            owner.uid()
        );
        let remedy = format!("chown {} {shown}", owner.uid());
        findings.add(CHECK, Severity::Failure, text, remedy);
    }
}

/// Returns true if the owner of a folder can read a file, as far as its own group tells.
fn can_read(owner: &Metadata, file: &Metadata) -> bool {
    match owner.uid() {
        0 => true,
        user if user == file.uid() => file.mode() & 0o400 != 0,
        _ if owner.gid() == file.gid() => file.mode() & GROUP != 0,
        _ => file.mode() & OTHERS != 0,
    }
}

fn check_data(directory: &Path, wanted: u32, findings: &mut Findings) {
    let file = directory.join("data.mdb");
    let (Ok(folder), Ok(data)) = (fs::metadata(directory), fs::metadata(&file)) else {
        return;
    };
    let exposed = [(OTHERS, 0o001), (GROUP, 0o010)]
        .into_iter()
        .any(|(read, enter)| data.mode() & !wanted & read != 0 && folder.mode() & enter != 0);
    if exposed {
        let text = format!(
            "other users can read {}, which holds passwords",
            file.display()
        );
        let remedy = format!("chmod 600 {}", file.display());
        findings.add(CHECK, Severity::Failure, text, remedy);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_secret_that_others_read_is_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        fs::write(&key, "x").unwrap();
        let found = |mode: u32| {
            fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
            let owner = fs::metadata(folder.path()).unwrap();
            let mut findings = Findings::default();
            check_secret(&key, Some(&owner), &mut findings);
            findings.worst()
        };
        assert_eq!(found(0o600), Severity::Ok);
        assert_eq!(found(0o640), Severity::Ok);
        assert_eq!(found(0o644), Severity::Failure);
    }
}
