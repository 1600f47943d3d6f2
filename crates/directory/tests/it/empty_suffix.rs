//! Checks of a database whose suffix is the empty name. It has no entry at its suffix.

use fulgurite_directory::{DatabaseOptions, OverlaySettings};
use fulgurite_ldap::{LdapResult, ModifyOperation, ResultCode};
use fulgurite_schema::Schema;
use fulgurite_store::{Store, StoreOptions};

use crate::guards::overlay;
use crate::support::{JANE, JOHN, World};

const DEVICE: &str = "dn: cn=list
                      objectClass: device
                      l: Here";

/// Returns the example in a database with the empty suffix.
fn world(overlays: &[OverlaySettings]) -> World {
    let empty = |store: &mut StoreOptions| store.suffixes = vec![String::new()];
    let mut world = World::empty_with_store(|_| {}, empty);
    world.load("dn: dc=com\nobjectClass: domain");
    world.load_example();
    world.load(DEVICE);
    world.reopen(|options| options.databases[0].overlays = overlays.to_vec());
    world
}

fn replace(world: &World, dn: &str, attribute: &str, value: &str) -> LdapResult {
    let change = (ModifyOperation::Replace, attribute, &[value][..]);
    world.modify(&world.root(), dn, &[change])
}

fn constraint(rule: &str) -> OverlaySettings {
    overlay("constraint", &[&format!("constraint_attribute {rule}")])
}

#[test]
fn unique_values_are_looked_for_below_the_empty_suffix() {
    for lines in [
        &["unique_uri ldap:///?mail?sub"][..],
        &["unique_base ", "unique_attributes mail"],
    ] {
        let world = world(&[overlay("unique", lines)]);
        let refused = replace(&world, JOHN, "mail", "jane@example.com");
        assert_eq!(refused.code, ResultCode::ConstraintViolation, "{lines:?}");
        let accepted = replace(&world, JANE, "mail", "JANE@example.com");
        assert_eq!(accepted, LdapResult::success(), "{lines:?}");
    }
}

#[test]
fn lists_of_values_are_looked_for_below_the_empty_suffix() {
    for (rule, value, code) in [
        ("l~uri~ldap:///?l?sub", "here", ResultCode::Success),
        ("l~uri~ldap:///?l?one", "here", ResultCode::Success),
        (
            "l~uri~ldap:///?l?sub",
            "there",
            ResultCode::ConstraintViolation,
        ),
        (
            "l~uri~ldap:///?l?base",
            "here",
            ResultCode::ConstraintViolation,
        ),
        (
            "l~set~this/l & [ldap:///??sub]/l",
            "Here",
            ResultCode::Success,
        ),
        (
            "l~set~this/l & [ldap:///??sub]/l",
            "there",
            ResultCode::ConstraintViolation,
        ),
    ] {
        let world = world(&[constraint(rule)]);
        assert_eq!(
            replace(&world, JANE, "l", value).code,
            code,
            "{rule} {value}"
        );
    }
}

#[test]
fn lists_may_be_in_another_database_with_the_empty_suffix() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = World::with(|options| {
        let rule = constraint("l~uri~ldap:///?l?sub?(objectClass=device)");
        options.databases[0].overlays = vec![rule];
        let settings = StoreOptions {
            suffixes: vec![String::new()],
            ..StoreOptions::default()
        };
        let store = Store::create(folder.path(), &settings, Schema::standard()).expect("a store");
        let root = options.databases[0].root.clone();
        options.databases.push(DatabaseOptions {
            root,
            ..DatabaseOptions::new(store)
        });
    });
    world.load(DEVICE);
    assert_eq!(replace(&world, JANE, "l", "here"), LdapResult::success());
    let refused = replace(&world, JANE, "l", "there");
    assert_eq!(refused.code, ResultCode::ConstraintViolation);
}
