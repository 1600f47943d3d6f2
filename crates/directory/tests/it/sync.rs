//! The provider of content synchronisation, against a consumer in a few lines.

use std::collections::BTreeSet;

use fulgurite_directory::{OverlaySettings, Progress, Quantum, Session};
use fulgurite_ldap::control::{SyncMode, SyncRequest};
use fulgurite_ldap::{ModifyOperation, ResultCode, Scope, oid};
use fulgurite_policy::Origin;
use fulgurite_store::Retention;
use fulgurite_testkit::Random;

use crate::support::*;
use crate::sync_consumer::*;

#[test]
fn a_consumer_gets_everything_and_then_the_changes() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    assert_eq!(
        refresh(&world, &EVERYTHING, &mut consumer),
        ResultCode::Success
    );
    assert_eq!(consumer.seen.last().unwrap(), "end false");
    assert_equal(&world, &EVERYTHING, &consumer, "first");
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_eq!(consumer.seen, ["end true"], "nothing has changed");
    describe(&world, JANE, "new");
    describe(&world, JANE, "newer");
    world.delete(&world.root(), JOHN);
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_eq!(
        consumer.seen,
        [
            &format!("Add {JANE}"),
            &format!("Delete {JOHN}"),
            "end true"
        ]
    );
    assert_equal(&world, &EVERYTHING, &consumer, "second");
}

#[test]
fn a_deletion_while_a_first_refresh_breaks_off_is_told() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    let mut task = begin(&world, &EVERYTHING, &mut consumer, SyncMode::RefreshOnly);
    let small = Quantum {
        candidates_max: 1,
        bytes_max: 1,
    };
    let mut out = Vec::new();
    while !consumer.copies.values().any(|copy| copy.dn == JOHN) {
        assert_eq!(task.advance(&mut out, small), Progress::More);
        consumer.take(&mut out);
    }
    drop(task);
    world.delete(&world.root(), JOHN);
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_equal(&world, &EVERYTHING, &consumer, "again");
}

#[test]
fn a_first_refresh_names_parents_first() {
    let world = world();
    let unit = "ou=new,dc=example,dc=com";
    let inner = format!("ou=inner,{unit}");
    for name in [unit, &inner] {
        world.add(
            &world.root(),
            name,
            &[("objectClass", "organizationalUnit")],
        );
    }
    rename(&world, PEOPLE, "ou=people", Some(&inner));
    for scope in [Scope::Subtree, Scope::Children] {
        let wanted = Wanted {
            scope,
            ..EVERYTHING
        };
        let mut consumer = Consumer::new(&wanted);
        refresh(&world, &wanted, &mut consumer);
        assert_equal(&world, &wanted, &consumer, "first");
        let seen = consumer.seen.iter();
        let added: Vec<&str> = seen.filter_map(|seen| seen.strip_prefix("Add ")).collect();
        assert!(added.contains(&&*format!("ou=people,{inner}")), "{added:?}");
        for (at, dn) in added.iter().enumerate() {
            let parent = dn.split_once(',').map_or("", |(_, parent)| parent);
            let is_top = *dn == TOP || parent == TOP && scope == Scope::Children;
            assert!(is_top || added[..at].contains(&parent), "{dn}: {added:?}");
        }
    }
}

#[test]
fn a_first_refresh_names_parents_first_below_a_skipped_entry() {
    let world = world();
    let add = |name: &str, uid: &str| {
        let classes = ("objectClass", "organizationalUnit");
        let account = [classes, ("objectClass", "uidObject"), ("uid", uid)];
        let attributes = if uid.is_empty() {
            &account[..1]
        } else {
            &account
        };
        world.add(&world.root(), name, attributes);
    };
    let (middle, new) = (format!("ou=middle,{TOP}"), format!("ou=new,{TOP}"));
    add(&middle, "");
    add(&format!("ou=below,{middle}"), "below");
    add(&new, "above");
    // The filter passes over the middle one, whose id is the least.
    rename(&world, &middle, "ou=middle", Some(&new));
    let wanted = Wanted {
        filter: "(objectClass=uidObject)",
        ..EVERYTHING
    };
    let mut consumer = Consumer::new(&wanted);
    refresh(&world, &wanted, &mut consumer);
    assert_equal(&world, &wanted, &consumer, "first");
    let at = |name: &str| {
        consumer
            .seen
            .iter()
            .position(|seen| seen == &format!("Add {name}"))
    };
    let below = at(&format!("ou=below,ou=middle,{new}"));
    assert!(
        at(&new).is_some() && at(&new) < below,
        "{:?}",
        consumer.seen
    );
}

