use super::layout::{ATTRIBUTES_MAX, LONG_NAMES, WIDE_ROWS};
use super::*;
use crate::ids::{AttributeId, EntryId};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Model = BTreeMap<u16, Vec<Vec<u8>>>;

fn attributes() -> impl Strategy<Value = Model> {
    let any_bytes = |len| prop::collection::vec(any::<u8>(), len);
    let model = |value: BoxedStrategy<Vec<u8>>, values, attributes| {
        prop::collection::btree_map(1_u16..400, prop::collection::vec(value, values), attributes)
    };
    let value = prop_oneof![9 => any_bytes(0..20), 1 => any_bytes(120..300)];
    // Usual records, and those with wide rows: with many attributes or many values.
    prop_oneof![
        18 => model(value.boxed(), 1..6, 0..12),
        1 => model(any_bytes(0..3).boxed(), 1..2, 60..80),
        1 => model(any_bytes(0..3).boxed(), 250..270, 1..3),
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
        overflow: &[],
    };
    encode(&source, &mut out).unwrap();
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
    fn a_record_returns_what_was_encoded(model in attributes(), parent in 0..1_u64 << 48, is_alike: bool, rdn in prop::collection::vec(any::<u8>(), 0..300)) {
        let normal = if is_alike { &rdn[..] } else { b"uid=a" };
        let bytes = encoded(parent, normal, &rdn, &model);
        let record = Record::parse(&bytes).unwrap();
        prop_assert!(record.is_sound());
        prop_assert_eq!(record.parent(), EntryId(parent));
        prop_assert_eq!(record.rdn_normal(), normal);
        prop_assert_eq!(record.rdn(), &rdn[..]);
        let read: Model = record
            .attributes()
            .map(|(id, values)| (id.0, values.iter().map(<[u8]>::to_vec).collect()))
            .collect();
        prop_assert_eq!(&read, &model);
        let shown: Vec<u16> = record.attributes().map(|(id, _)| id.0).collect();
        let stored: Vec<u16> = model.keys().rev().copied().collect();
        prop_assert_eq!(shown, stored);
        prop_assert!(ids_of(record.shape()).eq(record.ids()));
        prop_assert!(record.ids().map(|id| id.0).eq(model.keys().rev().copied()));
        let header = Record::parse_names(&bytes).unwrap();
        prop_assert_eq!((header.parent(), header.rdn_normal(), header.rdn()), (EntryId(parent), normal, &rdn[..]));
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
    fn responses_contain_the_stored_values(model in attributes(), hidden in prop::collection::vec(any::<bool>(), 80), before: Vec<u8>) {
        let name = |id: u16| "n".repeat(usize::from(id % 40) + 1);
        let bytes = encoded(1, b"n", b"n", &model);
        let record = Record::parse(&bytes).unwrap();
        let is_hidden = |place: usize| hidden.get(place).copied().unwrap_or(false);
        let headers: Vec<EncodedHeader> = record.ids().enumerate().map(|(place, id)| match is_hidden(place) {
            true => EncodedHeader::HIDDEN,
            false => EncodedHeader::new(&name(id.0)),
        }).collect();
        let mut expected = before.clone();
        let mut writer = fulgurite_ber::Writer::new(&mut expected);
        for (place, (id, values)) in record.attributes().enumerate() {
            if !is_hidden(place) {
                writer.container(fulgurite_ber::Tag::SEQUENCE, |writer| {
                    writer.octet_string(name(id.0).as_bytes());
                    writer.container(fulgurite_ber::Tag::SET, |writer| {
                        values.iter().for_each(|value| writer.octet_string(value));
                    });
                });
            }
        }
        let mut out = before.clone();
        let written = append(&record, &headers, &mut out);
        prop_assert_eq!(&out, if written { &expected } else { &before });
        let is_long = |id: AttributeId| name(id.0).len() > 32;
        let may_fail = model.len() > ATTRIBUTES_MAX || record.ids().any(is_long);
        prop_assert!(written || may_fail);
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
            let headers = vec![EncodedHeader::new("cn"); record.len()];
            append(&record, &headers, &mut Vec::new());
            for id in 0..410 {
                record.values(AttributeId(id)).map(|v| (v.get(0), v.get(usize::MAX), v.iter().count()));
            }
        }
    }
}

#[test]
fn a_parent_can_be_set_later() {
    let mut bytes = encoded(0, b"n", b"N", &Model::new());
    set_parent(&mut bytes, EntryId(77));
    assert_eq!(Record::parse(&bytes).unwrap().parent(), EntryId(77));
}

#[test]
fn wrong_lengths_and_offsets_are_errors() {
    let model = Model::from([
        (3, vec![b"one".to_vec(), b"two".to_vec()]),
        (7, vec![b"three".to_vec()]),
    ]);
    let good = encoded(1, b"n", b"N", &model);
    assert!(Record::parse(&good).is_ok());
    for (at, bytes) in [
        (0, &[4_u8][..]),
        (1, &[WIDE_ROWS]),
        (1, &[LONG_NAMES]),
        (8, &[200]),
        (9, &[2]),
        // Attributes, their numbers, the rows: of one value, and of two.
        (12, &[3]),
        (15, &[4]),
        (15, &[0xf5]),
        (16, &[0xf2]),
        (18, &[9]),
    ] {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        assert!(Record::parse(&bad).is_err(), "wrong at {at}");
    }
}

