//! The page of the user: profile and password.

use fulgurite_client::Entry;
use fulgurite_ldap::{PasswordModifyRequest, oid};
use maud::{Markup, html};

use super::form::{Field, PostForm};
use super::layout::{alert, page, token};
use crate::ldap::{self, LdapError, NamedValues, refusal, texts};
use crate::request::{PageRequest, PageResponse};
use crate::sessions::UserSession;
use fulgurite_client::names::rdn_attributes;

/// The fields of a profile: attribute and label. One line is one value.
pub(crate) const PROFILE: [(&str, &str); 9] = [
    ("givenName", "First name"),
    ("sn", "Last name"),
    ("cn", "Full name"),
    ("displayName", "Shown name"),
    ("mail", "Mail addresses"),
    ("telephoneNumber", "Telephone numbers"),
    ("mobile", "Mobile numbers"),
    ("title", "Title"),
    ("description", "Description"),
];

/// Returns the fields of a profile.
pub(crate) fn profile_fields(entry: &Entry) -> Markup {
    let fixed = rdn_attributes(&entry.dn);
    html! {
        @for (name, label) in PROFILE {
            @let values = texts(entry, name);
            @let is_fixed = fixed.iter().any(|own| own.eq_ignore_ascii_case(name));
            label for=(name) { (label) @if is_fixed { " (part of the name)" } }
            textarea id=(name) name=(name) rows=(values.len().clamp(1, 5)) readonly[is_fixed]
                spellcheck="false" { "\n" (values.join("\n")) }
        }
    }
}

/// Returns the changes of a form against an entry.
pub(crate) fn profile_changes(entry: &Entry, request: &PageRequest) -> NamedValues {
    let mut changes = NamedValues::new();
    for (name, _) in PROFILE {
        if !request.form.iter().any(|(field, _)| field == name) {
            continue;
        }
        let wanted = lines(request.field(name));
        if wanted != entry.values(name) {
            changes.push((name.to_owned(), wanted));
        }
    }
    changes
}

/// Returns the lines of a text as values.
pub(crate) fn lines(text: &str) -> Vec<Vec<u8>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| line.as_bytes().to_vec()).collect()
}

/// Shows the page.
pub(crate) fn show(_: &PageRequest, session: &UserSession) -> Result<PageResponse, LdapError> {
    show_with(session, None)
}

fn show_with(session: &UserSession, problem: Option<&str>) -> Result<PageResponse, LdapError> {
    let entry = ldap::read(&mut session.client(), &session.dn, &["*"])?;
    let content = html! {
        (alert(problem))
        p { "Signed in as " code { (session.dn) } }
        @match &entry {
            None => p { "The server has no entry of this name, or hides it from you. So there is no profile." },
            Some(entry) => {
                p { a.button href="/me/password" { "Change my password" } }
                form.card method="post" action="/me" {
                    h2 { "Profile" }
                    (token(session))
                    (profile_fields(entry))
                    p.note { "Each line is one value. The server decides what you may change." }
                    button type="submit" { "Save" }
                }
            },
        }
    };
    Ok(page(session, ("/me", "My page"), &content))
}

/// Saves the profile.
pub(crate) fn save(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let refused = {
        let mut client = session.client();
        let entry = ldap::get(&mut client, &session.dn, &["*"])?;
        let changes = profile_changes(&entry, request);
        if changes.is_empty() {
            None
        } else {
            refusal(
                &ldap::replace(&mut client, &session.dn, &changes)?,
                "The profile is not saved",
            )
        }
    };
    match refused {
        Some(text) => show_with(session, Some(&text)),
        None => {
            session.say("Your profile is saved.");
            Ok(PageResponse::redirect("/me"))
        }
    }
}

/// Shows the form of the password.
pub(crate) fn show_password(
    _: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    Ok(password_form(session, None))
}

fn password_form(session: &UserSession, problem: Option<&str>) -> PageResponse {
    let form = PostForm {
        action: "/me/password",
        title: "",
        fields: &[
            Field::password("old", "Password until now", "current-password"),
            Field::password("new", "New password", "new-password"),
            Field::password("again", "New password again", "new-password"),
        ],
        act: "",
        button: "Change",
    };
    let content = html! { (alert(problem)) (form.html(session)) };
    page(session, ("/me", "Change my password"), &content)
}

/// Changes the password (RFC 3062).
pub(crate) fn save_password(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let (old, new) = (request.field("old"), request.field("new"));
    if new.is_empty() || new != request.field("again") {
        return Ok(password_form(
            session,
            Some("The new passwords are empty or differ."),
        ));
    }
    let value = PasswordModifyRequest {
        user_identity: None,
        old_password: Some(old.as_bytes()),
        new_password: Some(new.as_bytes()),
    };
    let reply = session
        .client()
        .extended(oid::PASSWORD_MODIFY, Some(&value.encode()))?;
    match refusal(&reply.result, "The password is not changed") {
        Some(text) => Ok(password_form(session, Some(&text))),
        None => {
            session.say("Your password is changed. Your other sessions here are over.");
            Ok(PageResponse {
                ends_sessions_of: Some(session.dn.clone()),
                ..PageResponse::redirect("/me")
            })
        }
    }
}
