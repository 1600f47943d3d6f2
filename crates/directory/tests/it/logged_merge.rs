//! Operations of access logs where clients of several servers change one entry.

use fulgurite_ldap::{ContentChange, LoggedKind, LoggedOperation, ModifyOperation};
use fulgurite_testkit::{Random, seed};

use crate::replicated::{Copy, attribute, reached, unit};
use crate::support::TOP;

const ATTRIBUTES: [&str; 4] = ["description", "street", "l", "preferredDeliveryMethod"];

fn by(server: u8, number: u32) -> String {
    format!("20260101000000.{number:06}Z#000000#00{server}#000000")
}

fn modify(server: u8, number: u32, changes: &[(ModifyOperation, &str, &[&str])]) -> ContentChange {
    let csn = by(server, number);
    let changes = changes
        .iter()
        .map(|(operation, name, values)| (*operation, attribute(name, values)));
    let stamp = (ModifyOperation::Replace, attribute("entryCSN", &[&csn]));
    ContentChange::Operation(LoggedOperation {
        uuid: Some([2; 16]),
        dn: format!("ou=a,{TOP}"),
        kind: LoggedKind::Modify(changes.chain([stamp]).collect()),
        csn,
    })
}

/// Returns a copy with an entry that server 1 has made.
fn begun() -> Copy {
    let mut copy = Copy::new(|_| {}, true);
    copy.apply(&[
        unit(1, TOP, 1),
        unit(2, &format!("ou=a,{TOP}"), 2),
        reached(2),
    ]);
    copy
}

/// Returns the values of the entry, each attribute's in order.
fn state(copy: &Copy) -> Vec<Vec<String>> {
    let entry = copy.world.read(&format!("ou=a,{TOP}"), &["*", "+"]);
    let names = ATTRIBUTES.iter().chain(&["entryCSN", "ou"]);
    let values = names.map(|name| {
        let values = entry.get(name);
        let mut values: Vec<String> = values.iter().map(|value| value.to_string()).collect();
        values.sort();
        values
    });
    values.collect()
}

#[track_caller]
fn run(operations: &[&ContentChange]) -> Copy {
    let mut copy = begun();
    for operation in operations {
        let report = copy.apply(std::slice::from_ref(operation));
        assert_eq!(report.lost_sync, None, "{operation:?}");
    }
    copy
}

#[test]
fn operations_of_two_servers_are_merged_in_any_order() {
    use ModifyOperation::{Add, Delete, Replace};
    let begin = modify(1, 3, &[(Add, "description", &["outstanding", "common"])]);
    let one = modify(
        1,
        10,
        &[
            (Add, "description", &["amazing"]),
            (Delete, "description", &["outstanding"]),
            (Replace, "street", &["first"]),
        ],
    );
    let other = modify(
        3,
        11,
        &[
            (Delete, "description", &["Outstanding"]),
            (Add, "description", &["bizarre"]),
            (Add, "street", &["second"]),
            (Add, "preferredDeliveryMethod", &["mhs"]),
        ],
    );
    let last = modify(1, 12, &[(Add, "preferredDeliveryMethod", &["any"])]);
    let expected: [&[&str]; 6] = [
        &["amazing", "bizarre", "common"],
        &["first", "second"],
        &[],
        &["any"],
        &[&by(1, 12)],
        &["a"],
    ];
    for order in [
        [&begin, &one, &other, &last],
        [&begin, &other, &one, &last],
        [&begin, &one, &last, &other],
    ] {
        assert_eq!(state(&run(&order)), expected);
    }
}

#[test]
fn histories_of_two_servers_end_equal_whichever_comes_first() {
    let seed = seed("merged histories of a log", 19);
    for run_of in 0..20 {
        let mut random = Random::new(seed + run_of);
        let history = |random: &mut Random, server: u8| -> Vec<ContentChange> {
            let mut number = 10;
            let mut next = || {
                number += 1 + u32::try_from(random.below(4)).expect("a small number");
                let name = ATTRIBUTES[random.below(4)];
                let value = ["any", "mhs", "physical"][random.below(3)];
                let operation = match random.below(4) {
                    0 | 1 => ModifyOperation::Add,
                    2 => ModifyOperation::Delete,
                    _ => ModifyOperation::Replace,
                };
                modify(server, number, &[(operation, name, &[value])])
            };
            (0..6).map(|_| next()).collect()
        };
        let histories = [history(&mut random, 1), history(&mut random, 3)];
        let mut mixed = Vec::new();
        let mut next = [0, 0];
        while next != [6, 6] {
            let side = random.below(2);
            if let Some(operation) = histories[side].get(next[side]) {
                mixed.push(operation);
                next[side] += 1;
            }
        }
        let straight: Vec<&ContentChange> = histories.iter().flatten().collect();
        assert_eq!(state(&run(&mixed)), state(&run(&straight)), "{mixed:?}");
    }
}

