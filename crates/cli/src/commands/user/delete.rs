//! `fulgurite user delete`.

use crate::arguments::people::UserDelete;
use crate::remote::begin::begin;
use crate::remote::entries;
use crate::remote::kinds::USER;
use crate::remote::membership::{groups_of, leave};

pub(super) fn run(command: &UserDelete) -> anyhow::Result<()> {
    let named = &command.named;
    let (mut client, suffix) = begin(&named.server, &named.base)?;
    let user = USER.get(&mut client, (&suffix, &named.name), &["uid"])?;
    let uid = user.first("uid");
    entries::delete(&mut client, &user.dn)?;
    eprintln!("{} is deleted", user.dn);
    if command.keep_memberships {
        return Ok(());
    }
    // A server with referential integrity has done this by itself.
    for group in groups_of(&mut client, &suffix, (&user.dn, uid.as_deref()))? {
        match leave(&mut client, &group, (&user.dn, uid.as_deref())) {
            Ok(()) => eprintln!("{} is no longer in {}", user.dn, group.dn),
            Err(error) => eprintln!("fulgurite: {} stays in {}: {error:#}", user.dn, group.dn),
        }
    }
    Ok(())
}
