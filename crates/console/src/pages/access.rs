//! Rights to an entry, and the rule that decided about them.

use std::net::{IpAddr, SocketAddr};

use fulgurite_ldap::{AccessQuery, AccessStep, PartAccess, ResultCode, decode_access, oid};
use maud::{Markup, html};

use super::form::Field;
use super::layout::{alert, server_page};
use super::users::{USERS, find};
use crate::ldap::{LdapError, refusal};
use crate::request::{PageRequest, PageResponse};
use crate::sessions::UserSession;
use fulgurite_client::names::{filter_value, is_dn};

/// The page.
const PATH: &str = "/access";

/// The kinds of access that a question may be about.
const KINDS: [&str; 8] = [
    "write", "read", "search", "compare", "auth", "add", "delete", "manage",
];

/// Shows the form, and the answer to a question.
pub(crate) fn show(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let has_question = !request.query("entry").is_empty();
    let answer = match has_question {
        true => Some(answer(request, session)?),
        false => None,
    };
    let content = html! {
        p { "May a client do something with an entry? The server tells, and names the rule that decides. "
            "It tells those who have the right " code { "manage" } " to the entry." }
        @match &answer {
            Some(Err(text)) => (alert(Some(text))),
            Some(Ok(answer)) => (answer),
            None => {},
        }
        (form(request))
    };
    Ok(server_page(session, (PATH, "Access explained"), &content))
}

fn form(request: &PageRequest) -> Markup {
    let chosen = match request.query("access") {
        "" => "write",
        chosen => chosen,
    };
    html! {
        form.card method="get" action=(PATH) {
            (Field::text("who", "May", request.query("who")).html())
            p.hint { "Login name or DN; empty for a client without identity" }
            label for="access" { "Do" }
            select id="access" name="access" {
                @for kind in KINDS { option value=(kind) selected[kind == chosen] { (kind) } }
            }
            (Field::text("part", "The attribute", match request.query("part") { "" if request.query("entry").is_empty() => "title", part => part }).html())
            p.hint { "Or " code { "entry" } ", " code { "children" } "; several are separated by blanks" }
            (Field::text("entry", "Of the entry", request.query("entry")).required().html())
            p.hint { "Login name or DN" }
            (Field::text("address", "From the address", request.query("address")).html())
            p.hint { "For rules about addresses; none fits without" }
            (Field::text("ssf", "Protected by bits", request.query("ssf")).html())
            p.hint { "For rules about " code { "ssf" } ": 256 for TLS, 0 or nothing in clear" }
            button type="submit" { "Ask" }
        }
    }
}

/// Returns the answer, or the sentence that tells why there is none.
fn answer(
    request: &PageRequest,
    session: &UserSession,
) -> Result<Result<Markup, String>, LdapError> {
    let entry = match name(session, request.query("entry"))? {
        Ok(name) => name,
        Err(text) => return Ok(Err(text)),
    };
    let who = match name(session, request.query("who"))? {
        Ok(name) => name,
        Err(text) => return Ok(Err(text)),
    };
    let parts: Vec<&[u8]> = match request.query("part").trim() {
        "" => vec![b"entry"],
        text => text.split_whitespace().map(str::as_bytes).collect(),
    };
    let given = match stated(request) {
        Ok(given) => given,
        Err(text) => return Ok(Err(text)),
    };
    let query = AccessQuery {
        entry: entry.as_bytes(),
        subject: who.as_bytes(),
        parts,
        given: given.iter().map(String::as_bytes).collect(),
    };
    let reply = session
        .client()
        .extended(oid::EXPLAIN_ACCESS, Some(&query.encode()))?;
    let doing = match reply.result.code {
        ResultCode::InsufficientAccessRights => "The server does not explain it",
        _ => "There is no answer",
    };
    if let Some(text) = refusal(&reply.result, doing) {
        return Ok(Err(text));
    }
    let value = reply.value.unwrap_or_default();
    let Ok(parts) = decode_access(&value) else {
        return Ok(Err("The answer of the server is malformed.".to_owned()));
    };
    let who = match who.as_str() {
        "" => "A client without identity",
        name => name,
    };
    Ok(Ok(html! {
        @for part in &parts { (verdict(part, (who, request.query("access"), &entry))) }
    }))
}

