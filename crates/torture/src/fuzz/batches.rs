//! Batches of a cluster's log, as a foreign or broken log may hold them.

use fulgurite_cluster::{
    Batch, BatchId, Csn, Digest, Epoch, NodeId, Operation, Operator, Position, Record, RecordKind,
    Renaming, RequestMark, VERSION_NEWEST, Value, seal,
};

/// Reads a batch, as it is and with a checksum that fits.
///
/// # Panics
/// If a batch that can be read has a second form.
pub fn cluster_batch(bytes: &[u8]) {
    for bytes in [Some(bytes.to_vec()), seal(bytes)].into_iter().flatten() {
        if let Ok(batch) = Batch::decode(&bytes) {
            let again = batch.encode().expect("as long as before");
            assert_eq!(again, bytes, "a batch has one form");
        }
    }
}

/// Batches with one record of each kind, and with all of them.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let kinds = [
        RecordKind::Add,
        RecordKind::Modify,
        RecordKind::Rename,
        RecordKind::Delete,
        RecordKind::Glue,
        RecordKind::BindState,
    ];
    let records: Vec<Record> = kinds.iter().zip(1..).map(record).collect();
    let single = records.iter().map(|record| vec![record.clone()]);
    let all: Vec<Batch> = single.chain([records.clone()]).map(batch).collect();
    let newer = all.iter().cloned().map(newer);
    let newer: Vec<Batch> = newer.collect();
    let all = all.into_iter().chain(newer);
    all.map(|batch| batch.encode().expect("a short batch"))
        .collect()
}

fn batch(records: Vec<Record>) -> Batch {
    Batch {
        version: 1,
        position: Position(300),
        epoch: Epoch(7),
        node: NodeId(2),
        id: BatchId([3; 16]),
        previous: Digest([4; 32]),
        requests: Vec::new(),
        records,
    }
}

/// Returns a batch of the newest version, which has requests, and no parts.
fn newer(mut batch: Batch) -> Batch {
    batch.version = VERSION_NEWEST;
    batch.requests = vec![RequestMark {
        node: NodeId(3),
        number: 1 << 40,
        code: 68,
    }];
    for operation in batch
        .records
        .iter_mut()
        .flat_map(|record| &mut record.operations)
    {
        operation
            .values
            .retain(|value| matches!(value, Value::Inline(_)));
    }
    batch
}

fn record((kind, number): (&RecordKind, u8)) -> Record {
    let mut csn = [0; Csn::LEN];
    csn[9] = number;
    let csn = Csn::from_bytes(csn).expect("decimal digits");
    let is_new = matches!(kind, RecordKind::Add | RecordKind::Glue);
    let renaming = Renaming {
        new_rdn: "cn=b".to_owned(),
        deletes_old: true,
        superior: Some("dc=example".to_owned()),
    };
    let long = Value::Part {
        bytes: 300_000,
        sha256: [6; 32],
    };
    let operation = |operator, values| Operation {
        operator,
        attribute: "description".to_owned(),
        values,
    };
    Record {
        kind: *kind,
        csn,
        previous: (!is_new).then_some(csn),
        uuid: [number; 16],
        parent: Some([9; 16]),
        is_unordered: false,
        begun_us: 1_767_323_045_000_000,
        took_us: 250,
        session: 1000,
        author: "cn=admin,dc=example".to_owned(),
        dn: format!("cn=a{number},dc=example"),
        renaming: (*kind == RecordKind::Rename).then_some(renaming),
        operations: vec![
            operation(Operator::Replace, vec![Value::Inline(b"x".to_vec()), long]),
            operation(Operator::Delete, vec![]),
            operation(Operator::Add, vec![Value::Inline(vec![])]),
        ],
    }
}
