//! An entry of an access log as an operation.
//!
//! A value of `reqMod` is `attribute:`, an operator and, if there is one, a space with the value.
//! The value is any bytes. A value `:` alone divides two changes of one kind.

use fulgurite_ldap::{
    ContentAttribute, LoggedKind, LoggedOperation, ModifyOperation, SearchEntry, Values,
};

use crate::trouble::Trouble;

type Changes = Vec<(ModifyOperation, ContentAttribute)>;

const MALFORMED: Trouble = Trouble::Protocol("an entry of the access log is malformed");

/// Reads a log entry. `None` for an operation that changes nothing.
///
/// # Errors
/// [`Trouble::Protocol`] for an entry that lacks what its operation needs.
pub(crate) fn operation(entry: &SearchEntry<'_>) -> Result<Option<LoggedOperation>, Trouble> {
    let need = |name| text(entry, name).ok_or(MALFORMED);
    let changes = || match values(entry, "reqMod") {
        Some(values) => changes(values),
        None => Ok(Vec::new()),
    };
    let kind = match need("reqType")?.as_str() {
        "add" => {
            let changes = changes()?.into_iter().map(|(_, attribute)| attribute);
            LoggedKind::Add(changes.collect())
        }
        "modify" => LoggedKind::Modify(changes()?),
        "modrdn" => LoggedKind::Rename {
            new_rdn: need("reqNewRDN")?,
            delete_old_rdn: need("reqDeleteOldRDN")?.eq_ignore_ascii_case("TRUE"),
            new_superior: text(entry, "reqNewSuperior"),
            changes: changes()?,
        },
        "delete" => LoggedKind::Delete,
        _ => return Ok(None),
    };
    let uuid = text(entry, "reqEntryUUID");
    Ok(Some(LoggedOperation {
        uuid: uuid.and_then(|text| uuid_of(&text)),
        dn: need("reqDN")?,
        csn: need("entryCSN")?,
        kind,
    }))
}

fn values<'a>(entry: &SearchEntry<'a>, name: &str) -> Option<Values<'a>> {
    let mut attributes = entry.attributes.iter();
    let found = attributes.find(|held| held.description.eq_ignore_ascii_case(name.as_bytes()));
    found.map(|held| held.values)
}

fn text(entry: &SearchEntry<'_>, name: &str) -> Option<String> {
    let first = values(entry, name)?.first()?;
    str::from_utf8(first).ok().map(str::to_owned)
}

/// Reads the text of a UUID.
pub(crate) fn uuid_of(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    let mut uuid = [0; 16];
    if digits.len() != 32 {
        return None;
    }
    for (byte, pair) in uuid.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(uuid)
}

/// Reads the values of `reqMod`, in their order.
fn changes(values: Values<'_>) -> Result<Changes, Trouble> {
    let mut changes: Changes = Vec::new();
    let mut divided = true;
    for value in values.iter() {
        if value == b":" {
            divided = true;
            continue;
        }
        let (description, operation, value) = change(value).ok_or(MALFORMED)?;
        match changes.last_mut() {
            Some((kind, held))
                if !divided && *kind == operation && held.description == description =>
            {
                held.values.extend(value);
            }
            _ => changes.push((
                operation,
                ContentAttribute {
                    description,
                    values: value.into_iter().collect(),
                },
            )),
        }
        divided = false;
    }
    Ok(changes)
}

/// Reads one value.
fn change(value: &[u8]) -> Option<(String, ModifyOperation, Option<Vec<u8>>)> {
    let colon = value.iter().position(|byte| *byte == b':')?;
    let description = str::from_utf8(value.get(..colon)?).ok()?.to_owned();
    let (operator, rest) = value.get(colon + 1..)?.split_first()?;
    let operation = match operator {
        b'+' => ModifyOperation::Add,
        b'-' => ModifyOperation::Delete,
        b'=' => ModifyOperation::Replace,
        b'#' => ModifyOperation::Increment,
        _ => return None,
    };
    let value = match rest.split_first() {
        None => None,
        Some((b' ', value)) => Some(value.to_vec()),
        Some(_) => return None,
    };
    (!description.is_empty()).then_some((description, operation, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_read_as_the_log_writes_them() {
        let read = |text: &str| change(text.as_bytes());
        let some = |name: &str, operation, value: Option<&[u8]>| {
            Some((name.to_owned(), operation, value.map(<[u8]>::to_vec)))
        };
        assert_eq!(
            read("description:+  two"),
            some("description", ModifyOperation::Add, Some(b" two"))
        );
        assert_eq!(
            read("title:="),
            some("title", ModifyOperation::Replace, None)
        );
        assert_eq!(
            read("x:# 5"),
            some("x", ModifyOperation::Increment, Some(b"5"))
        );
        assert_eq!(
            read("cn;lang-de:- a\nb: c"),
            some("cn;lang-de", ModifyOperation::Delete, Some(b"a\nb: c"))
        );
        for wrong in ["", ":", "cn", "cn:", "cn:?", "cn:+x", ":+ x"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_have_an_answer(value in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = change(&value);
        }
    }
}
