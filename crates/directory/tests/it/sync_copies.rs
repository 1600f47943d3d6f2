//! Copies that provide others with what they get, and providers that lose changes.

use fulgurite_directory::{CopiedContent, Progress, Quantum};
use fulgurite_ldap::control::SyncMode;
use fulgurite_ldap::{ContentChange, ResultCode};

use crate::replicated::{Copy, attribute, csn, delete, reached, unit};
use crate::support::*;
use crate::sync_consumer::*;

#[test]
fn a_copy_provides_what_it_gets() {
    let mut copy = Copy::plain();
    let apply = |world: &World, content: &mut CopiedContent, changes: &[ContentChange]| {
        let store = world.store.path().to_owned();
        let applied = world.directory.apply_content(&store, content, changes);
        applied.expect("a sound store");
    };
    let (world, content) = (&copy.world, &mut copy.content);
    let (a, b) = (format!("ou=a,{TOP}"), format!("ou=b,{TOP}"));
    apply(
        world,
        content,
        &[unit(1, TOP, 1), unit(2, &a, 2), reached(2)],
    );
    let (mut persisting, mut polling) = (Consumer::new(&EVERYTHING), Consumer::new(&EVERYTHING));
    refresh(world, &EVERYTHING, &mut polling);
    let mode = SyncMode::RefreshAndPersist;
    let mut task = begin(world, &EVERYTHING, &mut persisting, mode);
    let mut follow = |world: &World, label: &str, state: u32| {
        run(&mut task, &mut persisting, Quantum::default());
        assert_equal(world, &EVERYTHING, &persisting, label);
        refresh(world, &EVERYTHING, &mut polling);
        assert_equal(world, &EVERYTHING, &polling, label);
        for consumer in [&persisting, &polling] {
            let cookie = String::from_utf8_lossy(consumer.cookie.as_deref().unwrap());
            assert!(cookie.ends_with(&csn(state)), "{label}: {cookie}");
        }
    };
    follow(world, "first", 2);
    // A refresh that has not ended: no cookie tells its numbers.
    let below = format!("ou=c,ou=glue,{TOP}");
    apply(
        world,
        content,
        &[ContentChange::BeginRefresh, unit(2, &b, 9), unit(3, &a, 5)],
    );
    follow(world, "in a refresh", 2);
    apply(world, content, &[unit(4, &format!("ou=d,{a}"), 7)]);
    follow(world, "still in it", 2);
    apply(world, content, &[ContentChange::EndRefresh, reached(9)]);
    follow(world, "after it", 9);
    // Names are swapped, and an entry goes by a deletion without a number.
    let unnumbered = ContentChange::Delete {
        uuid: [4; 16],
        csn: None,
        ends: None,
    };
    let swapped = [unit(3, &b, 10), reached(10), unit(2, &a, 11), reached(11)];
    apply(world, content, &swapped);
    follow(world, "swapped", 11);
    apply(world, content, &[unnumbered]);
    follow(world, "an unnumbered deletion", 11);
    // The state moves without a change of the content.
    apply(world, content, &[reached(12)]);
    follow(world, "nothing else", 12);
    // Glue is no content. A strict consumer would miss the parent.
    persisting.is_strict = false;
    polling.is_strict = false;
    apply(world, content, &[unit(5, &below, 13), reached(13)]);
    let found = world.names("(objectClass=*)");
    run(&mut task, &mut persisting, Quantum::default());
    refresh(world, &EVERYTHING, &mut polling);
    for consumer in [&persisting, &polling] {
        let mut names: Vec<&str> = consumer.copies.values().map(|copy| &*copy.dn).collect();
        names.sort_unstable();
        let mut found: Vec<&str> = found.iter().map(String::as_str).collect();
        found.sort_unstable();
        assert_eq!(names, found, "{:?}", consumer.seen);
    }
}

#[test]
fn a_deletion_without_a_number_reaches_consumers_of_another_provider() {
    let (a, b) = (format!("ou=a,{TOP}"), format!("ou=b,{TOP}"));
    let state = vec![csn(8)];
    let present = [
        ContentChange::Present(vec![[1; 16]]),
        ContentChange::DropUnnamed { state },
        ContentChange::EndRefresh,
        reached(8),
    ];
    let told = [delete(2), ContentChange::EndRefresh, reached(8)];
    for gone in [&present[..], &told] {
        let mut copy = Copy::plain();
        copy.apply(&[unit(1, TOP, 1), unit(2, &a, 2), unit(3, &b, 3), reached(3)]);
        let mut consumer = Consumer::new(&EVERYTHING);
        refresh(&copy.world, &EVERYTHING, &mut consumer);
        assert!(consumer.copies.contains_key(&[2; 16]));
        // Another copy has brought it to a state from before the deletion.
        consumer.cookie = Some(format!("rid=001,csn={}", csn(5)).into_bytes());
        copy.apply(&[ContentChange::BeginRefresh, unit(3, &b, 5)]);
        copy.apply(gone);
        refresh(&copy.world, &EVERYTHING, &mut consumer);
        assert!(!consumer.copies.contains_key(&[2; 16]), "{gone:?}");
    }
}