#[test]
fn consumers_like_slapd_get_deletions_in_sets() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    consumer.program = Program::Client;
    refresh(&world, &EVERYTHING, &mut consumer);
    world.delete(&world.root(), JANE);
    world.delete(&world.root(), JOHN);
    describe(&world, PEOPLE, "new");
    refresh(&world, &EVERYTHING, &mut consumer);
    let (unit, classes) = (
        "ou=new,dc=example,dc=com",
        [("objectClass", "organizationalUnit")],
    );
    let people = format!("Add {PEOPLE}");
    assert_eq!(consumer.seen, ["gone 1", "gone 1", &people, "end true"]);
    assert_equal(&world, &EVERYTHING, &consumer, "by the log");
    world.add(&world.root(), unit, &classes);
    refresh(&world, &EVERYTHING, &mut consumer);
    world.store.keep_changes(Retention {
        bytes_max: 0,
        ..Retention::default()
    });
    world.delete(&world.root(), unit);
    (0..10).for_each(|round| describe(&world, PEOPLE, &round.to_string()));
    // Clients send the cookie as they got it, with the number of the provider.
    let cookie = String::from_utf8(consumer.cookie.take().unwrap()).unwrap();
    let cookie = cookie.replace("rid=007,", "rid=007,sid=001,");
    consumer.cookie = Some(cookie.into_bytes());
    let mut task = begin(
        &world,
        &EVERYTHING,
        &mut consumer,
        SyncMode::RefreshAndPersist,
    );
    run(&mut task, &mut consumer, Quantum::default());
    assert_eq!(consumer.seen, ["gone 1", &people, "end true"]);
    assert_equal(&world, &EVERYTHING, &consumer, "by the index");
    // Each deletion of the persist stage has its own number.
    consumer.seen.clear();
    world.store.keep_changes(Retention::default());
    world.add(&world.root(), unit, &classes);
    world.delete(&world.root(), unit);
    run(&mut task, &mut consumer, Quantum::default());
    assert_eq!(consumer.seen, [format!("Delete {unit}")]);
    assert_equal(&world, &EVERYTHING, &consumer, "in the persist stage");
}

#[test]
fn the_persist_stage_tells_each_change() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    let mut task = begin(
        &world,
        &EVERYTHING,
        &mut consumer,
        SyncMode::RefreshAndPersist,
    );
    let quantum = Quantum::default();
    assert_eq!(run(&mut task, &mut consumer, quantum), Progress::Waiting);
    assert_eq!(world.directory.waiting_searches(), 1);
    let store = world.directory.databases()[0].store();
    let newest = || store.snapshot().unwrap().changes().unwrap().newest;
    let copies = store.log_readers();
    assert_eq!((copies.len(), copies[0].is_refreshing), (1, false));
    assert_eq!(
        (copies[0].position, &*copies[0].name),
        (newest(), "rid=007 conn=0")
    );
    consumer.seen.clear();
    assert_eq!(run(&mut task, &mut consumer, quantum), Progress::Waiting);
    assert!(consumer.seen.is_empty(), "{:?}", consumer.seen);
    describe(&world, JANE, "new");
    assert_eq!(store.log_readers()[0].position + 1, newest());
    run(&mut task, &mut consumer, quantum);
    assert_eq!(store.log_readers()[0].position, newest());
    rename(&world, JANE, "uid=jo", None);
    run(&mut task, &mut consumer, quantum);
    world.delete(&world.root(), JOHN);
    run(&mut task, &mut consumer, quantum);
    let jo = "uid=jo,ou=people,dc=example,dc=com";
    assert_eq!(
        consumer.seen,
        [
            format!("Modify {JANE}"),
            format!("Modify {jo}"),
            format!("Delete {JOHN}")
        ]
    );
    assert_equal(&world, &EVERYTHING, &consumer, "after");
    drop(task);
    assert_eq!(world.directory.waiting_searches(), 0);
    assert!(store.log_readers().is_empty());
    // The cookies of the messages were enough.
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_eq!(consumer.seen, ["end true"]);
}

