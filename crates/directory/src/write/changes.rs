//! Changes of an entry in memory (RFC 4511, section 4.6; RFC 4525).

use std::borrow::Cow;
use std::collections::HashSet;

use fulgurite_ldap::{LdapResult, ModifyOperation, ModifyRequest, PartialAttribute, ResultCode};
use fulgurite_schema::{Attribute, AttributeDescription, AttributeType, Dn, Entry, Schema};

use crate::core::result::{self, OpResult, refuse};
use crate::request::change::{Change, no_such_attribute, no_such_value};
use crate::write::multi_value::MultiValueAttributes;

/// The OID of the Integer syntax (RFC 4517, section 3.3.16).
const INTEGER_SYNTAX: &str = "1.3.6.1.4.1.1466.115.121.1.27";

/// The OID of the DN syntax (RFC 4517, section 3.3.9).
const DN_SYNTAX: &str = "1.3.6.1.4.1.1466.115.121.1.12";

/// Resolves the changes of a request, in their order.
pub(crate) fn resolve(schema: &Schema, request: &ModifyRequest<'_>) -> OpResult<Vec<Change>> {
    for change in &request.changes {
        count(change.operation, change.attribute.values.len())?;
    }
    let changes: OpResult<Vec<Change>> = request
        .changes
        .iter()
        .map(|change| {
            if change.operation == ModifyOperation::Increment {
                require_integer(schema, &change.attribute)?;
            }
            let attribute = match change.operation {
                ModifyOperation::Delete => deleted(schema, &change.attribute)?,
                _ => attribute(schema, &change.attribute)?,
            };
            Ok(Change {
                operation: change.operation,
                attribute,
            })
        })
        .collect();
    debug_assert!(
        changes
            .as_ref()
            .is_ok_and(|changes| changes.len() == request.changes.len())
            || changes.is_err(),
        "no change is left out"
    );
    changes
}

/// Resolves one attribute of an add or a modify, and checks its values.
pub(crate) fn attribute(schema: &Schema, given: &PartialAttribute<'_>) -> OpResult<Attribute> {
    let mut attribute = unchecked(schema, given)?;
    if !attribute.values.is_empty() {
        schema.check_values(&attribute).map_err(result::violation)?;
        spell_names(schema, &mut attribute);
    }
    attribute.make_pretty(schema);
    debug_assert_eq!(
        attribute.values.len(),
        given.values.len(),
        "no value is left out"
    );
    Ok(attribute)
}

/// Resolves values to delete, each checked alone: repeated values are no error.
fn deleted(schema: &Schema, given: &PartialAttribute<'_>) -> OpResult<Attribute> {
    let deleted = unchecked(schema, given)?;
    schema
        .check_transfer(&deleted.description)
        .map_err(result::violation)?;
    for (number, value) in deleted.values.iter().enumerate() {
        let one = Attribute {
            description: deleted.description.clone(),
            values: vec![value.clone()],
        };
        schema.check_values(&one).map_err(|mut wrong| {
            wrong.text = wrong.text.replace("value #0", &format!("value #{number}"));
            result::violation(wrong)
        })?;
    }
    Ok(deleted)
}

fn unchecked(schema: &Schema, given: &PartialAttribute<'_>) -> OpResult<Attribute> {
    Ok(Attribute {
        description: result::description(schema, given.description)?,
        values: given.values.iter().map(<[u8]>::to_vec).collect(),
    })
}

/// Rewrites values of DN syntax to the form for display, as slapd stores them.
fn spell_names(schema: &Schema, attribute: &mut Attribute) {
    let definition = schema.attribute_at(attribute.description.attribute);
    if definition.syntax.oid != DN_SYNTAX {
        return;
    }
    for value in &mut attribute.values {
        let name = std::str::from_utf8(value).ok();
        if let Some(name) = name.and_then(|text| Dn::parse(schema, text).ok())
            && name.pretty().as_bytes() != value.as_slice()
        {
            debug_assert!(
                Dn::parse(schema, name.pretty()).is_ok_and(|again| again == name),
                "the form for display names the same entry"
            );
            *value = name.pretty().as_bytes().to_vec();
        }
    }
}