/// slapd tells no number of a deletion in a refresh, and often only names what is there. So one of
/// several providers does not know all deletions behind it.
#[test]
fn a_provider_that_may_lack_deletions_names_all_entries() {
    let state = vec![csn(5)];
    let named = [
        ContentChange::Present(vec![[1; 16]]),
        ContentChange::DropUnnamed { state },
    ];
    for told in [&named[..], &[delete(9)]] {
        let mut copy = Copy::new(|_| {}, true);
        copy.apply(&[unit(1, TOP, 1), reached(1)]);
        let mut consumer = Consumer::new(&EVERYTHING);
        refresh(&copy.world, &EVERYTHING, &mut consumer);
        // The consumer got an entry from there that this server never had.
        let attributes = [
            (
                "entryUUID",
                "09090909-0909-0909-0909-090909090909".to_owned(),
            ),
            ("entryCSN", csn(3)),
        ];
        let attributes = attributes.map(|(name, value)| (name.to_owned(), [value].into()));
        let copied = Copied {
            dn: format!("ou=x,{TOP}"),
            attributes: attributes.into(),
        };
        consumer.copies.insert([9; 16], copied);
        consumer.cookie = Some(format!("rid=007,csn={}", csn(4)).into_bytes());
        copy.apply(&[&[ContentChange::BeginRefresh], told].concat());
        copy.apply(&[ContentChange::EndRefresh, reached(5)]);
        refresh(&copy.world, &EVERYTHING, &mut consumer);
        assert_equal(
            &copy.world,
            &EVERYTHING,
            &consumer,
            "a deletion that nobody told",
        );
        // One that has the state needs nothing.
        refresh(&copy.world, &EVERYTHING, &mut consumer);
        assert_eq!(consumer.seen, ["end true"]);
    }
}

#[test]
fn slapd_takes_deletions_of_one_of_several_servers() {
    let mut copy = Copy::new(|_| {}, true);
    copy.apply(&[unit(1, TOP, 1), reached(1)]);
    let world = &copy.world;
    let root = world.root();
    let own = format!("ou=own,{TOP}");
    let add = || world.add(&root, &own, &[("objectClass", "organizationalUnit")]);
    add();
    let (mut polling, mut persisting) = (Consumer::new(&EVERYTHING), Consumer::new(&EVERYTHING));
    refresh(world, &EVERYTHING, &mut polling);
    let mode = SyncMode::RefreshAndPersist;
    let mut task = begin(world, &EVERYTHING, &mut persisting, mode);
    run(&mut task, &mut persisting, Quantum::default());
    for _ in 0..2 {
        // Only the number of this server moves. The first of a cookie is the other one.
        world.delete(&root, &own);
        refresh(world, &EVERYTHING, &mut polling);
        run(&mut task, &mut persisting, Quantum::default());
        for consumer in [&polling, &persisting] {
            assert_equal(world, &EVERYTHING, consumer, "after the deletion");
        }
        add();
    }
}

#[test]
fn changes_of_a_server_that_no_state_names_are_in_a_refresh_by_the_index() {
    let mut copy = Copy::with_store(|_| {}, false, |options| options.log_bytes_max = Some(4096));
    let a = format!("ou=a,{TOP}");
    copy.apply(&[unit(1, TOP, 1), unit(2, &a, 2), reached(2)]);
    let mut consumer = Consumer::new(&EVERYTHING);
    refresh(&copy.world, &EVERYTHING, &mut consumer);
    for number in 3..100 {
        copy.apply(&[unit(2, &a, number), reached(number)]);
    }
    let log = copy.world.store.snapshot().unwrap().changes().unwrap();
    assert!(log.oldest > 3, "the log does not reach back");
    // A refresh that has not ended brings an older change of another server.
    let mut other = unit(3, &format!("ou=b,{TOP}"), 1);
    if let ContentChange::Entry(entry) = &mut other {
        let number = csn(1)
            .replace("20260101", "20250101")
            .replace("#001#", "#009#");
        entry
            .attributes
            .retain(|held| held.description != "entryCSN");
        entry.attributes.push(attribute("entryCSN", &[&number]));
    }
    copy.apply(&[ContentChange::BeginRefresh, other]);
    refresh(&copy.world, &EVERYTHING, &mut consumer);
    assert!(
        consumer.copies.contains_key(&[3; 16]),
        "{:?}",
        consumer.seen
    );
}

