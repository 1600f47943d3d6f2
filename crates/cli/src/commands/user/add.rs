//! `fulgurite user add`.

use anyhow::{Context as _, bail};
use fulgurite_client::Client;

use super::password;
use crate::arguments::people::UserAdd;
use crate::remote::begin::begin;
use crate::remote::entries::{self, NamedValues, next_number, push, require_name, texts};
use crate::remote::kinds::{NUMBERS_FROM, USER};
use fulgurite_client::names::{child, is_dn};

pub(super) fn run(command: &UserAdd) -> anyhow::Result<()> {
    require_name(&command.name)?;
    if is_dn(&command.name) {
        bail!("NAME is a login name, such as ada; --under places the entry");
    }
    let new_password = password::wanted(&command.password)?;
    let (mut client, suffix) = begin(&command.server, &command.base)?;
    let known = USER.find(&mut client, (&suffix, &command.name), &["1.1"])?;
    if let Some(known) = known {
        eprintln!(
            "{} is there already, and stays as it is: {}",
            command.name, known.dn
        );
        return Ok(());
    }
    let parent = match &command.under {
        Some(parent) => parent.clone(),
        None => entries::unit(&mut client, &command.ou, &suffix)?,
    };
    let dn = child("uid", &command.name, &parent);
    let attributes = attributes(command, &mut client, &suffix)?;
    if !entries::add(&mut client, &dn, &attributes)? {
        bail!("{dn} is there already, but it is no user or cannot be seen");
    }
    eprintln!("{} is made: {dn}", command.name);
    match new_password {
        Some(new) => {
            let set = new.set(&mut client, &dn);
            set.with_context(|| format!("{} has no password yet", command.name))
        }
        None => {
            let name = &command.name;
            eprintln!("{name} has no password yet: fulgurite user passwd {name}");
            Ok(())
        }
    }
}

fn attributes(
    command: &UserAdd,
    client: &mut Client,
    suffix: &str,
) -> anyhow::Result<Vec<NamedValues>> {
    let name = command.name.as_str();
    let (cn, sn) = names(command);
    let mut attributes = texts(&[
        ("objectClass", "inetOrgPerson"),
        ("uid", name),
        ("cn", &cn),
        ("sn", &sn),
    ]);
    if let Some(first) = &command.first {
        push(&mut attributes, "givenName", first.as_bytes().to_vec());
    }
    for address in &command.mail {
        push(&mut attributes, "mail", address.as_bytes().to_vec());
    }
    if command.posix {
        let numbers = ("uidNumber", "(objectClass=posixAccount)");
        let number = match command.uid_number {
            Some(number) => number,
            None => next_number(client, suffix, numbers, NUMBERS_FROM)?,
        };
        let group = command.gid_number.unwrap_or(number);
        let home = command.home.clone();
        let home = home.unwrap_or_else(|| format!("/home/{name}"));
        let (number, group) = (number.to_string(), group.to_string());
        for (name, value) in [
            ("objectClass", "posixAccount"),
            ("uidNumber", number.as_str()),
            ("gidNumber", group.as_str()),
            ("homeDirectory", home.as_str()),
            ("loginShell", command.shell.as_str()),
        ] {
            push(&mut attributes, name, value.as_bytes().to_vec());
        }
    }
    for pair in &command.values {
        let Some((name, value)) = pair.split_once('=') else {
            bail!("--set takes ATTRIBUTE=VALUE, not \"{pair}\"");
        };
        push(&mut attributes, name, value.as_bytes().to_vec());
    }
    Ok(attributes)
}

/// Returns full name and last name.
fn names(command: &UserAdd) -> (String, String) {
    let parts = [&command.first, &command.last];
    let parts: Vec<&str> = parts.iter().filter_map(|part| part.as_deref()).collect();
    let cn = match &command.cn {
        Some(cn) => cn.clone(),
        None if parts.is_empty() => command.name.clone(),
        None => parts.join(" "),
    };
    let last = command.last.clone();
    let sn = last.or_else(|| cn.split_whitespace().last().map(str::to_owned));
    let sn = sn.unwrap_or_else(|| command.name.clone());
    (cn, sn)
}
