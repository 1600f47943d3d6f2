//! The rules of a policy for the characters of passwords, in the form of slapd's module `ppm`.

use fulgurite_ldap::{LdapResult, ModifyOperation};

use crate::password_policy::{POLICY, accepted, jane, logged, open_to_all, person, world_with};
use crate::support::{JANE, PEOPLE};

const SETTINGS: &str = "minQuality 2\ncheckRDN 1\ncheckAttributes sn,mail\n\
    class-lower abcdefghijklmnopqrstuvwxyz 0 1\nclass-digit 0123456789 1 1\n";

const POOR: &str = "Password fails quality checking policy";

fn rules<'r>(quality: &'r str, module: &'r str) -> [(&'r str, &'r str); 4] {
    [
        ("objectClass", "pwdPolicyChecker"),
        ("pwdCheckQuality", quality),
        ("pwdCheckModule", module),
        ("pwdCheckModuleArg", SETTINGS),
    ]
}

#[test]
fn passwords_are_judged_by_the_settings_of_the_module() {
    for (quality, module, password, expected) in [
        ("2", "/usr/lib/ldap/ppm.so", "abc1", ""),
        ("1", "/usr/lib/ldap/ppm.so", "abcd", POOR),
        ("0", "/usr/lib/ldap/ppm.so", "abcd", ""),
        // Words of the name, of the surname and of the address.
        ("2", "ppm.so", "xJane1", POOR),
        ("2", "ppm.so", "xdoe1", POOR),
        ("2", "ppm.so", "1jane@example.com1", POOR),
        ("1", "own.so", "abc1", POOR),
        ("1", "ppm.so", "{SSHA}c2VjcmV0c2VjcmV0c2VjcmV0c2FsdA==", ""),
    ] {
        let world = world_with(&[], &rules(quality, module), open_to_all);
        let change = [(ModifyOperation::Replace, "userPassword", &[password][..])];
        let modified = world.modify(&world.user(JANE), JANE, &change);
        assert_eq!(modified.diagnostic, expected, "{module} {password}");
        // An entry to add is judged in the same way.
        let mut entry = person("jane2", &[password]);
        entry.retain(|value| *value != ("sn", "jane2"));
        entry.extend([("sn", "Doe"), ("uid", "jane"), ("mail", "jane@example.com")]);
        let new = format!("uid=jane+sn=Doe,{PEOPLE}");
        let added = world.add(&world.user(JANE), &new, &entry);
        assert_eq!(added.diagnostic, expected, "{module} {password}");
        // Administrators are exempt.
        let reset = world.modify(&world.root(), JANE, &change);
        assert_eq!(reset, LdapResult::success());
    }
}

#[test]
fn the_first_bind_names_a_policy_that_lets_no_password_pass() {
    let rules = [
        ("objectClass", "pwdPolicyChecker"),
        ("pwdCheckQuality", "2"),
        ("pwdCheckModule", "ppm.so"),
        ("pwdCheckModuleArg", "useCracklib 1"),
    ];
    let (world, log) = logged(&[], &rules);
    for _ in 0..2 {
        assert_eq!(jane(&world, "jane's"), accepted("3000"));
        world.clock.sleep_s(600);
    }
    let text = "under this password policy no user can set a password";
    let expected = format!("{POLICY}: {text}: useCracklib: there is no dictionary");
    assert_eq!(log.take(), [expected]);
}
