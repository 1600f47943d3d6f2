//! Groups of the invented people.

use std::collections::BTreeSet;
use std::io::{self, Write};

use fulgurite_ldif::Writer;

use super::options::GenerateOptions;
use super::person::{GID_NUMBER_BASE, department};
use super::random::Random;
use super::words::DEPARTMENTS;

const KIND: u64 = 2;

/// Users looked at for the members of a department: more would make groups grow with the directory.
const DEPARTMENT_SAMPLE: u64 = 1_000;

/// Writes all groups and returns how many there are.
pub(super) fn write<W: Write>(
    options: &GenerateOptions,
    writer: &mut Writer<W>,
) -> io::Result<u64> {
    let groups = options.groups.unwrap_or((options.users / 100).max(1));
    // A group of names must have a member.
    let groups = if options.users == 0 { 0 } else { groups };
    for number in 1..=groups {
        write_group(options, number, writer)?;
    }
    for (position, name) in DEPARTMENTS.iter().enumerate() {
        write_department(options, position, name, writer)?;
    }
    Ok(groups + DEPARTMENTS.len() as u64)
}

fn write_group<W: Write>(
    options: &GenerateOptions,
    number: u64,
    writer: &mut Writer<W>,
) -> io::Result<()> {
    let suffix = &options.suffix;
    let mut random = Random::of(options.seed, KIND, number);
    writer.name(&format!("cn=group.{number},ou=groups,{suffix}"))?;
    writer.value("objectClass", b"groupOfNames")?;
    writer.value("cn", format!("group.{number}").as_bytes())?;
    writer.value("description", format!("Group number {number}").as_bytes())?;
    let wanted = 1 + random.below(u64::from(options.group_members.max(1)));
    let members: BTreeSet<u64> = (0..wanted)
        .map(|_| 1 + random.below(options.users))
        .collect();
    for member in members {
        writer.value(
            "member",
            format!("uid=user.{member},ou=people,{suffix}").as_bytes(),
        )?;
    }
    writer.end()
}

fn write_department<W: Write>(
    options: &GenerateOptions,
    position: usize,
    name: &str,
    writer: &mut Writer<W>,
) -> io::Result<()> {
    writer.name(&format!("cn={name},ou=groups,{}", options.suffix))?;
    writer.value("objectClass", b"posixGroup")?;
    writer.value("cn", name.as_bytes())?;
    writer.value(
        "gidNumber",
        (GID_NUMBER_BASE + position as u64).to_string().as_bytes(),
    )?;
    let sample = 1..=options.users.min(DEPARTMENT_SAMPLE);
    for number in sample.filter(|number| department(options.seed, *number) == position) {
        writer.value("memberUid", format!("user.{number}").as_bytes())?;
    }
    writer.end()
}
