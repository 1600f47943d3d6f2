//! The bind state: what binds change, and what every reader sees of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fulgurite_directory::{ReplicatedState, RuleText, Session};
use fulgurite_ldap::{ModifyOperation, ResultCode, Scope, oid};

use crate::guards::overlay;
use crate::password_policy::{accepted, bind, controls, count, jane, refused, world, world_with};
use crate::support::{JANE, JOHN, PEOPLE, ROOT, TOP, World, asked};
use ResultCode::Success;

/// Returns the entry without the bind state, and the number of the newest change.
fn entry_and_log(world: &World, dn: &str) -> (String, u64) {
    let view = world.store.snapshot().expect("a snapshot");
    let dn = fulgurite_schema::Dn::parse(view.schema(), dn).expect("a name");
    let id = view.find(&dn).expect("a sound store").entry().expect(JANE);
    let entry = view.entry(id).expect("a sound store").expect(JANE);
    let entry = entry.without_bind_state().to_entry().expect("an entry");
    let newest = view.changes().expect("a log").newest;
    (format!("{entry:?}"), newest)
}

#[test]
fn a_failed_bind_changes_no_entry_and_every_reader_sees_the_state() {
    let rules = [("pwdLockout", "TRUE"), ("pwdMaxFailure", "2")];
    let hidden = "to attrs=pwdFailureTime by dn.base=cn=nobody write by * none";
    let world = world_with(&["ppolicy_use_lockout"], &rules, |options| {
        options.access.insert(0, RuleText::from(hidden.to_owned()));
        options.auth.replicated_state = ReplicatedState::None;
    });
    let before = entry_and_log(&world, JANE);
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    assert_eq!(jane(&world, "jane's"), refused("3003810101"));
    assert_eq!(entry_and_log(&world, JANE), before);
    let locked = ["pwdAccountLockedTime"];
    assert_eq!(world.read(JANE, &["*"]).get(locked[0]), [""; 0]);
    assert_eq!(world.read(JANE, &["+"]).get(locked[0]).len(), 1);
    assert_eq!(world.names("(pwdAccountLockedTime=*)"), [JANE]);
    assert_eq!(
        world.names("(pwdAccountLockedTime>=20270101000000Z)"),
        [""; 0]
    );
    assert_eq!(world.names("(&(uid=jane)(pwdFailureTime=*))"), [JANE]);
    // A requester that may not read an attribute does not find it either.
    let found = |session: &Session, filter: &str| {
        let asked = asked(TOP, Scope::Subtree, filter, &["+"]);
        world.search(session, &asked).entries
    };
    let john = world.user(JOHN);
    let seen = found(&john, "(pwdAccountLockedTime=*)");
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].get("pwdFailureTime"), [""; 0]);
    assert_eq!(seen[0].get("pwdAccountLockedTime"), ["20260102030405Z"]);
    assert_eq!(found(&john, "(pwdFailureTime=*)").len(), 0);
}

/// Returns the number of changes of the entry that some binds cause, one after the other.
fn changes_by(world: &World, passwords: &[&str]) -> Vec<u64> {
    let newest = || entry_and_log(world, JANE).1;
    let mut before = newest();
    let changes = passwords.iter().map(|password| {
        jane(world, password);
        let after = newest();
        after - std::mem::replace(&mut before, after)
    });
    changes.collect()
}

/// Returns true if the entry has a lock without its bind state.
fn is_locked_in_entry(world: &World) -> bool {
    let view = world.store.snapshot().expect("a snapshot");
    let dn = fulgurite_schema::Dn::parse(view.schema(), JANE).expect("a name");
    let id = view.find(&dn).expect("a sound store").entry().expect(JANE);
    let entry = view.entry(id).expect("a sound store").expect(JANE);
    let attribute = view.schema().attribute("pwdAccountLockedTime");
    let attribute = attribute.expect("a built-in type").index;
    let entry = entry.without_bind_state().to_entry().expect("an entry");
    !entry.values(attribute).is_empty()
}

