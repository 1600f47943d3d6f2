//! Changes that are due: sent to a server, or written as LDIF.

use std::io::{self, Write};

use fulgurite_client::{Change, Client, ModifyOperation, PartialAttribute};
use fulgurite_ldif::Writer;

use super::wanted::{Modification, NewName};
use crate::remote::answer::expect;
use crate::remote::entries::{self, NamedValues};

/// A change of one entry.
#[derive(Debug, PartialEq)]
pub(super) enum DueChange {
    Add(Vec<NamedValues>),
    Modify(Vec<Modification>),
    Delete,
    Rename(NewName),
}

impl DueChange {
    /// Returns the word for what is done.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            DueChange::Add(_) => "added",
            DueChange::Modify(_) => "changed",
            DueChange::Delete => "deleted",
            DueChange::Rename(_) => "renamed",
        }
    }

    /// Makes the change.
    pub(super) fn send(&self, client: &mut Client, dn: &str) -> anyhow::Result<()> {
        match self {
            DueChange::Add(attributes) => match entries::add(client, dn, attributes)? {
                true => Ok(()),
                false => anyhow::bail!("{dn} is there, but it cannot be read"),
            },
            DueChange::Modify(modifications) => {
                let values: Vec<Vec<&[u8]>> = modifications
                    .iter()
                    .map(|one| one.values.iter().map(Vec::as_slice).collect())
                    .collect();
                let changes: Vec<Change<'_>> = modifications
                    .iter()
                    .zip(&values)
                    .map(|(one, values)| Change {
                        operation: one.operation,
                        attribute: PartialAttribute::new(&one.name, values),
                    })
                    .collect();
                entries::modify(client, dn, &changes)
            }
            DueChange::Delete => entries::delete(client, dn),
            DueChange::Rename(name) => {
                let superior = name.superior.as_deref();
                let result = client.modify_dn(dn, &name.rdn, name.deletes_old_rdn, superior)?;
                expect(&result, || format!("cannot rename {dn}"))
            }
        }
    }

    /// Writes the change.
    pub(super) fn write<W: Write>(&self, writer: &mut Writer<W>, dn: &str) -> io::Result<()> {
        writer.name(dn)?;
        match self {
            DueChange::Add(attributes) => {
                writer.value("changetype", b"add")?;
                for (name, values) in attributes {
                    for value in values {
                        write_value(writer, name, value)?;
                    }
                }
            }
            DueChange::Modify(modifications) => {
                writer.value("changetype", b"modify")?;
                for one in modifications {
                    let word = match one.operation {
                        ModifyOperation::Add => "add",
                        ModifyOperation::Delete => "delete",
                        ModifyOperation::Replace => "replace",
                        ModifyOperation::Increment => "increment",
                    };
                    writer.value(word, one.name.as_bytes())?;
                    for value in &one.values {
                        write_value(writer, &one.name, value)?;
                    }
                    writer.dash()?;
                }
            }
            DueChange::Delete => writer.value("changetype", b"delete")?,
            DueChange::Rename(name) => {
                let deletes = if name.deletes_old_rdn { b"1" } else { b"0" };
                writer.value("changetype", b"modrdn")?;
                writer.value("newrdn", name.rdn.as_bytes())?;
                writer.value("deleteoldrdn", deletes)?;
                if let Some(superior) = &name.superior {
                    writer.value("newsuperior", superior.as_bytes())?;
                }
            }
        }
        writer.end()
    }
}

fn write_value<W: Write>(writer: &mut Writer<W>, name: &str, value: &[u8]) -> io::Result<()> {
    if name.eq_ignore_ascii_case("userPassword") {
        writer.encoded(name, value)
    } else {
        writer.value(name, value)
    }
}
