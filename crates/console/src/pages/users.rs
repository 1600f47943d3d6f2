//! Users: list, new one, profile, password, lock, delete.

use fulgurite_client::{Change, Client, Entry, Scope};
use maud::html;

use super::form::{Field, PostForm};
use super::layout::{alert, page, search_form, token};
use super::own::{profile_changes, profile_fields};
use crate::ldap::{self, LdapError, Listing, refusal, suffixes, texts};
use crate::request::{PageRequest, PageResponse, link};
use crate::sessions::UserSession;
use fulgurite_client::names::{child, filter_value};

/// The filter that users match.
pub(crate) const USERS: &str = "(|(objectClass=inetOrgPerson)(objectClass=posixAccount)(objectClass=account)(objectClass=person))";

/// The attribute of a lock, and its value for a lock that only a person ends
/// (draft-behera-ldap-password-policy-10, section 5.3.3).
const LOCKED: &str = "pwdAccountLockedTime";
const FOR_GOOD: &[u8] = b"000001010000Z";

/// Returns entries of all suffixes that match a filter and have a text in a name.
pub(crate) fn find(
    client: &mut Client,
    (kind, keys): (&str, &[&str]),
    text: &str,
    attributes: &[&str],
) -> Result<Listing, LdapError> {
    let value = filter_value(text.trim());
    let filter = match value.is_empty() {
        true => kind.to_owned(),
        false => {
            let keys = keys.iter().map(|key| format!("({key}=*{value}*)"));
            format!("(&{kind}(|{}))", keys.collect::<String>())
        }
    };
    let mut all = Listing {
        entries: Vec::new(),
        is_cut: false,
    };
    for suffix in suffixes(client)? {
        let listing = match ldap::list(client, (&suffix, Scope::Subtree), &filter, attributes) {
            Ok(listing) => listing,
            // A suffix that the user may not search has nothing to show.
            Err(LdapError::Refused(_)) => continue,
            Err(gone) => return Err(gone),
        };
        all.entries.extend(listing.entries);
        all.is_cut |= listing.is_cut;
    }
    Ok(all)
}

/// Lists users.
pub(crate) fn list(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let text = request.query("q");
    let keys = ["uid", "cn", "mail"];
    let attributes = ["uid", "cn", "mail", LOCKED];
    let listing = find(&mut session.client(), (USERS, &keys), text, &attributes)?;
    let content = html! {
        p { a.button href="/users/new" { "New user" } }
        (search_form("/users", "Name, login name or mail", text))
        @if listing.entries.is_empty() {
            p { "No user is found, or you may not see any." }
        } @else {
            table {
                caption { (listing.entries.len()) " users" @if listing.is_cut { "; there are more, so search" } }
                thead { tr { th scope="col" { "Login" } th scope="col" { "Name" } th scope="col" { "Mail" } th scope="col" { "State" } } }
                tbody {
                    @for entry in &listing.entries {
                        tr {
                            td { a href=(link("/user", &[("dn", &entry.dn)])) { (short_name(entry)) } }
                            td { (entry.first("cn").unwrap_or_default()) }
                            td { (texts(entry, "mail").join(", ")) }
                            td { @if entry.values(LOCKED).is_empty() { "" } @else { span.bad { "locked" } } }
                        }
                    }
                }
            }
        }
    };
    Ok(page(session, ("/users", "Users"), &content))
}

/// Returns the login name, or else the DN.
pub(crate) fn short_name(entry: &Entry) -> String {
    entry.first("uid").unwrap_or_else(|| entry.dn.clone())
}

/// Shows the form of a new user.
pub(crate) fn show_new(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    new_form(request, session, None)
}

fn new_form(
    request: &PageRequest,
    session: &UserSession,
    problem: Option<&str>,
) -> Result<PageResponse, LdapError> {
    let parent = ldap::parent_of_new(request, session, "people")?;
    let field = |name| request.field(name);
    let password = Field::password("password", "First password", "new-password");
    let fields = [
        Field::text("uid", "Login name", field("uid")).required(),
        Field::text("givenName", "First name", field("givenName")),
        Field::text("sn", "Last name", field("sn")).required(),
        Field::text("mail", "Mail address", field("mail")),
        Field {
            is_required: false,
            ..password
        },
        Field::text("parent", "Below the entry", &parent).required(),
    ];
    let form = PostForm {
        action: "/users/new",
        title: "",
        fields: &fields,
        act: "",
        button: "Create",
    };
    let content = html! { (alert(problem)) (form.html(session)) };
    Ok(page(session, ("/users", "New user"), &content))
}

/// Makes a user. The unit `people` is made if it is missing.
pub(crate) fn create(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let field = |name: &str| request.field(name).trim();
    let (uid, parent) = (field("uid"), field("parent"));
    let dn = child("uid", uid, parent);
    let full = format!("{} {}", field("givenName"), field("sn"));
    let values = [
        ("uid", uid),
        ("cn", full.trim()),
        ("sn", field("sn")),
        ("givenName", field("givenName")),
        ("mail", field("mail")),
    ];
    let attributes = ldap::new_entry("inetOrgPerson", &values);
    let refused = {
        let mut client = session.client();
        make_unit(&mut client, parent)?;
        refusal(
            &ldap::add(&mut client, &dn, &attributes)?,
            "The user is not created",
        )
    };
    if let Some(text) = refused {
        return new_form(request, session, Some(&text));
    }
    let mut message = format!("{uid} is created.");
    let password = request.field("password");
    if !password.is_empty() {
        let (result, _) = session
            .client()
            .modify_password(&dn, Some(password.as_bytes()))?;
        if let Some(text) = refusal(&result, "But there is no password yet") {
            message = format!("{message} {text}");
        }
    }
    session.say(message);
    Ok(PageResponse::redirect(link("/user", &[("dn", &dn)])))
}

