//! The tree: an entry's children, renaming, deleting.

use fulgurite_client::Scope;
use maud::{Markup, html};

use super::form::Field;
use super::layout::{alert, page, token};
use crate::ldap::{self, LIST_MAX, LdapError, refusal, suffixes};
use crate::request::{PageRequest, PageResponse, link};
use crate::sessions::UserSession;
use fulgurite_client::names::split;

/// Returns links to the entries above, and the entry.
pub(crate) fn path(dn: &str, suffixes: &[String]) -> Markup {
    let mut names = Vec::new();
    let mut at = dn.to_owned();
    while let Some((rdn, above)) = split(&at) {
        let is_top = suffixes
            .iter()
            .any(|suffix| suffix.eq_ignore_ascii_case(&at))
            || above.is_empty();
        names.push((if is_top { at.clone() } else { rdn }, at));
        if is_top {
            break;
        }
        at = above;
    }
    names.reverse();
    html! {
        nav.path aria-label="Entries above" {
            a href="/tree" { "Top" }
            @for (rdn, dn) in &names { " › " a href=(link("/tree", &[("dn", dn)])) { (rdn) } }
        }
    }
}

/// Shows the children of an entry, or the suffixes.
pub(crate) fn show(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let dn = request.query("dn");
    let mut client = session.client();
    let suffixes = suffixes(&mut client)?;
    let (names, is_cut) = if dn.is_empty() {
        (
            suffixes
                .iter()
                .map(|name| (name.clone(), true))
                .collect::<Vec<_>>(),
            false,
        )
    } else {
        let found = ldap::list(
            &mut client,
            (dn, Scope::One),
            "(objectClass=*)",
            &["hasSubordinates"],
        )?;
        let entries = found.entries.into_iter();
        let names = entries.map(|entry| {
            let has_children = entry
                .first("hasSubordinates")
                .is_some_and(|text| text == "TRUE");
            (entry.dn, has_children)
        });
        (names.collect(), found.is_cut)
    };
    drop(client);
    let content = html! {
        (path(dn, &suffixes))
        @if !dn.is_empty() {
            p.actions {
                a.button href=(link("/entry", &[("dn", dn)])) { "This entry" }
                a.button href=(link("/entry/new", &[("parent", dn)])) { "New entry below" }
            }
        }
        @if names.is_empty() { p { "There are no entries below, or you may not see them." } }
        ul.tree {
            @for (name, has_children) in &names {
                @let rdn = split(name).map_or_else(|| name.clone(), |(rdn, _)| rdn);
                li {
                    @if *has_children {
                        a href=(link("/tree", &[("dn", name)])) { "▸ " (if dn.is_empty() { name } else { &rdn }) }
                        " " a.small href=(link("/entry", &[("dn", name)])) aria-label={ "Entry " (name) } { "entry" }
                    } @else {
                        a href=(link("/entry", &[("dn", name)])) { (rdn) }
                    }
                }
            }
        }
        @if is_cut { p.note { "Only the first " (LIST_MAX) " are shown." } }
    };
    Ok(page(session, ("/tree", "Tree"), &content))
}

/// Shows the form of a new name.
pub(crate) fn show_rename(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    Ok(rename_form(request.query("dn"), session, None))
}

fn rename_form(dn: &str, session: &UserSession, problem: Option<&str>) -> PageResponse {
    let (rdn, parent) = split(dn).unwrap_or_default();
    let content = html! {
        (alert(problem))
        p { code { (dn) } }
        form.card method="post" action=(link("/entry/rename", &[("dn", dn)])) {
            (token(session))
            (Field::text("rdn", "First part of the name", &rdn).required().html())
            (Field::text("parent", "Below the entry", &parent).required().html())
            label.check { input type="checkbox" name="keep" value="yes"; " Keep the old value as an attribute" }
            button type="submit" { "Rename" }
        }
    };
    page(session, ("/tree", "Rename"), &content)
}

/// Renames or moves an entry.
pub(crate) fn rename(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let dn = request.query("dn");
    let (rdn, parent) = (request.field("rdn").trim(), request.field("parent").trim());
    let (_, old) = split(dn).unwrap_or_default();
    let superior = (!parent.eq_ignore_ascii_case(&old)).then_some(parent);
    let result = session
        .client()
        .modify_dn(dn, rdn, request.field("keep").is_empty(), superior)?;
    if let Some(text) = refusal(&result, "The entry is not renamed") {
        return Ok(rename_form(dn, session, Some(&text)));
    }
    session.say("The entry is renamed.");
    Ok(PageResponse::redirect(link(
        "/entry",
        &[("dn", &format!("{rdn},{parent}"))],
    )))
}

/// Asks before an entry is deleted.
pub(crate) fn show_delete(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let dn = request.query("dn");
    let content = html! {
        p { "Delete " code { (dn) } "? This cannot be undone." }
        form.card method="post" action=(link("/entry/delete", &[("dn", dn)])) {
            (token(session))
            button.danger type="submit" { "Delete" }
            a.button href=(link("/entry", &[("dn", dn)])) { "Keep it" }
        }
    };
    Ok(page(session, ("/tree", "Delete"), &content))
}

/// Deletes an entry.
pub(crate) fn delete(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let dn = request.query("dn");
    let result = session.client().delete(dn)?;
    ldap::expect(&result, "The entry is not deleted")?;
    session.say(format!("{dn} is deleted."));
    let (_, parent) = split(dn).unwrap_or_default();
    Ok(PageResponse {
        ends_sessions_of: Some(dn.to_owned()),
        ..PageResponse::redirect(link("/tree", &[("dn", &parent)]))
    })
}
