//! The pre-read and post-read controls (RFC 4527): an entry in the form of a search result entry.

use fulgurite_access::{EntryRights, Rights};
use fulgurite_ldap::control::read_entry_value;
use fulgurite_ldap::encode;
use fulgurite_schema::{Entry, Schema};

use crate::rights::selection::Selection;

/// Returns the value of the response control: the selected attributes that may be read, computed
/// ones included.
///
/// `None` if the entry itself may not be read.
pub(crate) fn value(
    schema: &Schema,
    rights: EntryRights<'_>,
    entry: &Entry,
    selection: &Selection,
) -> Option<Vec<u8>> {
    if !rights.entry().allows(Rights::READ) {
        return None;
    }
    let mut message = Vec::new();
    let mut writer = encode::search_entry(&mut message, 0, entry.dn.pretty().as_bytes());
    let selected = entry
        .attributes
        .iter()
        .filter(|held| selection.selects(schema, &held.description));
    for held in selected {
        let description = &held.description;
        writer.attribute(description.text(schema).as_bytes());
        let readable = |value: &&Vec<u8>| rights.value(description, value).allows(Rights::READ);
        held.values
            .iter()
            .filter(readable)
            .for_each(|value| writer.value(value));
        writer.drop_attribute_without_values();
    }
    writer.finish(&[]);
    read_entry_value(&message)
}