#[test]
fn other_servers_learn_of_the_state_that_the_setting_names() {
    let rules = [
        ("pwdLockout", "TRUE"),
        ("pwdMaxFailure", "2"),
        ("pwdLockoutDuration", "10"),
    ];
    for (replicated, [failure, lock, locked, end], is_stored) in [
        (ReplicatedState::None, [0, 0, 0, 0], false),
        (ReplicatedState::Lock, [0, 1, 0, 0], true),
        (ReplicatedState::All, [1, 1, 0, 1], true),
    ] {
        let world = world_with(&[], &rules, |options| {
            options.auth.replicated_state = replicated;
        });
        let changed = changes_by(&world, &["wrong", "wrong", "jane's"]);
        assert_eq!(changed, [failure, lock, locked], "{replicated:?}");
        assert_eq!(is_locked_in_entry(&world), is_stored, "{replicated:?}");
        assert_eq!(count(&world, "pwdAccountLockedTime"), 1);
        assert_eq!(count(&world, "pwdFailureTime"), 2);
        if is_stored {
            let author = world.read(JANE, &["modifiersName"]);
            assert_eq!(author.get("modifiersName"), [ROOT], "as in slapd");
        }
        // The end of the lock is a matter of the clock, which all servers have.
        world.clock.sleep_s(11);
        assert_eq!(changes_by(&world, &["jane's"]), [end], "{replicated:?}");
        assert_eq!(count(&world, "pwdAccountLockedTime"), 0);
        assert_eq!(count(&world, "pwdFailureTime"), 0);
        // The next lock replaces the one before.
        let changed = changes_by(&world, &["wrong", "wrong"]);
        assert_eq!(changed, [failure, lock], "{replicated:?}");
        assert_eq!(count(&world, "pwdAccountLockedTime"), 1);
        assert_eq!(jane(&world, "jane's"), refused("3000"));
    }
}

#[test]
fn only_a_lock_wakes_the_searches_of_consumers() {
    let rules = [("pwdLockout", "TRUE"), ("pwdMaxFailure", "2")];
    let world = world_with(&[], &rules, |options| {
        options.databases[0].overlays.push(overlay("syncprov", &[]));
    });
    let woken = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&woken);
    world.directory.on_change(Box::new(move || {
        seen.fetch_add(1, Ordering::SeqCst);
    }));
    crate::sync_consumer::while_a_search_waits(&world, || {
        for expected in [0, 1, 1] {
            assert_eq!(jane(&world, "wrong"), refused("3000"));
            assert_eq!(woken.load(Ordering::SeqCst), expected);
        }
    });
}

#[test]
fn a_copy_changes_no_entry_by_binds() {
    let rules = [("pwdLockout", "TRUE"), ("pwdMaxFailure", "1")];
    let world = world_with(&[], &rules, |options| {
        options.auth.replicated_state = ReplicatedState::All;
        options.databases[0].replication.update_dn = Some(ROOT.to_owned());
    });
    assert_eq!(changes_by(&world, &["wrong", "jane's"]), [0, 0]);
    assert_eq!(count(&world, "pwdAccountLockedTime"), 1);
}

#[test]
fn an_administrator_ends_a_lock_by_an_ordinary_change() {
    let rules = [("pwdLockout", "TRUE"), ("pwdMaxFailure", "1")];
    let world = world(&[], &rules);
    let unlock = [(ModifyOperation::Delete, "pwdAccountLockedTime", &[][..])];
    let missing = world.modify(&world.root(), JANE, &unlock);
    assert_eq!(missing.code, ResultCode::NoSuchAttribute);
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    let (entry, newest) = entry_and_log(&world, JANE);
    assert_eq!(world.modify(&world.root(), JANE, &unlock).code, Success);
    let after = entry_and_log(&world, JANE);
    assert_ne!(after.0, entry, "it has new stamps");
    assert_eq!(after.1, newest + 1);
    assert_eq!(count(&world, "pwdFailureTime"), 0, "as in slapd");
    assert_eq!(jane(&world, "jane's"), accepted("3000"));
    // A lock for ever is a value of the entry. Binds do not end it.
    let forever = &["000001010000Z"][..];
    let lock = [(ModifyOperation::Replace, "pwdAccountLockedTime", forever)];
    assert_eq!(world.modify(&world.root(), JANE, &lock).code, Success);
    assert!(entry_and_log(&world, JANE).0 != after.0);
    assert_eq!(jane(&world, "jane's"), refused("3000"));
    assert_eq!(world.modify(&world.root(), JANE, &unlock).code, Success);
    assert_eq!(jane(&world, "jane's"), accepted("3000"));
}

