//! What the pre-read and post-read controls return (RFC 4527): an entry in the form of a search result entry.

use fulgurite_access::{EntryRights, Level};
use fulgurite_ldap::control::read_entry_value;
use fulgurite_ldap::encode;
use fulgurite_schema::{Entry, Schema};

use crate::selection::Selection;

/// The value of the response control: what was selected of the entry, which has its computed attributes, and may be
/// read; `None` if not even the entry itself may.
pub(crate) fn value(
    schema: &Schema,
    rights: EntryRights<'_>,
    entry: &Entry,
    selection: &Selection,
) -> Option<Vec<u8>> {
    if rights.entry() < Level::Read {
        return None;
    }
    let mut message = Vec::new();
    let mut writer = encode::search_entry(&mut message, 0, entry.dn.pretty().as_bytes());
    for held in &entry.attributes {
        let attribute = held.description.attribute;
        if selection.selects(schema, &held.description)
            && rights.attribute(attribute) >= Level::Read
        {
            writer.attribute(held.description.text(schema).as_bytes());
            held.values.iter().for_each(|value| writer.value(value));
        }
    }
    writer.finish(&[]);
    read_entry_value(&message)
}
