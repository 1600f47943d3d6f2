//! The system user and the service of systemd. The files are those of the packages.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use nix::unistd::User;

use super::files::{Files, Owner, WantedFile};
use super::plan::{DATA, Plan, USER};
use crate::commands::doctor::CONFIG;

const UNIT: &str = include_str!("../../../../../packaging/systemd/fulgurite.service");
const SYSUSERS: &str = include_str!("../../../../../packaging/systemd/sysusers.conf");
const TMPFILES: &str = include_str!("../../../../../packaging/systemd/tmpfiles.conf");

/// The program in the unit of the packages.
const PROGRAM: &str = "/usr/bin/fulgurite";

/// The folders of a package's units and their like.
const PACKAGED: [&str; 3] = ["/usr/lib", "/lib", "/usr/local/lib"];

/// The folder of a machine that systemd runs.
const RUNNING: &str = "/run/systemd/system";

/// Writes the unit, and the files that make user and folders.
pub(super) fn write(files: &mut Files, plan: &Plan, root: Option<&Path>) -> anyhow::Result<()> {
    let wanted = [
        (
            "systemd/system/fulgurite.service",
            filled_in(UNIT, plan, root),
        ),
        ("sysusers.d/fulgurite.conf", filled_in(SYSUSERS, plan, root)),
        ("tmpfiles.d/fulgurite.conf", filled_in(TMPFILES, plan, root)),
    ];
    for (name, text) in wanted {
        let packaged = PACKAGED.iter().any(|folder| {
            let place = files.place(&Path::new(folder).join(name));
            std::fs::read_to_string(place).is_ok_and(|stored| stored == text)
        });
        if packaged {
            continue;
        }
        let path = Path::new("/etc").join(name);
        files.file(&WantedFile {
            path: &path,
            text: &text,
            mode: 0o644,
            owner: None,
        })?;
    }
    Ok(())
}

/// Returns a file of the packages with the paths and the user of a plan.
fn filled_in(text: &str, plan: &Plan, root: Option<&Path>) -> String {
    let lines = text.lines().map(|line| {
        let line = line
            .replace(CONFIG, &plan.config.display().to_string())
            .replace(DATA, &plan.data.display().to_string())
            .replace(PROGRAM, &program(root).display().to_string());
        match line.split_once('=') {
            Some((key @ ("User" | "Group"), _)) => format!("{key}={}", plan.user),
            _ if line.starts_with("u ") => line.replacen(USER, &plan.user, 1),
            _ if line.starts_with("d ") => {
                let owner = format!(" {USER} {USER} ");
                line.replace(&owner, &format!(" {0} {0} ", plan.user))
            }
            _ => line,
        }
    });
    lines.map(|line| line + "\n").collect()
}

/// Returns the path of this program in the system that the setup is for.
fn program(root: Option<&Path>) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_else(|_| PROGRAM.into());
    match root {
        None => own,
        Some(root) => {
            let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
            let below = own.strip_prefix(root);
            below.map_or_else(|_| PROGRAM.into(), |path| Path::new("/").join(path))
        }
    }
}

/// Returns the system user, who is made if missing.
pub(super) fn user(plan: &Plan, report: &mut Vec<String>) -> anyhow::Result<Owner> {
    if let Some(user) = User::from_name(&plan.user)? {
        return Ok(Some((user.uid, user.gid)));
    }
    let data = plan.data.display().to_string();
    let made = Command::new("useradd")
        .args(["--system", "--user-group", "--no-create-home"])
        .args(["--shell", "/usr/sbin/nologin", "--home-dir", &data])
        .args(["--comment", "Fulgurite directory server", &plan.user])
        .stdin(Stdio::null())
        .output()
        .context("cannot run useradd; make the system user first, or give --no-service")?;
    if !made.status.success() {
        let reason = String::from_utf8_lossy(&made.stderr).trim().to_owned();
        bail!("cannot make the user {}: {reason}", plan.user);
    }
    report.push(format!("{:<13} user {}", "made", plan.user));
    let user = User::from_name(&plan.user)?;
    let user = user.with_context(|| format!("useradd made no user {}", plan.user))?;
    Ok(Some((user.uid, user.gid)))
}

/// Returns true if systemd runs this machine.
pub(super) fn has_systemd() -> bool {
    Path::new(RUNNING).is_dir()
}

/// Enables and starts the service. A running one takes changed files.
pub(super) fn start(has_changes: bool) -> anyhow::Result<()> {
    systemctl(&["daemon-reload"])?;
    systemctl(&["enable", "fulgurite.service"])?;
    match has_changes {
        true => systemctl(&["restart", "fulgurite.service"]),
        false => systemctl(&["start", "fulgurite.service"]),
    }
}

fn systemctl(arguments: &[&str]) -> anyhow::Result<()> {
    let command = format!("systemctl {}", arguments.join(" "));
    let done = Command::new("systemctl").args(arguments).output();
    let done = done.with_context(|| format!("cannot run {command}"))?;
    if !done.status.success() {
        let reason = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        bail!("{command} failed, see journalctl -u fulgurite: {reason}");
    }
    Ok(())
}

/// Returns the command that starts the server without systemd.
pub(super) fn command_line(plan: &Plan) -> String {
    let serve = format!("fulgurite serve --config {}", plan.config.display());
    match plan.has_service {
        false => serve,
        // The user's one right is to open ports below 1024.
        true => format!(
            "setpriv --reuid {0} --regid {0} --init-groups --inh-caps -all,+net_bind_service \\\n      \
             --ambient-caps +net_bind_service {serve}",
            plan.user
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::setup::plan::{RootPassword, TlsPlan};

    fn plan(config: &str, data: &str, user: &str) -> Plan {
        Plan {
            suffix: "dc=x".to_owned(),
            organisation: "x".to_owned(),
            root_dn: "cn=admin,dc=x".to_owned(),
            password: RootPassword::Kept,
            password_file: "/x".into(),
            tls: TlsPlan::None,
            hosts: Vec::new(),
            data: data.into(),
            config: config.into(),
            user: user.to_owned(),
            listen: Vec::new(),
            has_service: true,
        }
    }

    #[test]
    fn the_files_of_the_packages_have_the_defaults() {
        let root = Path::new("/no/such/root");
        let plain = plan(CONFIG, DATA, USER);
        for text in [UNIT, SYSUSERS, TMPFILES] {
            assert_eq!(filled_in(text, &plain, Some(root)), text);
        }
        let other = plan("/srv/x.toml", "/srv/data", "ldap");
        let unit = filled_in(UNIT, &other, Some(root));
        for line in [
            "ExecStart=/usr/bin/fulgurite serve --config /srv/x.toml",
            "User=ldap",
            "Group=ldap",
            "ReadWritePaths=/srv/data",
            "RuntimeDirectory=fulgurite",
        ] {
            assert!(unit.lines().any(|one| one == line), "{line}: {unit}");
        }
        let users = filled_in(SYSUSERS, &other, Some(root));
        assert!(
            users.contains("u ldap - \"Fulgurite directory server\" /srv/data "),
            "{users}"
        );
        let folders = filled_in(TMPFILES, &other, Some(root));
        assert!(
            folders.contains("d /srv/data 0700 ldap ldap -"),
            "{folders}"
        );
    }
}