fn require_integer(schema: &Schema, given: &PartialAttribute<'_>) -> OpResult {
    let description = result::description(schema, given.description)?;
    if schema.attribute_at(description.attribute).syntax.oid == INTEGER_SYNTAX {
        return Ok(());
    }
    let name = String::from_utf8_lossy(given.description);
    let text = format!("{name}: attribute syntax inappropriate for increment");
    Err(refuse(ResultCode::ConstraintViolation, text))
}

/// Applies all changes in their order. The caller checks the result against the schema once.
///
/// The entry holds one value of each attribute in `large`, which records the changes of the others.
/// A `permissive` client may add values that exist and delete values that are missing.
pub(crate) fn apply(
    schema: &Schema,
    entry: &mut Entry,
    large: &mut MultiValueAttributes<'_>,
    changes: &[Change],
    permissive: bool,
) -> OpResult {
    for change in changes {
        debug_assert!(
            !change.attribute.values.is_empty()
                || matches!(
                    change.operation,
                    ModifyOperation::Delete | ModifyOperation::Replace
                ),
            "the request was checked"
        );
        if let Some(applied) = large.apply(schema, change, permissive) {
            applied?;
            continue;
        }
        let attribute = &change.attribute;
        match change.operation {
            ModifyOperation::Add => add(schema, entry, attribute, permissive)?,
            ModifyOperation::Delete => delete(schema, entry, attribute, permissive)?,
            ModifyOperation::Replace => {
                entry.set(&attribute.description, attribute.values.clone());
            }
            ModifyOperation::Increment => increment(schema, entry, attribute, permissive)?,
        }
    }
    Ok(())
}

/// Checks the number of values of a change.
pub(crate) fn count(operation: ModifyOperation, values: usize) -> OpResult {
    let text = match (operation, values) {
        (ModifyOperation::Add, 0) => "modify/add operation requires values",
        (ModifyOperation::Increment, 0) => "modify/increment operation requires value",
        (ModifyOperation::Increment, 2..) => "modify/increment operation requires single value",
        _ => return Ok(()),
    };
    Err(refuse(ResultCode::ProtocolError, text))
}

fn add(schema: &Schema, entry: &mut Entry, added: &Attribute, permissive: bool) -> OpResult {
    let Some(held) = entry.attribute_mut(&added.description) else {
        entry.attributes.push(added.clone());
        return Ok(());
    };
    let present = normal_values(schema, &held.description, &held.values, "add")?;
    let mut new = Vec::with_capacity(added.values.len());
    for (number, value) in added.values.iter().enumerate() {
        let normal = schema.normal_value(added.description.attribute, value);
        if normal.is_none_or(|normal| !present.contains(&normal)) {
            new.push(value.clone());
        } else if !permissive {
            let name = added.description.text(schema);
            let text = format!("modify/add: {name}: value #{number} already exists");
            return Err(refuse(ResultCode::AttributeOrValueExists, text));
        }
    }
    drop(present);
    debug_assert!(
        new.len() <= added.values.len(),
        "only given values are added"
    );
    held.values.append(&mut new);
    debug_assert!(!held.values.is_empty(), "an attribute has values");
    Ok(())
}

/// Replaces a missing value by a missing attribute in a refusal, for requesters that see no value
/// of the attribute.
///
/// A missing value would reveal that there are others.
pub(crate) fn without_value(
    schema: &Schema,
    description: &AttributeDescription,
    mut refused: LdapResult,
) -> LdapResult {
    debug_assert!(!refused.is_success(), "a refusal is no success");
    let name = description.text(schema);
    if refused.diagnostic == no_such_value(&name) {
        refused.diagnostic = no_such_attribute(&name);
    }
    refused
}

