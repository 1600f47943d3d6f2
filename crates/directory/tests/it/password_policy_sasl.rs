//! The overlay `ppolicy` and binds by SASL.

use fulgurite_ldap::{Authentication, BindRequest, ResultCode};

use crate::password_policy::{begin, count, finish, jane, refused, world, world_with};
use crate::sasl::protected;
use crate::support::World;
use ResultCode::{InvalidCredentials, Success};

/// Returns the code of a bind by PLAIN.
fn plain(world: &World, credentials: &'static [u8]) -> ResultCode {
    let request = BindRequest {
        version: 3,
        name: b"",
        authentication: Authentication::Sasl {
            mechanism: b"PLAIN",
            credentials: Some(credentials),
        },
    };
    let mut session = protected();
    let step = begin(world, &mut session, &request, &[]);
    finish(world, &mut session, step).0
}

#[test]
fn failures_by_sasl_count_and_locks_hold_for_it() {
    let rules = [("pwdLockout", "TRUE"), ("pwdMaxFailure", "2")];
    let world = world(&[], &rules);
    assert_eq!(plain(&world, b"\0jane\0jane's"), Success);
    assert_eq!(plain(&world, b"\0jane\0wrong"), InvalidCredentials);
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    assert_eq!(plain(&world, b"\0jane\0jane's"), InvalidCredentials);
    assert_eq!(count(&world, "pwdFailureTime"), 2);
}

#[test]
fn binds_by_sasl_pass_policies_if_so_wanted() {
    let rules = [("pwdLockout", "TRUE"), ("pwdMaxFailure", "1")];
    let world = world_with(&[], &rules, |options| {
        options.auth.policies_pass_sasl = true;
    });
    assert_eq!(plain(&world, b"\0jane\0wrong"), InvalidCredentials);
    assert_eq!(count(&world, "pwdFailureTime"), 0);
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    assert_eq!(count(&world, "pwdFailureTime"), 1);
    assert_eq!(jane(&world, "jane's"), refused("3000"), "a lock");
    // As in slapd, the lock is about simple binds.
    assert_eq!(plain(&world, b"\0jane\0jane's"), Success);
    assert_eq!(count(&world, "pwdFailureTime"), 1);
}
