//! The settings in force, with their documentation.

use fulgurite_client::{Entry, Scope};
use maud::{Markup, html};

use super::entry::is_secret;
use super::layout::server_page;
use crate::ldap::{self, LIST_MAX, LdapError};
use crate::request::{PageRequest, PageResponse, link};
use crate::sessions::UserSession;
use fulgurite_client::names::split;

/// The page and its title.
const ABOUT: (&str, &str) = ("/settings", "Settings");

/// Entries of settings. Those of the schema have their own page.
const FILTER: &str = "(&(objectClass=*)(!(objectClass=olcSchemaConfig)))";

/// Attributes that say nothing beyond the name.
const NAMING: [&str; 4] = ["objectClass", "cn", "olcDatabase", "olcOverlay"];

/// Shows the settings that the user may read.
pub(crate) fn show(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let base = ("cn=config", Scope::Subtree);
    let listing = ldap::list(&mut session.client(), base, FILTER, &["*"]);
    let (entries, is_cut) = match listing {
        Ok(listing) => (listing.entries, listing.is_cut),
        Err(LdapError::Gone) => return Err(LdapError::Gone),
        Err(LdapError::Refused(_)) => (Vec::new(), false),
    };
    if entries.is_empty() {
        return Ok(closed(session));
    }
    let text = request.query("q").trim().to_lowercase();
    let content = html! {
        p { "These settings are in force. A configuration directory (" code { "-F" } ") takes changes here; a file of TOML or slapd.conf is changed there." }
        form.search method="get" action="/settings" role="search" {
            label for="q" { "Name, value or documentation" }
            input id="q" name="q" type="search" value=(request.query("q")) autocomplete="off" spellcheck="false";
            button type="submit" { "Search" }
        }
        @for entry in &entries { (section(entry, &text, session)) }
        @if is_cut { p.note { "Only the first " (LIST_MAX) " entries are shown." } }
    };
    Ok(server_page(session, ABOUT, &content))
}

fn closed(session: &UserSession) -> PageResponse {
    let content = html! {
        p { "You may not read the settings of this server." }
        p { "They are below " code { "cn=config" } ". Its rules decide who may read it, and its root account may." }
        p { "The command " code { "fulgurite config show" } " tells them on the machine itself." }
    };
    server_page(session, ABOUT, &content)
}

/// Returns a text whose parts in backticks are code.
fn with_code(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

/// Returns the settings of one entry that have a text.
fn section(entry: &Entry, text: &str, session: &UserSession) -> Markup {
    let rows: Vec<_> = entry
        .attributes
        .iter()
        .filter(|(name, _)| {
            !NAMING
                .iter()
                .any(|naming| naming.eq_ignore_ascii_case(name))
        })
        .map(|(name, values)| {
            let setting = session.about.setting(name);
            (name, values, setting)
        })
        .filter(|(name, values, setting)| {
            let documentation = setting.map(|setting| format!("{} {}", setting.key, setting.text));
            let values = values.iter().map(|value| String::from_utf8_lossy(value));
            let values = values
                .filter(|_| !is_secret(name))
                .collect::<Vec<_>>()
                .join(" ");
            let all = format!("{name} {values} {}", documentation.unwrap_or_default());
            all.to_lowercase().contains(text)
        })
        .collect();
    let title = split(&entry.dn).map_or_else(|| entry.dn.clone(), |(rdn, _)| rdn);
    html! {
        @if !rows.is_empty() {
            table.settings {
                caption {
                    strong { (title) } " "
                    a.small href=(link("/entry", &[("dn", &entry.dn)])) aria-label={ "Edit " (entry.dn) } { "edit" }
                }
                thead { tr { th scope="col" { "Setting" } th scope="col" { "Value" } } }
                tbody { @for (name, values, setting) in rows { tr {
                    td {
                        (name)
                        @if let Some(setting) = setting {
                            @if !setting.key.is_empty() { br; code.hint { (setting.key) } }
                            p.hint { (with_code(&setting.text)) }
                        }
                    }
                    td {
                        @if is_secret(name) { span.hint { "hidden" } }
                        @else { @for value in values { code.value { (String::from_utf8_lossy(value)) } } }
                    }
                } } }
            }
        }
    }
}