/// Returns the facts about the connection that the question states.
fn stated(request: &PageRequest) -> Result<Vec<String>, String> {
    let mut given = Vec::new();
    let (address, strength) = (request.query("address").trim(), request.query("ssf").trim());
    if !address.is_empty() {
        let with_port = address.parse::<SocketAddr>();
        let alone = address.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 0));
        let Ok(address) = with_port.or(alone) else {
            return Err(format!("{address} is no IP address."));
        };
        given.push(format!("peername=IP={address}"));
    }
    if !strength.is_empty() {
        let Ok(bits) = strength.parse::<u32>() else {
            return Err(format!("{strength} is no number of bits."));
        };
        given.push(format!("ssf={bits}"));
    }
    Ok(given)
}

/// Returns the name that a text means: nothing, a DN, or the login name of one user.
fn name(session: &UserSession, text: &str) -> Result<Result<String, String>, LdapError> {
    let text = text.trim();
    if text.is_empty() || is_dn(text) {
        return Ok(Ok(text.to_owned()));
    }
    let filter = format!("(&{USERS}(uid={}))", filter_value(text));
    let users = find(&mut session.client(), (&filter, &[]), "", &["1.1"])?.entries;
    Ok(match users.as_slice() {
        [user] => Ok(user.dn.clone()),
        [] => Err(format!("There is no user {text}.")),
        _ => Err(format!("There are several users {text}, so give a DN.")),
    })
}

fn verdict(part: &PartAccess, (who, access, entry): (&str, &str, &str)) -> Markup {
    let access = if access.is_empty() { "write" } else { access };
    if part.is_withheld {
        return html! {
            section.card.wide {
                h2 { "No answer about " (part.part) " of " (entry) }
                p { "The rules look at an entry or attribute that you may not read, such as a group. "
                    "The answer would tell its content." }
            }
        };
    }
    let is_allowed = part.allowed.split(' ').any(|word| word == access);
    html! {
        section.card.wide {
            h2 {
                span.mark.is-bad[!is_allowed] { (if is_allowed { "Yes" } else { "No" }) } " "
                (who) (if is_allowed { " may " } else { " may not " }) (access) " " (part.part) " of " (entry)
            }
            dl.facts {
                dt { "Rights" } dd { code { (part.rights) } }
                dt { "Allowed" } dd { (if part.allowed.is_empty() { "nothing" } else { &part.allowed }) }
                dt { "Decided by" } dd { (decision(part)) }
            }
            @if !part.steps.is_empty() {
                details {
                    summary { "All clauses on the way" }
                    ol { @for step in &part.steps { li { (clause(step)) } } }
                }
            }
        }
    }
}

/// Returns the reason of a decision.
fn decision(part: &PartAccess) -> Markup {
    let mut steps = part.steps.iter().rev();
    match steps.find(|step| !step.outcome.is_empty()) {
        _ if part.is_root => html! { "the root of the database passes all rules" },
        Some(step) => clause(step),
        None => html! { "no rule: what no rule speaks of is denied" },
    }
}

fn clause(step: &AccessStep) -> Markup {
    html! {
        code { (step.target) " " (step.by) } " "
        span.hint {
            @match (step.rule, step.origin.as_str()) {
                (0, _) => "(what holds without rules)",
                (rule, "") => { "(rule " (rule) ")" }
                (rule, origin) => { "(rule " (rule) ", " (origin) ")" }
            }
            @if step.outcome.is_empty() { " does not fit" } @else { " gives " (step.outcome) }
        }
    }
}
