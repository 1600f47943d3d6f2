//! `fulgurite group add`.

use anyhow::bail;

use crate::arguments::people::GroupAdd;
use crate::remote::begin::begin;
use crate::remote::entries::{self, next_number, push, require_name, texts};
use crate::remote::kinds::{GROUP, NUMBERS_FROM};
use crate::remote::membership::{MemberForm, member_value};
use fulgurite_client::names::{child, is_dn};

pub(super) fn run(command: &GroupAdd) -> anyhow::Result<()> {
    require_name(&command.name)?;
    if is_dn(&command.name) {
        bail!("NAME is a name, such as staff; --under places the entry");
    }
    let form = match (command.posix, command.unique) {
        (true, _) => MemberForm::Uid,
        (_, true) => MemberForm::UniqueDn,
        _ => MemberForm::Dn,
    };
    if form != MemberForm::Uid && command.members.is_empty() {
        bail!(
            "the class {} needs a member: name one by --member, or use --posix",
            form.class()
        );
    }
    let (mut client, suffix) = begin(&command.server, &command.base)?;
    if let Some(known) = GROUP.find(&mut client, (&suffix, &command.name), &["1.1"])? {
        eprintln!(
            "{} is there already, and stays as it is: {}",
            command.name, known.dn
        );
        return Ok(());
    }
    let mut attributes = texts(&[("objectClass", form.class()), ("cn", &command.name)]);
    if let Some(text) = &command.description {
        push(&mut attributes, "description", text.as_bytes().to_vec());
    }
    if form == MemberForm::Uid {
        let numbers = ("gidNumber", "(objectClass=posixGroup)");
        let number = match command.gid_number {
            Some(number) => number,
            None => next_number(&mut client, &suffix, numbers, NUMBERS_FROM)?,
        };
        push(
            &mut attributes,
            "gidNumber",
            number.to_string().into_bytes(),
        );
    }
    for member in &command.members {
        let value = member_value(&mut client, &suffix, (form, member))?;
        push(&mut attributes, form.attribute(), value.into_bytes());
    }
    let parent = match &command.under {
        Some(parent) => parent.clone(),
        None => entries::unit(&mut client, &command.ou, &suffix)?,
    };
    let dn = child("cn", &command.name, &parent);
    if !entries::add(&mut client, &dn, &attributes)? {
        bail!("{dn} is there already, but it is no group or cannot be seen");
    }
    eprintln!("{} is made: {dn}", command.name);
    Ok(())
}