#[test]
fn a_change_outside_the_content_moves_the_cookie_alone() {
    let world = world();
    let wanted = Wanted {
        filter: "(objectClass=groupOfNames)",
        ..EVERYTHING
    };
    let mut consumer = Consumer::new(&wanted);
    let mut task = begin(&world, &wanted, &mut consumer, SyncMode::RefreshAndPersist);
    run(&mut task, &mut consumer, Quantum::default());
    consumer.seen.clear();
    describe(&world, JANE, "new");
    run(&mut task, &mut consumer, Quantum::default());
    assert_eq!(consumer.seen, ["newcookie"]);
}

#[test]
fn swapped_names_do_not_meet() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    refresh(&world, &EVERYTHING, &mut consumer);
    rename(&world, JANE, "uid=tmp", None);
    rename(&world, JOHN, "uid=jane", None);
    rename(
        &world,
        "uid=tmp,ou=people,dc=example,dc=com",
        "uid=john",
        None,
    );
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_equal(&world, &EVERYTHING, &consumer, "leaves");
    // The same with entries that have others below them.
    let groups = "ou=groups,dc=example,dc=com";
    rename(&world, PEOPLE, "ou=tmp", None);
    rename(&world, groups, "ou=people", None);
    rename(&world, "ou=tmp,dc=example,dc=com", "ou=groups", None);
    refresh(&world, &EVERYTHING, &mut consumer);
    assert_equal(&world, &EVERYTHING, &consumer, "trees");
}

#[test]
fn a_name_for_a_moment_has_another_number() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    refresh(&world, &EVERYTHING, &mut consumer);
    rename(&world, JANE, "uid=tmp", None);
    rename(&world, JOHN, "uid=jane", None);
    let tmp = "uid=tmp,ou=people,dc=example,dc=com";
    rename(&world, tmp, "uid=john", None);
    refresh(&world, &EVERYTHING, &mut consumer);
    // One of the two comes twice, and the consumer takes both messages.
    let sent = consumer.seen.iter().filter(|seen| seen.starts_with("Add"));
    assert_eq!(sent.count(), 3, "{:#?}", consumer.seen);
    assert_equal(&world, &EVERYTHING, &consumer, "swapped");
}

#[test]
fn a_parent_takes_the_name_of_an_entry_that_moved_below_it() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    refresh(&world, &EVERYTHING, &mut consumer);
    rename(
        &world,
        "ou=groups,dc=example,dc=com",
        "ou=groups",
        Some(PEOPLE),
    );
    rename(&world, PEOPLE, "ou=groups", None);
    refresh(&world, &EVERYTHING, &mut consumer);
    let copies: BTreeSet<&str> = consumer.copies.values().map(|copy| &*copy.dn).collect();
    assert!(
        copies.contains("ou=groups,ou=groups,dc=example,dc=com"),
        "{copies:?}"
    );
}

#[test]
fn a_subtree_that_moves_into_the_scope_or_out_of_it_takes_all_along() {
    let world = world();
    let wanted = Wanted {
        base: "ou=groups,dc=example,dc=com",
        ..EVERYTHING
    };
    let mut consumer = Consumer::new(&wanted);
    let mut task = begin(&world, &wanted, &mut consumer, SyncMode::RefreshAndPersist);
    run(&mut task, &mut consumer, Quantum::default());
    let mut poller = Consumer::new(&wanted);
    refresh(&world, &wanted, &mut poller);
    rename(&world, PEOPLE, "ou=people", Some(wanted.base));
    run(&mut task, &mut consumer, Quantum::default());
    assert_eq!(consumer.copies.len(), 5);
    assert_equal(&world, &wanted, &consumer, "in");
    refresh(&world, &wanted, &mut poller);
    assert_equal(&world, &wanted, &poller, "in, by refresh");
    rename(
        &world,
        "ou=people,ou=groups,dc=example,dc=com",
        "ou=people",
        Some(TOP),
    );
    run(&mut task, &mut consumer, Quantum::default());
    refresh(&world, &wanted, &mut poller);
    assert_equal(&world, &wanted, &consumer, "out");
    assert_equal(&world, &wanted, &poller, "out, by refresh");
}

