//! Changes of values that carry their places: `{0}first`, `{1}second` (draft-chu-ldap-xordered).
//!
//! ```text
//!   {0}a {1}b   add {1}c -->  {0}a {1}c {2}b     delete {0} -->  {0}b     delete a -->  {0}b
//! ```

use fulgurite_ldap::{ModifyOperation, ResultCode};
use fulgurite_schema::{Attribute, AttributeDescription, Entry, Schema};

use crate::core::result::{OpResult, refuse};
use crate::request::change::{Change, no_such_attribute, no_such_value};

/// Returns true for an attribute whose values carry their places.
pub(crate) fn are_ordered(schema: &Schema, description: &AttributeDescription) -> bool {
    schema
        .attribute_at(description.attribute)
        .has_ordered_values()
}

/// Numbers the values of a new entry.
pub(crate) fn number_all(schema: &Schema, entry: &mut Entry) {
    let attributes = entry.attributes.iter_mut();
    for held in attributes.filter(|held| are_ordered(schema, &held.description)) {
        held.values = numbered(&sorted(&held.values));
    }
}

/// Applies one change of an attribute whose values carry their places.
pub(crate) fn apply(
    schema: &Schema,
    entry: &mut Entry,
    change: &Change,
    permissive: bool,
) -> OpResult {
    let Attribute {
        description,
        values,
    } = &change.attribute;
    let held = entry.attribute(description);
    let bare = |value: &Vec<u8>| split(value).1.to_vec();
    let mut now: Vec<Vec<u8>> = held.map_or_else(Vec::new, |held| {
        sorted(&held.values).iter().map(bare).collect()
    });
    let list = OrderedValues {
        schema,
        description,
        permissive,
    };
    match change.operation {
        ModifyOperation::Add => list.add(&mut now, values)?,
        ModifyOperation::Delete => list.delete(&mut now, values)?,
        ModifyOperation::Replace => now = sorted(values).iter().map(bare).collect(),
        ModifyOperation::Increment => {
            let name = description.text(schema);
            let text = format!("{name}: attribute syntax inappropriate for increment");
            return Err(refuse(ResultCode::ConstraintViolation, text));
        }
    }
    entry.set(description, numbered(&now));
    Ok(())
}

/// The attribute of a change.
struct OrderedValues<'c> {
    schema: &'c Schema,
    description: &'c AttributeDescription,
    permissive: bool,
}

impl OrderedValues<'_> {
    /// Inserts values in their order: at their numbers, or at the end.
    fn add(&self, now: &mut Vec<Vec<u8>>, values: &[Vec<u8>]) -> OpResult {
        for (at, value) in values.iter().enumerate() {
            let (number, text) = split(value);
            if now.iter().any(|held| self.are_equal(held, text)) {
                if self.permissive {
                    continue;
                }
                let name = self.description.text(self.schema);
                let text = format!("modify/add: {name}: value #{at} already exists");
                return Err(refuse(ResultCode::AttributeOrValueExists, text));
            }
            let place = number.unwrap_or(now.len()).min(now.len());
            now.insert(place, text.to_vec());
        }
        Ok(())
    }

    /// Deletes values by their numbers, by their texts, or by both.
    fn delete(&self, now: &mut Vec<Vec<u8>>, values: &[Vec<u8>]) -> OpResult {
        let name = self.description.text(self.schema);
        if now.is_empty() && !self.permissive {
            return Err(refuse(
                ResultCode::NoSuchAttribute,
                no_such_attribute(&name),
            ));
        }
        if values.is_empty() {
            now.clear();
            return Ok(());
        }
        let mut places = Vec::new();
        for value in values {
            let (number, text) = split(value);
            let is_at = |held: &Vec<u8>| text.is_empty() || self.are_equal(held, text);
            let place = match number {
                Some(number) => now.get(number).filter(|held| is_at(held)).map(|_| number),
                None => now.iter().position(|held| self.are_equal(held, text)),
            };
            match place {
                Some(place) => places.push(place),
                None if self.permissive => {}
                None => {
                    let text = no_such_value(&name);
                    return Err(refuse(ResultCode::NoSuchAttribute, text));
                }
            }
        }
        let mut at = 0;
        now.retain(|_| {
            at += 1;
            !places.contains(&(at - 1))
        });
        Ok(())
    }

    fn are_equal(&self, a: &[u8], b: &[u8]) -> bool {
        let attribute = self.description.attribute;
        let normal = |value| self.schema.normal_value(attribute, value);
        a == b || normal(a).is_some_and(|a| Some(a) == normal(b))
    }
}