#[test]
fn the_whole_check_finds_every_changed_bit() {
    let values = |count: usize| (0..count).map(|n| vec![b'v'; n]).collect::<Vec<_>>();
    let many = (1..80).map(|number| (number, values(2))).collect();
    for model in [
        Model::from([(3, values(2)), (7, values(1)), (9, values(3))]),
        Model::from([(3, values(300)), (300, values(1))]),
        many,
    ] {
        let good = encoded(1, b"n", b"N", &model);
        let known: Vec<AttributeId> = model.keys().map(|number| AttributeId(*number)).collect();
        // Any bytes are valid in the parent and in the names.
        let free = |at: usize| (2..8).contains(&at) || (10..12).contains(&at);
        let is_value = |at: usize| good[at] == b'v';
        for at in (0..good.len()).filter(|at| !free(*at) && !is_value(*at)) {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                let sound = Record::parse(&bad).is_ok_and(|record| {
                    read_everything(&record);
                    record.is_sound() && record.ids().all(|id| known.contains(&id))
                });
                assert!(!sound, "bit {bit} of byte {at}");
            }
        }
    }
}

#[test]
fn an_equal_value_of_two_attributes_is_stored_once() {
    let name = b"cn=admin,dc=example,dc=com".to_vec();
    let model = Model::from([
        (3, vec![name.clone()]),
        (5, vec![name.clone(), b"one".to_vec()]),
        (9, vec![name.clone()]),
    ]);
    let bytes = encoded(1, b"n", b"n", &model);
    let times = bytes.windows(name.len()).filter(|there| *there == name);
    assert_eq!(times.count(), 2);
    let record = Record::parse(&bytes).unwrap();
    assert!(record.is_sound());
    // The same for one of several values.
    let model = Model::from([
        (3, vec![name.clone()]),
        (5, vec![b"one".to_vec(), name.clone()]),
    ]);
    let several = encoded(1, b"n", b"n", &model);
    let several = Record::parse(&several).unwrap();
    assert!(
        several.is_sound()
            && several
                .values(AttributeId(3))
                .unwrap()
                .iter()
                .eq([&name[..]])
    );
    assert_eq!(
        several
            .attributes()
            .map(|(_, values)| values.len())
            .sum::<usize>(),
        3
    );
    let same = record.values(AttributeId(3)).unwrap();
    assert!(same.iter().eq([&name[..]]));
    assert!(same.same(&record.values(AttributeId(9)).unwrap()));
    // One of them changes, the other one stays.
    let other = [b"cn=other".to_vec()];
    let source = RecordSource {
        parent: EntryId(1),
        rdn_normal: b"n",
        rdn: b"n",
        attributes: vec![(AttributeId(9), &other[..]), (AttributeId(3), &[])],
        overflow: &[],
    };
    let mut changed = Vec::new();
    encode_over(&record, &source, &mut changed).unwrap();
    let changed = Record::parse(&changed).unwrap();
    assert!(
        changed
            .values(AttributeId(3))
            .unwrap()
            .iter()
            .eq([&name[..]])
    );
    assert!(
        changed
            .values(AttributeId(9))
            .unwrap()
            .iter()
            .eq([b"cn=other"])
    );
}

#[test]
fn hidden_attributes_take_no_room_in_a_response() {
    let large = vec![b'v'; 1 << 20];
    let model = Model::from([
        (3, vec![b"one".to_vec()]),
        (7, vec![large.clone()]),
        (9, vec![large.clone(), b"two".to_vec()]),
    ]);
    let bytes = encoded(1, b"n", b"n", &model);
    let record = Record::parse(&bytes).unwrap();
    // The record stores them in the opposite order.
    let (shown, hidden) = (EncodedHeader::new("cn"), EncodedHeader::HIDDEN);
    let mut out = Vec::new();
    assert!(append(&record, &[hidden, hidden, shown], &mut out));
    assert!(out.ends_with(b"one") && out.capacity() < 1 << 12);
    let mut none = Vec::new();
    assert!(append(&record, &[], &mut none) && none.capacity() == 0);
    // A value stored once is shown once for each attribute that has it.
    let model = Model::from([(3, vec![large.clone()]), (7, vec![large.clone()])]);
    let bytes = encoded(1, b"n", b"n", &model);
    let record = Record::parse(&bytes).unwrap();
    assert!(record.value_bytes().len() == large.len());
    for headers in [[shown, shown], [hidden, shown]] {
        let mut out = Vec::new();
        assert!(append(&record, &headers, &mut out));
        let times = headers.iter().filter(|header| !header.is_hidden()).count();
        assert!((times * large.len()..times * large.len() + 100).contains(&out.len()));
    }
}

#[test]
fn overflow_values_take_no_room_in_the_record() {
    let values: Vec<Vec<u8>> = (0..5_u8).map(|n| vec![n]).collect();
    let model = Model::from([(3, values.clone()), (5, vec![b"one".to_vec()]), (9, values)]);
    let bytes = encoded(1, b"n", b"N", &model);
    let whole = Record::parse(&bytes).unwrap();
    let bytes = without_values(&whole, &[AttributeId(3), AttributeId(9)]).unwrap();
    let record = Record::parse(&bytes).unwrap();
    assert!(record.has_overflow() && !whole.has_overflow());
    assert_eq!(
        record
            .overflow_attributes()
            .map(|id| id.0)
            .collect::<Vec<_>>(),
        [9, 3]
    );
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
        overflow: &[(AttributeId(3), 5), (AttributeId(9), 5)],
    };
    let mut again = Vec::new();
    encode(&source, &mut again).unwrap();
    assert_eq!(bytes, again);
}