#[test]
fn behind_the_log_changes_and_deletions_come_by_index() {
    let world = world();
    let sub = Wanted {
        filter: "(objectClass=person)",
        ..EVERYTHING
    };
    let (mut all, mut persons) = (Consumer::new(&EVERYTHING), Consumer::new(&sub));
    refresh(&world, &EVERYTHING, &mut all);
    refresh(&world, &sub, &mut persons);
    world.store.keep_changes(Retention {
        bytes_max: 0,
        ..Retention::default()
    });
    world.delete(&world.root(), JOHN);
    rename(&world, "ou=people,dc=example,dc=com", "ou=folk", None);
    let jane = JANE.replace("ou=people", "ou=folk");
    for round in 0..10 {
        describe(&world, &jane, &round.to_string());
    }
    let known = all.cookie.clone();
    refresh(&world, &EVERYTHING, &mut all);
    let seen = [
        format!("Delete {JOHN}"),
        "Add ou=folk,dc=example,dc=com".to_owned(),
        format!("Add {jane}"),
        "end true".to_owned(),
    ];
    assert_eq!(all.seen, seen);
    assert_equal(&world, &EVERYTHING, &all, "by index");
    // Entries may have left this content without a change.
    refresh(&world, &sub, &mut persons);
    assert_eq!(persons.seen.last().unwrap(), "end false");
    assert_equal(&world, &sub, &persons, "present");
    // A search that waits goes on behind the refresh.
    all.cookie = known;
    let mode = SyncMode::RefreshAndPersist;
    let mut task = begin(&world, &EVERYTHING, &mut all, mode);
    run(&mut task, &mut all, Quantum::default());
    world.store.keep_changes(Retention::default());
    describe(&world, &jane, "last");
    run(&mut task, &mut all, Quantum::default());
    assert_equal(&world, &EVERYTHING, &all, "persist");
}

#[test]
fn deletions_that_are_forgotten_lead_to_a_present_phase() {
    let world = world();
    let mut consumer = Consumer::new(&EVERYTHING);
    refresh(&world, &EVERYTHING, &mut consumer);
    world.store.keep_changes(Retention {
        bytes_max: 0,
        tombstone_us_max: 0,
        ..Retention::default()
    });
    world.delete(&world.root(), JOHN);
    world.clock.sleep_s(1);
    for round in 0..10 {
        describe(&world, JANE, &round.to_string());
    }
    refresh(&world, &EVERYTHING, &mut consumer);
    let whole = consumer
        .seen
        .iter()
        .filter(|seen| seen.starts_with("Add"))
        .count();
    assert_eq!(whole, 1, "{:?}", consumer.seen);
    assert_eq!(consumer.seen.last().unwrap(), "end false");
    assert_equal(&world, &EVERYTHING, &consumer, "present");
    let mut persisting = Consumer::new(&EVERYTHING);
    let mut task = begin(
        &world,
        &EVERYTHING,
        &mut persisting,
        SyncMode::RefreshAndPersist,
    );
    run(&mut task, &mut persisting, Quantum::default());
    for round in 0..10 {
        describe(&world, JANE, &round.to_string());
    }
    run(&mut task, &mut persisting, Quantum::default());
    assert_eq!(persisting.result, Some(ResultCode::ESyncRefreshRequired));
}

#[test]
fn requests_are_refused_in_slapds_words() {
    let world = world();
    let ask = |world: &World, value: Option<&[u8]>, base: &str| {
        let mut search = asked(base, Scope::Subtree, "(objectClass=*)", &[]);
        let value = value.map(<[u8]>::to_vec);
        search.controls = vec![(oid::SYNC_REQUEST, true, value)];
        let result = world.search(&world.root(), &search).result;
        (result.code.number(), result.diagnostic)
    };
    let refused = |code: u32, text: &str| (code, text.to_owned());
    for mode in [0, 2, 4] {
        let answer = ask(&world, Some(&[0x30, 3, 0x0a, 1, mode]), TOP);
        assert_eq!(answer, refused(2, "Sync control : unknown update mode"));
    }
    let malformed = ask(&world, Some(b"\x30\x02\x04\x00"), TOP);
    assert_eq!(malformed, refused(2, "Sync control : mode decoding error"));
    assert_eq!(
        ask(&world, None, TOP),
        refused(2, "Sync control value is absent")
    );
    let only = &[0x30, 3, 0x0a, 1, 1][..];
    assert_eq!(ask(&world, Some(only), "ou=none,dc=example,dc=com").0, 32);
    let newer = SyncRequest {
        mode: SyncMode::RefreshOnly,
        cookie: Some(b"rid=001,csn=20990101000000.000000Z#000000#001#000000"),
        reload_hint: false,
    };
    let newer = ask(&world, Some(&newer.encode()), TOP);
    assert_eq!(newer, refused(53, "consumer state is newer than provider!"));
    let without = World::new();
    let refused_there = refused(12, "critical control unavailable in context");
    assert_eq!(ask(&without, Some(only), TOP), refused_there);
    assert!(
        !without
            .read("", &["supportedControl"])
            .get("supportedControl")
            .contains(&oid::SYNC_REQUEST)
    );
    assert!(
        world
            .read("", &["supportedControl"])
            .get("supportedControl")
            .contains(&oid::SYNC_REQUEST)
    );
}

