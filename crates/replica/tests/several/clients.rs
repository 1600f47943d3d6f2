//! Clients: updates by chance, mostly of the same few names.

use fulgurite_ldap::{
    AddRequest, Change, DeleteRequest, ModifyDnRequest, ModifyOperation, ModifyRequest,
    PartialAttribute, Request, Values,
};
use fulgurite_testkit::Random;

use crate::history::History;
use crate::node::{Node, SeenEntry, TOP};

/// Names that several clients take.
const NAMES: usize = 6;

/// All clients.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    updates: usize,
}

impl Clients {
    /// Adds the top of the tree.
    pub(crate) fn begin(&mut self, node: &Node<'_>, history: &mut History) {
        let done = add(node, TOP, &[("objectClass", "domain"), ("dc", "example")]);
        assert!(done, "an empty server takes its top");
        note(node, TOP, history);
    }

    /// Does one update. Returns a text for people.
    pub(crate) fn update(
        &mut self,
        node: &Node<'_>,
        random: &mut Random,
        history: &mut History,
    ) -> String {
        self.updates += 1;
        let entries: Vec<SeenEntry> = node.entries().into_values().collect();
        if entries.is_empty() {
            return "nothing here".to_owned();
        }
        let entry = random.pick(&entries);
        let value = format!("update {}", self.updates);
        match random.below(10) {
            0..4 => {
                let name = self.name(random);
                let dn = format!("ou={name},{}", entry.dn);
                let values = [
                    ("objectClass", "organizationalUnit"),
                    ("ou", &*name),
                    ("description", &*value),
                ];
                if depth(&dn) < 7 && add(node, &dn, &values) {
                    note(node, &dn, history);
                    return format!("add {dn} {value}");
                }
            }
            4..7 => {
                let values = [value.as_bytes()];
                let change = Change {
                    operation: ModifyOperation::Replace,
                    attribute: PartialAttribute {
                        description: b"description",
                        values: Values::from_slices(&values),
                    },
                };
                let request = Request::Modify(ModifyRequest {
                    dn: entry.dn.as_bytes(),
                    changes: vec![change],
                });
                if node.update(&request).is_success() {
                    note(node, &entry.dn, history);
                    return format!("modify {} {value}", entry.dn);
                }
            }
            7 | 8 if entry.dn != TOP => {
                let rdn = format!("ou={}", self.name(random));
                let superior = random.pick(&entries).dn.clone();
                let superior = (random.chance(40) && depth(&superior) < 6).then_some(superior);
                let request = Request::ModifyDn(ModifyDnRequest {
                    dn: entry.dn.as_bytes(),
                    new_rdn: rdn.as_bytes(),
                    delete_old_rdn: true,
                    new_superior: superior.as_ref().map(|superior| superior.as_bytes()),
                });
                if node.update(&request).is_success() {
                    let parent = entry.dn.split_once(',').map_or("", |(_, parent)| parent);
                    let parent = superior.as_deref().unwrap_or(parent);
                    let dn = format!("{rdn},{parent}");
                    note(node, &dn, history);
                    return format!("rename {} to {dn}", entry.dn);
                }
            }
            _ if entry.dn != TOP => {
                let request = Request::Delete(DeleteRequest {
                    dn: entry.dn.as_bytes(),
                });
                if node.update(&request).is_success() {
                    let uuid = entry.first("entryUUID");
                    let csn = node.deletion_of(uuid).unwrap_or_default();
                    let text = format!("delete {} {csn}", entry.dn);
                    history.deleted(uuid, csn);
                    return text;
                }
            }
            _ => {}
        }
        "refused".to_owned()
    }

    fn name(&self, random: &mut Random) -> String {
        match random.chance(50) {
            true => format!("n{}", random.below(NAMES)),
            false => format!("own{}", self.updates),
        }
    }
}

fn depth(dn: &str) -> usize {
    dn.split(',').count()
}

fn add(node: &Node<'_>, dn: &str, values: &[(&str, &str)]) -> bool {
    let held: Vec<[&[u8]; 1]> = values.iter().map(|(_, value)| [value.as_bytes()]).collect();
    let attributes = values.iter().zip(&held);
    let attributes = attributes.map(|((name, _), value)| PartialAttribute {
        description: name.as_bytes(),
        values: Values::from_slices(value),
    });
    let request = Request::Add(AddRequest {
        dn: dn.as_bytes(),
        attributes: attributes.collect(),
    });
    node.update(&request).is_success()
}

/// Notes the state of an entry that a client has changed.
fn note(node: &Node<'_>, dn: &str, history: &mut History) {
    let entries = node.entries();
    let entry = entries.values().find(|entry| entry.dn == dn);
    history.changed(entry.expect("an acknowledged entry"));
}
