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
/// An attribute of several values, and the number of values that clients give.
const MANY: &str = "telephoneNumber";
const VALUES: usize = 4;

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
                if let Some(done) = self.modify(node, entry, random, history) {
                    return done;
                }
            }
            7 | 8 if entry.dn != TOP => {
                let rdn = format!("ou={}", self.name(random));
                let superior = random.pick(&entries).dn.clone();
                let superior = (random.chance(40) && depth(&superior) < 6).then_some(superior);
                let delete_old_rdn = random.chance(80);
                let request = Request::ModifyDn(ModifyDnRequest {
                    dn: entry.dn.as_bytes(),
                    new_rdn: rdn.as_bytes(),
                    delete_old_rdn,
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

    /// Changes one attribute: as a whole, or a value of many.
    fn modify(
        &self,
        node: &Node<'_>,
        entry: &SeenEntry,
        random: &mut Random,
        history: &mut History,
    ) -> Option<String> {
        let value = format!("update {}", self.updates);
        let held = entry.attributes.get(MANY).map_or(&[][..], Vec::as_slice);
        let number = |random: &mut Random| format!("{}", random.below(VALUES));
        let (operation, name, values) = match random.below(10) {
            0..3 => (ModifyOperation::Replace, "description", vec![value]),
            3..5 => (ModifyOperation::Replace, "l", vec![value]),
            5 => {
                let rdn = entry.dn.strip_prefix("ou=")?.split(',').next()?;
                let other = format!("n{}", random.below(NAMES));
                let mut values = vec![rdn.to_owned()];
                values.extend((other != rdn).then_some(other));
                (ModifyOperation::Replace, "ou", values)
            }
            6 => {
                let values = (0..random.below(3)).map(|number| number.to_string());
                (ModifyOperation::Replace, MANY, values.collect())
            }
            7 if !held.is_empty() => (
                ModifyOperation::Delete,
                MANY,
                vec![random.pick(held).clone()],
            ),
            _ => (ModifyOperation::Add, MANY, vec![number(random)]),
        };
        // The top of the tree is of another class.
        if entry.dn == TOP && name == "ou" {
            return None;
        }
        if !modify(node, &entry.dn, operation, (name, &values)) {
            return None;
        }
        let csn = note(node, &entry.dn, history);
        let uuid = entry.first("entryUUID");
        match (operation, name) {
            (_, "ou") => {}
            (ModifyOperation::Replace, _) => history.replaced((uuid, name), &values, &csn),
            (ModifyOperation::Add, _) => history.set_value((uuid, name), &values[0], &csn, true),
            _ => history.set_value((uuid, name), &values[0], &csn, false),
        }
        let dn = &entry.dn;
        Some(format!("modify {dn} {operation:?} {name} {values:?} {csn}"))
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

pub(crate) fn add(node: &Node<'_>, dn: &str, values: &[(&str, &str)]) -> bool {
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

/// Changes one attribute of an entry. Returns true if the server has taken it.
pub(crate) fn modify(
    node: &Node<'_>,
    dn: &str,
    operation: ModifyOperation,
    (name, values): (&str, &[String]),
) -> bool {
    let slices: Vec<&[u8]> = values.iter().map(String::as_bytes).collect();
    let change = Change {
        operation,
        attribute: PartialAttribute {
            description: name.as_bytes(),
            values: Values::from_slices(&slices),
        },
    };
    let request = Request::Modify(ModifyRequest {
        dn: dn.as_bytes(),
        changes: vec![change],
    });
    node.update(&request).is_success()
}

/// Notes the state of an entry that a client has changed. Returns the number of the change.
fn note(node: &Node<'_>, dn: &str, history: &mut History) -> String {
    let entries = node.entries();
    let entry = entries.values().find(|entry| entry.dn == dn);
    let entry = entry.expect("an acknowledged entry");
    history.changed(entry);
    entry.first("entryCSN").to_owned()
}
