//! A lock for good, and entries that no policy is about.

use fulgurite_ldap::{LdapResult, ModifyOperation, ResultCode};

use crate::password_policy::{accepted, jane, refused, world_with};
use crate::support::{JANE, World};
use ModifyOperation::Replace;

/// Returns a directory whose example names a policy that is missing, so none is about her.
fn without_policy(locks_need_no_policy: bool) -> World {
    let world = world_with(&[], &[("pwdLockout", "TRUE")], |options| {
        options.auth.locks_need_no_policy = locks_need_no_policy;
    });
    set(&world, "pwdPolicySubentry", "cn=missing,dc=example,dc=com");
    world
}

fn set(world: &World, name: &str, value: &str) {
    let change = [(Replace, name, &[value][..])];
    let result = world.modify(&world.root(), JANE, &change);
    assert_eq!(result, LdapResult::success());
}

#[test]
fn a_lock_for_good_holds_without_a_policy_if_so_wanted() {
    for (is_wanted, answer) in [(false, accepted("3000")), (true, refused("3000"))] {
        let world = without_policy(is_wanted);
        assert_eq!(jane(&world, "jane's"), accepted("3000"));
        set(&world, "pwdAccountLockedTime", "000001010000Z");
        assert_eq!(jane(&world, "jane's"), answer, "wanted: {is_wanted}");
        let unlock = [(Replace, "pwdAccountLockedTime", &[][..])];
        let result = world.modify(&world.root(), JANE, &unlock);
        assert_eq!(result.code, ResultCode::Success);
        assert_eq!(jane(&world, "jane's"), accepted("3000"));
    }
}

#[test]
fn a_lock_with_a_time_needs_a_policy() {
    let world = without_policy(true);
    set(&world, "pwdAccountLockedTime", "20200101000000Z");
    assert_eq!(jane(&world, "jane's"), accepted("3000"));
}

#[test]
fn a_policy_without_locks_ignores_them() {
    let world = world_with(&[], &[], |options| {
        options.auth.locks_need_no_policy = true;
    });
    set(&world, "pwdAccountLockedTime", "000001010000Z");
    assert_eq!(jane(&world, "jane's"), accepted("3000"));
}
