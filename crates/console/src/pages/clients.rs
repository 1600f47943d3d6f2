//! Operations that run, and the connections of clients: ends them.

use std::cmp::Reverse;
use std::collections::HashSet;

use fulgurite_client::monitored::{fact, number};
use fulgurite_client::names::{depth, filter_value, first_part, parent};
use fulgurite_client::{Client, Entry};
use maud::{Markup, html};

use super::layout::{alert, search_form, server_page, token};
use super::overview::closed;
use crate::ldap::{LIST_MAX, LdapError, Listing, refusal};
use crate::monitor::{branch, listing, time};
use crate::request::{PageRequest, PageResponse};
use crate::sessions::UserSession;

/// The page.
const PATH: &str = "/clients";

/// Shows operations and connections.
pub(crate) fn show(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    show_with(session, request.query("q"), None)
}

/// The connections that a page shows.
struct Clients {
    entries: Vec<Entry>,
    /// All connections of the server.
    count: u64,
    /// True if more of them fit.
    is_cut: bool,
    /// The operations that have been under way for a while.
    running: Listing,
}

impl Clients {
    /// Reads the busy connections first, then the others, up to the bound of lists.
    fn read(client: &mut Client, sought: &str) -> Result<Clients, LdapError> {
        let fits = match sought {
            "" => String::new(),
            text => {
                let text = filter_value(text);
                format!(
                    "(|(monitorConnectionPeerAddress=*{text}*)(monitorConnectionAuthzDN={text})\
                     (monitorConnectionNumber={text}))"
                )
            }
        };
        let is_busy = "(|(monitorConnectionOpsExecuting>=1)(monitorConnectionOpsPending>=1))";
        let busy = format!("(&{is_busy}{fits}(monitorConnectionNumber=*))");
        let idle = format!("(&(!{is_busy}){fits}(monitorConnectionNumber=*))");
        let mut found = listing(client, "Connections", &busy)?;
        let others = listing(client, "Connections", &idle)?;
        let is_cut = found.is_cut || others.is_cut;
        found.entries.extend(others.entries);
        // A connection may have begun to work between both questions.
        let mut seen = HashSet::new();
        found.entries.retain(|entry| seen.insert(entry.dn.clone()));
        let is_longer = found.entries.len() > LIST_MAX as usize;
        found.entries.truncate(LIST_MAX as usize);
        let current = branch(client, "Connections", "(cn=Current)")?;
        let running = "(&(objectClass=monitoredObject)(monitoredInfo=kind: *))";
        Ok(Clients {
            entries: found.entries,
            count: current
                .first()
                .map_or(0, |entry| number(entry, "monitorCounter")),
            is_cut: is_cut || is_longer,
            running: listing(client, "Connections", running)?,
        })
    }
}

fn show_with(
    session: &UserSession,
    sought: &str,
    problem: Option<&str>,
) -> Result<PageResponse, LdapError> {
    let (operations, mut clients) = {
        let mut client = session.client();
        let operations = branch(&mut client, "Operations", "(objectClass=monitorOperation)")?;
        if operations.is_empty() {
            drop(client);
            return Ok(closed(session, (PATH, "Clients"), None));
        }
        (operations, Clients::read(&mut client, sought)?)
    };
    clients.entries.sort_by_key(|entry| {
        let waits = number(entry, "monitorConnectionOpsExecuting")
            + number(entry, "monitorConnectionOpsPending");
        let completed = number(entry, "monitorConnectionOpsCompleted");
        (Reverse(waits), Reverse(completed))
    });
    let content = html! {
        (alert(problem))
        p { a.button href=(PATH) { "Look again" } }
        (running(&operations))
        (under_way(&clients, session))
        (search_form(PATH, "Address, whole DN or number of a connection", sought))
        (connections(&clients, session))
        p.note {
            "Closing a connection cancels its operations. The page deletes the entry of "
            code { "cn=Monitor" } ", which needs the right " code { "write" } " to it."
        }
    };
    Ok(server_page(session, (PATH, "Clients"), &content))
}

fn running(operations: &[Entry]) -> Markup {
    let running: Vec<_> = operations
        .iter()
        .map(|entry| {
            let begun = number(entry, "monitorOpInitiated");
            let ended = number(entry, "monitorOpCompleted");
            (entry, begun.saturating_sub(ended), ended)
        })
        .filter(|(_, running, ended)| running + ended > 0)
        .collect();
    html! {
        table {
            caption { "Operations" }
            thead { tr { th scope="col" { "Kind" } th.n scope="col" { "Running" } th.n scope="col" { "Ended" } } }
            tbody { @for (entry, running, ended) in running { tr {
                td { (entry.first("cn").unwrap_or_default()) }
                td.n { (running) }
                td.n { (ended) }
            } } }
        }
    }
}