#[test]
fn a_new_password_ends_the_state_and_a_new_name_keeps_it() {
    let rules = [("pwdLockout", "TRUE"), ("pwdMaxFailure", "2")];
    let world = world(&[], &rules);
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    let renamed = world.rename(&world.root(), JANE, "uid=ann", false, None);
    assert_eq!(renamed.code, Success);
    let ann = format!("uid=ann,{PEOPLE}");
    let failures = || {
        world
            .read(&ann, &["pwdFailureTime"])
            .get("pwdFailureTime")
            .len()
    };
    assert_eq!(failures(), 1);
    let title = [(ModifyOperation::Replace, "title", &["boss"][..])];
    assert_eq!(world.modify(&world.root(), &ann, &title).code, Success);
    assert_eq!(failures(), 1);
    assert_eq!(bind(&world, &ann, "wrong"), refused("3000"));
    let set = [(ModifyOperation::Replace, "userPassword", &["new"][..])];
    assert_eq!(world.modify(&world.root(), &ann, &set).code, Success);
    assert_eq!(failures(), 0);
    assert_eq!(bind(&world, &ann, "new"), accepted("3000"));
}

#[test]
fn an_idle_name_is_locked_after_its_time_since_the_last_bind() {
    let rules = [("pwdLockout", "TRUE"), ("pwdMaxIdle", "5")];
    let world = world_with(&[], &rules, |options| {
        options.databases[0].last_bind_s = Some(0);
    });
    assert_eq!(jane(&world, "jane's"), accepted("3000"));
    let mut asked = asked(TOP, Scope::Subtree, "(uid=jane)", &["1.1"]);
    asked.controls = vec![(oid::ACCOUNT_USABILITY, true, None)];
    let usability = || {
        let bytes = world.answer(&world.root(), &asked);
        let len = fulgurite_ldap::frame(&bytes, usize::MAX).expect("framed");
        let first = bytes.get(..len.expect("whole")).unwrap_or_default();
        controls(first).remove(0).1
    };
    assert_eq!(usability(), "800105", "the bind is recorded already");
    world.clock.sleep_s(5);
    assert_eq!(jane(&world, "jane's"), accepted("3000"));
    world.clock.sleep_s(6);
    assert_eq!(jane(&world, "jane's"), refused("3000"));
    let change = [(ModifyOperation::Replace, "userPassword", &["new"][..])];
    assert_eq!(world.modify(&world.root(), JANE, &change).code, Success);
    assert_eq!(jane(&world, "new"), accepted("3000"));
}

/// A store of an earlier release has the state in its entries.
#[test]
fn a_state_in_the_entry_counts_until_binds_change_it() {
    let rules = [
        ("pwdLockout", "TRUE"),
        ("pwdMaxFailure", "2"),
        ("pwdLockoutDuration", "10"),
    ];
    let world = world(&[], &rules);
    let values = [
        ("pwdFailureTime", "20260102030404.000001Z"),
        ("pwdAccountLockedTime", "20260102030400Z"),
    ];
    world.change_entry(JANE, &values);
    let before = entry_and_log(&world, JANE);
    assert_eq!(jane(&world, "jane's"), refused("3000"), "it is locked");
    world.clock.sleep_s(10);
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    assert_eq!(count(&world, "pwdFailureTime"), 2);
    assert_eq!(count(&world, "pwdAccountLockedTime"), 0);
    assert_eq!(jane(&world, "jane's"), accepted("3000"));
    assert_eq!(count(&world, "pwdFailureTime"), 0);
    assert_eq!(entry_and_log(&world, JANE), before);
    assert_eq!(world.names("(pwdFailureTime=*)"), [""; 0]);
}
