//! The format read back, and read wrongly.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn csn_of(number: u64) -> Csn {
    let mut bytes = [0; Csn::LEN];
    let digits = format!("{number:020}");
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().as_chunks::<2>().0) {
        *byte = (pair[0] - b'0') << 4 | (pair[1] - b'0');
    }
    Csn::from_bytes(bytes).expect("decimal digits")
}

fn values() -> impl Strategy<Value = Value> {
    let long = INLINE_VALUE_BYTES_MAX as u64 + 1;
    prop_oneof![
        6 => vec(any::<u8>(), 0..40).prop_map(Value::Inline),
        1 => (long..u64::MAX >> 1, any::<[u8; 32]>())
            .prop_map(|(bytes, sha256)| Value::Part { bytes, sha256 }),
    ]
}

fn names() -> impl Strategy<Value = String> {
    select(vec![
        "",
        "cn",
        "member",
        "dc=example",
        "cn=ä,dc=example",
        "ou=p,dc=example",
    ])
    .prop_map(str::to_owned)
}

fn operations() -> impl Strategy<Value = Operation> {
    let operators = select(vec![
        Operator::Add,
        Operator::Delete,
        Operator::Replace,
        Operator::Update,
    ]);
    (operators, names(), vec(values(), 0..4)).prop_map(|(operator, attribute, values)| Operation {
        operator,
        attribute,
        values,
    })
}

fn renamings() -> impl Strategy<Value = Renaming> {
    let parts = (names(), any::<bool>(), option::of(names()));
    parts.prop_map(|(new_rdn, deletes_old, superior)| Renaming {
        new_rdn,
        deletes_old,
        superior,
    })
}

fn records() -> impl Strategy<Value = Record> {
    let kinds = select(RecordKind::ALL.to_vec());
    let ids = (any::<[u8; 16]>(), option::of(any::<[u8; 16]>()));
    let numbers = (option::of(0..9_u64), any::<[u64; 3]>(), any::<bool>());
    let texts = (names(), names(), renamings());
    (kinds, ids, numbers, texts, vec(operations(), 0..4)).prop_map(
        |(
            kind,
            (uuid, parent),
            (previous, [begun_us, took_us, session], is_unordered),
            texts,
            operations,
        )| {
            let (author, dn, renaming) = texts;
            Record {
                kind,
                csn: csn_of(0),
                previous: previous.map(csn_of),
                uuid,
                parent,
                is_unordered,
                begun_us,
                took_us,
                session,
                author,
                dn,
                renaming: (kind == RecordKind::Rename).then_some(renaming),
                operations,
            }
        },
    )
}

/// Leaves out the values that only version 1 has.
fn without_parts(record: &mut Record) {
    for operation in &mut record.operations {
        operation
            .values
            .retain(|value| matches!(value, Value::Inline(_)));
    }
}

fn batches() -> impl Strategy<Value = Batch> {
    let ids = (
        1..u64::MAX,
        any::<[u64; 2]>(),
        any::<[u8; 16]>(),
        any::<[u8; 32]>(),
    );
    let marks = (any::<[u64; 2]>(), any::<u32>()).prop_map(|([node, number], code)| RequestMark {
        node: NodeId(node),
        number,
        code,
    });
    (ids, 1..=2_u16, vec(marks, 0..3), vec(records(), 1..6)).prop_map(
        |((position, [epoch, node], id, previous), version, mut requests, mut records)| {
            match version {
                1 => requests.clear(),
                _ => records.iter_mut().for_each(without_parts),
            }
            for (number, record) in records.iter_mut().enumerate() {
                record.csn = csn_of(match record.is_unordered {
                    true => 3,
                    false => 100 + number as u64,
                });
            }
            Batch {
                version,
                position: Position(position),
                epoch: Epoch(epoch),
                node: NodeId(node),
                id: BatchId(id),
                previous: Digest(previous),
                requests,
                records,
            }
        },
    )
}

proptest! {
    #[test]
    fn a_batch_is_read_back(batch in batches()) {
        let bytes = batch.encode().expect("a short batch");
        prop_assert_eq!(Batch::decode(&bytes), Ok(batch));
    }

    #[test]
    fn a_wrong_byte_is_an_error(batch in batches(), at in any::<usize>(), bits in 1..=255_u8) {
        let mut bytes = batch.encode().expect("a short batch");
        let at = at % bytes.len();
        bytes[at] ^= bits;
        prop_assert!(Batch::decode(&bytes).is_err());
    }

    #[test]
    fn a_part_of_a_batch_is_an_error(batch in batches(), len in any::<usize>()) {
        let bytes = batch.encode().expect("a short batch");
        prop_assert!(Batch::decode(&bytes[..len % bytes.len()]).is_err());
        prop_assert!(Batch::decode(&[&bytes[..], &[0]].concat()).is_err());
    }

    /// A wrong byte whose checksum fits is an error, or another batch in its only form.
    #[test]
    fn a_batch_has_one_form(batch in batches(), changes in vec((any::<usize>(), any::<u8>()), 1..4)) {
        let mut bytes = batch.encode().expect("a short batch");
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        let bytes = with_checksum(bytes);
        if let Ok(batch) = Batch::decode(&bytes) {
            prop_assert_eq!(batch.encode().expect("as long as before"), bytes);
        }
    }
}

fn with_checksum(bytes: Vec<u8>) -> Vec<u8> {
    super::header::seal(&bytes).unwrap_or(bytes)
}

