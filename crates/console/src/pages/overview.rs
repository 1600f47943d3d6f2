//! The state of the server as cn=Monitor shows it to the user.

use std::time::Instant;

use fulgurite_client::health::{self, HealthCheck};
use fulgurite_client::monitored::number;
use fulgurite_client::{Client, Entry};
use maud::{Markup, html};

use super::layout::server_page;
use super::plot::line;
use crate::history::CounterSample;
use crate::ldap::LdapError;
use crate::monitor::branch;
use crate::request::{PageRequest, PageResponse};
use crate::sessions::{UserSession, lock};

/// The page.
const PATH: &str = "/overview";

/// Shows the state and the figures.
pub(crate) fn show(_: &PageRequest, session: &UserSession) -> Result<PageResponse, LdapError> {
    let about = (PATH, "Overview");
    let figures = match Figures::read(session) {
        Ok(figures) => figures,
        Err(LdapError::Gone) => return Err(LdapError::Gone),
        Err(LdapError::Refused(text)) => return Ok(closed(session, about, Some(&text))),
    };
    if figures.operations.is_empty() {
        return Ok(closed(session, about, None));
    }
    let (rates, connections) = {
        let mut history = lock(&session.history);
        let completed = figures.operations.iter();
        history.add(CounterSample {
            at: Instant::now(),
            operations: completed
                .map(|entry| number(entry, "monitorOpCompleted"))
                .sum(),
            connections: figures.connections,
        });
        (history.rates(), history.connections())
    };
    let content = html! {
        p { a.button href=(PATH) { "Look again" } }
        (state(&figures.checks))
        div.plots { (line("Operations a second", &rates)) (line("Connections", &connections)) }
        p.note { "The lines grow with each look." }
        (operations(&figures.operations))
        (databases(&figures.databases))
    };
    Ok(server_page(session, about, &content))
}

/// The figures of the page.
struct Figures {
    operations: Vec<Entry>,
    databases: Vec<Entry>,
    connections: u64,
    checks: Vec<HealthCheck>,
}

impl Figures {
    fn read(session: &UserSession) -> Result<Figures, LdapError> {
        let mut client = session.client();
        let operations = branch(&mut client, "Operations", "(objectClass=monitorOperation)")?;
        let databases = branch(&mut client, "Databases", "(objectClass=olmMDBDatabase)")?;
        let current = branch(&mut client, "Connections", "(cn=Current)")?;
        Ok(Figures {
            checks: look(&mut client, &databases)?,
            connections: current
                .first()
                .map_or(0, |entry| number(entry, "monitorCounter")),
            operations,
            databases,
        })
    }
}

/// Looks at databases, copies, backups and the certificate.
fn look(client: &mut Client, databases: &[Entry]) -> Result<Vec<HealthCheck>, LdapError> {
    let consumers = branch(client, "Databases", "(objectClass=olmSyncReplInstance)")?;
    let backups = branch(client, "Backups", "(objectClass=monitoredObject)")?;
    let logs = branch(client, "Log", "(objectClass=monitoredObject)")?;
    let certificates = branch(client, "TLS", "(objectClass=monitoredObject)")?;
    let counters = branch(client, "Connections", "(objectClass=monitorCounterObject)")?;
    let mut checks: Vec<_> = databases.iter().flat_map(health::of_database).collect();
    checks.extend(consumers.iter().map(health::of_consumer));
    checks.push(health::of_backups(backups.first()));
    checks.extend(certificates.first().and_then(health::of_certificate));
    checks.extend(health::of_connections(&counters));
    checks.extend(logs.first().and_then(health::of_log));
    Ok(checks)
}

/// Returns the page for those who may not see figures.
pub(crate) fn closed(
    session: &UserSession,
    about: (&str, &str),
    reason: Option<&str>,
) -> PageResponse {
    let content = html! {
        p { "You may not see the figures of this server, or it has none." }
        p { "They need " code { "monitor = true" } " in the settings, and a rule that lets you read " code { "cn=Monitor" } "." }
        @if let Some(reason) = reason { p.note { (reason) } }
    };
    server_page(session, about, &content)
}

fn state(checks: &[HealthCheck]) -> Markup {
    let bad = checks.iter().filter(|check| !check.is_well).count();
    html! {
        section aria-labelledby="health" {
            h2 id="health" {
                @match bad { 0 => "All is well", 1 => "One thing needs a look", _ => { (bad) " things need a look" } }
            }
            ul.checks {
                @for check in checks {
                    li.is-bad[!check.is_well] {
                        span.mark { (if check.is_well { "well" } else { "look" }) }
                        span { strong { (check.name) } " " (check.text) }
                    }
                }
            }
        }
    }
}

fn operations(entries: &[Entry]) -> Markup {
    let begun = |entry: &&Entry| number(entry, "monitorOpInitiated") > 0;
    let entries = entries.iter().filter(begun);
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

fn databases(entries: &[Entry]) -> Markup {
    html! {
        table {
            caption { "Databases" }
            thead { tr {
                th scope="col" { "Suffix" } th.n scope="col" { "Entries" }
                th.n scope="col" { "Pages in use" } th.n scope="col" { "Pages at most" } th scope="col" { "Map" }
            } }
            tbody { @for entry in entries {
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
