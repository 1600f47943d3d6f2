//! From a request to a page: host, origin, session, token, and the table of pages.

use std::sync::Arc;
use std::time::Instant;

use crate::ConsoleOptions;
use crate::guard::{is_from_here, is_own_host};
use crate::ldap::LdapError;
use crate::pages::{entry, groups, layout, login, members, overview, own, tree, users};
use crate::request::{PageRequest, PageResponse};
use crate::secrets::are_equal;
use crate::sessions::{Sessions, UserSession};
use crate::throttle::Throttle;

/// The sheet of styles, and its path.
const STYLE: &str = include_str!("style.css");
const STYLE_PATH: &str = "/style.css";

/// The console behind HTTP.
pub(crate) struct App {
    pub(crate) options: ConsoleOptions,
    pub(crate) sessions: Sessions,
    pub(crate) throttle: Throttle,
}

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
    ("/overview", overview::show, None),
];

impl App {
    pub(crate) fn new(options: ConsoleOptions) -> App {
        App {
            options,
            sessions: Sessions::default(),
            throttle: Throttle::default(),
        }
    }

    /// Returns true if browsers speak TLS with it.
    pub(crate) fn is_secure(&self) -> bool {
        self.options.tls.is_some()
    }

    /// Returns the name of a cookie. Browsers keep the prefix to secure cookies of this host.
    pub(crate) fn cookie_name(&self, name: &str) -> String {
        match self.is_secure() {
            true => format!("__Host-{name}"),
            false => name.to_owned(),
        }
    }

    /// Returns the value of `Set-Cookie`; an empty value removes the cookie.
    pub(crate) fn cookie(&self, name: &str, value: &str) -> String {
        let secure = if self.is_secure() { "; Secure" } else { "" };
        let age = if value.is_empty() { "; Max-Age=0" } else { "" };
        let name = self.cookie_name(name);
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{age}")
    }

    /// Answers a request.
    pub(crate) fn answer(&self, request: &PageRequest, now: Instant) -> PageResponse {
        if !is_own_host(&request.host, &self.options.hosts) {
            return PageResponse::text(421, "this console has another name: see console.hosts");
        }
        let scheme = if self.is_secure() { "https" } else { "http" };
        if request.is_post && !is_from_here(request, scheme) {
            return PageResponse::text(403, "the form comes from another site");
        }
        match request.path.as_str() {
            STYLE_PATH if !request.is_post => PageResponse {
                content_type: "text/css; charset=utf-8",
                ..PageResponse::page(200, STYLE.to_owned())
            },
            "/login" => login::answer(self, request, now),
            _ => self.answer_user(request, now),
        }
    }

    fn answer_user(&self, request: &PageRequest, now: Instant) -> PageResponse {
        let id = request
            .cookie(&self.cookie_name(login::SESSION))
            .unwrap_or_default();
        let Some(session) = self.sessions.get(id, now) else {
            return login::expired(self, request);
        };
        if request.is_post && !are_equal(request.field("token"), &session.token) {
            return layout::problem(
                &session,
                403,
                "The form is too old. Go back, and load its page again.",
            );
        }
        if request.path == "/logout" && request.is_post {
            self.sessions.end(id);
            return login::left(self);
        }
        match self.page(request, &session) {
            Ok(response) => response,
            Err(LdapError::Gone) => {
                self.sessions.end(id);
                login::expired(self, request)
            }
            Err(LdapError::Refused(text)) => layout::problem(&session, 400, &text),
        }
    }

    fn page(
        &self,
        request: &PageRequest,
        session: &Arc<UserSession>,
    ) -> Result<PageResponse, LdapError> {
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
}