fn plain() -> Batch {
    let record = Record {
        kind: RecordKind::Modify,
        csn: csn_of(7),
        previous: Some(csn_of(6)),
        uuid: [1; 16],
        parent: None,
        is_unordered: false,
        begun_us: 5,
        took_us: 1,
        session: 3,
        author: "cn=admin".to_owned(),
        dn: "cn=a".to_owned(),
        renaming: None,
        operations: vec![],
    };
    Batch {
        version: 1,
        position: Position(1),
        epoch: Epoch(2),
        node: NodeId(3),
        id: BatchId([4; 16]),
        previous: Digest([5; 32]),
        requests: vec![],
        records: vec![record],
    }
}

/// The bytes are those of the first release: batches in a log stay readable.
#[test]
fn the_bytes_stay() {
    let bytes = plain().encode().expect("a short batch");
    assert_eq!(&bytes[..8], b"FGB1\x01\0\0\0");
    assert_eq!(
        bytes.len(),
        HEADER_BYTES + 1 + 9 + 5 + 2 + 18 + 18 + 16 + 3 + 2 + 1
    );
    let text: String = digest(&bytes)
        .0
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(
        text,
        "52f6a5638a22f7ce8f4f8a9511ea723fdde09a3fd29dd28c12ea15c6c2fe4b99"
    );
}

#[test]
fn version_2_has_requests_and_long_values() {
    let mut batch = plain();
    let old = batch.encode().expect("a short batch");
    batch.version = 2;
    assert_eq!(batch.encode().map(|bytes| bytes.len()), Ok(old.len() + 1));
    batch.requests = vec![RequestMark {
        node: NodeId(200),
        number: 3,
        code: 68,
    }];
    let bytes = batch.encode().expect("a short batch");
    // Its node, its number, and the code of its result.
    assert_eq!(bytes.len(), old.len() + 1 + 2 + 1 + 1);
    assert_eq!(Batch::decode(&bytes).as_ref(), Ok(&batch));
    let mut cut = bytes.clone();
    cut.truncate(bytes.len() - 1);
    assert_eq!(
        Batch::decode(&with_checksum(cut)),
        Err(Malformed::Truncated)
    );
    // Its records in the older version are other bytes.
    let mut older = bytes;
    older[4] = 1;
    assert!(Batch::decode(&with_checksum(older)).is_err());
    batch.records[0].operations = vec![Operation {
        operator: Operator::Replace,
        attribute: "jpegPhoto".to_owned(),
        values: vec![Value::Inline(vec![7; 2 << 20])],
    }];
    let bytes = batch.encode().expect("below the bound");
    assert_eq!(Batch::decode(&bytes), Ok(batch.clone()));
    batch.records[0].operations[0].values = vec![Value::Inline(vec![7; LONG_BATCH_BYTES_MAX])];
    assert!(matches!(batch.encode(), Err(TooLong::Batch { .. })));
}

#[test]
fn errors_say_what_is_wrong() {
    let bytes = plain().encode().expect("a short batch");
    let changed = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        Batch::decode(&with_checksum(bytes))
    };
    assert_eq!(changed(0, b'X'), Err(Malformed::Magic));
    assert_eq!(changed(4, 9), Err(Malformed::Version(9)));
    assert_eq!(changed(6, 1), Err(Malformed::Flags(1)));
    assert_eq!(changed(8, 0), Err(Malformed::Empty));
    assert_eq!(changed(50, 0xaa), Err(Malformed::Csn));
    assert_eq!(changed(50, 1), Err(Malformed::FirstCsn));
    let record = HEADER_BYTES + 1 + 9 + 5;
    assert_eq!(changed(record, 9), Err(Malformed::Kind(9)));
    let flags = Malformed::RecordFlags { kind: 1, flags: 8 };
    assert_eq!(changed(record + 1, 8), Err(flags));
    assert_eq!(changed(record + 2, 0xf0), Err(Malformed::Csn));
    assert_eq!(changed(bytes.len() - 2, 0), Err(Malformed::Strings));
    assert_eq!(changed(bytes.len() - 2, 7), Err(Malformed::StringNumber(7)));
    assert_eq!(changed(bytes.len() - 1, 1), Err(Malformed::Count(1)));
    let mut unsealed = bytes.clone();
    unsealed[record] = 0;
    assert_eq!(Batch::decode(&unsealed), Err(Malformed::Checksum));
    assert_eq!(Batch::decode(b"FG"), Err(Malformed::Truncated));
}

#[test]
fn a_batch_has_a_bound() {
    let mut batch = plain();
    let long = |bytes: usize| Operation {
        operator: Operator::Replace,
        attribute: "jpegPhoto".to_owned(),
        values: vec![Value::Inline(vec![0; bytes])],
    };
    batch.records[0].operations = vec![long(INLINE_VALUE_BYTES_MAX + 1)];
    let bytes = INLINE_VALUE_BYTES_MAX + 1;
    assert_eq!(batch.encode(), Err(TooLong::Value { bytes }));
    batch.records[0].operations = (0..4).map(|_| long(INLINE_VALUE_BYTES_MAX)).collect();
    assert!(matches!(batch.encode(), Err(TooLong::Batch { .. })));
    batch.records[0].operations.truncate(3);
    let bytes = batch.encode().expect("below the bound");
    assert_eq!(Batch::decode(&bytes), Ok(batch));
}

#[test]
fn the_head_is_behind_the_batch() {
    let mut batch = plain();
    let before = Head::default();
    assert_eq!(batch.head(&before, Digest([9; 32])).csn, csn_of(7));
    batch.records[0].is_unordered = true;
    let head = batch.head(&before, Digest([9; 32]));
    assert_eq!((head.position, head.csn), (Position(1), before.csn));
}
