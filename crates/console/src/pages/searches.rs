//! Searches that lack an index or take long, and the indexes of databases.

use fulgurite_client::monitored::{count, fact, facts};
use fulgurite_client::{Change, Client, Entry, Scope};
use fulgurite_ldap::ResultCode;
use maud::{Markup, html};

use super::layout::{alert, server_page, token};
use super::overview::closed;
use crate::ldap::{LdapError, refusal, texts};
use crate::monitor::{branch, time};
use crate::request::{PageRequest, PageResponse};
use crate::sessions::UserSession;
use fulgurite_client::names::filter_value;

/// The page.
const PATH: &str = "/searches";

/// The attribute of indexes in cn=config.
const INDEX: &str = "olcDbIndex";

/// Shows searches and indexes.
pub(crate) fn show(_: &PageRequest, session: &UserSession) -> Result<PageResponse, LdapError> {
    show_with(session, None)
}

fn show_with(session: &UserSession, problem: Option<&Markup>) -> Result<PageResponse, LdapError> {
    let (searches, databases) = {
        let mut client = session.client();
        let searches = branch(&mut client, "Searches", "(monitoredInfo=filter: *)")?;
        let databases = branch(&mut client, "Databases", "(objectClass=olmMDBDatabase)")?;
        (searches, databases)
    };
    if databases.is_empty() {
        return Ok(closed(session, (PATH, "Slow searches"), None));
    }
    let content = html! {
        @if let Some(problem) = problem { (problem) }
        p { "A search is listed if it looked at a thousand entries or more, and returned less than a tenth of them. "
            "It is listed, too, if it took half a second of work. The most costly kinds come first. Values of filters are not kept." }
        p { a.button href=(PATH) { "Look again" } }
        @if searches.is_empty() { p { "There was none since the start of the server." } }
        @for search in &searches { (card(search, &databases, session)) }
        (indexes(&databases))
    };
    Ok(server_page(session, (PATH, "Slow searches"), &content))
}

/// Returns the database of a suffix.
fn database_of<'d>(databases: &'d [Entry], suffix: &str) -> Option<&'d Entry> {
    let mut databases = databases.iter();
    databases.find(|database| {
        let own = texts(database, "namingContexts");
        own.iter().any(|name| name.eq_ignore_ascii_case(suffix))
    })
}

/// Returns one search, with a button for each index that it lacks.
fn card(search: &Entry, databases: &[Entry], session: &UserSession) -> Markup {
    let text = |name: &str| fact(search, name).unwrap_or_default();
    let number = |name: &str| count(search, name).unwrap_or(0);
    let suffix = text("database");
    let database = database_of(databases, &suffix);
    let last = time(&text("last")).unwrap_or_default();
    html! {
        section.card.wide {
            h2 { code { (text("filter")) } }
            dl.facts {
                dt { "Searches" } dd { (number("count")) ", the last at " (last) }
                dt { "Looked at" } dd { (number("looked at")) " entries to return " (number("returned")) }
                @if number("time") > 0 { dt { "Time" } dd { (number("time")) " ms of work, " (number("longest")) " ms for the longest" } }
                dt { "Below" } dd { (suffix) " (scope " (text("scope")) ")" }
                dt { "Plan" } dd { code { (text("plan")) } }
            }
            @for index in facts(search, "missing index") { (lacking(&index, &suffix, database, session)) }
        }
    }
}

/// Returns the state of an index that a search lacked.
fn lacking(index: &str, suffix: &str, database: Option<&Entry>, session: &UserSession) -> Markup {
    let (attribute, kind) = index.split_once(':').unwrap_or((index, "eq"));
    let of = |name| database.map(|entry| facts(entry, name)).unwrap_or_default();
    let is_complete = of("index")
        .iter()
        .any(|known| has_kind(known, attribute, kind));
    let work = of("index work");
    let work = work.iter().find_map(|work| progress(work, attribute, kind));
    html! {
        @if is_complete {
            p.message { "The index " code { (index) } " is complete." }
        } @else if let Some(percent) = work {
            (progress_bar(index, &percent))
        } @else {
            form.row.inline method="post" action=(PATH) {
                (token(session))
                input type="hidden" name="database" value=(suffix);
                input type="hidden" name="index" value=(index);
                span { "An index would help. " }
                button type="submit" { "Add the index " (index) }
            }
        }
    }
}

fn progress_bar(index: &str, percent: &str) -> Markup {
    let number = percent.trim_end_matches(" %");
    html! {
        p { "The server builds the index " code { (index) } ": " (percent) " "
            progress max="100" value=(number) aria-label={ "Index " (index) } { (percent) } }
    }
}

/// Returns true if an index, such as `cn:eq,sub`, has a kind.
fn has_kind(index: &str, attribute: &str, kind: &str) -> bool {
    let Some((own, kinds)) = index.split_once(':') else {
        return false;
    };
    own.eq_ignore_ascii_case(attribute) && kinds.split(',').any(|own| own.trim() == kind)
}

