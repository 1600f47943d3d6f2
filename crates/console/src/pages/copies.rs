//! Backups, and copies of other servers.

use fulgurite_client::Entry;
use fulgurite_client::monitored::{count, duration, fact, number};
use maud::{Markup, html};

use super::layout::server_page;
use super::overview::closed;
use crate::ldap::LdapError;
use crate::monitor::{branch, size, time};
use crate::request::{PageRequest, PageResponse};
use crate::sessions::UserSession;

/// The page and its title.
const ABOUT: (&str, &str) = ("/copies", "Backups and copies");

/// Shows backups and copies.
pub(crate) fn show(_: &PageRequest, session: &UserSession) -> Result<PageResponse, LdapError> {
    let (backups, databases, consumers) = {
        let mut client = session.client();
        (
            branch(&mut client, "Backups", "(objectClass=monitoredObject)")?,
            branch(&mut client, "Databases", "(objectClass=olmMDBDatabase)")?,
            branch(
                &mut client,
                "Databases",
                "(objectClass=olmSyncReplInstance)",
            )?,
        )
    };
    if databases.is_empty() {
        return Ok(closed(session, ABOUT, None));
    }
    let content = html! {
        h2 { "Backups" }
        @match backups.first() {
            Some(entry) => (backup(entry)),
            None => p { "The server makes no backups by itself. " code { "backup.to" } " in the settings names a folder for them." },
        }
        h2 { "Copies of other servers" }
        @if consumers.is_empty() { p { "No database is copied from another server." } }
        @for entry in &consumers { (copy(entry, &databases)) }
        h2 { "Databases" }
        table {
            caption { "Commits since the start" }
            thead { tr { th scope="col" { "Suffix" } th scope="col" { "Role" } th.n scope="col" { "Entries" } th.n scope="col" { "Commits" } } }
            tbody { @for entry in &databases { tr {
                td { (entry.first("namingContexts").unwrap_or_default()) }
                td { (role(entry)) }
                td.n { (number(entry, "olmMDBEntries")) }
                td.n { (count(entry, "commits").unwrap_or(0)) }
            } } }
        }
    };
    Ok(server_page(session, ABOUT, &content))
}

fn role(entry: &Entry) -> Markup {
    let is = |name: &str| entry.first(name).is_some_and(|text| text == "TRUE");
    html! {
        @if is("monitorIsShadow") { "a copy; updates go to " (entry.first("monitorUpdateRef").unwrap_or_else(|| "its provider".to_owned())) }
        @else if is("readOnly") { "read only" }
        @else { "takes updates" }
    }
}

fn backup(entry: &Entry) -> Markup {
    let text = |name: &str| fact(entry, name).unwrap_or_default();
    let seconds = |name: &str| duration(count(entry, name).unwrap_or(0));
    html! {
        div.card.wide {
            @if let Some(trouble) = fact(entry, "trouble") { p.problem role="alert" { "The last one failed: " (trouble) } }
            dl.facts {
                dt { "Newest" } dd {
                    @match time(&text("last")) {
                        Some(time) => { (time) ", " (seconds("age")) " old, " (size(count(entry, "bytes").unwrap_or(0))) }
                        None => "none yet",
                    }
                }
                dt { "Folder" } dd { code { (text("directory")) } }
                dt { "Every" } dd { (seconds("interval")) }
                dt { "Kept" } dd { (text("keep")) }
                dt { "Since the start" } dd { (text("written")) " written, " (text("failures")) " failed" }
            }
        }
    }
}

fn copy(entry: &Entry, databases: &[Entry]) -> Markup {
    let text = |name: &str| entry.first(name).unwrap_or_default();
    let above = databases
        .iter()
        .find(|database| entry.dn.ends_with(&database.dn));
    let suffix = above.and_then(|database| database.first("namingContexts"));
    let at = |name: &str| time(&text(name)).unwrap_or_else(|| "never".to_owned());
    html! {
        div.card.wide {
            @if let Some(trouble) = fact(entry, "trouble") { p.problem role="alert" { (trouble) } }
            dl.facts {
                dt { "Database" } dd { (suffix.unwrap_or_default()) }
                dt { "Provider" } dd { (text("olmSRProviderURIList")) }
                dt { "Phase" } dd { (text("olmSRSyncPhase")) }
                dt { "Last message" } dd { (at("olmSRLastContact")) }
                dt { "Last connection" } dd { (at("olmSRLastConnect")) }
                dt { "Changes stored" } dd { (count(entry, "applied").unwrap_or(0)) }
                dt { "Conflicts" } dd { (count(entry, "conflicts").unwrap_or(0)) }
                dt { "Cannot be stored" } dd { (count(entry, "quarantined").unwrap_or(0)) }
            }
        }
    }
}