#[test]
fn the_top_entry_shows_the_state_and_no_search_finds_it() {
    let world = world();
    let csn = world.read("cn=all,ou=groups,dc=example,dc=com", &["entryCSN"]);
    let csn = csn.get("entryCSN").concat();
    for attributes in [&["contextCSN"][..], &["+"]] {
        let top = world.read(TOP, attributes);
        assert_eq!(top.get("contextCSN"), [&csn]);
    }
    assert!(world.read(TOP, &["*"]).get("contextCSN").is_empty());
    assert!(world.read(PEOPLE, &["contextCSN"]).names().is_empty());
    assert!(world.names(&format!("(contextCSN={csn})")).is_empty());
    let changes = [(ModifyOperation::Replace, "contextCSN", &[&*csn][..])];
    let refused = world.modify(&world.root(), TOP, &changes);
    assert_eq!(code(&refused), ResultCode::ConstraintViolation);
}

/// One random change.
fn change(world: &World, random: &mut Random, round: usize) {
    let root = world.root();
    let entries = world.names("(!(objectClass=domain))");
    let containers = world.names("(|(objectClass=organizationalUnit)(objectClass=domain))");
    let parent = random.pick(&containers).clone();
    let unit = format!("ou={}", random.pick(&["a", "b", "c"]));
    let leaf = format!("cn={}", random.pick(&["1", "2", "3", "4"]));
    let value = random.pick(&["x", "y", "z"]).to_string() + &(round % 7).to_string();
    match random.below(8) {
        0 => {
            let attributes = [("objectClass", "organizationalUnit")];
            world.add(&root, &format!("{unit},{parent}"), &attributes);
        }
        1 | 2 => {
            let attributes = [("objectClass", "device"), ("description", &*value)];
            world.add(&root, &format!("{leaf},{parent}"), &attributes);
        }
        _ if entries.is_empty() => {}
        3 => {
            world.delete(&root, &random.pick(&entries).clone());
        }
        4 | 5 => {
            let changes = [(ModifyOperation::Replace, "description", &[&*value][..])];
            world.modify(&root, &random.pick(&entries).clone(), &changes);
        }
        number => {
            let dn = random.pick(&entries);
            let rdn = if dn.starts_with("ou=") { unit } else { leaf };
            let superior = (number == 7).then_some(parent.as_str());
            world.rename(&root, dn, &rdn, true, superior);
        }
    }
}

pub(crate) const BASE: &str = "ou=a,dc=example,dc=com";

/// Begins a refresh and lets the connection break after a few steps.
fn break_off(world: &World, wanted: &Wanted, consumer: &mut Consumer, random: &mut Random) {
    let mut task = begin(world, wanted, consumer, SyncMode::RefreshOnly);
    let mut out = Vec::new();
    let small = Quantum {
        candidates_max: random.between(1, 4),
        bytes_max: random.between(1, 900),
    };
    for _ in 0..random.between(1, 5) {
        if task.advance(&mut out, small) != Progress::More {
            break;
        }
        if random.chance(20) {
            task.park();
            for _ in 0..random.between(1, 4) {
                change(world, random, 0);
            }
        }
    }
    consumer.take(&mut out);
}

