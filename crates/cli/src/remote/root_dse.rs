//! The server's account of itself.

use anyhow::bail;
use fulgurite_client::{Client, Entry, Scope};

use super::answer::expect;
use fulgurite_client::names::first_part;

/// Reads attributes of the root DSE.
fn root_dse(client: &mut Client, attributes: &[&str]) -> anyhow::Result<Entry> {
    let found = client.search("", Scope::Base, "(objectClass=*)", attributes)?;
    expect(&found.result, || "the root DSE cannot be read".to_owned())?;
    match found.entries.into_iter().next() {
        Some(entry) => Ok(entry),
        None => bail!("the server hides its root DSE: name the suffix by --base"),
    }
}

/// Returns the suffix to work below: the given one, or the only one of the server.
pub(crate) fn suffix(client: &mut Client, given: Option<&str>) -> anyhow::Result<String> {
    if let Some(suffix) = given {
        return Ok(suffix.to_owned());
    }
    let entry = root_dse(client, &["namingContexts"])?;
    let names = entry.values("namingContexts").iter();
    let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
    let mut names: Vec<String> = names.collect();
    // Logs of changes and the like are suffixes, too, but not of people.
    let is_content = |name: &str| {
        first_part(name).is_some_and(|(attribute, _)| !attribute.eq_ignore_ascii_case("cn"))
    };
    if names.iter().any(|name| is_content(name)) {
        names.retain(|name| is_content(name));
    }
    match names.as_slice() {
        [] => bail!("the server has no directory yet, or hides it: name the suffix by --base"),
        [only] => Ok(only.clone()),
        several => bail!(
            "the server has several directories, so choose one by --base: {}",
            several.join(" ")
        ),
    }
}

/// Returns true if the server knows a control.
pub(crate) fn knows_control(client: &mut Client, oid: &str) -> anyhow::Result<bool> {
    let entry = root_dse(client, &["supportedControl"])?;
    let controls = entry.values("supportedControl");
    Ok(controls.iter().any(|control| control == oid.as_bytes()))
}
