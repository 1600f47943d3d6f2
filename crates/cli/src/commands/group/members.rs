//! `fulgurite group members`.

use anyhow::bail;
use fulgurite_client::{Change, Client, ResultCode};

use crate::arguments::people::Members;
use crate::remote::answer::expect;
use crate::remote::begin::begin;
use crate::remote::kinds::GROUP;
use crate::remote::membership::{MemberForm, member_value};

pub(super) fn run(command: &Members) -> anyhow::Result<()> {
    let (mut client, suffix) = begin(&command.server, &command.base)?;
    let attributes = ["objectClass", "member", "uniqueMember", "memberUid"];
    let group = GROUP.get(&mut client, (&suffix, &command.group), &attributes)?;
    let form = MemberForm::of(&group);
    if command.additions.is_empty() && command.removals.is_empty() {
        for member in group.values(form.attribute()) {
            println!("{}", String::from_utf8_lossy(member));
        }
        return Ok(());
    }
    let held = group.values(form.attribute()).iter();
    let held: Vec<String> = held
        .map(|value| String::from_utf8_lossy(value).into_owned())
        .collect();
    let (mut additions, mut removals) = (Vec::new(), Vec::new());
    for member in &command.additions {
        let value = member_value(&mut client, &suffix, (form, member))?;
        match held.iter().any(|held| form.is_same(held, &value)) {
            true => eprintln!("{value} is in {} already", group.dn),
            false => additions.push(value),
        }
    }
    for member in &command.removals {
        // A user that is gone can still be named as the group has it.
        let value = member_value(&mut client, &suffix, (form, member));
        let value = value.unwrap_or_else(|_| member.clone());
        match held.iter().find(|held| form.is_same(held, &value)) {
            Some(held) => removals.push(held.clone()),
            None => eprintln!("{value} is not in {}", group.dn),
        }
    }
    change(&mut client, &group.dn, form, (&additions, &removals))
}

/// Adds and removes members in one change.
fn change(
    client: &mut Client,
    group: &str,
    form: MemberForm,
    (additions, removals): (&[String], &[String]),
) -> anyhow::Result<()> {
    let bytes = |values: &[String]| -> Vec<Vec<u8>> {
        values
            .iter()
            .map(|value| value.clone().into_bytes())
            .collect()
    };
    let (added, removed) = (bytes(additions), bytes(removals));
    let added: Vec<&[u8]> = added.iter().map(Vec::as_slice).collect();
    let removed: Vec<&[u8]> = removed.iter().map(Vec::as_slice).collect();
    let mut changes = Vec::new();
    if !added.is_empty() {
        changes.push(Change::add(form.attribute(), &added));
    }
    if !removed.is_empty() {
        changes.push(Change::delete(form.attribute(), &removed));
    }
    if changes.is_empty() {
        return Ok(());
    }
    let result = client.modify(group, &changes)?;
    if result.code == ResultCode::ObjectClassViolation && !removed.is_empty() {
        bail!("{group} keeps one member at least: add another one first, or delete the group");
    }
    expect(&result, || format!("cannot change {group}"))?;
    for value in additions {
        eprintln!("{value} is in {group} now");
    }
    for value in removals {
        eprintln!("{value} is no longer in {group}");
    }
    Ok(())
}