pub(crate) fn random_contents() -> Vec<Wanted> {
    vec![
        EVERYTHING,
        Wanted {
            base: BASE,
            ..EVERYTHING
        },
        Wanted {
            base: BASE,
            scope: Scope::Children,
            ..EVERYTHING
        },
        Wanted {
            scope: Scope::One,
            ..EVERYTHING
        },
        Wanted {
            filter: "(description=x*)",
            ..EVERYTHING
        },
        Wanted {
            filter: "(!(objectClass=organizationalUnit))",
            ..EVERYTHING
        },
        Wanted {
            base: BASE,
            filter: "(|(description=*0)(cn=1))",
            ..EVERYTHING
        },
    ]
}

/// Lets consumers follow a provider that has no entry yet.
pub(crate) fn random_history(world: &World, seed: u64, wanted: &Wanted) {
    let root = world.root();
    world.add(&root, TOP, &[("objectClass", "domain")]);
    world.add(&root, BASE, &[("objectClass", "organizationalUnit")]);
    let mut random = Random::new(seed);
    let (mut poller, mut persisting) = (Consumer::new(wanted), Consumer::new(wanted));
    poller.program = Program::random(&mut random);
    persisting.program = Program::random(&mut random);
    let mut task = None;
    for round in 0..25 {
        let is_last = round == 24;
        let small = Quantum {
            candidates_max: random.between(1, 5),
            bytes_max: random.between(1, 500),
        };
        for _ in 0..random.between(1, 6) {
            change(world, &mut random, round);
        }
        let label = format!(
            "seed {seed}, round {round}, {} {}",
            wanted.base, wanted.filter
        );
        let running = task.get_or_insert_with(|| {
            begin(world, wanted, &mut persisting, SyncMode::RefreshAndPersist)
        });
        // A slow client, whose search gives up its snapshot while changes go on.
        let mut out = Vec::new();
        let progress = running.advance(&mut out, small);
        persisting.take(&mut out);
        if random.chance(30) {
            running.park();
        }
        if random.chance(30) {
            change(world, &mut random, round);
        }
        let progress = match progress {
            Progress::Done => progress,
            _ => run(running, &mut persisting, small),
        };
        if progress == Progress::Done {
            // The base is gone, or it never was. Perhaps another entry gets its name.
            if random.chance(50) {
                persisting = Consumer::new(wanted);
            }
            task = None;
        } else {
            assert_equal(world, wanted, &persisting, &label);
            if random.chance(20) {
                task = None;
            }
        }
        // A first refresh moves no entry whose number has not changed. A part of the tree may lack
        // the entry above, whose number has.
        if (wanted.is_everything() || poller.cookie.is_some()) && random.chance(30) {
            break_off(world, wanted, &mut poller, &mut random);
        }
        if random.chance(50) || is_last {
            if refresh(world, wanted, &mut poller) == ResultCode::Success {
                assert_equal(world, wanted, &poller, &format!("{label}, polled"));
            } else if random.chance(50) {
                poller = Consumer::new(wanted);
                poller.program = Program::random(&mut random);
            }
        }
    }
}

#[test]
fn consumers_equal_the_provider_after_random_changes() {
    let first = fulgurite_testkit::seed("sync", 1);
    for seed in first..first + fulgurite_testkit::quick_or_long(6, 200) {
        for wanted in random_contents() {
            let world = World::empty(|options| {
                options.server_id = 1;
                let overlay = OverlaySettings::new("syncprov", Origin::Default);
                options.databases[0].overlays = vec![overlay];
            });
            random_history(&world, seed, &wanted);
        }
    }
}

#[test]
fn entries_below_a_name_that_hides_them_leave() {
    let world = World::with(|options| {
        options.server_id = 1;
        let overlay = OverlaySettings::new("syncprov", Origin::Default);
        options.databases[0].overlays = vec![overlay];
        let rules = [
            "access to dn.subtree=\"ou=hidden,dc=example,dc=com\" by * none",
            "access to * by * read",
        ];
        options.access = rules.iter().map(|&rule| rule.into()).collect();
    });
    let mut consumer = Consumer::new(&EVERYTHING);
    let anonymous = Session::new();
    let has_jane = |consumer: &Consumer| consumer.copies.values().any(|copy| copy.dn == JANE);
    for (new_rdn, is_shown) in [
        ("ou=people", true),
        ("ou=hidden", false),
        ("ou=people", true),
    ] {
        let old = format!("{},{TOP}", if is_shown { "ou=hidden" } else { "ou=people" });
        world.rename(&world.root(), &old, new_rdn, true, None);
        let mode = (&mut consumer, SyncMode::RefreshOnly);
        let mut task = begin_as(&anonymous, &world, &EVERYTHING, mode);
        run(&mut task, &mut consumer, Quantum::default());
        assert_eq!(
            has_jane(&consumer),
            is_shown,
            "{new_rdn}: {:#?}",
            consumer.seen
        );
    }
}