fn delete(schema: &Schema, entry: &mut Entry, deleted: &Attribute, permissive: bool) -> OpResult {
    let name = deleted.description.text(schema);
    let mut left_to_delete = HashSet::new();
    if !deleted.values.is_empty() {
        left_to_delete = normal_values(schema, &deleted.description, &deleted.values, "delete")?;
    }
    let Some(held) = entry.attribute_mut(&deleted.description) else {
        if permissive {
            return Ok(());
        }
        return Err(refuse(
            ResultCode::NoSuchAttribute,
            no_such_attribute(&name),
        ));
    };
    if deleted.values.is_empty() {
        entry.set(&deleted.description, Vec::new());
        return Ok(());
    }
    held.values.retain(|value| {
        schema
            .normal_value(deleted.description.attribute, value)
            .is_none_or(|normal| !left_to_delete.remove::<[u8]>(&normal))
    });
    if !left_to_delete.is_empty() && !permissive {
        let text = no_such_value(&name);
        return Err(refuse(ResultCode::NoSuchAttribute, text));
    }
    if held.values.is_empty() {
        entry.set(&deleted.description, Vec::new());
        debug_assert!(
            entry.attribute(&deleted.description).is_none(),
            "an attribute without values is removed"
        );
    }
    Ok(())
}

fn increment(schema: &Schema, entry: &mut Entry, by: &Attribute, permissive: bool) -> OpResult {
    let name = by.description.text(schema);
    let Some(held) = entry.attribute_mut(&by.description) else {
        if permissive {
            // A missing value counts as 0.
            entry.attributes.push(by.clone());
            return Ok(());
        }
        let text = format!("modify/increment: {name}: no such attribute");
        return Err(refuse(ResultCode::NoSuchAttribute, text));
    };
    debug_assert_eq!(by.values.len(), 1, "the request was checked");
    debug_assert!(!held.values.is_empty(), "an attribute has values");
    let by = by.values.first().and_then(|value| integer(value));
    for value in &mut held.values {
        let sum = integer(value)
            .zip(by)
            .and_then(|(held, by)| held.checked_add(by));
        let sum = sum.ok_or_else(|| {
            let text = format!("modify/increment: {name}: the sum is too large");
            refuse(ResultCode::ConstraintViolation, text)
        })?;
        *value = sum.to_string().into_bytes();
    }
    Ok(())
}

