//! References that follow their entries (slapd's overlay `refint`).
//!
//! A value that names a renamed entry gets the new name. A value that names a deleted entry is
//! removed. This is part of the same transaction, so no client sees a state in between. An
//! attribute with an equality index is looked up. If the entry has descendants, all values of the
//! attributes are compared, because values below the old name follow too.

use fulgurite_ldap::{Assertion, Filter as FilterText, ModifyOperation};
use fulgurite_policy::{OverlayLine, OverlaySettings, Sourced};
use fulgurite_schema::{Attribute, AttributeDescription, AttributeSelector, Dn, Filter, Schema};
use fulgurite_store::{EntryView, Snapshot, StoreError, View};

use super::compilation::Compilation;
use super::name_change::NameChange;
use crate::core::membership::Membership;
use crate::request::change::Change;

/// The author of the changes unless a directive names another one.
const MODIFIERS_NAME: &str = "cn=Referential Integrity Overlay";

/// The feature: the attributes whose values follow, in the order of the configuration.
#[derive(Debug)]
pub(crate) struct Refint {
    attributes: Vec<AttributeDescription>,
    /// The value instead of the last one of an attribute.
    nothing: Option<Vec<u8>>,
    /// Matches the entries whose values follow; `None` for all entries.
    within: Option<Filter<AttributeSelector>>,
    /// The author of the changes; `None` for the root.
    pub(crate) modifiers_name: Option<Vec<u8>>,
}

/// The values of one attribute that a change of a name affects.
#[derive(Default)]
struct AffectedValues {
    removed: Vec<Vec<u8>>,
    added: Vec<Vec<u8>>,
}

impl Refint {
    /// Compiles the directives of the overlay.
    ///
    /// # Errors
    /// slapd's sentence about the first wrong directive.
    pub(super) fn compile(
        compilation: &mut Compilation<'_>,
        settings: &OverlaySettings,
    ) -> Result<Refint, Sourced<String>> {
        let mut refint = Refint {
            attributes: Vec::new(),
            nothing: None,
            within: None,
            modifiers_name: Some(MODIFIERS_NAME.into()),
        };
        for line in &settings.lines {
            let taken = refint.take(compilation, line);
            taken.map_err(|text| Sourced::new(text, line.origin.clone()))?;
        }
        for attribute in &refint.attributes {
            compilation.note_lookup(attribute.attribute, &settings.origin);
        }
        Ok(refint)
    }

    /// Makes the feature for the members of groups.
    pub(super) fn of_groups(membership: &Membership, author: Option<Vec<u8>>) -> Refint {
        Refint {
            attributes: vec![membership.member.clone()],
            nothing: None,
            within: Some(membership.group.clone()),
            modifiers_name: author,
        }
    }

