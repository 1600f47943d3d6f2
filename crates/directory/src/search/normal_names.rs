//! A cache of names in normal form, for rules about names.

use std::collections::HashMap;

use fulgurite_store::{EntryId, EntryView, StoreError, View};

/// The number of cached parents. The entries of one search share few parents.
const NAMES_MAX: usize = 256;

/// The normal forms of parents, for one operation on one snapshot.
#[derive(Debug, Default)]
pub(crate) struct NormalNames {
    parents: HashMap<EntryId, String>,
}

impl NormalNames {
    pub(crate) fn clear(&mut self) {
        self.parents.clear();
    }

    /// Writes the normal form of an entry's name to `out`, replacing its content.
    pub(crate) fn write(
        &mut self,
        view: &View<'_>,
        entry: &EntryView<'_>,
        out: &mut String,
    ) -> Result<(), StoreError> {
        out.clear();
        push(out, entry);
        let Some(parent) = entry.parent() else {
            return Ok(());
        };
        out.push(',');
        if let Some(name) = self.parents.get(&parent) {
            out.push_str(name);
            return Ok(());
        }
        let name = climb(view, parent)?;
        out.push_str(&name);
        if self.parents.len() >= NAMES_MAX {
            self.parents.clear();
        }
        self.parents.insert(parent, name);
        Ok(())
    }
}

fn climb(view: &View<'_>, from: EntryId) -> Result<String, StoreError> {
    let mut name = String::new();
    let mut next = Some(from);
    while let Some(id) = next {
        let entry = view.entry(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        if !name.is_empty() {
            name.push(',');
        }
        push(&mut name, &entry);
        next = entry.parent();
    }
    Ok(name)
}

fn push(out: &mut String, entry: &EntryView<'_>) {
    out.push_str(&String::from_utf8_lossy(entry.rdn_normal()));
}