#[test]
fn a_new_value_stays_if_its_operation_takes_the_old_one_away() {
    use ModifyOperation::{Add, Delete, Replace};
    const NAME: &str = "preferredDeliveryMethod";
    let begin = modify(1, 3, &[(Add, NAME, &["any"])]);
    let one = modify(1, 10, &[(Add, NAME, &["mhs"]), (Delete, NAME, &["any"])]);
    for (later, expected) in [
        (
            vec![(Add, NAME, &["telex"][..]), (Delete, NAME, &["any"])],
            "telex",
        ),
        (
            vec![(Delete, NAME, &["any"]), (Add, NAME, &["telex"])],
            "telex",
        ),
        (
            vec![(Replace, NAME, &["telex"]), (Delete, NAME, &["telex"])],
            "",
        ),
        (vec![(Replace, NAME, &["telex"]), (Delete, NAME, &[])], ""),
    ] {
        let other = modify(3, 11, &later);
        for order in [[&begin, &one, &other], [&begin, &other, &one]] {
            assert_eq!(state(&run(&order))[3].concat(), expected, "{later:?}");
        }
    }
}

/// A server that keeps an entry against a deletion logs it again by a new number. So does one that
/// moves an entry. The record has no changes, or it shows the entry as a new one. The copy may lack
/// what the entry has, and reads it.
#[test]
fn an_entry_is_read_if_an_operation_tells_it_again() {
    let change = modify(1, 3, &[(ModifyOperation::Add, "l", &["here"])]);
    let values = [attribute("ou", &["a"]), attribute("entryCSN", &[&by(1, 2)])];
    for kind in [
        LoggedKind::Modify(Vec::new()),
        LoggedKind::Add(values.to_vec()),
    ] {
        let again = |server: u8, number: u32| {
            ContentChange::Operation(LoggedOperation {
                uuid: Some([2; 16]),
                dn: format!("ou=a,{TOP}"),
                kind: kind.clone(),
                csn: by(server, number),
            })
        };
        let mut copy = run(&[&change]);
        let expected = state(&copy);
        let report = copy.apply(&[again(3, 20)]);
        assert!(report.lost_sync.is_some(), "{report:?}");
        assert_eq!(state(&copy), expected);
        // The state of the copy covers the number.
        let report = copy.apply(&[reached(2), again(1, 1)]);
        assert_eq!(report.lost_sync, None);
        assert_eq!(state(&copy), expected);
    }
}

/// slapd notes its state in its log as a change of the suffix, with the number of any change.
#[test]
fn the_state_of_a_server_is_no_change_of_an_entry() {
    let state = LoggedKind::Modify(vec![(
        ModifyOperation::Replace,
        attribute("contextCSN", &[&by(1, 9), &by(3, 9)]),
    )]);
    for multi_provider in [true, false] {
        let mut copy = Copy::new(|_| {}, multi_provider);
        copy.apply(&[unit(1, TOP, 1), reached(2)]);
        let before = copy.world.read(TOP, &["*", "+"]);
        let logged = |copy: &Copy| {
            let view = copy.world.store.snapshot().expect("a snapshot");
            view.changes().expect("a log").newest
        };
        let newest = logged(&copy);
        // The number may be one of this server, which it had given to a change before.
        for csn in [by(1, 10), by(2, 11)] {
            let report = copy.apply(&[ContentChange::Operation(LoggedOperation {
                uuid: Some([1; 16]),
                dn: TOP.to_owned(),
                kind: state.clone(),
                csn,
            })]);
            assert_eq!(report.lost_sync, None);
        }
        assert_eq!(copy.world.read(TOP, &["*", "+"]), before);
        assert_eq!(logged(&copy), newest, "nothing is logged");
    }
}

#[test]
fn an_operation_is_logged_as_its_server_did() {
    use ModifyOperation::Add;
    let late = modify(3, 9, &[(Add, "description", &["three"])]);
    let copy = run(&[&modify(1, 10, &[(Add, "description", &["one"])]), &late]);
    let view = copy.world.store.snapshot().expect("a snapshot");
    let newest = view.changes().expect("a log").newest;
    let record = view.change(newest).expect("a log").expect("a record");
    assert_eq!(record.csn.text(), by(3, 9));
    let operations = record.operations().expect("operations");
    let first = &operations[0];
    assert_eq!((first.operator, first.attribute), (b'+', "description"));
    assert_eq!(first.values, [b"three"]);
}

#[test]
fn a_deletion_and_an_operation_of_two_servers_have_one_outcome() {
    let uuid = Some([2; 16]);
    let removal = |number| {
        ContentChange::Operation(LoggedOperation {
            uuid,
            dn: format!("ou=a,{TOP}"),
            csn: by(3, number),
            kind: LoggedKind::Delete,
        })
    };
    let change = modify(1, 10, &[(ModifyOperation::Add, "description", &["x"])]);
    let a = format!("ou=a,{TOP}");
    for order in [[&change, &removal(11)], [&removal(11), &change]] {
        assert_eq!(run(&order).names(), [TOP], "the deletion is later");
    }
    let early = removal(9);
    assert_eq!(run(&[&change, &early]).names(), [TOP, &a]);
    // The operation alone cannot bring the entry back: a refresh does.
    let mut copy = begun();
    let report = copy.apply(&[early, change]);
    assert!(report.lost_sync.is_some(), "{report:?}");
    copy.apply(&[unit(2, &a, 10)]);
    assert_eq!(copy.names(), [TOP, &a]);
}