/// Returns the progress of `cn:eq, 40 %` if it is about an index.
fn progress(work: &str, attribute: &str, kind: &str) -> Option<String> {
    let (index, progress) = work.split_once(", ")?;
    has_kind(index, attribute, kind).then(|| progress.to_owned())
}

/// Returns the indexes of each database.
fn indexes(databases: &[Entry]) -> Markup {
    html! {
        @for database in databases {
            @let suffix = database.first("namingContexts").unwrap_or_default();
            table {
                caption { "Indexes of " (suffix) }
                thead { tr { th scope="col" { "Attribute" } th scope="col" { "Kinds" } th scope="col" { "State" } } }
                tbody {
                    @for index in facts(database, "index") {
                        @let (attribute, kinds) = index.split_once(':').unwrap_or((&index, ""));
                        tr { td { (attribute) } td { (kinds.replace(',', ", ")) } td { "complete" } }
                    }
                    @for work in facts(database, "index work") {
                        @let (index, state) = work.split_once(", ").unwrap_or((&work, ""));
                        @let (attribute, kind) = index.split_once(':').unwrap_or((index, ""));
                        tr { td { (attribute) } td { (kind) } td { (state) } }
                    }
                }
            }
        }
    }
}

/// Adds an index to the settings of a database; the server builds it meanwhile.
pub(crate) fn act(request: &PageRequest, session: &UserSession) -> Result<PageResponse, LdapError> {
    let (suffix, index) = (request.field("database"), request.field("index"));
    let Some((attribute, kind)) = index.split_once(':') else {
        return show_with(session, Some(&alert(Some("The form lacks a value."))));
    };
    let outcome = add_index(&mut session.client(), suffix, (attribute, kind))?;
    match outcome {
        Ok(()) => {
            session.say(format!("The server builds the index {index}."));
            Ok(PageResponse::redirect(PATH))
        }
        Err(text) => {
            let problem = html! {
                (alert(Some(&text)))
                (advice(attribute, kind, suffix))
            };
            show_with(session, Some(&problem))
        }
    }
}

/// Returns the ways to add an index without cn=config.
fn advice(attribute: &str, kind: &str, suffix: &str) -> Markup {
    html! {
        div.card.wide {
            p { "With settings in a file of TOML, add this line to the " code { "index" } " table of the database " (suffix) ", and reload the server:" }
            pre tabindex="0" { code { "[index]\n" (attribute) " = \"" (kind) "\"" } }
            p { "Or let the server build it now, without a change of the settings:" }
            pre tabindex="0" { code { "fulgurite index --config FILE --add " (attribute) ":" (kind) } }
        }
    }
}

/// Adds a value of `olcDbIndex`. The value of the attribute gets another kind if there is one.
fn add_index(
    client: &mut Client,
    suffix: &str,
    (attribute, kind): (&str, &str),
) -> Result<Result<(), String>, LdapError> {
    let filter = format!("(olcSuffix={})", filter_value(suffix));
    let found = client.search("cn=config", Scope::Subtree, &filter, &[INDEX])?;
    let Some(database) = found.entries.first() else {
        let text = match found.result.code {
            ResultCode::Success | ResultCode::NoSuchObject => {
                "You may not see the settings of this database (cn=config).".to_owned()
            }
            _ => refusal(&found.result, "The settings cannot be read").unwrap_or_default(),
        };
        return Ok(Err(text));
    };
    let values = texts(database, INDEX);
    let known = values.iter().find(|value| {
        let names = value.split_whitespace().next().unwrap_or_default();
        names.eq_ignore_ascii_case(attribute)
    });
    let new = match known {
        None => format!("{attribute} {kind}"),
        Some(value) if value.contains(char::is_whitespace) => format!("{value},{kind}"),
        Some(value) => format!("{value} {kind}"),
    };
    let (old, new) = (
        known.map(String::as_bytes).unwrap_or_default(),
        [new.as_bytes()],
    );
    let old = [old];
    let mut changes = vec![Change::add(INDEX, &new)];
    if known.is_some() {
        changes.insert(0, Change::delete(INDEX, &old));
    }
    let result = client.modify(&database.dn, &changes)?;
    Ok(refusal(&result, "The index is not added").map_or(Ok(()), Err))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_progress_are_those_of_the_attribute() {
        assert!(has_kind("cn:eq,sub", "CN", "sub") && !has_kind("cn:eq,sub", "cn", "pres"));
        assert!(!has_kind("cnx:eq", "cn", "eq") && !has_kind("", "cn", "eq"));
        assert_eq!(progress("l:eq, 40 %", "l", "eq"), Some("40 %".to_owned()));
        assert_eq!(progress("l:eq, 40 %", "l", "sub"), None);
    }
}