fn integer(value: &[u8]) -> Option<i128> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Returns values in normal form. Fails for a type without an equality rule.
fn normal_values<'v>(
    schema: &Schema,
    description: &AttributeDescription,
    values: &'v [Vec<u8>],
    change: &str,
) -> OpResult<HashSet<Cow<'v, [u8]>>> {
    let definition: &AttributeType = schema.attribute_at(description.attribute);
    if definition.equality.is_none() {
        let name = description.text(schema);
        let text = format!("modify/{change}: {name}: no equality matching rule");
        return Err(refuse(ResultCode::InappropriateMatching, text));
    }
    let normal: HashSet<_> = values
        .iter()
        .filter_map(|value| schema.normal_value(description.attribute, value))
        .collect();
    debug_assert!(normal.len() <= values.len(), "a value has one normal form");
    Ok(normal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ModifyOperation::{Add, Delete, Increment, Replace};
    use fulgurite_ldap::{Change as Asked, Values};

    fn entry(schema: &Schema) -> Entry {
        let mut entry = Entry::new(Dn::parse(schema, "cn=Jane,dc=example").expect("a name"));
        for (name, value) in [
            ("cn", "Jane"),
            ("cn", "Jane Doe"),
            ("cn;lang-de", "Jane Reh"),
            ("sn", "Doe"),
            ("uidNumber", "1000"),
            ("audio", "x"),
        ] {
            entry.push(&schema.describe(name.as_bytes()).expect(name), value.into());
        }
        entry
    }

    /// Applies changes `(operation, attribute, values)`. Returns the entry as sorted lines, or the
    /// code of the refusal.
    fn modified(changes: &[(ModifyOperation, &str, &[&str])]) -> Result<Vec<String>, ResultCode> {
        let schema = Schema::standard();
        let values: Vec<Vec<&[u8]>> = changes
            .iter()
            .map(|(.., values)| values.iter().map(|v| v.as_bytes()).collect())
            .collect();
        let changes = changes
            .iter()
            .zip(&values)
            .map(|(&(operation, name, _), values)| Asked {
                operation,
                attribute: PartialAttribute {
                    description: name.as_bytes(),
                    values: Values::from_slices(values),
                },
            })
            .collect();
        let request = ModifyRequest { dn: b"", changes };
        let mut entry = entry(&schema);
        resolve(&schema, &request)
            .and_then(|changes| {
                let mut large = MultiValueAttributes::none();
                apply(&schema, &mut entry, &mut large, &changes, false)
            })
            .map_err(|result| result.code)?;
        let mut lines: Vec<String> = entry
            .attributes
            .iter()
            .filter(|attribute| attribute.description.text(&schema) != "audio")
            .flat_map(|attribute| {
                let name = attribute.description.text(&schema).into_owned();
                attribute
                    .values
                    .iter()
                    .map(move |value| format!("{name}: {}", String::from_utf8_lossy(value)))
            })
            .collect();
        lines.sort();
        Ok(lines)
    }

    #[test]
    fn changes_apply_in_order() {
        let lines = modified(&[
            (Delete, "CN", &["jane  doe"]),
            (Add, "cn", &["Janet", "J. Doe"]),
            (Replace, "sn", &["Roe"]),
            (Increment, "uidNumber", &["-1"]),
            (Delete, "cn;lang-de", &[]),
            (Add, "description", &["gone again"]),
            (Delete, "description", &["GONE AGAIN"]),
            (Replace, "title", &[]),
            (Replace, "mail", &["j@example.com"]),
        ])
        .expect("all of it is in order");
        assert_eq!(
            lines,
            [
                "cn: J. Doe",
                "cn: Jane",
                "cn: Janet",
                "mail: j@example.com",
                "sn: Roe",
                "uidNumber: 999"
            ]
        );
    }

    #[test]
    fn each_refusal_has_its_code() {
        use ResultCode::{
            AttributeOrValueExists, ConstraintViolation, InappropriateMatching,
            InvalidAttributeSyntax, NoSuchAttribute, ProtocolError, UndefinedAttributeType,
        };
        let cases: [(ModifyOperation, &str, &[&str], ResultCode); 19] = [
            (Add, "cn", &["JANE"], AttributeOrValueExists),
            (Add, "cn", &["x", "X"], AttributeOrValueExists),
            (Replace, "cn", &["x", "X"], AttributeOrValueExists),
            (Add, "cn", &[], ProtocolError),
            (Add, "cn", &[""], InvalidAttributeSyntax),
            (Add, "nope", &["x"], UndefinedAttributeType),
            (Add, "c n", &["x"], UndefinedAttributeType),
            (Add, "uidNumber", &["many"], InvalidAttributeSyntax),
            (Add, "gidNumber", &["1", "2"], ConstraintViolation),
            (Delete, "cn", &["John"], NoSuchAttribute),
            (Delete, "cn;lang-fr", &[], NoSuchAttribute),
            (Delete, "mail", &[], NoSuchAttribute),
            (Delete, "mail", &["x"], NoSuchAttribute),
            (Delete, "audio", &["x"], InappropriateMatching),
            (Increment, "gidNumber", &["1"], NoSuchAttribute),
            (Increment, "sn", &["1"], ConstraintViolation),
            (Increment, "uidNumber", &[], ProtocolError),
            (Increment, "uidNumber", &["1", "2"], ProtocolError),
            (Increment, "uidNumber", &["x"], InvalidAttributeSyntax),
        ];
        for (operation, name, values, code) in cases {
            assert_eq!(
                modified(&[(operation, name, values)]),
                Err(code),
                "{operation:?} {name} {values:?}"
            );
        }
    }

    #[test]
    fn numbers_beyond_machine_words_add_up() {
        let large = "18446744073709551616";
        let lines = modified(&[
            (Replace, "uidNumber", &[large]),
            (Increment, "uidNumber", &[large]),
        ]);
        assert!(lines.is_ok_and(|l| l.contains(&"uidNumber: 36893488147419103232".to_owned())));
    }
}
