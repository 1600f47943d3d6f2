//! One group and its members.

use fulgurite_client::{Change, Client, Entry};
use maud::html;

use super::form::{Field, PostForm};
use super::layout::{alert, page, token};
use super::users::{USERS, find};
use crate::ldap::{self, LdapError, has_class, refusal, texts};
use crate::request::{PageRequest, PageResponse, link};
use crate::sessions::UserSession;
use fulgurite_client::names::{filter_value, is_dn};

/// The form in which a group names its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberForm {
    Dn,
    UniqueDn,
    Uid,
}

impl MemberForm {
    /// Returns the form of a group.
    pub(crate) fn of(group: &Entry) -> MemberForm {
        let has = |class| has_class(group, class);
        if has("groupOfUniqueNames") {
            MemberForm::UniqueDn
        } else if has("posixGroup") && !has("groupOfNames") && !has("groupOfMembers") {
            MemberForm::Uid
        } else {
            MemberForm::Dn
        }
    }

    /// Returns the attribute of members.
    pub(crate) const fn attribute(self) -> &'static str {
        match self {
            MemberForm::Dn => "member",
            MemberForm::UniqueDn => "uniqueMember",
            MemberForm::Uid => "memberUid",
        }
    }
}

/// Returns a member as a group names it, or the sentence that tells why there is none.
pub(crate) fn member_value(
    client: &mut Client,
    form: MemberForm,
    text: &str,
) -> Result<Result<String, String>, LdapError> {
    if is_dn(text) && form != MemberForm::Uid {
        let entry = ldap::read(client, text, &["1.1"])?;
        return Ok(entry
            .map(|entry| entry.dn)
            .ok_or_else(|| format!("There is no entry {text}.")));
    }
    let filter = format!("(&{USERS}(uid={}))", filter_value(text));
    let users = find(client, (&filter, &[]), "", &["uid"])?.entries;
    Ok(match users.as_slice() {
        [] => Err(format!("There is no user {text}.")),
        [user] if form == MemberForm::Uid => Ok(user.first("uid").unwrap_or_default()),
        [user] => Ok(user.dn.clone()),
        _ => Err(format!("There are several users {text}, so give a DN.")),
    })
}

/// Shows a group.
pub(crate) fn show(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    show_group(request.query("dn"), session, None)
}

fn show_group(
    dn: &str,
    session: &UserSession,
    problem: Option<&str>,
) -> Result<PageResponse, LdapError> {
    let group = ldap::get(&mut session.client(), dn, &["*"])?;
    let form = MemberForm::of(&group);
    let members = texts(&group, form.attribute());
    let action = link("/group", &[("dn", &group.dn)]);
    let add = PostForm {
        action: &action,
        title: "Add a member",
        fields: &[Field::text("member", "Login name or DN", "").required()],
        act: "add",
        button: "Add",
    };
    let content = html! {
        (alert(problem))
        p { code { (group.dn) } }
        @if let Some(text) = group.first("description") { p { (text) } }
        p { a href=(link("/entry", &[("dn", &group.dn)])) { "All attributes" } }
        table {
            caption { (members.len()) " members" }
            thead { tr { th scope="col" { "Member" } th scope="col" { "Action" } } }
            tbody {
                @for member in &members {
                    tr {
                        td {
                            @if form == MemberForm::Uid { (member) }
                            @else { a href=(link("/entry", &[("dn", member)])) { (member) } }
                        }
                        td {
                            form.row method="post" action=(action) {
                                (token(session))
                                input type="hidden" name="member" value=(member);
                                button type="submit" name="do" value="remove" aria-label={ "Remove " (member) } { "Remove" }
                            }
                        }
                    }
                }
            }
        }
        (add.html(session))
        p { a.button.danger href=(link("/entry/delete", &[("dn", &group.dn)])) { "Delete …" } }
    };
    let title = group.first("cn").unwrap_or_else(|| group.dn.clone());
    Ok(page(session, ("/groups", &title), &content))
}

/// Adds or removes a member.
pub(crate) fn act(request: &PageRequest, session: &UserSession) -> Result<PageResponse, LdapError> {
    let dn = request.query("dn");
    let refused = {
        let mut client = session.client();
        let group = ldap::get(&mut client, dn, &["objectClass"])?;
        let form = MemberForm::of(&group);
        let member = request.field("member").trim();
        let is_new = request.field("do") == "add";
        let value = match is_new {
            true => member_value(&mut client, form, member)?,
            false => Ok(member.to_owned()),
        };
        match value {
            Err(text) => Some(text),
            Ok(value) => {
                let values = [value.as_bytes()];
                let change = match is_new {
                    true => Change::add(form.attribute(), &values),
                    false => Change::delete(form.attribute(), &values),
                };
                refusal(
                    &client.modify(dn, &[change])?,
                    "The members are not changed",
                )
            }
        }
    };
    match refused {
        Some(text) => show_group(dn, session, Some(&text)),
        None => {
            session.say("The members are changed.");
            Ok(PageResponse::redirect(link("/group", &[("dn", dn)])))
        }
    }
}