/// Returns values in the order of their numbers. Those without follow in their own order.
fn sorted(values: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut values = values.to_vec();
    values.sort_by_key(|value| split(value).0.unwrap_or(usize::MAX));
    values
}

/// Returns values with the numbers of their places.
fn numbered(values: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let values = values.iter().enumerate();
    let values = values.map(|(at, value)| {
        let number = format!("{{{at}}}");
        [number.as_bytes(), split(value).1].concat()
    });
    values.collect()
}

/// Returns a value without its number.
pub(crate) fn without_number(value: &[u8]) -> &[u8] {
    split(value).1
}

/// Returns the number before a value, and the value without it.
fn split(value: &[u8]) -> (Option<usize>, &[u8]) {
    let parts = || {
        let end = value.iter().position(|byte| *byte == b'}')?;
        let digits = value.get(..end)?.strip_prefix(b"{")?;
        let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
        Some((Some(number), value.get(end + 1..)?))
    };
    parts().unwrap_or((None, value))
}

#[cfg(test)]
mod tests {
    use ModifyOperation::{Add, Delete, Replace};
    use fulgurite_schema::Dn;

    use super::*;

    const BEFORE: [&str; 3] = [
        "{0}to a by * read",
        "{1}to b by * read",
        "{2}to c by * read",
    ];

    /// Applies changes to the rules a, b and c. Returns the letters of the rules, or the refusal.
    fn after(changes: &[(ModifyOperation, &[&str])]) -> Result<String, String> {
        let schema = Schema::standard();
        let rules = schema.describe(b"olcAccess").expect("known");
        let mut entry = Entry::new(Dn::parse(&schema, "cn=config").expect("a name"));
        for value in BEFORE {
            entry.push(&rules, value.into());
        }
        for (operation, values) in changes {
            let whole = |value: &&str| match value.ends_with('}') || value.is_empty() {
                true => (*value).into(),
                false => format!(
                    "{}to {} by * read",
                    &value[..value.len() - 1],
                    &value[value.len() - 1..]
                )
                .into_bytes(),
            };
            let change = Change {
                operation: *operation,
                attribute: Attribute {
                    description: rules.clone(),
                    values: values.iter().map(whole).collect(),
                },
            };
            apply(&schema, &mut entry, &change, false)
                .map_err(|refused| format!("{} {}", refused.code.number(), refused.diagnostic))?;
        }
        let values = entry.values(rules.attribute).iter().enumerate();
        let letters = values.map(|(at, value)| {
            let value = String::from_utf8_lossy(value).into_owned();
            let text = value
                .strip_prefix(&format!("{{{at}}}to "))
                .expect("its number");
            text[..1].to_owned()
        });
        Ok(letters.collect())
    }

    #[test]
    fn values_keep_their_places() {
        for (changes, expected) in [
            (&[(Add, &["d"][..])][..], "abcd"),
            (&[(Add, &["{0}d"])], "dabc"),
            (&[(Add, &["{0}d", "{1}e"])], "deabc"),
            (&[(Add, &["{99}d"])], "abcd"),
            (&[(Delete, &["{1}"])], "ac"),
            (&[(Delete, &["{0}", "{2}"])], "b"),
            (&[(Delete, &["b"])], "ac"),
            (&[(Delete, &["{1}b"])], "ac"),
            (&[(Delete, &["{0}"]), (Add, &["{0}d"])], "dbc"),
            (&[(Replace, &["{1}d", "{0}e"])], "ed"),
            (&[(Replace, &["d", "e"])], "de"),
            (&[(Replace, &[])], ""),
            (&[(Delete, &[])], ""),
        ] {
            assert_eq!(after(changes).as_deref(), Ok(expected), "{changes:?}");
        }
    }

    #[test]
    fn missing_and_equal_values_are_refused() {
        let missing = "16 modify/delete: olcAccess: no such value";
        for (changes, expected) in [
            (&[(Delete, &["{9}"][..])][..], missing),
            (&[(Delete, &["{0}b"])], missing),
            (&[(Delete, &["d"])], missing),
            (
                &[(Add, &["d", "a"])],
                "20 modify/add: olcAccess: value #1 already exists",
            ),
            (
                &[(Delete, &[]), (Delete, &["a"])],
                "16 modify/delete: olcAccess: no such attribute",
            ),
        ] {
            assert_eq!(after(changes), Err(expected.to_owned()), "{changes:?}");
        }
    }
}
