//! An entry with all its attributes, edited by the schema.

use std::collections::BTreeSet;

use fulgurite_client::Entry;
use maud::{Markup, html};

use super::form::Field;
use super::layout::{alert, page, token};
use super::own::lines;
use super::tree::path;
use crate::ldap::{self, LdapError, NamedValues, refusal, suffixes, texts};
use crate::request::{PageRequest, PageResponse, link};
use crate::schema::{ClassAttributes, SchemaNames};
use crate::sessions::UserSession;
use fulgurite_client::names::{child, rdn_attributes};

/// The beginning of the fields of attributes. A hidden field of the same end has the values that
/// the form began with. So nobody overwrites another's change.
const VALUES: &str = "v.";
const BEFORE: &str = "b.";

/// Bytes of a value that a form can hold.
const VALUE_BYTES_MAX: usize = 64 << 10;

/// Returns true if a form can hold the values: one line of text each.
fn is_editable(values: &[Vec<u8>]) -> bool {
    values.iter().all(|value| {
        let text = std::str::from_utf8(value);
        value.len() <= VALUE_BYTES_MAX
            && text.is_ok_and(|text| text.trim() == text && !text.chars().any(char::is_control))
    })
}

/// Returns true for the attributes whose values nobody needs to see.
pub(crate) fn is_secret(name: &str) -> bool {
    let base = name.split(';').next().unwrap_or_default();
    let secrets = [
        "authPassword",
        "olcDbIDAssertBind",
        "olcRootPW",
        "olcSyncrepl",
        "pwdHistory",
        "userPassword",
    ];
    secrets
        .iter()
        .any(|secret| base.eq_ignore_ascii_case(secret))
}

/// Shows an entry.
pub(crate) fn show(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    show_entry(request, session, None)
}

fn show_entry(
    request: &PageRequest,
    session: &UserSession,
    problem: Option<&str>,
) -> Result<PageResponse, LdapError> {
    let dn = request.query("dn");
    let schema = ldap::schema(session)?;
    let (entry, server, suffixes) = {
        let mut client = session.client();
        let entry = ldap::get(&mut client, dn, &["*"])?;
        let server = ldap::get(&mut client, dn, &["+"])?;
        (entry, server, suffixes(&mut client)?)
    };
    let classes = texts(&entry, "objectClass");
    let attributes = schema.attributes_of(&classes);
    let content = html! {
        (alert(problem))
        (path(&entry.dn, &suffixes))
        p.actions {
            a.button href=(link("/tree", &[("dn", &entry.dn)])) { "Entries below" }
            a.button href=(link("/entry/rename", &[("dn", &entry.dn)])) { "Rename …" }
            a.button.danger href=(link("/entry/delete", &[("dn", &entry.dn)])) { "Delete …" }
        }
        form.card method="post" action=(link("/entry", &[("dn", &entry.dn)])) {
            (token(session))
            (attribute_fields(&entry, &schema, &attributes, request))
            (new_attribute(&entry, &attributes))
            p.note { "Each line is one value. An attribute without a line is removed." }
            button type="submit" { "Save" }
        }
        details {
            summary { "Attributes of the server" }
            dl { @for (name, values) in &server.attributes {
                dt { (name) }
                @for value in values { dd { (String::from_utf8_lossy(value)) } }
            } }
        }
    };
    Ok(page(session, ("/tree", "Entry"), &content))
}

fn attribute_fields(
    entry: &Entry,
    schema: &SchemaNames,
    of: &ClassAttributes,
    request: &PageRequest,
) -> Markup {
    let fixed = rdn_attributes(&entry.dn);
    html! {
        @for (name, values) in &entry.attributes {
            @let field = format!("{VALUES}{name}");
            @let is_must = of.must.iter().any(|must| must.eq_ignore_ascii_case(name));
            @let is_single = schema.attribute(name).is_some_and(|known| known.is_single);
            @if is_secret(name) {
                p.label { (name) ": " (values.len()) " hidden values" }
            } @else if !is_editable(values) {
                p.label { (name) ": " (values.iter().map(Vec::len).sum::<usize>()) " bytes that are no lines of text" }
            } @else {
                @let before = shown(values);
                @let typed = request.form.iter().find(|(key, _)| *key == field).map(|(_, text)| text.clone());
                label for=(field) {
                    (name)
                    @if is_must { span.must { " (required)" } }
                    @if is_single { span.hint { " one value" } }
                    @if fixed.iter().any(|own| own.eq_ignore_ascii_case(name)) { span.hint { " part of the name" } }
                }
                textarea id=(field) name=(field) rows=(values.len().clamp(1, 10)) spellcheck="false" {
                    "\n" (typed.as_ref().unwrap_or(&before))
                }
                input type="hidden" name=(format!("{BEFORE}{name}")) value=(before);
            }
        }
    }
}

fn shown(values: &[Vec<u8>]) -> String {
    let values = values.iter().map(|value| String::from_utf8_lossy(value));
    values.collect::<Vec<_>>().join("\n")
}

