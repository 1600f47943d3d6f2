//! `fulgurite user lock` and `fulgurite user unlock`, by the password policy of the server.

use anyhow::bail;
use fulgurite_client::{Change, Client, Control, Entry, ResultCode, Scope, SearchRequest};
use fulgurite_ldap::control::AccountUsability;
use fulgurite_ldap::{FilterBuf, oid};

use crate::arguments::people::Named;
use crate::remote::answer::expect;
use crate::remote::begin::begin;
use crate::remote::entries::all_below;
use crate::remote::kinds::USER;
use crate::remote::root_dse::knows_control;

/// The attribute of a lock (draft-behera-ldap-password-policy-10, section 5.3.3).
pub(super) const LOCKED: &str = "pwdAccountLockedTime";

/// The value of a lock that ends by `unlock` only.
const FOR_GOOD: &[u8] = b"000001010000Z";

pub(super) fn lock(command: &Named) -> anyhow::Result<()> {
    let (mut client, suffix, user) = user_of(command)?;
    if user.values(LOCKED).iter().any(|value| value == FOR_GOOD) {
        eprintln!("{} is locked already", user.dn);
        return Ok(());
    }
    let change = Change::replace(LOCKED, &[FOR_GOOD]);
    change_lock(&mut client, &user.dn, change)?;
    eprintln!("{} is locked", user.dn);
    if !is_in_force(&mut client, &suffix, &user.dn)? {
        eprintln!(
            "fulgurite: no policy with pwdLockout TRUE is seen below {suffix}: without one, the \
             server ignores locks, unless it has ppolicy.locks_need_no_policy"
        );
    }
    Ok(())
}

pub(super) fn unlock(command: &Named) -> anyhow::Result<()> {
    let (mut client, _, user) = user_of(command)?;
    if user.values(LOCKED).is_empty() {
        eprintln!("{} is not locked", user.dn);
        return Ok(());
    }
    change_lock(&mut client, &user.dn, Change::delete(LOCKED, &[]))?;
    eprintln!("{} is unlocked", user.dn);
    Ok(())
}

/// Finds the user, at a server that has a password policy.
fn user_of(command: &Named) -> anyhow::Result<(Client, String, Entry)> {
    let (mut client, suffix) = begin(&command.server, &command.base)?;
    if !knows_control(&mut client, oid::PASSWORD_POLICY)? {
        bail!(
            "the server has no password policy, so it locks nobody out; its database needs the \
             overlay ppolicy"
        );
    }
    let user = USER.get(&mut client, (&suffix, &command.name), &[LOCKED])?;
    Ok((client, suffix, user))
}

fn change_lock(client: &mut Client, dn: &str, change: Change<'_>) -> anyhow::Result<()> {
    let result = client.modify(dn, &[change])?;
    match result.code {
        ResultCode::UndefinedAttributeType | ResultCode::ObjectClassViolation => {
            bail!("the database of {dn} has no password policy, so it locks nobody out")
        }
        _ => expect(&result, || format!("cannot change the lock of {dn}")),
    }
}

/// Returns true if the server obeys the lock of an entry, as far as it can be seen.
fn is_in_force(client: &mut Client, suffix: &str, dn: &str) -> anyhow::Result<bool> {
    let usability = usability(client, dn)?;
    if let Some(AccountUsability::Unavailable {
        is_inactive: true, ..
    }) = usability
    {
        return Ok(true);
    }
    // Servers say nothing about an entry without a policy or a password. slapd's answer leaves out
    // some locks.
    let filter = "(&(objectClass=pwdPolicy)(pwdLockout=TRUE))";
    Ok(!all_below(client, suffix, filter, &["1.1"])?.is_empty())
}

/// Asks for the usability of an account; `None` if the server says nothing about it.
fn usability(client: &mut Client, dn: &str) -> anyhow::Result<Option<AccountUsability>> {
    let filter = FilterBuf::parse("(objectClass=*)")?;
    let mut request = SearchRequest::new(dn, Scope::Base, filter.filter());
    request.attributes = vec![b"1.1"];
    let asked = Control::new(oid::ACCOUNT_USABILITY, false);
    let mut stream = client.search_stream(&request, &[asked])?;
    let mut usability = None;
    while let Some(message) = stream.next_message()? {
        let answer = message.controls.find(oid::ACCOUNT_USABILITY);
        let value = answer.and_then(|control| control.value);
        usability = usability.or(value.and_then(|value| AccountUsability::decode(value).ok()));
    }
    Ok(usability)
}
