//! Several databases: each name belongs to one of them, and some are searched as if they were one.
//! The expected results were measured on slapd. Only the children scope differs: slapd leaves glued
//! databases out.

use std::sync::Arc;

use fulgurite_directory::{
    DatabaseOptions, Directory, DirectoryOptions, OpenError, Subordinate, WriteRequest,
};
use fulgurite_ldap::{LdapResult, ResultCode, Scope};
use fulgurite_schema::Schema;
use fulgurite_store::{Store, StoreOptions};
use tempfile::TempDir;

use crate::support::{ROOT, World, asked, code, delete_pdu, write_request};

const TOP: &str = "dc=example,dc=com";
const EU: &str = "ou=eu,ou=people,dc=example,dc=com";
const ADVERTISED: &str = "ou=adv,dc=example,dc=com";
const OWN: &str = "ou=own,dc=example,dc=com";

pub(crate) fn database(
    folder: &TempDir,
    suffix: &str,
    subordinate: Subordinate,
) -> DatabaseOptions {
    let options = StoreOptions {
        suffixes: vec![suffix.to_owned()],
        ..StoreOptions::default()
    };
    let path = folder.path().join(suffix);
    let store = Store::create(&path, &options, Schema::standard()).expect("a store");
    DatabaseOptions {
        subordinate,
        ..DatabaseOptions::new(store)
    }
}

/// Four databases, of which two are glued to the first.
fn glued() -> (World, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = World::empty(|options| {
        for (suffix, subordinate) in [
            (EU, Subordinate::Glued),
            (ADVERTISED, Subordinate::Advertised),
            (OWN, Subordinate::No),
        ] {
            let mut database = database(&folder, suffix, subordinate);
            database.root.clone_from(&options.databases[0].root);
            options.databases.push(database);
        }
    });
    world.load(
        "dn: dc=example,dc=com
         objectClass: domain

         dn: ou=eu,ou=people,dc=example,dc=com
         objectClass: organizationalUnit

         dn: ou=people,dc=example,dc=com
         objectClass: organizationalUnit

         dn: cn=a,ou=eu,ou=people,dc=example,dc=com
         objectClass: device

         dn: ou=adv,dc=example,dc=com
         objectClass: organizationalUnit

         dn: cn=b,ou=adv,dc=example,dc=com
         objectClass: device

         dn: ou=own,dc=example,dc=com
         objectClass: organizationalUnit

         dn: cn=o,ou=own,dc=example,dc=com
         objectClass: device

         dn: cn=p,ou=people,dc=example,dc=com
         objectClass: device",
    );
    (world, folder)
}

/// First RDNs of what a search finds, sorted.
fn found(world: &World, base: &str, scope: Scope) -> Vec<String> {
    let found = world.search(
        &world.root(),
        &asked(base, scope, "(objectClass=*)", &["1.1"]),
    );
    assert_eq!(found.result, LdapResult::success(), "{base}");
    let first = |dn: &str| dn.split(',').next().unwrap_or_default().to_owned();
    let mut names: Vec<String> = found.dns().into_iter().map(first).collect();
    names.sort();
    names
}

#[test]
fn glued_databases_are_searched_as_one() {
    let (world, _folder) = glued();
    let people = "ou=people,dc=example,dc=com";
    for (base, scope, expected) in [
        (TOP, Scope::Base, &["dc=example"][..]),
        (TOP, Scope::One, &["ou=adv", "ou=people"]),
        (
            TOP,
            Scope::Subtree,
            &[
                "cn=a",
                "cn=b",
                "cn=p",
                "dc=example",
                "ou=adv",
                "ou=eu",
                "ou=people",
            ],
        ),
        (
            TOP,
            Scope::Children,
            &["cn=a", "cn=b", "cn=p", "ou=adv", "ou=eu", "ou=people"],
        ),
        (people, Scope::One, &["cn=p", "ou=eu"]),
        (
            people,
            Scope::Subtree,
            &["cn=a", "cn=p", "ou=eu", "ou=people"],
        ),
        (EU, Scope::One, &["cn=a"]),
        (EU, Scope::Subtree, &["cn=a", "ou=eu"]),
        (OWN, Scope::Subtree, &["cn=o", "ou=own"]),
    ] {
        assert_eq!(found(&world, base, scope), expected, "{base} {scope:?}");
    }
}