/// Returns the operations that have been under way for a while, with a button for each.
fn under_way(clients: &Clients, session: &UserSession) -> Markup {
    html! {
        @if !clients.running.entries.is_empty() {
            table.stacked {
                caption {
                    "Operations under way for more than half a second"
                    @if clients.running.is_cut { "; the first " (LIST_MAX) ", there are more" }
                }
                thead { tr {
                    th scope="col" { "Operation" } th scope="col" { "Since" } th scope="col" { "State" }
                    th.n scope="col" { "Looked at" } th scope="col" { "Action" }
                } }
                tbody { @for entry in &clients.running.entries { (operation(entry, session)) } }
            }
        }
    }
}

fn operation(entry: &Entry, session: &UserSession) -> Markup {
    let text = |name: &str| fact(entry, name).unwrap_or_default();
    let own = first_part(&entry.dn)
        .map(|(_, name)| name)
        .unwrap_or_default();
    let above = parent(&entry.dn).and_then(|above| first_part(&above));
    let above = above.map(|(_, name)| name).unwrap_or_default();
    html! {
        tr {
            td {
                (text("kind")) " " code { (text("filter")) } br;
                span.hint { (own) " of " (above) }
            }
            td data-label="Since" { (time(&text("since")).unwrap_or_default()) }
            td data-label="State" { (text("state")) }
            td.n data-label="Looked at" { (text("looked at")) }
            td {
                form.row method="post" action=(PATH) {
                    (token(session))
                    input type="hidden" name="entry" value=(entry.dn);
                    button type="submit" aria-label={ "Cancel " (own) " of " (above) } { "Cancel" }
                }
            }
        }
    }
}

fn connections(clients: &Clients, session: &UserSession) -> Markup {
    let shown = clients.entries.len();
    html! {
        table.stacked {
            caption {
                (shown)
                @if clients.is_cut || (shown as u64) < clients.count { " of " (clients.count) }
                (if clients.count == 1 { " connection" } else { " connections" })
                @if clients.is_cut { ", the busy ones first; search for the others" }
            }
            thead { tr {
                th scope="col" { "Client" } th scope="col" { "Since" }
                th.n scope="col" { "Ended" } th.n scope="col" { "Running" } th.n scope="col" { "Waiting" }
                th scope="col" { "Action" }
            } }
            tbody { @for entry in &clients.entries {
                @let id = entry.first("monitorConnectionNumber").unwrap_or_default();
                @let identity = entry.first("monitorConnectionAuthzDN").filter(|dn| !dn.is_empty());
                tr {
                    td {
                        (identity.as_deref().unwrap_or("anonymous")) br;
                        span.hint { (entry.first("monitorConnectionPeerAddress").unwrap_or_default()) " (number " (id) ")" }
                        @if entry.first("monitorConnectionMask").is_some_and(|mask| mask.contains('w')) {
                            br; span.bad { "does not read its answers" }
                        }
                    }
                    td data-label="Since" { (entry.first("monitorConnectionStartTime").and_then(|text| time(&text)).unwrap_or_default()) }
                    td.n data-label="Ended" { (number(entry, "monitorConnectionOpsCompleted")) }
                    td.n data-label="Running" { (number(entry, "monitorConnectionOpsExecuting")) }
                    td.n data-label="Waiting" { (number(entry, "monitorConnectionOpsPending")) }
                    td {
                        form.row method="post" action=(PATH) {
                            (token(session))
                            input type="hidden" name="entry" value=(entry.dn);
                            button type="submit" aria-label={ "Close connection " (id) } { "Close" }
                        }
                    }
                }
            } }
        }
    }
}

/// Closes a connection, or cancels an operation.
pub(crate) fn act(request: &PageRequest, session: &UserSession) -> Result<PageResponse, LdapError> {
    let dn = request.field("entry");
    // The form is for connections; entries of people are deleted elsewhere, with a question.
    if !dn
        .to_ascii_lowercase()
        .ends_with(",cn=connections,cn=monitor")
    {
        return show_with(session, "", Some("This is no connection."));
    }
    let is_operation = depth(dn).is_some_and(|depth| depth > 3);
    let (doing, done) = match is_operation {
        true => (
            "The operation is not cancelled",
            "The operation is cancelled, within half a second.",
        ),
        false => (
            "The connection is not closed",
            "The connection is closed, within half a second.",
        ),
    };
    let result = session.client().delete(dn)?;
    match refusal(&result, doing) {
        Some(text) => show_with(session, "", Some(&text)),
        None => {
            session.say(done);
            Ok(PageResponse::redirect(PATH))
        }
    }
}
