//! `fulgurite replication conflicts --restore`: an ordinary update that brings back what has lost.

use std::io::Write as _;

use anyhow::{Context as _, bail};
use fulgurite_client::{Client, Entry, Scope};
use fulgurite_directory::Conflict;
use fulgurite_ldap::{Change, LdapResult, ModifyOperation, PartialAttribute, Values};
use fulgurite_ldif::{Action, Reader, Writer};
use fulgurite_schema::{Dn, Schema};

use super::uuid_text::uuid_text;
use crate::arguments::replication::Conflicts;
use crate::remote::login::connect;

/// Attributes with their values.
type AttributeList = Vec<(String, Vec<Vec<u8>>)>;

/// The update that restores an entry.
#[derive(Debug, PartialEq, Eq)]
enum Restoration {
    /// The entry is gone.
    Add(AttributeList),
    /// The entry has other values. Attributes without values go.
    Modify(AttributeList),
}

/// Brings back the values of a conflict that lost, under the rights of the caller.
pub(super) fn run(
    command: &Conflicts,
    (schema, suffixes): (&Schema, &[Dn]),
    conflict: &Conflict,
) -> anyhow::Result<()> {
    let (name, lost) = lost(schema, conflict)?;
    let dn = Dn::parse(schema, &name).with_context(|| format!("name {name}"))?;
    let suffix = suffixes.iter().find(|suffix| dn.is_within(suffix));
    let suffix = suffix.context("the entry is outside the database")?;
    let mut client = connect(&command.server)?;
    let filter = format!("(entryUUID={})", uuid_text(conflict.uuid));
    let found = client.search(suffix.pretty(), Scope::Subtree, &filter, &["*"])?;
    if !found.result.is_success() {
        bail!("{}: {}", suffix.pretty(), found.result.code.name());
    }
    let (name, restoration) = match found.entries.first() {
        Some(entry) => {
            let changes = changes(schema, entry, lost)?;
            (entry.dn.clone(), Restoration::Modify(changes))
        }
        None => (name, Restoration::Add(lost)),
    };
    let mut out = std::io::stdout().lock();
    out.write_all(&ldif(&name, &restoration)?)?;
    if restoration == Restoration::Modify(Vec::new()) {
        writeln!(out, "# the entry has these values")?;
        return Ok(());
    }
    if command.dry_run {
        writeln!(out, "# nothing was changed")?;
        return Ok(());
    }
    let result = send(&mut client, &name, &restoration)?;
    if !result.is_success() {
        bail!("{name}: {}: {}", result.code.name(), result.diagnostic);
    }
    writeln!(out, "# restored")?;
    Ok(())
}

/// Returns the name and the values that users set, of the entry that lost.
fn lost(schema: &Schema, conflict: &Conflict) -> anyhow::Result<(String, AttributeList)> {
    let mut reader = Reader::new(conflict.ldif.as_bytes());
    let record = reader.next_record()?;
    let Some(record) = record else {
        bail!("nothing has lost in this conflict that could be restored");
    };
    let mut all = AttributeList::new();
    if let Action::Content(attributes) = record.action() {
        for attribute in attributes {
            let kind = schema.attribute(attribute.description.split(';').next().unwrap_or(""));
            if kind.is_none_or(|kind| kind.is_operational() || kind.no_user_modification) {
                continue;
            }
            let value = attribute.value.to_vec();
            match all
                .iter_mut()
                .find(|(name, _)| name == attribute.description)
            {
                Some((_, values)) => values.push(value),
                None => all.push((attribute.description.to_owned(), vec![value])),
            }
        }
    }
    if all.is_empty() {
        bail!("the report does not have the values: they were too large");
    }
    Ok((record.dn().to_owned(), all))
}

/// Returns the attributes that differ, with the values to set.
fn changes(schema: &Schema, entry: &Entry, lost: AttributeList) -> anyhow::Result<AttributeList> {
    let dn = Dn::parse(schema, &entry.dn).with_context(|| format!("name {}", entry.dn))?;
    let avas = dn.rdn().into_iter().flat_map(|rdn| rdn.avas());
    let named: Vec<_> = avas
        .map(|ava| (schema.attribute_at(ava.attribute).name(), ava.value))
        .collect();
    let gone = entry.attributes.iter().filter(|(name, _)| {
        !lost
            .iter()
            .any(|(other, _)| name.eq_ignore_ascii_case(other))
    });
    let gone: AttributeList = gone.map(|(name, _)| (name.clone(), Vec::new())).collect();
    let mut all = AttributeList::new();
    for (name, mut values) in lost.into_iter().chain(gone) {
        // The name stays, and so do its values.
        let kind = schema.attribute(&name).map(|kind| kind.index);
        for (of, value) in &named {
            if !name.eq_ignore_ascii_case(of) {
                continue;
            }
            let normal = |value| kind.and_then(|kind| schema.normal_value(kind, value));
            if !values.iter().any(|held| normal(held) == normal(value)) {
                values.insert(0, value.to_vec());
            }
        }
        let sorted = |values: &[Vec<u8>]| {
            let mut values = values.to_vec();
            values.sort_unstable();
            values
        };
        if sorted(entry.values(&name)) != sorted(&values) {
            all.push((name, values));
        }
    }
    Ok(all)
}

