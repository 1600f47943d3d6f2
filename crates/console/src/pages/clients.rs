//! Operations that run, and the connections of clients.

use std::cmp::Reverse;

use fulgurite_client::Entry;
use maud::{Markup, html};

use super::layout::{alert, server_page, token};
use super::overview::closed;
use crate::ldap::{LdapError, refusal};
use crate::monitor::{branch, number, time};
use crate::request::{PageRequest, PageResponse};
use crate::sessions::UserSession;

/// The page.
const PATH: &str = "/clients";

/// The beginning of a refusal.
const CLOSING: &str = "The connection is not closed";

/// Shows operations and connections.
pub(crate) fn show(_: &PageRequest, session: &UserSession) -> Result<PageResponse, LdapError> {
    show_with(session, None)
}

fn show_with(session: &UserSession, problem: Option<&str>) -> Result<PageResponse, LdapError> {
    let (operations, mut clients) = {
        let mut client = session.client();
        let operations = branch(&mut client, "Operations", "(objectClass=monitorOperation)")?;
        let clients = branch(&mut client, "Connections", "(monitorConnectionNumber=*)")?;
        (operations, clients)
    };
    if operations.is_empty() {
        return Ok(closed(session, (PATH, "Clients"), None));
    }
    clients.sort_by_key(|entry| {
        let waits = number(entry, "monitorConnectionOpsExecuting")
            + number(entry, "monitorConnectionOpsPending");
        let completed = number(entry, "monitorConnectionOpsCompleted");
        (Reverse(waits), Reverse(completed))
    });
    let content = html! {
        (alert(problem))
        p { a.button href=(PATH) { "Look again" } }
        (running(&operations))
        (connections(&clients, session))
        p.note {
            "Closing a connection cancels its operations. The page deletes its entry of "
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

fn connections(clients: &[Entry], session: &UserSession) -> Markup {
    html! {
        table.stacked {
            caption { (clients.len()) (if clients.len() == 1 { " connection" } else { " connections" }) }
            thead { tr {
                th scope="col" { "Client" } th scope="col" { "Since" }
                th.n scope="col" { "Ended" } th.n scope="col" { "Running" } th.n scope="col" { "Waiting" }
                th scope="col" { "Action" }
            } }
            tbody { @for entry in clients {
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

/// Closes a connection.
pub(crate) fn act(request: &PageRequest, session: &UserSession) -> Result<PageResponse, LdapError> {
    let dn = request.field("entry");
    // The form is for connections; entries of people are deleted elsewhere, with a question.
    if !dn
        .to_ascii_lowercase()
        .ends_with(",cn=connections,cn=monitor")
    {
        return show_with(session, Some("This is no connection."));
    }
    let result = session.client().delete(dn)?;
    match refusal(&result, CLOSING) {
        Some(text) => show_with(session, Some(&text)),
        None => {
            session.say("The connection is closed, within half a second.");
            Ok(PageResponse::redirect(PATH))
        }
    }
}