/// Returns the fields of an attribute that the entry lacks.
fn new_attribute(entry: &Entry, of: &ClassAttributes) -> Markup {
    let missing = of.must.iter().chain(&of.may);
    let missing: BTreeSet<&String> = missing
        .filter(|name| entry.values(name).is_empty())
        .collect();
    html! {
        fieldset {
            legend { "Add an attribute" }
            label for="new-name" { "Attribute" }
            select id="new-name" name="new-name" {
                option value="" { "–" }
                @for name in missing { option value=(name) { (name) } }
            }
            label for="new-value" { "Values" }
            textarea id="new-value" name="new-value" rows="1" spellcheck="false" {}
        }
    }
}

/// Saves an entry.
pub(crate) fn save(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let dn = request.query("dn");
    let refused = {
        let mut client = session.client();
        let entry = ldap::get(&mut client, dn, &["*"])?;
        match changes(&entry, request) {
            Err(text) => Some(text),
            Ok(changes) if changes.is_empty() => None,
            Ok(changes) => refusal(
                &ldap::replace(&mut client, dn, &changes)?,
                "The entry is not saved",
            ),
        }
    };
    match refused {
        Some(text) => show_entry(request, session, Some(&text)),
        None => {
            session.say("The entry is saved.");
            Ok(PageResponse::redirect(link("/entry", &[("dn", dn)])))
        }
    }
}

/// Returns the changes of a form, or a sentence if the entry has changed meanwhile.
fn changes(entry: &Entry, request: &PageRequest) -> Result<NamedValues, String> {
    let mut changes = NamedValues::new();
    for (field, text) in &request.form {
        let Some(name) = field.strip_prefix(VALUES) else {
            continue;
        };
        let before = lines(request.field(&format!("{BEFORE}{name}")));
        let wanted = lines(text);
        if wanted == before {
            continue;
        }
        if entry.values(name) != before {
            return Err(format!(
                "Somebody has changed {name} meanwhile, so nothing is saved."
            ));
        }
        changes.push((name.to_owned(), wanted));
    }
    let (name, values) = (request.field("new-name"), lines(request.field("new-value")));
    if !name.is_empty() && !values.is_empty() {
        changes.push((name.to_owned(), values));
    }
    Ok(changes)
}

/// Shows the form of a new entry: first its classes, then their attributes.
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
    let schema = ldap::schema(session)?;
    let parent = request.query("parent");
    let classes: Vec<String> = request
        .query("class")
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let of = schema.attributes_of(&classes);
    let content = html! {
        (alert(problem))
        p { "Below " code { (parent) } }
        form.card method="get" action="/entry/new" {
            input type="hidden" name="parent" value=(parent);
            label for="class" { "Object classes, separated by blanks" }
            input id="class" name="class" value=(classes.join(" ")) list="classes" autocomplete="off" spellcheck="false" required;
            datalist id="classes" { @for name in schema.class_names() { option value=(name) {} } }
            button type="submit" { "Show the attributes" }
        }
        @if !classes.is_empty() {
            form.card method="post" action=(link("/entry/new", &[("parent", parent), ("class", &classes.join(" "))])) {
                (token(session))
                (Field::text("rdn", "Attribute that names the entry", match request.field("rdn") {
                    "" => of.must.iter().find(|name| *name != "objectClass" && *name != "sn").map_or("cn", String::as_str),
                    given => given,
                }).required().html())
                @for name in of.must.iter().chain(&of.may).filter(|name| !name.eq_ignore_ascii_case("objectClass")) {
                    @let field = format!("{VALUES}{name}");
                    label for=(field) { (name) @if of.must.contains(name) { span.must { " (required)" } } }
                    textarea id=(field) name=(field) rows="1" spellcheck="false" required[of.must.contains(name)] {
                        "\n" (request.field(&field))
                    }
                }
                button type="submit" { "Create" }
            }
        }
    };
    Ok(page(session, ("/tree", "New entry"), &content))
}

/// Makes an entry.
pub(crate) fn create(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let classes = request.query("class").split_whitespace();
    let classes = classes.map(|class| class.as_bytes().to_vec()).collect();
    let mut attributes: NamedValues = vec![("objectClass".to_owned(), classes)];
    for (field, text) in &request.form {
        let values = lines(text);
        if let Some(name) = field.strip_prefix(VALUES).filter(|_| !values.is_empty()) {
            attributes.push((name.to_owned(), values));
        }
    }
    let naming = request.field("rdn").trim();
    let named = attributes
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(naming));
    let value = named.and_then(|(_, values)| values.first());
    let Some(value) = value.map(|value| String::from_utf8_lossy(value).into_owned()) else {
        return new_form(
            request,
            session,
            Some(&format!("The attribute {naming} has no value.")),
        );
    };
    let dn = child(naming, &value, request.query("parent"));
    let result = ldap::add(&mut session.client(), &dn, &attributes)?;
    if let Some(text) = refusal(&result, "The entry is not created") {
        return new_form(request, session, Some(&text));
    }
    session.say("The entry is created.");
    Ok(PageResponse::redirect(link("/entry", &[("dn", &dn)])))
}