/// The name of a deleted entry that the consumer may not learn. slapd refuses an empty one.
const NOBODY: &str = "entryUUID=00000000-0000-4000-8000-000000000003,dc=example,dc=com";

#[test]
fn deletions_tell_no_more_than_a_search() {
    // The rules, a filter, and the names that a persisting search and a refresh tell.
    let cases = [
        (
            "access to * by * search",
            "(objectClass=*)",
            None,
            Some(NOBODY),
        ),
        (
            "access to * by * read",
            "(objectClass=*)",
            Some(JOHN),
            Some(JOHN),
        ),
        ("access to * by * read", "(sn=*)", Some(JOHN), Some(JOHN)),
        (
            "access to attrs=sn by * auth\naccess to * by * read",
            "(sn=*)",
            Some(NOBODY),
            Some(NOBODY),
        ),
    ];
    for (rules, filter, persisting, refreshed) in cases {
        let world = World::with(|options| {
            options.server_id = 1;
            let overlay = OverlaySettings::new("syncprov", Origin::Default);
            options.databases[0].overlays = vec![overlay];
            options.access = rules.lines().map(|rule| rule.into()).collect();
        });
        let wanted = Wanted {
            filter,
            ..EVERYTHING
        };
        let anonymous = Session::new();
        let mut consumer = Consumer::new(&wanted);
        let modes = [SyncMode::RefreshAndPersist, SyncMode::RefreshOnly];
        let [mut task, _] = modes.map(|mode| {
            let mut task = begin_as(&anonymous, &world, &wanted, (&mut consumer, mode));
            run(&mut task, &mut consumer, Quantum::default());
            task
        });
        let cookie = consumer.cookie.clone();
        consumer.seen.clear();
        world.delete(&world.root(), JOHN);
        let told = |consumer: &Consumer| {
            let mut seen = consumer.seen.iter();
            seen.find_map(|seen| seen.strip_prefix("Delete ").map(str::to_owned))
        };
        run(&mut task, &mut consumer, Quantum::default());
        assert_eq!(told(&consumer).as_deref(), persisting, "{rules} {filter}");
        consumer.cookie = cookie;
        let mode = (&mut consumer, SyncMode::RefreshOnly);
        let mut task = begin_as(&anonymous, &world, &wanted, mode);
        run(&mut task, &mut consumer, Quantum::default());
        assert_eq!(told(&consumer).as_deref(), refreshed, "{rules} {filter}");
    }
}

#[test]
fn consumers_get_no_bind_state() {
    let world = World::empty(|options| {
        options.server_id = 1;
        options.databases[0].overlays = vec![OverlaySettings::new("syncprov", Origin::Default)];
    });
    let root = world.root();
    world.add(&root, TOP, &[("objectClass", "domain")]);
    world.add(&root, BASE, &[("objectClass", "organizationalUnit")]);
    let last = "pwdLastSuccess";
    world.change_bind_state(BASE, last, "20260101000000Z");
    assert_eq!(world.read(BASE, &["+"]).get(last), ["20260101000000Z"]);
    let mut consumer = Consumer::new(&EVERYTHING);
    for title in ["one", "two"] {
        refresh(&world, &EVERYTHING, &mut consumer);
        let mut copies = consumer.copies.values();
        let copy = copies.find(|copy| copy.dn == BASE).expect("a copy");
        assert!(copy.attributes.contains_key("entryCSN"), "{title}");
        assert!(!copy.attributes.contains_key(last), "{title}");
        let change = [(ModifyOperation::Replace, "description", &[title][..])];
        world.modify(&root, BASE, &change);
    }
    // A persisting search learns of changes only.
    let newest = world.read(TOP, &["contextCSN"]);
    world.change_bind_state(BASE, last, "20260102000000Z");
    assert_eq!(world.read(TOP, &["contextCSN"]), newest);
}