    /// Applies one directive. The last one of a kind counts.
    fn take(
        &mut self,
        compilation: &mut Compilation<'_>,
        line: &Sourced<OverlayLine>,
    ) -> Result<(), String> {
        let schema = compilation.schema;
        match line.directive.keyword {
            "refint_nothing" => {
                let name = name(schema, line, "string")?;
                self.nothing = name.map(String::into_bytes);
            }
            "refint_modifiersname" => {
                let name = name(schema, line, "DN")?;
                let name = name.unwrap_or_else(|| MODIFIERS_NAME.to_owned());
                self.modifiers_name = Some(name.into());
            }
            keyword => {
                if line.arguments.is_empty() {
                    return Err(format!(
                        "keyword <{keyword}> missing <attribute...> argument"
                    ));
                }
                for name in &line.arguments {
                    let described = schema.describe_one(name.as_bytes());
                    let attribute = described
                        .map_err(|error| format!("{keyword} <{name}>: {}", error.reason()))?;
                    let definition = schema.attribute_at(attribute.attribute);
                    if !definition.syntax.is_name() {
                        let text = format!(
                            "{keyword} {name}: the values are no names, so none of them follows"
                        );
                        compilation.warn(text, &line.origin);
                    } else if !self.attributes.contains(&attribute) {
                        self.attributes.push(attribute);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns a filter that no affected entry fails.
    pub(crate) fn filter(
        &self,
        schema: &Schema,
        change: &NameChange<'_>,
    ) -> Filter<AttributeSelector> {
        let items = self.attributes.iter().map(|attribute| {
            let name = attribute.text(schema);
            let attribute = name.as_bytes();
            let item = if change.subtree {
                FilterText::Present(attribute)
            } else {
                let value = change.old.pretty().as_bytes();
                FilterText::Equality(Assertion { attribute, value })
            };
            Filter::resolve(schema, &item)
        });
        Filter::Or(items.collect())
    }

    /// Returns the changes of an entry that a change of a name causes. There are none if the entry
    /// has no such value.
    pub(crate) fn changes<T: Snapshot>(
        &self,
        view: &View<'_, T>,
        entry: &EntryView<'_>,
        change: &NameChange<'_>,
    ) -> Result<Vec<Change>, StoreError> {
        let mut changes = Vec::new();
        let within = self.within.as_ref();
        if within.is_some_and(|filter| !filter.test(view.schema(), entry).is_true()) {
            return Ok(changes);
        }
        // As in slapd, groups stay as they are if the new name is the old one.
        if within.is_some() && change.new == Some(change.old) {
            return Ok(changes);
        }
        for description in &self.attributes {
            let Some(values) = entry.values(description) else {
                continue;
            };
            let mut affected = if change.subtree {
                AffectedValues::below(view.schema(), values.iter(), change)
            } else if view.holds_value(entry.id(), description, change.old.pretty().as_bytes())? {
                AffectedValues::of_one(change)
            } else {
                continue;
            };
            if within.is_some() {
                // As in slapd, a group that has the new name only loses the old one.
                let mut added = Vec::new();
                for value in std::mem::take(&mut affected.added) {
                    if !view.holds_value(entry.id(), description, &value)? {
                        added.push(value);
                    }
                }
                affected.added = added;
            }
            if change.new.is_none() && affected.removed.len() == values.len() {
                affected.added.extend(self.nothing.clone());
            }
            let AffectedValues { removed, added } = affected;
            for (operation, values) in [
                (ModifyOperation::Delete, removed),
                (ModifyOperation::Add, added),
            ] {
                let description = description.clone();
                if !values.is_empty() {
                    changes.push(Change {
                        operation,
                        attribute: Attribute {
                            description,
                            values,
                        },
                    });
                }
            }
        }
        Ok(changes)
    }
}

impl AffectedValues {
    /// Returns the value that is the old name, and the new name.
    fn of_one(change: &NameChange<'_>) -> AffectedValues {
        let text = |dn: &Dn| dn.pretty().as_bytes().to_vec();
        AffectedValues {
            removed: vec![text(change.old)],
            added: change.new.map(text).into_iter().collect(),
        }
    }

    /// Returns the values at or below the old name, and their new names.
    fn below<'v>(
        schema: &Schema,
        values: impl Iterator<Item = &'v [u8]>,
        change: &NameChange<'_>,
    ) -> AffectedValues {
        let mut affected = AffectedValues::default();
        for value in values {
            let Ok(dn) = Dn::parse_bytes(schema, value) else {
                continue;
            };
            if dn.is_within(change.old) {
                affected.removed.push(value.to_vec());
                let new_name = change.new_name(&dn);
                affected.added.extend(new_name.map(String::into_bytes));
            }
        }
        affected
    }
}

/// Reads the one name of a directive; `None` for the empty name.
fn name(schema: &Schema, line: &OverlayLine, kind: &str) -> Result<Option<String>, String> {
    let keyword = line.directive.keyword;
    if line.arguments.len() > 1 {
        return Err(format!("<{keyword}> extra cruft after <{kind}>."));
    }
    let dn = Dn::parse(schema, line.first())
        .map_err(|_| format!("<{keyword}> invalid DN 21 (Invalid syntax)"))?;
    Ok((!dn.is_root()).then(|| dn.pretty().to_owned()))
}
