use super::*;
use crate::ids::{AttributeId, EntryId};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Model = BTreeMap<u16, Vec<Vec<u8>>>;

fn attributes() -> impl Strategy<Value = Model> {
    let octets = |len| prop::collection::vec(any::<u8>(), len);
    let model = |value: BoxedStrategy<Vec<u8>>, values, attributes| {
        prop::collection::btree_map(1_u16..400, prop::collection::vec(value, values), attributes)
    };
    let value = prop_oneof![9 => octets(0..20), 1 => octets(120..300)];
    // Usual ones, and those whose rows are wide: of many attributes, of many values.
    prop_oneof![
        18 => model(value.boxed(), 1..6, 0..12),
        1 => model(octets(0..3).boxed(), 1..2, 60..80),
        1 => model(octets(0..3).boxed(), 250..270, 1..3),
    ]
}

fn encoded(parent: u64, rdn_normal: &[u8], rdn: &[u8], model: &Model) -> Vec<u8> {
    let mut attributes: Vec<_> = model
        .iter()
        .map(|(id, v)| (AttributeId(*id), v.as_slice()))
        .collect();
    attributes.reverse();
    let mut out = Vec::new();
    let source = RecordSource {
        parent: EntryId(parent),
        rdn_normal,
        rdn,
        attributes,
        apart: &[],
    };
    encode(&source, text, &mut out).unwrap();
    out
}

/// A description for every number, some of them long; those of the others are bare.
fn text(id: AttributeId) -> &'static str {
    const LONG: &str = concat!(
        "description;lang-de;lang-en;lang-fr;lang-it;lang-es;lang-pt;lang-nl;",
        "lang-da;lang-sv;lang-no;lang-fi;lang-pl;lang-cs;lang-hu;lang-ro;lang-bg;lang-el;lang-tr;lang-ru;lang-uk;",
        "lang-ja;lang-zh;lang-ko;lang-ar;lang-he;lang-hi;lang-th;lang-vi;lang-id;lang-ms;lang-ga;lang-cy;lang-eu;"
    );
    if id.0 % 10 == 8 {
        return "";
    }
    let len = if id.0 % 50 == 49 {
        LONG.len()
    } else {
        2 + usize::from(id.0 % 40)
    };
    &LONG[..len]
}

fn read_everything(record: &Record<'_>) -> usize {
    let values: usize = record
        .attributes()
        .map(|(_, v)| v.iter().map(<[u8]>::len).sum::<usize>())
        .sum();
    values
        + record.rdn().len()
        + record.rdn_normal().len()
        + usize::from(record.is_sound(|id| Some(text(id))))
}

proptest! {
    #[test]
    fn what_goes_in_comes_out(model in attributes(), parent: u64, rdn in prop::collection::vec(any::<u8>(), 0..300)) {
        let bytes = encoded(parent, b"uid=a", &rdn, &model);
        let record = Record::parse(&bytes).unwrap();
        prop_assert!(record.is_sound(|id| Some(text(id))));
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
        let octets = |place| record.octets(place).unwrap();
        for (place, (id, values)) in record.attributes().enumerate() {
            let (lie, head) = octets(place);
            prop_assert_eq!(head == 0, text(id).is_empty());
            prop_assert_eq!(record.run(place..place + 1), Some(lie).filter(|_| head != 0));
            prop_assert_eq!(values.encoded(), lie.get(head..));
        }
        let lens = (0..record.len()).map(|place| octets(place).0.len());
        let is_bare = (0..record.len()).any(|place| octets(place).1 == 0);
        match record.run(0..record.len()) {
            Some(run) => prop_assert_eq!(run.len(), lens.sum::<usize>()),
            None => prop_assert!(is_bare || record.len() == 0),
        }
        for id in 0..410 {
            let values = record.values(AttributeId(id));
            let there = model.get(&id);
            prop_assert_eq!(values.is_some(), there.is_some());
            if let (Some(values), Some(there)) = (values, there) {
                prop_assert_eq!(values.len(), there.len());
                prop_assert!(values.iter().eq(there.iter().map(Vec::as_slice)));
                prop_assert_eq!(values.get(there.len() - 1), there.last().map(Vec::as_slice));
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
        (0, &[9_u8, 0][..]),
        (0, &[4, WIDE]),
        (2, &[200, 0]),
        (4, &[1, 0]),
        (16, &[255, 255]),
        // The row: where the attribute begins, what is before its values.
        (26, &[255, 255]),
        (26, &[4, 0]),
        (28, &[255]),
    ] {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        assert!(Record::parse(&bad).is_err(), "lie at {at}");
    }
}

#[test]
fn every_octet_that_is_changed_is_seen_by_the_whole_check() {
    let values = |count: usize| (0..count).map(|n| vec![b'v'; n]).collect::<Vec<_>>();
    for model in [
        Model::from([(3, values(2)), (7, values(1)), (49, values(3))]),
        Model::from([(3, values(300)), (7, values(1))]),
    ] {
        let good = encoded(1, b"n", b"N", &model);
        // The parent and the names are anybody's.
        let names = good.len()
            - Record::parse(&good)
                .unwrap()
                .run(0..model.len())
                .unwrap()
                .len();
        let free = |at: usize| (8..16).contains(&at) || (names - 2..names).contains(&at);
        let is_value = |at: usize| good[at] == b'v';
        for at in (0..good.len()).filter(|at| !free(*at) && !is_value(*at)) {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                let flags = at == 1 && bit > 1;
                let sound = Record::parse(&bad).is_ok_and(|record| {
                    read_everything(&record);
                    record.is_sound(|id| {
                        Some(text(id)).map(|text| if text.is_empty() { "bare" } else { text })
                    })
                });
                assert_eq!(sound, flags, "bit {bit} of octet {at}");
            }
        }
    }
}

#[test]
fn what_lies_apart_takes_no_octets() {
    let values: Vec<Vec<u8>> = (0..5_u8).map(|n| vec![n]).collect();
    let model = Model::from([(3, values.clone()), (5, vec![b"one".to_vec()]), (9, values)]);
    let bytes = encoded(1, b"n", b"N", &model);
    let whole = Record::parse(&bytes).unwrap();
    let bytes = without_values(&whole, &[AttributeId(3), AttributeId(9)]).unwrap();
    let record = Record::parse(&bytes).unwrap();
    assert!(record.is_parted() && !whole.is_parted());
    assert_eq!(record.apart().map(|id| id.0).collect::<Vec<_>>(), [9, 3]);
    assert_eq!(record.run(1..2), whole.run(1..2));
    assert_eq!(record.run(0..2), None);
    assert_eq!(record.values(AttributeId(9)).unwrap().len(), 5);
    let one = [b"one".to_vec()];
    let source = RecordSource {
        parent: EntryId(1),
        rdn_normal: b"n",
        rdn: b"N",
        attributes: vec![
            (AttributeId(9), &[][..]),
            (AttributeId(5), &one),
            (AttributeId(3), &[]),
        ],
        apart: &[(AttributeId(3), 5), (AttributeId(9), 5)],
    };
    let mut again = Vec::new();
    encode(&source, text, &mut again).unwrap();
    assert_eq!(bytes, again);
}
