//! Changes of user, group and root directory: `-u`, `-g` and `-r` of slapd.
//!
//! They happen before the first thread starts, and after the files that only root may open are
//! open.

use std::ffi::CString;
use std::path::Path;

use anyhow::{Context as _, bail};
use nix::unistd::{Gid, Group, Uid, User, initgroups, setgid, setgroups, setuid};

/// The new user and group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Privileges {
    user: Option<(Uid, Gid, Option<CString>)>,
    group: Option<Gid>,
}

impl Privileges {
    /// Looks up names or numbers.
    ///
    /// # Errors
    /// The user or group does not exist.
    pub(crate) fn find(user: Option<&str>, group: Option<&str>) -> anyhow::Result<Privileges> {
        Ok(Privileges {
            user: user.map(find_user).transpose()?,
            group: group.map(find_group).transpose()?,
        })
    }

    /// Returns true if a user or group is given.
    pub(crate) fn is_set(&self) -> bool {
        self.user.is_some() || self.group.is_some()
    }

    /// Switches to the new user and group.
    ///
    /// # Errors
    /// The system refuses the change.
    pub(crate) fn take(&self) -> anyhow::Result<()> {
        let own_group = self.user.as_ref().map(|(_, group, _)| *group);
        if let Some(group) = self.group.or(own_group) {
            match &self.user {
                Some((_, _, Some(name))) => initgroups(name, group).context("set the groups")?,
                _ => setgroups(&[group]).context("set the groups")?,
            }
            setgid(group).context("set the group")?;
        }
        if let Some((user, ..)) = &self.user {
            setuid(*user).context("set the user")?;
        }
        Ok(())
    }
}

fn find_user(text: &str) -> anyhow::Result<(Uid, Gid, Option<CString>)> {
    let found = match text.parse::<u32>() {
        Ok(number) => User::from_uid(Uid::from_raw(number))?,
        Err(_) => User::from_name(text)?,
    };
    match found {
        Some(user) => Ok((user.uid, user.gid, CString::new(user.name).ok())),
        None => bail!("No passwd entry for user {text}"),
    }
}

fn find_group(text: &str) -> anyhow::Result<Gid> {
    if let Ok(number) = text.parse::<u32>() {
        return Ok(Gid::from_raw(number));
    }
    match Group::from_name(text)? {
        Some(group) => Ok(group.gid),
        None => bail!("No group entry for group {text}"),
    }
}

/// Makes a directory the root directory of this process.
///
/// # Errors
/// The system refuses the change.
pub(crate) fn change_root(directory: &Path) -> anyhow::Result<()> {
    std::os::unix::fs::chroot(directory)
        .with_context(|| format!("chroot to {}", directory.display()))?;
    std::env::set_current_dir("/").context("change to the new root")
}