#[test]
fn a_provider_that_lost_changes_makes_consumers_begin_anew() {
    let mut copy = Copy::plain();
    let store = copy.world.store.path().to_owned();
    let mut consumer = Consumer::new(&EVERYTHING);
    let changes = [
        unit(1, TOP, 1),
        unit(2, &format!("ou=a,{TOP}"), 5),
        reached(5),
    ];
    let (world, content) = (&copy.world, &mut copy.content);
    world
        .directory
        .apply_content(&store, content, &changes)
        .unwrap();
    let mode = SyncMode::RefreshAndPersist;
    let mut task = begin(world, &EVERYTHING, &mut consumer, mode);
    run(&mut task, &mut consumer, Quantum::default());
    let csns = vec![csn(3)];
    let back = [
        ContentChange::BeginRefresh,
        unit(1, TOP, 1),
        ContentChange::DropUnnamed {
            state: csns.clone(),
        },
        ContentChange::EndRefresh,
        ContentChange::Reached {
            csns,
            replaces: true,
        },
    ];
    world
        .directory
        .apply_content(&store, content, &back)
        .unwrap();
    let progress = run(&mut task, &mut consumer, Quantum::default());
    assert_eq!(progress, Progress::Done);
    assert_eq!(consumer.result, Some(ResultCode::ESyncRefreshRequired));
    assert_eq!(
        refresh(world, &EVERYTHING, &mut consumer),
        ResultCode::UnwillingToPerform,
        "the consumer is ahead"
    );
    consumer.cookie = None;
    refresh(world, &EVERYTHING, &mut consumer);
    assert!(
        fulgurite_store::verify(&world.store.snapshot().unwrap())
            .unwrap()
            .is_clean()
    );
}

#[test]
fn one_of_several_providers_is_behind_in_the_changes_of_others() {
    let mut copy = Copy::new(|_| {}, true);
    let store = copy.world.store.path().to_owned();
    let (world, content) = (&copy.world, &mut copy.content);
    let changes = [unit(1, TOP, 1), reached(1)];
    world
        .directory
        .apply_content(&store, content, &changes)
        .unwrap();
    let ask = |cookie: String| {
        let mut consumer = Consumer::new(&EVERYTHING);
        consumer.cookie = Some(cookie.into_bytes());
        refresh(world, &EVERYTHING, &mut consumer)
    };
    assert_eq!(
        ask(format!("rid=001,sid=001,csn={}", csn(4))),
        ResultCode::Success
    );
    let new = format!("ou=new,{TOP}");
    describe(world, TOP, &new);
    let own = csn(9)
        .replace("20260101", "20990101")
        .replace("#001#", "#002#");
    let both = format!("rid=001,sid=001,csn={};{own}", csn(4));
    assert_eq!(
        ask(both),
        ResultCode::UnwillingToPerform,
        "in its own it is not"
    );
}

/// slapd refuses the message of a deletion if it has an entry below, and asks again for ever. It
/// makes glue of the entry if the deletion comes in a set.
#[test]
fn a_deletion_above_an_entry_of_slapd_comes_in_a_set() {
    let (parent, below) = (format!("ou=p,{TOP}"), format!("ou=c,ou=p,{TOP}"));
    let theirs = csn(4).replace("#001#", "#003#");
    for has_below in [true, false] {
        let mut copy = Copy::new(|_| {}, true);
        copy.apply(&[unit(1, TOP, 1), unit(2, &parent, 2), reached(2)]);
        let mut slapd = Consumer::new(&EVERYTHING);
        slapd.program = Program::Slapd;
        refresh(&copy.world, &EVERYTHING, &mut slapd);
        assert!(slapd.copies.contains_key(&[2; 16]));
        let gone = ContentChange::Delete {
            uuid: [2; 16],
            csn: Some(csn(3)),
            ends: None,
        };
        copy.apply(&[gone, reached(3)]);
        if has_below {
            let mut child = unit(5, &below, 4);
            if let ContentChange::Entry(entry) = &mut child {
                entry.attributes[3] = attribute("entryCSN", &[&theirs]);
            }
            let reached = ContentChange::Reached {
                csns: vec![theirs.clone()],
                replaces: false,
            };
            copy.apply(&[child, reached]);
            // It is slapd's own.
            slapd.cookie = Some(format!("rid=007,sid=003,csn={};{theirs}", csn(2)).into_bytes());
            slapd.has_entries_below = true;
        }
        refresh(&copy.world, &EVERYTHING, &mut slapd);
        assert!(!slapd.copies.contains_key(&[2; 16]), "{:?}", slapd.seen);
        let message = match has_below {
            true => "gone 1".to_owned(),
            false => format!("Delete {parent}"),
        };
        assert_eq!(slapd.seen, [message.as_str(), "end true"]);
    }
}