/// An update of a client, by the name of its entry.
fn delete(world: &World, dn: &str) -> WriteRequest {
    write_request(&world.root(), &delete_pdu(dn))
}

#[test]
fn each_database_has_its_own_writer() {
    let (world, _folder) = glued();
    let names = [
        "ou=people,dc=example,dc=com",
        "cn=a,ou=EU,ou=people,dc=example,dc=com",
        ADVERTISED,
        "cn=none, ou=own, dc=example, dc=com",
        // No database takes these.
        "dc=elsewhere",
        "no name",
    ];
    let writers = |directory: &Directory| names.map(|dn| directory.writer_of(&delete(&world, dn)));
    assert_eq!(writers(&world.directory), [0, 1, 2, 3, 0, 0]);
    // In the next configuration one database is gone, one is new, and the others have turned
    // round. Updates on their way keep their writers.
    let more = tempfile::tempdir().expect("a folder");
    let new = database(&more, "dc=elsewhere", Subordinate::No);
    let stores = world.directory.shared_stores().into_iter().rev();
    let kept = stores.filter(|store| store.suffixes()[0].pretty() != ADVERTISED);
    let databases: Vec<DatabaseOptions> = kept.map(DatabaseOptions::new).collect();
    let mut options = DirectoryOptions::new(Schema::standard(), databases);
    options.databases.push(new);
    let next = world.directory.reopened(options).expect("a directory");
    // Each has a second number, for updates that other servers make.
    assert_eq!(writers(&next), [0, 1, 0, 3, 8, 0]);
    // The new one goes and comes back. Its first writer may still be waiting.
    let without = |directory: &Directory| {
        let stores = directory.shared_stores().into_iter();
        let kept = stores.filter(|store| store.suffixes()[0].pretty() != "dc=elsewhere");
        let databases: Vec<DatabaseOptions> = kept.map(DatabaseOptions::new).collect();
        DirectoryOptions::new(Schema::standard(), databases)
    };
    let removed = next.reopened(without(&next)).expect("a directory");
    assert_eq!(writers(&removed), [0, 1, 0, 3, 0, 0]);
    let mut options = without(&removed);
    let elsewhere = next.shared_stores().pop().expect("the new store");
    options.databases.push(DatabaseOptions::new(elsewhere));
    let again = removed.reopened(options).expect("a directory");
    assert_eq!(writers(&again), [0, 1, 0, 3, 10, 0]);
}

#[test]
fn updates_of_several_databases_are_applied_by_any_writer() {
    let (world, _folder) = glued();
    let names = [
        "cn=o,ou=own,dc=example,dc=com",
        "cn=p,ou=people,dc=example,dc=com",
    ];
    let requests = names.map(|dn| delete(&world, dn));
    // A worker leaves them to a writer, which is right after a change of the configuration.
    assert_eq!(world.directory.apply_at_once(&requests), None);
    for reply in world.directory.apply(&requests) {
        assert_eq!(reply.result, LdapResult::success());
    }
}

#[test]
fn limits_and_pages_span_glued_databases() {
    let (world, _folder) = glued();
    let whole = asked(TOP, Scope::Subtree, "(objectClass=*)", &["1.1"]);
    for limit in 1..=7 {
        let mut search = whole.clone();
        search.size_limit = limit;
        let found = world.search(&world.root(), &search);
        assert_eq!(found.entries.len(), limit as usize);
        let reached = if limit < 7 {
            ResultCode::SizeLimitExceeded
        } else {
            ResultCode::Success
        };
        assert_eq!(found.result.code, reached, "{limit}");
    }
    for size in 1..=8 {
        let (mut cookie, mut all) = (Vec::new(), Vec::new());
        loop {
            let mut search = whole.clone();
            search.page = Some((size, cookie));
            let found = world.search(&world.root(), &search);
            assert!(found.entries.len() <= size as usize);
            assert!(all.len() <= 7, "pages of {size} repeat themselves: {all:?}");
            all.extend(found.entries.into_iter().map(|entry| entry.dn));
            cookie = found.cookie.expect("a cookie");
            if cookie.is_empty() {
                break;
            }
        }
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!((count, all.len()), (7, 7), "pages of {size}");
    }
}

