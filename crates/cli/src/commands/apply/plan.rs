//! From the state that is wanted and the state that is there to the changes that are due.

use std::collections::HashMap;

use anyhow::bail;
use fulgurite_client::{Client, Entry, ModifyOperation, ResultCode};

use super::changes::DueChange;
use super::renames::{Renames, moved, new_name};
use super::wanted::{Modification, NewName, WantedState, Wish};
use crate::remote::answer::MissingEntry;
use crate::remote::entries::{NamedValues, push, read};
use fulgurite_client::names::{first_part, normal};

/// Values of an attribute that are replaced as a whole at most. Of more, single ones are changed.
const REPLACED_MAX: usize = 50;

/// Compares wishes with a server, and with the changes planned so far.
pub(super) struct Planner<'c> {
    client: &'c mut Client,
    /// True if entries that should be absent are deleted.
    deletes: bool,
    /// The entries that planned changes concern, as they will be; `None` for no entry.
    planned: HashMap<String, Option<Entry>>,
    renames: Renames,
    /// The place of the wish among those of the file.
    at: usize,
}

/// An entry, and where its state comes from.
struct Current {
    entry: Entry,
    /// True if the server has the entry in this state, so that it can compare values.
    is_at_server: bool,
}

impl<'c> Planner<'c> {
    pub(super) fn new(client: &'c mut Client, deletes: bool, renames: Renames) -> Planner<'c> {
        Planner {
            renames,
            at: 0,
            client,
            deletes,
            planned: HashMap::new(),
        }
    }

    /// Returns the change that a wish calls for, and the name of its entry; `None` if its state is
    /// there. Wishes come in the order of the file.
    pub(super) fn change(&mut self, wish: &Wish) -> anyhow::Result<Option<(String, DueChange)>> {
        let dn = match &wish.state {
            WantedState::Present(_) | WantedState::Modified(_) => self.name(&wish.dn)?,
            WantedState::Absent | WantedState::Renamed(_) => wish.dn.clone(),
        };
        let change = self.change_of(&dn, wish)?;
        self.at += 1;
        Ok(change.map(|change| (dn, change)))
    }

    /// Returns the name of an entry that a later wish renames. An earlier run may have done so.
    fn name(&mut self, dn: &str) -> anyhow::Result<String> {
        if let Some(last) = self.renames.last_name(dn, self.at)
            && self.current(dn, &[])?.is_none()
            && self.current(&last, &[])?.is_some()
        {
            return Ok(last);
        }
        Ok(dn.to_owned())
    }

    fn change_of(&mut self, dn: &str, wish: &Wish) -> anyhow::Result<Option<DueChange>> {
        match &wish.state {
            WantedState::Present(attributes) => {
                let is_renamed = normal(dn) != normal(&wish.dn);
                let name = first_part(&wish.dn).filter(|_| is_renamed);
                let is_of_name = |attribute: &str| {
                    let name = name.as_ref();
                    name.is_some_and(|(name, _)| name.eq_ignore_ascii_case(attribute))
                };
                // The rename has changed the attribute of the name.
                let wanted = attributes.iter().filter(|(name, _)| !is_of_name(name));
                let wanted: Vec<NamedValues> = wanted.cloned().collect();
                self.present(dn, &wanted)
            }
            WantedState::Absent => {
                let is_there = self.current(dn, &[])?.is_some();
                if self.deletes {
                    self.planned.insert(normal(dn), None);
                }
                Ok(is_there.then_some(DueChange::Delete))
            }
            WantedState::Modified(modifications) => self.modified(dn, modifications),
            WantedState::Renamed(name) => self.renamed(dn, name),
        }
    }

    /// Reads an entry, as it will be behind the planned changes.
    fn current(&mut self, dn: &str, names: &[&str]) -> anyhow::Result<Option<Current>> {
        let current = |entry: Entry, is_at_server| Current {
            entry,
            is_at_server,
        };
        if let Some(planned) = self.planned.get(&normal(dn)) {
            return Ok(planned.clone().map(|entry| current(entry, false)));
        }
        let Some(present) = self.renames.present_name(dn) else {
            return Ok(None);
        };
        // Later wishes may concern other attributes of the same entry.
        let names = [&["*"][..], names].concat();
        let entry = read(self.client, &present, "(objectClass=*)", &names)?;
        Ok(entry.map(|entry| current(entry, true)))
    }

    fn present(&mut self, dn: &str, wanted: &[NamedValues]) -> anyhow::Result<Option<DueChange>> {
        let names: Vec<&str> = wanted.iter().map(|(name, _)| name.as_str()).collect();
        let Some(current) = self.current(dn, &names)? else {
            let added = complete(dn, wanted);
            let entry = Entry {
                dn: dn.to_owned(),
                attributes: added.clone(),
            };
            self.planned.insert(normal(dn), Some(entry));
            return Ok(Some(DueChange::Add(added)));
        };
        let mut due = Vec::new();
        for (name, values) in wanted {
            self.replacement(&current, (name, values), &mut due)?;
        }
        Ok(self.due(dn, current, due))
    }

    fn modified(
        &mut self,
        dn: &str,
        modifications: &[Modification],
    ) -> anyhow::Result<Option<DueChange>> {
        let names: Vec<&str> = modifications.iter().map(|one| one.name.as_str()).collect();
        let Some(mut current) = self.current(dn, &names)? else {
            return Err(MissingEntry(format!("there is no entry {dn}")).into());
        };
        let mut due = Vec::new();
        for one in modifications {
            let before = due.len();
            let name = (one.name.as_str(), one.values.as_slice());
            match one.operation {
                ModifyOperation::Replace => self.replacement(&current, name, &mut due)?,
                ModifyOperation::Add => {
                    let missing = self.missing(&current, name)?;
                    due.extend(modification(ModifyOperation::Add, &one.name, missing));
                }
                ModifyOperation::Delete if one.values.is_empty() => {
                    if !current.entry.values(&one.name).is_empty() {
                        due.push(whole(ModifyOperation::Delete, &one.name, Vec::new()));
                    }
                }
                ModifyOperation::Delete => {
                    let missing = self.missing(&current, name)?;
                    let held = one.values.iter().filter(|value| !missing.contains(value));
                    let held = held.cloned().collect();
                    due.extend(modification(ModifyOperation::Delete, &one.name, held));
                }
                ModifyOperation::Increment => bail!("an increment cannot be applied"),
            }
            if due.len() > before {
                due.iter()
                    .skip(before)
                    .for_each(|one| follow(&mut current.entry, one));
                current.is_at_server = false;
            }
        }
        Ok(self.due(dn, current, due))
    }

    fn renamed(&mut self, dn: &str, name: &NewName) -> anyhow::Result<Option<DueChange>> {
        let new = new_name(dn, &name.rdn, name.superior.as_deref());
        // An entry that differs in the spelling of its name is the same.
        if normal(&new) == normal(dn) {
            return Ok(None);
        }
        match self.current(dn, &[])? {
            Some(current) => {
                self.move_planned(dn, &new);
                self.renames.plan(dn, &new);
                let entry = Entry {
                    dn: new.clone(),
                    ..current.entry
                };
                self.planned.insert(normal(&new), Some(entry));
                Ok(Some(DueChange::Rename(name.clone())))
            }
            None if self.is_renamed(&new)? => Ok(None),
            None => Err(MissingEntry(format!("there is neither {dn} nor {new}")).into()),
        }
    }

    /// Returns true if there is an entry of this name, or of that which later wishes give it.
    fn is_renamed(&mut self, new: &str) -> anyhow::Result<bool> {
        let last = self.renames.last_name(new, self.at + 1);
        if self.current(new, &[])?.is_some() {
            return Ok(true);
        }
        match last {
            Some(last) => Ok(self.current(&last, &[])?.is_some()),
            None => Ok(false),
        }
    }

    /// Gives planned entries at and below a name that of another.
    fn move_planned(&mut self, old: &str, new: &str) {
        let (old, new) = (normal(old), normal(new));
        let planned = std::mem::take(&mut self.planned);
        let moved = planned
            .into_iter()
            .map(|(dn, entry)| (moved(&dn, &old, &new).unwrap_or(dn), entry));
        self.planned = moved.collect();
    }

    /// Notes the state behind modifications, and returns their change.
    fn due(&mut self, dn: &str, mut current: Current, due: Vec<Modification>) -> Option<DueChange> {
        if due.is_empty() {
            return None;
        }
        due.iter().for_each(|one| follow(&mut current.entry, one));
        self.planned.insert(normal(dn), Some(current.entry));
        Some(DueChange::Modify(due))
    }

    /// Appends what brings an attribute to exactly these values.
    fn replacement(
        &mut self,
        current: &Current,
        (name, wanted): (&str, &[Vec<u8>]),
        due: &mut Vec<Modification>,
    ) -> anyhow::Result<()> {
        let held = current.entry.values(name);
        if wanted.is_empty() {
            if !held.is_empty() {
                due.push(whole(ModifyOperation::Delete, name, Vec::new()));
            }
            return Ok(());
        }
        let missing = self.missing(current, (name, wanted))?;
        if name.eq_ignore_ascii_case("objectClass") {
            // Servers and people differ in naming the superior classes, which mean nothing more.
            due.extend(modification(ModifyOperation::Add, name, missing));
            return Ok(());
        }
        // Values are distinct. So with none missing, a surplus shows in the number.
        if missing.is_empty() && held.len() == wanted.len() {
            return Ok(());
        }
        let is_password = name.eq_ignore_ascii_case("userPassword");
        if held.is_empty() && !is_password {
            due.push(whole(ModifyOperation::Add, name, wanted.to_vec()));
        } else if held.len().max(wanted.len()) <= REPLACED_MAX || is_password {
            due.push(whole(ModifyOperation::Replace, name, wanted.to_vec()));
        } else {
            let key = |value: &[u8]| normal(&String::from_utf8_lossy(value));
            let keys: Vec<String> = wanted.iter().map(|value| key(value)).collect();
            let surplus = held.iter().filter(|value| !keys.contains(&key(value)));
            let surplus = surplus.cloned().collect();
            due.extend(modification(ModifyOperation::Delete, name, surplus));
            due.extend(modification(ModifyOperation::Add, name, missing));
        }
        Ok(())
    }

    /// Returns the values that an entry lacks.
    fn missing(
        &mut self,
        current: &Current,
        (name, values): (&str, &[Vec<u8>]),
    ) -> anyhow::Result<Vec<Vec<u8>>> {
        let held = current.entry.values(name);
        let mut missing = Vec::new();
        for value in values {
            if !held.contains(value) && !self.is_held(current, name, value)? {
                missing.push(value.clone());
            }
        }
        Ok(missing)
    }

    /// Returns true if an entry has a value in other bytes. The server knows the matching rule.
    fn is_held(&mut self, current: &Current, name: &str, value: &[u8]) -> anyhow::Result<bool> {
        let held = current.entry.values(name);
        if held.is_empty() {
            return Ok(false);
        }
        let mut like = held.iter().filter(|held| held.eq_ignore_ascii_case(value));
        if name.eq_ignore_ascii_case("userPassword") {
            let is_hash_of = |held: &Vec<u8>| fulgurite_auth::verify(held, value).unwrap_or(false);
            return Ok(held.iter().any(is_hash_of));
        }
        if name.eq_ignore_ascii_case("objectClass") {
            return Ok(like.next().is_some());
        }
        // Another capitalisation of a text is wanted; in a DN it means nothing.
        if like.next().is_some() && !value.contains(&b'=') {
            return Ok(false);
        }
        if !current.is_at_server {
            return Ok(false);
        }
        let compared = self.client.compare(&current.entry.dn, name, value)?;
        Ok(compared.code == ResultCode::CompareTrue)
    }
}

/// Returns the attributes of a new entry, with the values of its name.
fn complete(dn: &str, wanted: &[NamedValues]) -> Vec<NamedValues> {
    let filled = wanted.iter().filter(|(_, values)| !values.is_empty());
    let mut attributes: Vec<NamedValues> = filled.cloned().collect();
    if let Some((name, value)) = first_part(dn) {
        let has_name = attributes
            .iter()
            .any(|(known, _)| known.eq_ignore_ascii_case(&name));
        if !has_name {
            push(&mut attributes, &name, value.into_bytes());
        }
    }
    attributes
}

fn whole(operation: ModifyOperation, name: &str, values: Vec<Vec<u8>>) -> Modification {
    Modification {
        operation,
        name: name.to_owned(),
        values,
    }
}

fn modification(
    operation: ModifyOperation,
    name: &str,
    values: Vec<Vec<u8>>,
) -> Option<Modification> {
    (!values.is_empty()).then(|| whole(operation, name, values))
}

/// Makes a modification on an entry in memory.
fn follow(entry: &mut Entry, one: &Modification) {
    let at = entry
        .attributes
        .iter()
        .position(|(name, _)| name.eq_ignore_ascii_case(&one.name));
    let mut values = at.map_or_else(Vec::new, |at| entry.attributes.swap_remove(at).1);
    match one.operation {
        ModifyOperation::Replace => values.clone_from(&one.values),
        ModifyOperation::Delete if one.values.is_empty() => values.clear(),
        ModifyOperation::Delete => values.retain(|value| !one.values.contains(value)),
        ModifyOperation::Add | ModifyOperation::Increment => {
            for value in &one.values {
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
        }
    }
    if !values.is_empty() {
        entry.attributes.push((one.name.clone(), values));
    }
}