/// Returns the update as LDIF.
fn ldif(name: &str, restoration: &Restoration) -> anyhow::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out);
    writer.name(name)?;
    match restoration {
        Restoration::Add(attributes) => {
            writer.value("changetype", b"add")?;
            for (name, values) in attributes {
                values
                    .iter()
                    .try_for_each(|value| writer.value(name, value))?;
            }
        }
        Restoration::Modify(changes) => {
            writer.value("changetype", b"modify")?;
            for (name, values) in changes {
                writer.value("replace", name.as_bytes())?;
                values
                    .iter()
                    .try_for_each(|value| writer.value(name, value))?;
                writer.dash()?;
            }
        }
    }
    writer.end()?;
    Ok(out)
}

fn send(client: &mut Client, name: &str, restoration: &Restoration) -> anyhow::Result<LdapResult> {
    let (Restoration::Add(list) | Restoration::Modify(list)) = restoration;
    let slices: Vec<Vec<&[u8]>> = list
        .iter()
        .map(|(_, values)| values.iter().map(Vec::as_slice).collect())
        .collect();
    let attributes = list.iter().zip(&slices);
    let attributes = attributes.map(|((name, _), values)| PartialAttribute {
        description: name.as_bytes(),
        values: Values::from_slices(values),
    });
    Ok(match restoration {
        Restoration::Add(_) => client.add(name, &attributes.collect::<Vec<_>>())?,
        Restoration::Modify(_) => {
            let changes = attributes.map(|attribute| Change {
                operation: ModifyOperation::Replace,
                attribute,
            });
            client.modify(name, &changes.collect::<Vec<_>>())?
        }
    })
}

#[cfg(test)]
mod tests {
    use fulgurite_directory::ConflictKind;

    use super::*;

    fn conflict(ldif: &str) -> Conflict {
        Conflict {
            id: 1,
            time_us: 0,
            kind: ConflictKind::Overwritten,
            uuid: [1; 16],
            dn: "ou=a,dc=x".to_owned(),
            winner: None,
            loser: None,
            ldif: ldif.to_owned(),
        }
    }

    fn list(values: &[(&str, &[&str])]) -> AttributeList {
        let values = values.iter().map(|(name, values)| {
            let values = values.iter().map(|value| value.as_bytes().to_vec());
            ((*name).to_owned(), values.collect())
        });
        values.collect()
    }

    #[test]
    fn what_users_set_is_restored() {
        let schema = Schema::standard();
        let text = "dn: ou=a,dc=x\nobjectClass: organizationalUnit\nou: a\nl: there\n\
                    entryCSN: 1\ncreatorsName: cn=x\npwdFailureTime: 1\n\n";
        let (name, values) = lost(&schema, &conflict(text)).unwrap();
        assert_eq!(name, "ou=a,dc=x");
        let class: (&str, &[&str]) = ("objectClass", &["organizationalUnit"]);
        assert_eq!(values, list(&[class, ("ou", &["a"]), ("l", &["there"])]));
        for text in [
            "",
            "# the values are too large for the report\ndn: ou=a,dc=x\n\n",
        ] {
            assert!(lost(&schema, &conflict(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn changes_leave_the_name_and_equal_values_alone() {
        let schema = Schema::standard();
        let entry = Entry {
            dn: "ou=b,dc=x".to_owned(),
            attributes: list(&[
                ("objectClass", &["top", "organizationalUnit"]),
                ("ou", &["b"]),
                ("description", &["new"]),
                ("l", &["here"]),
            ]),
        };
        let lost = list(&[
            ("objectClass", &["organizationalUnit", "top"]),
            ("ou", &["a", "B"]),
            ("l", &["there"]),
        ]);
        let wanted = list(&[("ou", &["a", "B"]), ("l", &["there"]), ("description", &[])]);
        assert_eq!(changes(&schema, &entry, lost).unwrap(), wanted);
        let lost = list(&[("ou", &["a"])]);
        let changed = changes(&schema, &entry, lost).unwrap();
        assert_eq!(changed[0], list(&[("ou", &["b", "a"])])[0]);
        let text = ldif("ou=b,dc=x", &Restoration::Modify(list(&[("l", &["x"])]))).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(
            text,
            "dn: ou=b,dc=x\nchangetype: modify\nreplace: l\nl: x\n-\n\n"
        );
    }
}