/// Makes an organizational unit of the usual name directly below a suffix, unless it is there.
pub(crate) fn make_unit(client: &mut Client, dn: &str) -> Result<(), LdapError> {
    let Some((rdn, above)) = fulgurite_client::names::split(dn) else {
        return Ok(());
    };
    let name = rdn.split_once('=').map_or("", |(_, name)| name);
    let is_usual = ["people", "groups"].contains(&name.to_lowercase().as_str());
    if !is_usual
        || !suffixes(client)?
            .iter()
            .any(|suffix| suffix.eq_ignore_ascii_case(&above))
    {
        return Ok(());
    }
    if ldap::read(client, dn, &["1.1"])?.is_none() {
        let attributes = ldap::new_entry("organizationalUnit", &[("ou", name)]);
        // The answer to the entry below it tells what is wrong.
        let _ = ldap::add(client, dn, &attributes)?;
    }
    Ok(())
}

/// Shows a user.
pub(crate) fn show(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    show_user(request.query("dn"), session, None)
}

fn show_user(
    dn: &str,
    session: &UserSession,
    problem: Option<&str>,
) -> Result<PageResponse, LdapError> {
    let (entry, groups) = {
        let mut client = session.client();
        let entry = ldap::get(&mut client, dn, &["*", LOCKED])?;
        let (name, uid) = (filter_value(&entry.dn), filter_value(&short_name(&entry)));
        let filter = format!("(|(member={name})(uniqueMember={name})(memberUid={uid}))");
        let groups = find(&mut client, (&filter, &[]), "", &["cn"])?;
        (entry, groups.entries)
    };
    let is_locked = !entry.values(LOCKED).is_empty();
    let action = link("/user", &[("dn", &entry.dn)]);
    let reset = PostForm {
        action: &action,
        title: "Password",
        fields: &[Field::password("new", "New password", "new-password")],
        act: "password",
        button: "Reset the password",
    };
    let content = html! {
        (alert(problem))
        p { code { (entry.dn) } @if is_locked { " " span.bad { "locked" } } }
        p { a href=(link("/entry", &[("dn", &entry.dn)])) { "All attributes" } }
        @if !groups.is_empty() {
            p { "Groups: " @for group in &groups {
                a href=(link("/group", &[("dn", &group.dn)])) { (group.first("cn").unwrap_or_default()) } " "
            } }
        }
        form.card method="post" action=(action) {
            h2 { "Profile" }
            (token(session))
            input type="hidden" name="do" value="profile";
            (profile_fields(&entry))
            button type="submit" { "Save" }
        }
        (reset.html(session))
        form.card method="post" action=(action) {
            h2 { "Account" }
            (token(session))
            @if is_locked {
                button type="submit" name="do" value="unlock" { "Unlock" }
            } @else {
                button type="submit" name="do" value="lock" { "Lock" }
            }
            a.button.danger href=(link("/entry/delete", &[("dn", &entry.dn)])) { "Delete …" }
        }
    };
    Ok(page(session, ("/users", &short_name(&entry)), &content))
}

/// Saves the profile, resets the password, locks or unlocks.
pub(crate) fn act(request: &PageRequest, session: &UserSession) -> Result<PageResponse, LdapError> {
    let dn = request.query("dn");
    let done = {
        let mut client = session.client();
        let lock = |client: &mut Client, change: Change<'_>| client.modify(dn, &[change]);
        match request.field("do") {
            "profile" => {
                let entry = ldap::get(&mut client, dn, &["*"])?;
                let changes = profile_changes(&entry, request);
                let saved = match changes.is_empty() {
                    true => None,
                    false => Some(ldap::replace(&mut client, dn, &changes)?),
                };
                saved
                    .and_then(|result| refusal(&result, "The profile is not saved"))
                    .map_or(Ok("The profile is saved."), Err)
            }
            "password" if !request.field("new").is_empty() => {
                let (result, _) =
                    client.modify_password(dn, Some(request.field("new").as_bytes()))?;
                refusal(&result, "The password is not reset")
                    .map_or(Ok("The password is reset."), Err)
            }
            "lock" => {
                let result = lock(&mut client, Change::replace(LOCKED, &[FOR_GOOD]))?;
                let doing = "The user is not locked; the database needs the overlay ppolicy, and you the right";
                refusal(&result, doing).map_or(Ok("The user is locked."), Err)
            }
            "unlock" => {
                let result = lock(&mut client, Change::delete(LOCKED, &[]))?;
                refusal(&result, "The user is not unlocked")
                    .map_or(Ok("The user is unlocked."), Err)
            }
            _ => Err("The form lacks a value.".to_owned()),
        }
    };
    match done {
        Err(text) => show_user(dn, session, Some(&text)),
        Ok(text) => {
            session.say(text);
            let is_shut_out = ["password", "lock"].contains(&request.field("do"));
            Ok(PageResponse {
                ends_sessions_of: is_shut_out.then(|| dn.to_owned()),
                ..PageResponse::redirect(link("/user", &[("dn", dn)]))
            })
        }
    }
}
