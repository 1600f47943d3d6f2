use super::*;
use crate::ids::{AttributeId, EntryId};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Model = BTreeMap<u16, Vec<Vec<u8>>>;

fn attributes() -> impl Strategy<Value = Model> {
    let value = prop::collection::vec(any::<u8>(), 0..20);
    prop::collection::btree_map(1_u16..400, prop::collection::vec(value, 1..6), 0..12)
}

fn encoded(parent: u64, rdn_normal: &[u8], rdn: &[u8], model: &Model) -> Vec<u8> {
    let mut attributes: Vec<_> = model
        .iter()
        .map(|(id, v)| (AttributeId(*id), v.as_slice()))
        .collect();
    attributes.reverse();
    let mut out = Vec::new();
    encode(
        RecordSource {
            parent: EntryId(parent),
            rdn_normal,
            rdn,
            attributes,
        },
        &mut out,
    )
    .unwrap();
    out
}

fn read_everything(record: &Record<'_>) -> usize {
    let values: usize = record
        .attributes()
        .map(|(_, v)| v.iter().map(<[u8]>::len).sum::<usize>())
        .sum();
    values + record.rdn().len() + record.rdn_normal().len() + usize::from(record.is_sound())
}

proptest! {
    #[test]
    fn what_goes_in_comes_out(model in attributes(), parent: u64, rdn in prop::collection::vec(any::<u8>(), 0..300)) {
        let bytes = encoded(parent, b"uid=a", &rdn, &model);
        let record = Record::parse(&bytes).unwrap();
        prop_assert!(record.is_sound());
        prop_assert_eq!(record.parent(), EntryId(parent));
        prop_assert_eq!(record.rdn_normal(), b"uid=a");
        prop_assert_eq!(record.rdn(), &rdn[..]);
        let read: Model = record
            .attributes()
            .map(|(id, values)| (id.0, values.iter().map(<[u8]>::to_vec).collect()))
            .collect();
        prop_assert_eq!(&read, &model);
        let shown: Vec<u16> = record.attributes().map(|(id, _)| id.0).collect();
        let stored: Vec<u16> = model.keys().rev().copied().collect();
        prop_assert_eq!(shown, stored);
        for id in 0..410 {
            let values = record.values(AttributeId(id));
            let there = model.get(&id);
            prop_assert_eq!(values.is_some(), there.is_some());
            if let (Some(values), Some(there)) = (values, there) {
                prop_assert_eq!(values.len(), there.len());
                for (position, value) in there.iter().enumerate() {
                    prop_assert_eq!(values.get(position), Some(value.as_slice()));
                }
                prop_assert_eq!(values.get(there.len()), None);
            }
        }
    }

    #[test]
    fn damaged_bytes_never_panic(model in attributes(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), cut: Option<prop::sample::Index>) {
        let mut bytes = encoded(7, b"uid=a", b"uid=A", &model);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        if let Ok(record) = Record::parse(&bytes) {
            read_everything(&record);
            for id in 0..410 {
                record.values(AttributeId(id)).map(|v| (v.get(0), v.get(usize::MAX), v.iter().count()));
            }
        }
    }
}

#[test]
fn a_late_parent_is_entered() {
    let mut bytes = encoded(0, b"n", b"N", &Model::new());
    set_parent(&mut bytes, EntryId(77));
    assert_eq!(Record::parse(&bytes).unwrap().parent(), EntryId(77));
}

#[test]
fn lies_in_the_table_are_errors() {
    let model = Model::from([(3, vec![b"one".to_vec(), b"two".to_vec()])]);
    let good = encoded(1, b"n", b"N", &model);
    assert!(Record::parse(&good).is_ok());
    for (at, bytes) in [
        (0, [9_u8, 0]),
        (2, [200, 0]),
        (4, [1, 0]),
        (16, [255, 255]),
        (24 + 4, [255, 255]),
        (24 + 8, [4, 0]),
    ] {
        let mut bad = good.clone();
        bad[at..at + 2].copy_from_slice(&bytes);
        assert!(Record::parse(&bad).is_err(), "lie at {at}");
    }
}
