//! Signing in by a bind, and leaving.

use std::time::{Duration, Instant};

use fulgurite_client::Client;
use fulgurite_client::names::is_dn;
use maud::html;

use super::form::Field;
use super::layout::{alert, frame};
use crate::accounts::{LoginAccounts, accounts};
use crate::app::App;
use crate::ldap::LdapError;
use crate::request::{PageRequest, PageResponse};
use crate::secrets::{are_equal, random_id};

/// The cookies of a session, and of the form before there is one.
pub(crate) const SESSION: &str = "fulgurite-console";
const FORM: &str = "fulgurite-login";

/// The time of each refusal: it does not tell how much work there was.
const REFUSAL_TIME: Duration = Duration::from_secs(1);

const WRONG: &str = "Name or password is wrong, or the account is locked. If your short name is \
                     unknown here, sign in with your whole DN.";

/// The end of an attempt.
enum Attempt {
    /// The account that took the password, its name as the server has it, and the connection.
    Bound(String, String, Client),
    Wrong,
    TooMany,
    Several,
    Failed(String),
}

/// Answers `/login`.
pub(crate) fn answer(app: &App, request: &PageRequest, now: Instant) -> PageResponse {
    if !request.is_post {
        return form(app, 200, "", None);
    }
    let known = request.cookie(&app.cookie_name(FORM)).unwrap_or_default();
    if !are_equal(known, request.field("form")) {
        let text = "The form was too old, or cookies are off. Please try again.";
        return form(app, 403, request.field("name"), Some(text));
    }
    // Matching rules ignore control characters (RFC 4518), so each spelling counts as one.
    let name = request.field("name").replace(char::is_control, "");
    let name = name.trim();
    let refused = |status, text: &str| PageResponse {
        not_before: Some(now + REFUSAL_TIME),
        ..form(app, status, name, Some(text))
    };
    // An empty password would be an anonymous bind, which always succeeds.
    if name.is_empty() || request.field("password").is_empty() {
        return refused(403, WRONG);
    }
    let too_many = || {
        tracing::warn!(
            "console: too many attempts to sign in from {}",
            request.peer
        );
        refused(
            429,
            "There were too many attempts. Please wait five minutes.",
        )
    };
    if !app.throttle.admits_address(request.peer, now) {
        return too_many();
    }
    match attempt(app, name, request.field("password").as_bytes(), now) {
        Attempt::Bound(account, dn, client) => {
            app.throttle.succeeded(request.peer, &account);
            begin(app, dn, client, now)
        }
        Attempt::TooMany => too_many(),
        Attempt::Wrong => {
            tracing::info!("console: a login from {} failed", request.peer);
            refused(403, WRONG)
        }
        Attempt::Several => refused(
            403,
            "Several accounts have this short name. Sign in with your whole DN.",
        ),
        Attempt::Failed(text) => refused(503, &text),
    }
}

fn begin(app: &App, dn: String, client: Client, now: Instant) -> PageResponse {
    tracing::info!("console: {dn} signs in");
    match app.sessions.begin(dn, client, now) {
        Ok(Some(id)) => {
            let mut response = PageResponse::redirect("/me");
            response.cookies = vec![app.cookie(SESSION, &id), app.cookie(FORM, "")];
            response
        }
        Ok(None) => form(
            app,
            503,
            "",
            Some("Too many people are signed in. Please try later."),
        ),
        Err(error) => form(
            app,
            500,
            "",
            Some(&format!("No session can be made: {error}")),
        ),
    }
}

/// Tries a password at the accounts of a name, until one takes it.
fn attempt(app: &App, name: &str, password: &[u8], now: Instant) -> Attempt {
    let tried = (|| -> Result<Attempt, LdapError> {
        let mut client = (app.options.dial)()?;
        let LoginAccounts::Names(names) = accounts(&mut client, &app.known, name) else {
            return Ok(Attempt::Several);
        };
        for dn in names {
            if !app.throttle.admits_account(&dn, now) {
                return Ok(Attempt::TooMany);
            }
            // A failed bind leaves the connection without identity, so it serves again.
            let result = client.bind(&dn, password)?;
            if !result.is_success() {
                continue;
            }
            if !is_dn(name) {
                app.known.remember(name, &dn);
            }
            // The server may know the account by another name.
            let own = client.who_am_i().ok();
            let own = own.and_then(|own| own.strip_prefix("dn:").map(str::to_owned));
            let own = own.filter(|own| !own.is_empty());
            let shown = own.unwrap_or_else(|| dn.clone());
            return Ok(Attempt::Bound(dn, shown, client));
        }
        Ok(Attempt::Wrong)
    })();
    tried.unwrap_or_else(|error| {
        tracing::error!("console: cannot ask the server: {error}");
        Attempt::Failed("The directory does not answer. Please try later.".to_owned())
    })
}

/// Returns the form to sign in.
fn form(app: &App, status: u16, name: &str, problem: Option<&str>) -> PageResponse {
    let Ok(secret) = random_id() else {
        return PageResponse::text(500, "the system has no random numbers");
    };
    let content = html! {
        (alert(problem))
        form.card method="post" action="/login" {
            input type="hidden" name="form" value=(secret);
            (Field { complete: "username", ..Field::text("name", "Login name, mail address or DN", name) }.required().html())
            (Field::password("password", "Password", "current-password").html())
            button type="submit" { "Sign in" }
        }
        @if !app.is_secure() {
            p.note { "This page is not encrypted. Use it on this machine, or through a tunnel." }
        }
    };
    let menu = html! { nav aria-label="Pages" { span.brand { "Fulgurite" } } };
    let mut response = PageResponse::page(status, frame("Sign in", &menu, &content));
    response.cookies.push(app.cookie(FORM, &secret));
    response
}

/// Sends a browser without a session to the form.
pub(crate) fn expired(app: &App, request: &PageRequest) -> PageResponse {
    if request.cookie(&app.cookie_name(SESSION)).is_none() {
        return PageResponse::redirect("/login");
    }
    let mut response = form(
        app,
        401,
        "",
        Some("Your session is over. Please sign in again."),
    );
    response.cookies.push(app.cookie(SESSION, ""));
    response
}

/// Ends a visit.
pub(crate) fn left(app: &App) -> PageResponse {
    let mut response = PageResponse::redirect("/login");
    response.cookies.push(app.cookie(SESSION, ""));
    response
}