#[test]
fn updates_stay_in_their_database() {
    let (world, _folder) = glued();
    let root = world.root();
    let people = "ou=people,dc=example,dc=com";
    assert_eq!(
        code(&world.delete(&root, people)),
        ResultCode::NotAllowedOnNonLeaf
    );
    let between = |dn: &str, rdn: &str, superior: Option<&str>| {
        let result = world.rename(&root, dn, rdn, true, superior);
        assert_eq!(
            code(&result),
            ResultCode::AffectsMultipleDsas,
            "{dn} {rdn} {superior:?}"
        );
        assert_eq!(result.diagnostic, "cannot rename between DSAs");
    };
    between(
        "cn=a,ou=eu,ou=people,dc=example,dc=com",
        "cn=a",
        Some(people),
    );
    between("cn=b,ou=adv,dc=example,dc=com", "cn=b", Some(TOP));
    between("cn=o,ou=own,dc=example,dc=com", "cn=o", Some(ADVERTISED));
    between(people, "ou=people", Some(ADVERTISED));
    between(ADVERTISED, "ou=adv2", None);
    // The new name would be the suffix of another database.
    between(people, "ou=adv", None);
    between(people, "ou=a", Some("dc=elsewhere"));
    assert!(
        world
            .delete(&root, "cn=p,ou=people,dc=example,dc=com")
            .is_success()
    );
    // A glued database is no child.
    assert!(world.delete(&root, people).is_success());
    assert_eq!(found(&world, EU, Scope::Subtree), ["cn=a", "ou=eu"]);
    assert_eq!(found(&world, TOP, Scope::Subtree).len(), 5);
}

#[test]
fn the_root_dse_lists_databases_that_are_not_glued() {
    let (world, _folder) = glued();
    let search = asked("", Scope::Base, "(objectClass=*)", &["namingContexts"]);
    let found = world.search(&world.root(), &search);
    let mut contexts = found.entries[0].get("namingContexts");
    contexts.sort_unstable();
    assert_eq!(contexts, [TOP, ADVERTISED, OWN]);
}

#[test]
fn a_root_is_the_root_of_its_database_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = World::with(|options| {
        options.access = vec!["to * by * read".into()];
        options
            .databases
            .push(database(&folder, "dc=other", Subordinate::No));
    });
    let other = [("objectClass", "domain"), ("dc", "other")];
    let refused = world.add(&world.user(ROOT), "dc=other", &other);
    assert_eq!(code(&refused), ResultCode::InsufficientAccessRights);
    assert!(
        world
            .delete(&world.user(ROOT), "cn=all,ou=groups,dc=example,dc=com")
            .is_success()
    );
}

#[test]
fn hidden_databases_answer_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = World::with(|options| {
        let mut hidden = database(&folder, "dc=other", Subordinate::No);
        hidden.hidden = true;
        options.databases.push(hidden);
    });
    let search = asked("dc=other", Scope::Base, "(objectClass=*)", &[]);
    assert_eq!(
        code(&world.search(&world.root(), &search).result),
        ResultCode::NoSuchObject
    );
    let search = asked("", Scope::Base, "(objectClass=*)", &["namingContexts"]);
    let contexts = world.search(&world.root(), &search);
    assert_eq!(contexts.entries[0].get("namingContexts"), [TOP]);
}

#[test]
fn invalid_suffixes_are_refused() {
    let open = |databases: Vec<DatabaseOptions>| {
        let options = DirectoryOptions::new(Schema::standard(), databases);
        fulgurite_directory::Directory::open(options).map(drop)
    };
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let twice = folders
        .each_ref()
        .map(|folder| database(folder, "dc=a", Subordinate::No));
    assert!(matches!(open(twice.into()), Err(OpenError::SameSuffix(suffix)) if suffix == "dc=a"));
    let folder = tempfile::tempdir().unwrap();
    let alone = database(&folder, "dc=a", Subordinate::Glued);
    assert!(matches!(open(vec![alone]), Err(OpenError::NoSuperior(_))));
}

