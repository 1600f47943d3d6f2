//! From a request to a page: host, origin, session, token, and the table of pages.

use std::sync::Arc;
use std::time::Instant;

use crate::app::App;
use crate::guard::{is_from_here, is_own_host};
use crate::ldap::LdapError;
use crate::pages::{
    access, clients, copies, entry, groups, layout, login, members, overview, own, schema,
    searches, settings, tree, users,
};
use crate::request::{PageRequest, PageResponse};
use crate::secrets::are_equal;
use crate::sessions::UserSession;

/// The sheet of styles, and its path.
const STYLE: &str = include_str!("style.css");
const STYLE_PATH: &str = "/style.css";

/// A page for a user. An error of LDAP becomes a page with its sentence.
type Page = fn(&PageRequest, &UserSession) -> Result<PageResponse, LdapError>;

/// The pages of users: path, page for GET, action for POST.
const PAGES: &[(&str, Page, Option<Page>)] = &[
    ("/me", own::show, Some(own::save)),
    ("/me/password", own::show_password, Some(own::save_password)),
    ("/users", users::list, None),
    ("/users/new", users::show_new, Some(users::create)),
    ("/user", users::show, Some(users::act)),
    ("/groups", groups::list, None),
    ("/groups/new", groups::show_new, Some(groups::create)),
    ("/group", members::show, Some(members::act)),
    ("/tree", tree::show, None),
    ("/entry", entry::show, Some(entry::save)),
    ("/entry/new", entry::show_new, Some(entry::create)),
    ("/entry/rename", tree::show_rename, Some(tree::rename)),
    ("/entry/delete", tree::show_delete, Some(tree::delete)),
    ("/schema", schema::show, None),
    ("/overview", overview::show, None),
    ("/clients", clients::show, Some(clients::act)),
    ("/searches", searches::show, Some(searches::act)),
    ("/access", access::show, None),
    ("/copies", copies::show, None),
    ("/settings", settings::show, None),
];

/// Answers a request.
pub(crate) fn answer(app: &App, request: &PageRequest, now: Instant) -> PageResponse {
    if !is_own_host(&request.host, &app.options.hosts) {
        return PageResponse::text(421, "this console has another name: see console.hosts");
    }
    let scheme = if app.is_secure() { "https" } else { "http" };
    if request.is_post && !is_from_here(request, scheme) {
        return PageResponse::text(403, "the form comes from another site");
    }
    match request.path.as_str() {
        STYLE_PATH if !request.is_post => PageResponse {
            content_type: "text/css; charset=utf-8",
            ..PageResponse::page(200, STYLE.to_owned())
        },
        "/login" => login::answer(app, request, now),
        _ => answer_user(app, request, now),
    }
}

fn answer_user(app: &App, request: &PageRequest, now: Instant) -> PageResponse {
    let id = request
        .cookie(&app.cookie_name(login::SESSION))
        .unwrap_or_default();
    let Some(session) = app.sessions.get(id, now) else {
        return login::expired(app, request);
    };
    if request.is_post && !are_equal(request.field("token"), &session.token) {
        return layout::problem(
            &session,
            403,
            "The form is too old. Go back, and load its page again.",
        );
    }
    if request.path == "/logout" && request.is_post {
        app.sessions.end(id);
        return login::left(app);
    }
    match page(request, &session) {
        Ok(response) => {
            if let Some(dn) = &response.ends_sessions_of {
                app.sessions.end_others(dn, id);
            }
            response
        }
        Err(LdapError::Gone) => {
            app.sessions.end(id);
            login::expired(app, request)
        }
        Err(LdapError::Refused(text)) => layout::problem(&session, 400, &text),
    }
}

fn page(request: &PageRequest, session: &Arc<UserSession>) -> Result<PageResponse, LdapError> {
    if request.path == "/" {
        return Ok(PageResponse::redirect("/me"));
    }
    let mut pages = PAGES.iter();
    let Some((_, show, act)) = pages.find(|(path, ..)| *path == request.path) else {
        return Ok(layout::problem(session, 404, "There is no such page."));
    };
    match (request.is_post, act) {
        (false, _) => show(request, session),
        (true, Some(act)) => act(request, session),
        (true, None) => Ok(layout::problem(session, 405, "This page takes no form.")),
    }
}
