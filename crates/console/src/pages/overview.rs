//! The state of the server as cn=Monitor shows it to the user.

use std::time::Instant;

use fulgurite_client::{Client, Entry, Scope};
use maud::{Markup, html};

use super::layout::page;
use super::plot::line;
use crate::history::CounterSample;
use crate::ldap::{self, LdapError};
use crate::request::{PageRequest, PageResponse};
use crate::sessions::{UserSession, lock};

/// The entries of cn=Monitor.
struct MonitorEntries {
    operations: Vec<Entry>,
    connections: Vec<Entry>,
    databases: Vec<Entry>,
}

impl MonitorEntries {
    fn read(client: &mut Client) -> Result<MonitorEntries, LdapError> {
        let mut branch = |name: &str, filter: &str| -> Result<Vec<Entry>, LdapError> {
            let base = format!("cn={name},cn=Monitor");
            Ok(ldap::list(client, (&base, Scope::Subtree), filter, &["*", "+"])?.entries)
        };
        Ok(MonitorEntries {
            operations: branch("Operations", "(objectClass=monitorOperation)")?,
            connections: branch("Connections", "(monitorConnectionNumber=*)")?,
            databases: branch("Databases", "(monitorContext=*)")
                .or_else(|_| branch("Databases", "(objectClass=*)"))?,
        })
    }

    fn sum(&self, attribute: &str) -> u64 {
        self.operations
            .iter()
            .map(|entry| number(entry, attribute))
            .sum()
    }
}

fn number(entry: &Entry, attribute: &str) -> u64 {
    let value = entry.first(attribute);
    value.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Shows the figures.
pub(crate) fn show(_: &PageRequest, session: &UserSession) -> Result<PageResponse, LdapError> {
    let entries = match MonitorEntries::read(&mut session.client()) {
        Ok(entries) => entries,
        Err(LdapError::Gone) => return Err(LdapError::Gone),
        Err(LdapError::Refused(text)) => return Ok(closed(session, Some(&text))),
    };
    if entries.operations.is_empty() {
        return Ok(closed(session, None));
    }
    let (rates, connections) = {
        let mut history = lock(&session.history);
        history.add(CounterSample {
            at: Instant::now(),
            operations: entries.sum("monitorOpCompleted"),
            connections: entries.connections.len() as u64,
        });
        (history.rates(), history.connections())
    };
    let content = html! {
        p { a.button href="/overview" { "Look again" } }
        div.plots { (line("Operations a second", &rates)) (line("Connections", &connections)) }
        p.note { "The lines grow with each look." }
        (operations(&entries.operations))
        (clients(&entries.connections))
        (databases(&entries.databases))
    };
    Ok(page(session, ("/overview", "Overview"), &content))
}

fn closed(session: &UserSession, reason: Option<&str>) -> PageResponse {
    let content = html! {
        p { "You may not see the figures of this server, or it has none." }
        p { "They need " code { "monitor = true" } " in the settings, and a rule that lets you read " code { "cn=Monitor" } "." }
        @if let Some(reason) = reason { p.note { (reason) } }
    };
    page(session, ("/overview", "Overview"), &content)
}

fn operations(entries: &[Entry]) -> Markup {
    html! {
        table {
            caption { "Operations since the start" }
            thead { tr { th scope="col" { "Kind" } th.n scope="col" { "Begun" } th.n scope="col" { "Ended" } } }
            tbody { @for entry in entries { tr {
                td { (entry.first("cn").unwrap_or_default()) }
                td.n { (number(entry, "monitorOpInitiated")) }
                td.n { (number(entry, "monitorOpCompleted")) }
            } } }
        }
    }
}

fn clients(entries: &[Entry]) -> Markup {
    html! {
        table {
            caption { "Connections" }
            thead { tr {
                th scope="col" { "Identity" } th scope="col" { "Address" }
                th.n scope="col" { "Ended" } th.n scope="col" { "Running" } th.n scope="col" { "Waiting" }
            } }
            tbody { @for entry in entries { tr {
                td { (entry.first("monitorConnectionAuthzDN").filter(|dn| !dn.is_empty()).unwrap_or_else(|| "anonymous".to_owned())) }
                td { (entry.first("monitorConnectionPeerAddress").unwrap_or_default()) }
                td.n { (number(entry, "monitorConnectionOpsCompleted")) }
                td.n { (number(entry, "monitorConnectionOpsExecuting")) }
                td.n { (number(entry, "monitorConnectionOpsPending")) }
            } } }
        }
    }
}

fn databases(entries: &[Entry]) -> Markup {
    let stores = entries
        .iter()
        .filter(|entry| !entry.values("olmMDBPagesMax").is_empty());
    html! {
        table {
            caption { "Databases" }
            thead { tr {
                th scope="col" { "Suffix" } th.n scope="col" { "Entries" }
                th.n scope="col" { "Pages in use" } th.n scope="col" { "Pages at most" } th scope="col" { "Map" }
            } }
            tbody { @for entry in stores {
                @let used = number(entry, "olmMDBPagesUsed").saturating_sub(number(entry, "olmMDBPagesFree"));
                @let most = number(entry, "olmMDBPagesMax").max(1);
                @let suffix = entry.first("namingContexts").unwrap_or_default();
                tr {
                    td { (suffix) } td.n { (number(entry, "olmMDBEntries")) } td.n { (used) } td.n { (most) }
                    td { meter min="0" max=(most) value=(used) aria-label={ "Map of " (suffix) } { (used * 100 / most) " %" } }
                }
            } }
        }
    }
}
