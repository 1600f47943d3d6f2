//! Updates as values: sent to any server, printed, invented.

use std::fmt;

use fulgurite_client::{Change, Client, LdapResult, PartialAttribute};
use fulgurite_ldap::Values;
use fulgurite_testkit::Random;

use crate::compare::Answer;
use crate::data::Data;
use crate::queries::Requester;
use crate::servers::{ROOT_DN, ROOT_PASSWORD};

/// One update, or a compare or bind, whose answers are results alone.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    pub(crate) who: Requester,
    pub(crate) operation: Operation,
}

pub(crate) type Pairs = Vec<(String, Vec<Vec<u8>>)>;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Add,
    Delete,
    Replace,
    Increment,
}

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Add {
        dn: String,
        attributes: Pairs,
    },
    Modify {
        dn: String,
        changes: Vec<(Kind, String, Vec<Vec<u8>>)>,
    },
    Delete {
        dn: String,
    },
    Rename {
        dn: String,
        rdn: String,
        delete_old: bool,
        superior: Option<String>,
    },
    Compare {
        dn: String,
        attribute: String,
        value: Vec<u8>,
    },
    /// On the same connection; it ends anonymous or bound, so the root binds again behind it.
    Bind {
        dn: String,
        password: String,
    },
}

impl Update {
    pub(crate) fn apply(&self, client: &mut Client) -> Answer {
        let result = self
            .send(client)
            .unwrap_or_else(|error| panic!("{self}: {error}"));
        if matches!(self.operation, Operation::Bind { .. }) {
            let restored = client
                .bind(ROOT_DN, ROOT_PASSWORD.as_bytes())
                .expect("bind again");
            assert!(
                restored.is_success(),
                "the root can bind again: {restored:?}"
            );
        }
        Answer::of(&result)
    }

    fn send(&self, client: &mut Client) -> Result<LdapResult, fulgurite_client::ClientError> {
        match &self.operation {
            Operation::Add { dn, attributes } => {
                let values: Vec<Vec<&[u8]>> = attributes
                    .iter()
                    .map(|(_, values)| slices(values))
                    .collect();
                let attributes: Vec<PartialAttribute<'_>> = attributes
                    .iter()
                    .zip(&values)
                    .map(|((name, _), values)| PartialAttribute {
                        description: name.as_bytes(),
                        values: Values::from_slices(values),
                    })
                    .collect();
                client.add(dn, &attributes)
            }
            Operation::Modify { dn, changes } => {
                let values: Vec<Vec<&[u8]>> = changes
                    .iter()
                    .map(|(_, _, values)| slices(values))
                    .collect();
                let changes: Vec<Change<'_>> = changes
                    .iter()
                    .zip(&values)
                    .map(|((kind, name, _), values)| match kind {
                        Kind::Add => Change::add(name, values),
                        Kind::Delete => Change::delete(name, values),
                        Kind::Replace => Change::replace(name, values),
                        Kind::Increment => Change::increment(name, values),
                    })
                    .collect();
                client.modify(dn, &changes)
            }
            Operation::Delete { dn } => client.delete(dn),
            Operation::Rename {
                dn,
                rdn,
                delete_old,
                superior,
            } => client.modify_dn(dn, rdn, *delete_old, superior.as_deref()),
            Operation::Compare {
                dn,
                attribute,
                value,
            } => client.compare(dn, attribute, value),
            Operation::Bind { dn, password } => client.bind(dn, password.as_bytes()),
        }
    }
}

impl fmt::Display for Update {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &[Vec<u8>]| {
            let values: Vec<String> = values
                .iter()
                .map(|value| value.escape_ascii().to_string())
                .collect();
            values.join(" | ")
        };
        write!(out, "{:?} ", self.who)?;
        match &self.operation {
            Operation::Add { dn, attributes } => {
                write!(out, "adds {dn}")?;
                attributes
                    .iter()
                    .try_for_each(|(name, values)| write!(out, "; {name}: {}", list(values)))
            }
            Operation::Modify { dn, changes } => {
                write!(out, "modifies {dn}")?;
                changes.iter().try_for_each(|(kind, name, values)| {
                    write!(out, "; {kind:?} {name}: {}", list(values))
                })
            }
            Operation::Delete { dn } => write!(out, "deletes {dn}"),
            Operation::Rename {
                dn,
                rdn,
                delete_old,
                superior,
            } => {
                write!(
                    out,
                    "renames {dn} to {rdn} (delete old {delete_old}) below {superior:?}"
                )
            }
            Operation::Compare {
                dn,
                attribute,
                value,
            } => {
                write!(
                    out,
                    "compares {attribute} of {dn} with {}",
                    value.escape_ascii()
                )
            }
            Operation::Bind { dn, password } => {
                write!(out, "binds as \"{dn}\" with \"{password}\"")
            }
        }
    }
}

fn slices(values: &[Vec<u8>]) -> Vec<&[u8]> {
    values.iter().map(Vec::as_slice).collect()
}

/// An update by the root.
pub(crate) fn root(operation: Operation) -> Update {
    Update {
        who: Requester::Root,
        operation,
    }
}

/// Changes to the loaded entries: attributes come, go and change, entries move and vanish.
pub(crate) fn random(data: &Data, random: &mut Random, count: usize) -> Vec<Update> {
    (0..count).map(|_| one(data, random)).collect()
}

fn one(data: &Data, random: &mut Random) -> Update {
    let dn = data.ordinary(random).dn.clone();
    let attribute = [
        "description",
        "telephoneNumber",
        "title",
        "mail",
        "l",
        "uidNumber",
        "objectClass",
        "sn",
        "seeAlso",
    ][random.below(9)];
    let value = data
        .value_of(attribute, random)
        .map_or_else(|| b"some value".to_vec(), <[u8]>::to_vec);
    root(match random.below(10) {
        0..=5 => {
            let kind = [Kind::Add, Kind::Delete, Kind::Replace][random.below(3)];
            let values = if random.below(4) == 0 {
                Vec::new()
            } else {
                vec![value]
            };
            // Adding no value at all is a protocol error that some servers answer by hanging up.
            let kind = if values.is_empty() && matches!(kind, Kind::Add) {
                Kind::Replace
            } else {
                kind
            };
            Operation::Modify {
                dn,
                changes: vec![(kind, attribute.to_owned(), values)],
            }
        }
        6 => Operation::Delete { dn },
        7 => {
            let rdn = format!("cn=renamed {}", random.below(40));
            Operation::Rename {
                dn,
                rdn,
                delete_old: random.below(2) == 0,
                superior: None,
            }
        }
        8 => {
            let rdn = format!("cn=moved {}", random.below(40));
            let superior = Some(data.ordinary(random).dn.clone());
            Operation::Rename {
                dn,
                rdn,
                delete_old: random.below(2) == 0,
                superior,
            }
        }
        _ => Operation::Compare {
            dn,
            attribute: attribute.to_owned(),
            value,
        },
    })
}
