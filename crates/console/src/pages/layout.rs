//! The frame of all pages, and their common parts.

use maud::{DOCTYPE, Markup, html};

use crate::request::PageResponse;
use crate::sessions::UserSession;

/// The pages of the menu.
const MENU: [(&str, &str); 6] = [
    ("/me", "My page"),
    ("/users", "Users"),
    ("/groups", "Groups"),
    ("/tree", "Tree"),
    ("/schema", "Schema"),
    ("/overview", "Server"),
];

/// Returns a whole page. Text is escaped by the templates.
pub(crate) fn frame(title: &str, menu: &Markup, content: &Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · Fulgurite" }
                link rel="stylesheet" href="/style.css";
                link rel="icon" href="data:,";
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header { (menu) }
                main #content tabindex="-1" { h1 { (title) } (content) }
            }
        }
    }
    .into_string()
}

/// Returns a page of a user. `path` marks the page in the menu.
pub(crate) fn page(
    session: &UserSession,
    (path, title): (&str, &str),
    content: &Markup,
) -> PageResponse {
    PageResponse::page(200, user_frame(session, (path, title), content))
}

fn user_frame(session: &UserSession, (path, title): (&str, &str), content: &Markup) -> String {
    let menu = html! {
        nav aria-label="Pages" {
            span.brand { "Fulgurite" }
            @for (target, name) in MENU {
                a href=(target) aria-current=[(target == path).then_some("page")] { (name) }
            }
        }
        form.leave method="post" action="/logout" {
            (token(session))
            span.who { (session.dn) }
            button type="submit" { "Sign out" }
        }
    };
    let content = html! {
        @if let Some(message) = session.said() { p.message role="status" { (message) } }
        (content)
    };
    frame(title, &menu, &content)
}

/// The pages about the server: path and name.
const SERVER: [(&str, &str); 6] = [
    ("/overview", "Overview"),
    ("/clients", "Clients"),
    ("/searches", "Slow searches"),
    ("/access", "Access"),
    ("/copies", "Backups and copies"),
    ("/settings", "Settings"),
];

/// Returns a page about the server. `path` marks it among those.
pub(crate) fn server_page(
    session: &UserSession,
    (path, title): (&str, &str),
    content: &Markup,
) -> PageResponse {
    let content = html! {
        nav.tabs aria-label="Pages about the server" {
            @for (target, name) in SERVER {
                a href=(target) aria-current=[(target == path).then_some("page")] { (name) }
            }
        }
        (content)
    };
    page(session, ("/overview", title), &content)
}

/// Returns the hidden field that proves that a form comes from this session.
pub(crate) fn token(session: &UserSession) -> Markup {
    html! { input type="hidden" name="token" value=(session.token); }
}

/// Returns a page that tells why there is no other.
pub(crate) fn problem(session: &UserSession, status: u16, text: &str) -> PageResponse {
    let content = html! {
        p.problem role="alert" { (text) }
        p { a href="/me" { "My page" } }
    };
    PageResponse::page(
        status,
        user_frame(session, ("", "That did not work"), &content),
    )
}

/// Returns the sentence above a form that was refused.
pub(crate) fn alert(text: Option<&str>) -> Markup {
    html! { @if let Some(text) = text { p.problem role="alert" { (text) } } }
}

/// Returns the field of a search, which works by GET.
pub(crate) fn search_form(path: &str, label: &str, value: &str) -> Markup {
    html! {
        form.search method="get" action=(path) role="search" {
            label for="q" { (label) }
            input id="q" name="q" type="search" value=(value) autocomplete="off" spellcheck="false";
            button type="submit" { "Search" }
        }
    }
}
