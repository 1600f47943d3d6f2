//! `fulgurite user show` and `fulgurite user list`.

use std::io;

use fulgurite_client::Client;

use super::lock::LOCKED;
use crate::arguments::people::{List, Show};
use crate::arguments::server::FormatFlags;
use crate::commands::listing::write_list;
use crate::remote::begin::begin;
use crate::remote::kinds::USER;
use crate::remote::membership::groups_of;
use crate::remote::printer::Printer;
use fulgurite_client::names::filter_value;

/// The columns of the list.
const COLUMNS: [&str; 5] = ["uid", "cn", "mail", LOCKED, "dn"];

pub(super) fn show(command: &Show) -> anyhow::Result<()> {
    let (mut client, suffix) = begin(&command.server, &command.base)?;
    let name = (suffix.as_str(), command.name.as_str());
    let mut user = USER.get(&mut client, name, &["*", LOCKED])?;
    // Nobody needs it on a screen. `search` shows it to who may read it.
    user.attributes
        .retain(|(name, _)| !name.eq_ignore_ascii_case("userPassword"));
    let FormatFlags { json, csv, ldif } = command.format;
    if !(json || csv || ldif) {
        let groups = groups(&mut client, &suffix, &user.dn, user.first("uid"))?;
        if !groups.is_empty() {
            user.attributes.push(("group".to_owned(), groups));
        }
    }
    let names: Vec<String> = user
        .attributes
        .iter()
        .map(|(name, _)| name.clone())
        .collect();
    let names: Vec<&str> = ["dn"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let columns = if csv { names.as_slice() } else { &[] };
    let mut printer = Printer::new(io::stdout().lock(), command.format, columns)?;
    printer.entry(&user)?;
    printer.finish()?;
    Ok(())
}

/// Returns the names of the groups of a user.
fn groups(
    client: &mut Client,
    suffix: &str,
    dn: &str,
    uid: Option<String>,
) -> anyhow::Result<Vec<Vec<u8>>> {
    let groups = groups_of(client, suffix, (dn, uid.as_deref()))?;
    Ok(groups
        .into_iter()
        .map(|group| group.dn.into_bytes())
        .collect())
}

pub(super) fn list(command: &List) -> anyhow::Result<()> {
    let (mut client, suffix) = begin(&command.server, &command.base)?;
    let filter = match &command.text {
        None => format!("(&{}(uid=*))", USER.filter),
        Some(text) => {
            let text = filter_value(text);
            let users = USER.filter;
            format!("(&{users}(uid=*)(|(uid=*{text}*)(cn=*{text}*)(mail=*{text}*)))")
        }
    };
    write_list(&mut client, (&suffix, &filter), &COLUMNS, command.format)
}
