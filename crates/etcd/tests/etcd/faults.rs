//! Lost answers, stalls and a full etcd.

use fulgurite_cluster::{AppendOutcome, ChangeLog as _, Position, ReadOutcome};
use fulgurite_etcd::{EtcdLog, EtcdSettings};

use fulgurite_testkit::{Etcd, Wire, has_etcd};

use crate::{append, head, lead, log_of, settings_of};

/// Returns a log that tries once or twice.
fn hasty(urls: Vec<String>, try_ms: u64) -> EtcdLog {
    let mut settings = EtcdSettings::new(urls, "test");
    settings.try_ms = try_ms;
    settings.call_ms = 100;
    EtcdLog::new(&settings).expect("settings")
}

#[test]
fn a_lost_answer_is_settled_by_reading() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &[]);
    let wire = Wire::new(&etcd.urls[0]);
    let log = hasty(vec![wire.url.clone()], 30_000);
    let (_, epoch) = lead(&log_of(&etcd), 1);
    assert_eq!(append(&log, epoch, 1), AppendOutcome::Appended);
    wire.cut_answers(true);
    // The first try is taken without an answer, and each later one finds it.
    assert_eq!(append(&log, epoch, 2), AppendOutcome::Unknown);
    wire.cut_answers(false);
    // It may have been on its way when the wire was whole again.
    loop {
        match log.read(Position(2), 1) {
            ReadOutcome::Batches(batches) if !batches.is_empty() => {
                assert_eq!(batches, [(Position(2), b"batch 2".to_vec())]);
                break;
            }
            ReadOutcome::Trimmed { .. } => panic!("nobody trims"),
            _ => {}
        }
    }
    let AppendOutcome::Refused(refusal) = append(&log, epoch, 2) else {
        panic!("taken twice");
    };
    assert_eq!(refusal.present.as_deref(), Some(&b"batch 2"[..]));
    assert_eq!(append(&log, epoch, 3), AppendOutcome::Appended);
}

#[test]
fn another_member_settles_an_append() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(3, &[]);
    let wire = Wire::new(&etcd.urls[0]);
    let (_, epoch) = lead(&log_of(&etcd), 1);
    let mut settings = settings_of(&etcd);
    settings.members = vec![wire.url.clone(), etcd.urls[1].clone()];
    let log = EtcdLog::new(&settings).expect("settings");
    assert_eq!(append(&log, epoch, 1), AppendOutcome::Appended);
    wire.cut_answers(true);
    // The first member has taken it, or will. The second one tells.
    match append(&log, epoch, 2) {
        AppendOutcome::Appended => {}
        AppendOutcome::Refused(refusal) => {
            assert_eq!(refusal.present.as_deref(), Some(&b"batch 2"[..]));
        }
        outcome => panic!("{outcome:?}"),
    }
    assert_eq!(log_of(&etcd).end(), Ok(head(2)));
}

#[test]
fn an_append_is_never_guessed_while_members_stall() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(3, &[]);
    let (_, epoch) = lead(&log_of(&etcd), 1);
    let log = hasty(etcd.urls.clone(), 2000);
    let mut position = 1;
    for member in [0, 1, 2, 0, 1, 2] {
        // One member stalls: two others decide, perhaps after an election.
        etcd.signal(member, "STOP");
        loop {
            match append(&log, epoch, position) {
                AppendOutcome::Appended => break,
                AppendOutcome::Refused(refusal) => {
                    let text = format!("batch {position}");
                    assert_eq!(refusal.present.as_deref(), Some(text.as_bytes()));
                    break;
                }
                AppendOutcome::Unknown => {}
                AppendOutcome::Full => panic!("there is room"),
            }
        }
        assert_eq!(log_of(&etcd).end(), Ok(head(position)));
        etcd.signal(member, "CONT");
        position += 1;
    }
    // Two of three stall: nobody answers, and nothing is guessed.
    etcd.signal(1, "STOP");
    etcd.signal(2, "STOP");
    assert_eq!(append(&log, epoch, position), AppendOutcome::Unknown);
    assert!(log.end().is_err());
    etcd.signal(1, "CONT");
    etcd.signal(2, "CONT");
    let log = log_of(&etcd);
    let taken = match append(&log, epoch, position) {
        AppendOutcome::Refused(refusal) => refusal.present,
        AppendOutcome::Appended => None,
        outcome => panic!("{outcome:?}"),
    };
    let text = format!("batch {position}");
    assert!(taken.is_none_or(|taken| taken == text.as_bytes()));
    assert_eq!(log.end(), Ok(head(position)));
}

#[test]
fn a_full_etcd_is_trimmed_and_goes_on() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &["--quota-backend-bytes", "16777216"]);
    let log = log_of(&etcd);
    let (lease, epoch) = lead(&log, 1);
    let batch = vec![b'x'; 1_000_000];
    let mut end = 0;
    loop {
        match log.append(epoch, &head(end), &head(end + 1), &batch) {
            AppendOutcome::Appended => end += 1,
            AppendOutcome::Full => break,
            outcome => panic!("{outcome:?}"),
        }
        assert!(end < 100, "etcd is never full");
    }
    // Full is certain: the batch is not there, and the log ends before it.
    assert_eq!(log.end(), Ok(head(end)));
    assert_eq!(log.read(Position(end + 1), 1), ReadOutcome::Batches(vec![]));
    // A full etcd takes no states and no leases, but trims and renewals.
    assert!(log.grant(60_000).is_err());
    assert_eq!(log.renew(lease), Ok(true));
    assert_eq!(log.trim(epoch, Position(end)), Ok(()));
    let again = log.append(epoch, &head(end), &head(end + 1), &batch);
    assert_eq!(again, AppendOutcome::Full, "the alarm is still there");
    let [(0, before)] = log.spaces().expect("spaces")[..] else {
        panic!("one member");
    };
    assert_eq!(log.quota(0), Some(16 << 20));
    assert_eq!(log.is_full(), Ok(true));
    assert_eq!(log.reclaim(), Ok(1));
    assert_eq!(log.is_full(), Ok(false));
    let [(0, after)] = log.spaces().expect("spaces")[..] else {
        panic!("one member");
    };
    assert!(
        after.bytes < before.bytes && after.is_leader,
        "{before:?}, {after:?}"
    );
    let again = log.append(epoch, &head(end), &head(end + 1), &batch);
    assert_eq!(again, AppendOutcome::Appended);
    assert_eq!(log.reclaim(), Ok(0));
}
