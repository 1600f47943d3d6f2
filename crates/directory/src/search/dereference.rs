//! The dereference control: attributes of the entries that values of a found entry name.

use fulgurite_access::{EntryRights, Rights};
use fulgurite_ldap::control::{Dereference, DereferenceSpec, DereferencedValue, dereferenced};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::{AttributeDescription, Dn, Schema};
use fulgurite_store::{EntryView, StoreError, View};

use crate::core::result::{OpResult, refuse};
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::requester_rights::RequesterRights;

/// The number of values of one entry that are dereferenced at most. A connection's turn is bounded.
const VALUES_MAX: usize = 1 << 16;

/// The resolved control.
#[derive(Debug)]
pub(crate) struct ResolvedDereference {
    specs: Vec<ResolvedSpec>,
}

/// An attribute whose values name entries, and the attributes to return of those.
#[derive(Debug)]
struct ResolvedSpec {
    attribute: NamedAttribute,
    attributes: Vec<NamedAttribute>,
}

/// An attribute with its name in the schema.
#[derive(Debug)]
struct NamedAttribute {
    description: AttributeDescription,
    name: String,
}

/// Names of attributes with their values.
type NamedValues<'v> = Vec<(&'v str, Vec<&'v [u8]>)>;

/// The value of the response control of one entry.
pub(crate) enum EntryDereference {
    /// The entry has no value that the requester may read.
    Nothing,
    Value(Vec<u8>),
    /// The entry has too many values.
    TooMany,
}

impl ResolvedDereference {
    /// Resolves the attributes of the control.
    ///
    /// # Errors
    /// protocolError with slapd's texts.
    pub(crate) fn resolve(
        schema: &Schema,
        control: &Dereference<'_>,
    ) -> OpResult<ResolvedDereference> {
        let mut specs: Vec<ResolvedSpec> = Vec::new();
        for spec in &control.specs {
            let resolved = ResolvedSpec::resolve(schema, spec)?;
            let description = &resolved.attribute.description;
            if specs
                .iter()
                .any(|other| other.attribute.description == *description)
            {
                return Err(wrong("derefAttr must be unique within control"));
            }
            specs.push(resolved);
        }
        Ok(ResolvedDereference { specs })
    }

    /// Returns the value of the response control of an entry.
    pub(crate) fn of_entry(
        &self,
        view: &View<'_>,
        entry: &EntryView<'_>,
        requester: RequesterRights<'_>,
        rights: EntryRights<'_>,
    ) -> Result<EntryDereference, StoreError> {
        let mut found = Vec::new();
        for spec in &self.specs {
            let held = spec.attribute.values(entry, requester, rights);
            if found.len() + held.len() > VALUES_MAX {
                return Ok(EntryDereference::TooMany);
            }
            for value in held {
                found.push(DereferencedValue {
                    attribute: &spec.attribute.name,
                    value,
                    attributes: spec.attributes_of(view, value, requester)?,
                });
            }
        }
        Ok(if found.is_empty() {
            EntryDereference::Nothing
        } else {
            EntryDereference::Value(dereferenced(&found))
        })
    }
}

impl ResolvedSpec {
    fn resolve(schema: &Schema, spec: &DereferenceSpec<'_>) -> OpResult<ResolvedSpec> {
        let attribute = NamedAttribute::resolve(schema, spec.attribute, "derefAttr")?;
        let definition = schema.attribute_at(attribute.description.attribute);
        if !definition.syntax.is_name() {
            return Err(wrong("derefAttr syntax not distinguishedName"));
        }
        let names = spec.attributes.iter();
        let attributes = names.map(|name| NamedAttribute::resolve(schema, name, "attribute"));
        Ok(ResolvedSpec {
            attribute,
            attributes: attributes.collect::<Result<_, _>>()?,
        })
    }

    /// Returns the attributes of the entry that a value names. There are none if the requester may
    /// not read them, or no entry has the name.
    fn attributes_of<'v>(
        &'v self,
        view: &'v View<'_>,
        value: &[u8],
        requester: RequesterRights<'_>,
    ) -> Result<NamedValues<'v>, StoreError> {
        let Ok(dn) = Dn::parse_bytes(view.schema(), value) else {
            return Ok(Vec::new());
        };
        let Some(id) = view.find(&dn)?.entry() else {
            return Ok(Vec::new());
        };
        let Some(entry) = view.entry(id)? else {
            return Ok(Vec::new());
        };
        let facts = EntryFacts::new(requester.core, view, EntrySource::Stored(entry));
        let rights = facts.rights(requester.decisions, dn.normal());
        if !rights.entry().allows(Rights::READ) {
            return Ok(Vec::new());
        }
        let attributes = self.attributes.iter();
        let shown = attributes.map(|attribute| {
            let values = attribute.values(&entry, requester, rights);
            (attribute.name.as_str(), values)
        });
        Ok(shown.filter(|(_, values)| !values.is_empty()).collect())
    }
}

impl NamedAttribute {
    fn resolve(schema: &Schema, name: &[u8], kind: &str) -> OpResult<NamedAttribute> {
        let described = schema.describe_one(name);
        let description = described.map_err(|_| wrong(&format!("{kind} decoding error")))?;
        let name = description.text(schema).into_owned();
        Ok(NamedAttribute { description, name })
    }

    /// Returns the stored values that the requester may read; none of a computed attribute.
    fn values<'v>(
        &self,
        entry: &EntryView<'v>,
        requester: RequesterRights<'_>,
        rights: EntryRights<'_>,
    ) -> Vec<&'v [u8]> {
        if requester.computed(&self.description).is_some() {
            return Vec::new();
        }
        let Some(values) = entry.values(&self.description) else {
            return Vec::new();
        };
        if requester.decisions.by_value() {
            let may_read =
                |value: &&[u8]| rights.value(&self.description, value).allows(Rights::READ);
            return values.iter().filter(may_read).collect();
        }
        match rights.attribute(&self.description).allows(Rights::READ) {
            true => values.iter().collect(),
            false => Vec::new(),
        }
    }
}

/// Returns protocolError about the control.
fn wrong(fault: &str) -> LdapResult {
    let text = format!("{}: {fault}", Dereference::KIND.name);
    refuse(ResultCode::ProtocolError, text)
}
