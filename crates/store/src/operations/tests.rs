//! Records come back, survive, and go when they are old.

use super::{OperationLog, OperationPosition, OperationRecord};

const SECOND: u64 = 1_000_000;

fn record(start_us: u64, name: &str) -> OperationRecord<'_> {
    let mut record = OperationRecord {
        kind: 3,
        start_us,
        session: 77,
        result: Some(0),
        ..OperationRecord::default()
    };
    record.push(1, name.as_bytes());
    record.push(9, &b""[..]);
    record.push(1, &b"again"[..]);
    record
}

fn all(log: &OperationLog, now_us: u64) -> Vec<(OperationPosition, String)> {
    log.flush(now_us).expect("room");
    let view = log.read().expect("a sound log");
    let mut found = Vec::new();
    let mut at = OperationPosition::default();
    while let Some((position, record)) = view.next(at).expect("a sound log") {
        let name = record.field(1).expect("the name");
        found.push((position, String::from_utf8_lossy(name).into_owned()));
        at = position.behind();
    }
    found
}

fn names(log: &OperationLog, now_us: u64) -> Vec<String> {
    all(log, now_us).into_iter().map(|(_, name)| name).collect()
}

#[test]
fn a_record_is_read_as_it_was_appended() {
    for result in [None, Some(0), Some(u32::MAX)] {
        let record = OperationRecord {
            result,
            ..record(u64::MAX, "x")
        };
        let encoded = record.encode();
        assert_eq!(OperationRecord::decode(&encoded), Some(record));
        let cut = OperationRecord::decode(&encoded[..encoded.len() - 1]);
        assert_eq!(cut, None, "a record without its end");
    }
    assert_eq!(OperationRecord::decode(&[2, 0, 0, 0, 0]), None);
}

#[test]
fn records_are_in_the_order_of_their_starts_and_outlive_the_handle() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("new");
    let log = OperationLog::open(&folder).expect("a new log");
    for (second, name) in [(30, "b"), (20, "a"), (30, "c")] {
        log.append(&record(second * SECOND, name)).expect("room");
    }
    assert_eq!(names(&log, 0), ["a", "b", "c"]);
    log.append(&record(31 * SECOND, "d")).expect("room");
    drop(log);
    let log = OperationLog::open(&folder).expect("the same log");
    log.append(&record(31 * SECOND, "e")).expect("room");
    assert_eq!(names(&log, 0), ["a", "b", "c", "d", "e"]);
    let serials: Vec<u64> = all(&log, 0).iter().map(|(at, _)| at.serial).collect();
    assert_eq!(serials, [1, 0, 2, 3, 4]);
    let view = log.read().expect("a sound log");
    assert_eq!(view.serials_of(31).expect("a sound log"), Some((3, 4)));
    assert_eq!(view.serials_of(30).expect("a sound log"), Some((0, 2)));
    assert_eq!(view.serials_of(29).expect("a sound log"), None);
    assert_eq!(view.next_serial(), 5);
}

#[test]
fn old_records_go_and_their_serials_stay_used() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = OperationLog::open(dir.path()).expect("a new log");
    log.keep(10 * SECOND);
    for second in [100, 101, 120] {
        log.append(&record(second * SECOND, "x")).expect("room");
    }
    assert_eq!(all(&log, 100 * SECOND).len(), 3);
    assert_eq!(all(&log, 111 * SECOND).len(), 2);
    log.flush(112 * SECOND).expect("room");
    assert_eq!(all(&log, 0).len(), 1);
    assert_eq!(all(&log, 1_000 * SECOND).len(), 0);
    log.append(&record(1_000 * SECOND, "y")).expect("room");
    let serials: Vec<u64> = all(&log, 0).iter().map(|(at, _)| at.serial).collect();
    assert_eq!(serials, [3]);
}

#[test]
fn many_records_do_not_stay_in_memory() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = OperationLog::open(dir.path()).expect("a new log");
    let long = "x".repeat(100_000);
    for second in 0..100 {
        log.append(&record(second * SECOND, &long)).expect("room");
    }
    let pending = super::log::pending_bytes(&log);
    assert!(pending < 4 << 20, "{pending} bytes wait");
    assert_eq!(all(&log, 0).len(), 100);
}

#[test]
fn large_records_make_room_for_themselves_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = OperationLog::open(dir.path()).expect("a new log");
    let long = "x".repeat(100_000);
    for second in 0..300 {
        log.append(&record(second * SECOND, &long)).expect("room");
    }
    // The bound of tests is 16 MiB: 160 records and more.
    let kept = all(&log, 0);
    assert!((130..200).contains(&kept.len()), "{} records", kept.len());
    assert_eq!(kept.last().expect("records").0.second, 299);
}
