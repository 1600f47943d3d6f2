//! Small directories for this crate's tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{EntryId, IndexSpec, NameLookup, Store, StoreOptions, View, Writer};
use fulgurite::Snapshot;
use fulgurite_schema::{CheckOptions, CheckedEntry, Dn, Entry, Schema};
use tempfile::TempDir;

pub(crate) const SUFFIX: &str = "dc=example,dc=com";

/// A store in a temporary directory.
pub(crate) struct TestStore {
    pub(crate) store: Store,
    pub(crate) dir: TempDir,
}

impl std::ops::Deref for TestStore {
    type Target = Store;
    fn deref(&self) -> &Store {
        &self.store
    }
}

pub(crate) fn options() -> StoreOptions {
    StoreOptions {
        suffixes: vec![SUFFIX.to_owned()],
        durability: Some(fulgurite::Durability::NoSync),
        map_bytes_max: Some(1 << 32),
        ..StoreOptions::default()
    }
}

pub(crate) fn schema() -> Arc<Schema> {
    Schema::standard()
}

pub(crate) fn create_with(options: &StoreOptions) -> TestStore {
    let dir = TempDir::new().unwrap();
    let store = Store::create(dir.path(), options, schema()).unwrap();
    TestStore { store, dir }
}

/// Makes a store whose RDN hashes have four bits, so that lists of names collide. Attributes with
/// two values are large.
pub(crate) fn create() -> TestStore {
    let indexes = [
        "objectClass:eq",
        "uid:eq,pres",
        "cn:eq,sub,pres,approx",
        "sn:sub",
        "name:eq",
        "uidNumber:eq",
        "member:eq",
    ];
    let indexes = indexes
        .iter()
        .map(|text| text.parse::<IndexSpec>().unwrap())
        .collect();
    create_with(&StoreOptions {
        indexes: Some(indexes),
        rdn_hash_bits_ignored: !0xf,
        // Two values already overflow.
        inline_values_max: Some(1),
        ..options()
    })
}

pub(crate) fn entry(schema: &Schema, dn: &str, attributes: &[(&str, &str)]) -> CheckedEntry {
    let mut entry = Entry::new(Dn::parse(schema, dn).unwrap());
    for (name, value) in attributes {
        entry.push(
            &schema.describe(name.as_bytes()).unwrap(),
            value.as_bytes().to_vec(),
        );
    }
    entry.add_missing_rdn_values(schema);
    schema
        .check(entry, &CheckOptions::default())
        .unwrap_or_else(|violation| panic!("{dn}: {violation}"))
}

pub(crate) fn unit(schema: &Schema, dn: &str) -> CheckedEntry {
    entry(schema, dn, &[("objectClass", "organizationalUnit")])
}

pub(crate) fn person(schema: &Schema, dn: &str, more: &[(&str, &str)]) -> CheckedEntry {
    let mut attributes = vec![
        ("objectClass", "inetOrgPerson"),
        ("sn", "Doe"),
        ("cn", "Jane Doe"),
    ];
    attributes.extend_from_slice(more);
    entry(schema, dn, &attributes)
}

pub(crate) fn suffix_entry(schema: &Schema) -> CheckedEntry {
    entry(schema, SUFFIX, &[("objectClass", "domain")])
}

/// Adds an entry below its parent.
pub(crate) fn add(writer: &mut Writer<'_>, entry: &CheckedEntry) -> EntryId {
    let parent = parent_of(writer, &entry.entry().dn);
    writer.add(parent, entry).unwrap()
}

pub(crate) fn parent_of<T: Snapshot>(view: &View<'_, T>, dn: &Dn) -> EntryId {
    if view.store().is_top(dn) {
        return EntryId::ROOT;
    }
    view.find(&dn.parent().unwrap()).unwrap().entry().unwrap()
}

pub(crate) fn find<T: Snapshot>(view: &View<'_, T>, dn: &str) -> NameLookup {
    view.find(&Dn::parse(view.schema(), dn).unwrap()).unwrap()
}

/// Returns the content of a view: names and, sorted, attributes and values.
pub(crate) fn contents(view: &View<'_>) -> BTreeMap<String, BTreeMap<String, Vec<Vec<u8>>>> {
    let mut contents = BTreeMap::new();
    let mut next = view.next_entry_id(EntryId(0)).unwrap();
    while let Some(id) = next {
        let entry = view.entry(id).unwrap().unwrap();
        let attributes = entry.attributes().map(|a| {
            let mut values: Vec<Vec<u8>> = a.values.iter().map(<[u8]>::to_vec).collect();
            values.sort();
            (a.info.text.to_string(), values)
        });
        assert!(
            contents
                .insert(view.dn(id).unwrap(), attributes.collect())
                .is_none()
        );
        next = view.next_entry_id(EntryId(id.0 + 1)).unwrap();
    }
    contents
}

pub(crate) fn assert_clean(store: &Store) {
    let report = crate::verify(&store.snapshot().unwrap()).unwrap();
    assert!(report.is_clean(), "{:#?}", report.problems);
}
