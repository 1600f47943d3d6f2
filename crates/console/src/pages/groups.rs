//! Groups: list, and a new one.

use maud::html;

use super::form::{Field, PostForm};
use super::layout::{alert, page, search_form};
use super::users::{find, make_unit};
use crate::ldap::{self, LdapError, refusal};
use crate::pages::members::{MemberForm, member_value};
use crate::request::{PageRequest, PageResponse, link};
use crate::sessions::UserSession;
use fulgurite_client::names::child;

/// The filter that groups match.
pub(crate) const GROUPS: &str = "(|(objectClass=groupOfNames)(objectClass=groupOfUniqueNames)(objectClass=posixGroup)\
                                 (objectClass=groupOfMembers)(objectClass=groupOfEntries))";

/// Lists groups.
pub(crate) fn list(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let text = request.query("q");
    let attributes = [
        "cn",
        "description",
        "objectClass",
        "member",
        "uniqueMember",
        "memberUid",
    ];
    let listing = find(
        &mut session.client(),
        (GROUPS, &["cn", "description"]),
        text,
        &attributes,
    )?;
    let content = html! {
        p { a.button href="/groups/new" { "New group" } }
        (search_form("/groups", "Name or description", text))
        @if listing.entries.is_empty() {
            p { "No group is found, or you may not see any." }
        } @else {
            table {
                caption { (listing.entries.len()) " groups" @if listing.is_cut { "; there are more, so search" } }
                thead { tr { th scope="col" { "Name" } th scope="col" { "Description" } th scope="col" { "Members" } } }
                tbody {
                    @for entry in &listing.entries {
                        tr {
                            td { a href=(link("/group", &[("dn", &entry.dn)])) { (entry.first("cn").unwrap_or_else(|| entry.dn.clone())) } }
                            td { (entry.first("description").unwrap_or_default()) }
                            td { (entry.values(MemberForm::of(entry).attribute()).len()) }
                        }
                    }
                }
            }
        }
    };
    Ok(page(session, ("/groups", "Groups"), &content))
}

/// Shows the form of a new group.
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
    let parent = ldap::parent_of_new(request, session, "groups")?;
    let field = |name| request.field(name);
    let fields = [
        Field::text("cn", "Name", field("cn")).required(),
        Field::text("description", "Description", field("description")),
        Field::text("member", "First member: login name or DN", field("member")).required(),
        Field::text("parent", "Below the entry", &parent).required(),
    ];
    let form = PostForm {
        action: "/groups/new",
        title: "",
        fields: &fields,
        act: "",
        button: "Create",
    };
    let content = html! {
        (alert(problem))
        (form.html(session))
        p.note { "The group is a groupOfNames, which needs a member. Other classes are made in the tree." }
    };
    Ok(page(session, ("/groups", "New group"), &content))
}

/// Makes a group.
pub(crate) fn create(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let field = |name: &str| request.field(name).trim();
    let (cn, parent) = (field("cn"), field("parent"));
    let dn = child("cn", cn, parent);
    let refused = {
        let mut client = session.client();
        match member_value(&mut client, MemberForm::Dn, field("member"))? {
            Err(text) => Some(text),
            Ok(member) => {
                let values = [
                    ("cn", cn),
                    ("description", field("description")),
                    ("member", member.as_str()),
                ];
                let attributes = ldap::new_entry("groupOfNames", &values);
                make_unit(&mut client, parent)?;
                refusal(
                    &ldap::add(&mut client, &dn, &attributes)?,
                    "The group is not created",
                )
            }
        }
    };
    if let Some(text) = refused {
        return new_form(request, session, Some(&text));
    }
    session.say(format!("{cn} is created."));
    Ok(PageResponse::redirect(link("/group", &[("dn", &dn)])))
}