#[test]
fn names_outside_all_databases_get_the_default_referral() {
    let world = World::with(|options| {
        options.referral = vec!["ldap://other".to_owned(), "ldaps://third:99/".to_owned()];
    });
    let outside = "cn=x,dc=no where";
    for (scope, end) in [
        (Scope::Base, "base"),
        (Scope::One, "one"),
        (Scope::Subtree, "sub"),
        (Scope::Children, "subordinate"),
    ] {
        let found = world.search(
            &world.root(),
            &asked(outside, scope, "(objectClass=*)", &[]),
        );
        assert_eq!(code(&found.result), ResultCode::Referral);
        let urls = ["ldap://other", "ldaps://third:99"];
        let urls = urls.map(|url| format!("{url}/cn=x,dc=no%20where??{end}"));
        assert_eq!(found.result.referrals, urls);
    }
    let plain = "ldap://other/cn=x,dc=no%20where";
    for result in [
        world.delete(&world.root(), outside),
        world.compare(&world.root(), outside, "cn", "x"),
        world.rename(&world.root(), outside, "cn=y", true, Some(TOP)),
    ] {
        assert_eq!(code(&result), ResultCode::Referral);
        assert_eq!(result.referrals[0], plain);
    }
    assert_eq!(
        code(&world.bind(outside, "x").0),
        ResultCode::InvalidCredentials
    );
}

#[test]
fn the_default_search_base_replaces_an_empty_base() {
    let world = World::with(|options| options.default_search_base = Some(TOP.to_owned()));
    let search = |scope| {
        world.search(
            &world.root(),
            &asked("", scope, "(objectClass=*)", &["1.1"]),
        )
    };
    assert_eq!(search(Scope::Base).dns(), [""]);
    assert_eq!(search(Scope::Subtree).dns().len(), 6);
}

#[test]
fn without_last_mod_entries_get_no_stamps() {
    let mut world = World::with(|_| ());
    world.reopen(|options| options.databases[0].last_mod = false);
    let dn = "ou=quiet,dc=example,dc=com";
    let unit = [("objectClass", "organizationalUnit")];
    assert!(world.add(&world.root(), dn, &unit).is_success());
    assert!(
        world
            .rename(&world.root(), dn, "ou=silent", true, None)
            .is_success()
    );
    let search = asked(
        "ou=silent,dc=example,dc=com",
        Scope::Base,
        "(objectClass=*)",
        &["+"],
    );
    let found = world.search(&world.root(), &search);
    let expected = [
        "entryDN",
        "hasSubordinates",
        "structuralObjectClass",
        "subschemaSubentry",
    ];
    assert_eq!(found.entries[0].names(), expected);
}

#[test]
fn csns_continue_after_a_restart() {
    let mut world = World::with(|_| ());
    let csn = |world: &World, dn: &str| {
        let search = asked(dn, Scope::Base, "(objectClass=*)", &["entryCSN"]);
        world.search(&world.root(), &search).entries[0].get("entryCSN")[0].to_owned()
    };
    world.clock.sleep_s(100);
    let late = "ou=late,dc=example,dc=com";
    let unit = [("objectClass", "organizationalUnit")];
    assert!(world.add(&world.root(), late, &unit).is_success());
    // Started again, with the clock back where it was.
    world.reopen(|options| options.clock = Arc::new(crate::support::TestClock::default()));
    let after = "ou=after,dc=example,dc=com";
    assert!(world.add(&world.root(), after, &unit).is_success());
    assert!(
        csn(&world, after) > csn(&world, late),
        "{} {}",
        csn(&world, after),
        csn(&world, late)
    );
}

/// Cookies count the databases below their base: with others, or in another order, the count would
/// lead elsewhere.
#[test]
fn a_cookie_fails_after_the_databases_change() {
    let (mut world, folder) = glued();
    let mut search = asked(TOP, Scope::Subtree, "(objectClass=*)", &["1.1"]);
    search.page = Some((3, Vec::new()));
    let first = world.search(&world.root(), &search);
    search.page = Some((3, first.cookie.expect("more")));
    assert_eq!(
        code(&world.search(&world.root(), &search).result),
        ResultCode::Success
    );
    world.reopen(|options| {
        options.databases.push(database(
            &folder,
            "ou=late,dc=example,dc=com",
            Subordinate::Glued,
        ));
    });
    let refused = world.search(&world.root(), &search);
    assert_eq!(code(&refused.result), ResultCode::UnwillingToPerform);
}
