//! The schema: attribute types, object classes, matching rules and syntaxes, with links.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::layout::page;
use crate::ldap::{self, LdapError};
use crate::request::{PageRequest, PageResponse, link};
use crate::schema::{ElementKind, SchemaElement, SchemaNames};
use crate::sessions::UserSession;

/// The page.
const PATH: &str = "/schema";

impl ElementKind {
    /// Returns the word of URLs.
    const fn word(self) -> &'static str {
        match self {
            ElementKind::Attribute => "attributes",
            ElementKind::Class => "classes",
            ElementKind::Rule => "rules",
            ElementKind::Syntax => "syntaxes",
        }
    }

    /// Returns the title of the list.
    const fn title(self) -> &'static str {
        match self {
            ElementKind::Attribute => "Attribute types",
            ElementKind::Class => "Object classes",
            ElementKind::Rule => "Matching rules",
            ElementKind::Syntax => "Syntaxes",
        }
    }
}

/// Shows a list, or one description.
pub(crate) fn show(
    request: &PageRequest,
    session: &UserSession,
) -> Result<PageResponse, LdapError> {
    let schema = ldap::schema(session)?;
    let word = request.query("kind");
    let kind = ElementKind::ALL
        .into_iter()
        .find(|kind| kind.word() == word);
    let kind = kind.unwrap_or(ElementKind::Attribute);
    let name = request.query("name");
    if name.is_empty() {
        let content = list(&schema, kind, request.query("q").trim());
        return Ok(page(session, (PATH, "Schema"), &content));
    }
    let Some(element) = schema.element(kind, name) else {
        let text = format!("The schema has no {name} among its {}.", kind.word());
        return Err(LdapError::Refused(text));
    };
    let content = html! {
        (kinds(kind, ""))
        @match kind {
            ElementKind::Attribute => (attribute(&schema, element)),
            ElementKind::Class => (class(&schema, element)),
            ElementKind::Rule => (rule(&schema, element)),
            ElementKind::Syntax => (syntax(&schema, element)),
        }
    };
    let title = match element.names.is_empty() {
        true if !element.description.is_empty() => &element.description,
        _ => element.shown_name(),
    };
    Ok(page(session, (PATH, title), &content))
}

/// Returns links to the lists. A search goes on in the other ones.
fn kinds(current: ElementKind, text: &str) -> Markup {
    html! {
        nav.tabs aria-label="Parts of the schema" {
            @for kind in ElementKind::ALL {
                @let parameters = [("kind", kind.word()), ("q", text)];
                @let parameters = if text.is_empty() { &parameters[..1] } else { &parameters[..] };
                a href=(link(PATH, parameters)) aria-current=[(kind == current).then_some("true")] { (kind.title()) }
            }
        }
    }
}

fn list(schema: &SchemaNames, kind: ElementKind, text: &str) -> Markup {
    let elements = schema.elements(kind);
    let found: Vec<_> = elements
        .iter()
        .filter(|element| element.mentions(text))
        .collect();
    html! {
        (kinds(kind, text))
        form.search method="get" action=(PATH) role="search" {
            input type="hidden" name="kind" value=(kind.word());
            label for="q" { "Name, OID or description" }
            input id="q" name="q" type="search" value=(text) autocomplete="off" spellcheck="false";
            button type="submit" { "Search" }
        }
        @if found.is_empty() {
            p { "Nothing is found among " (elements.len()) " descriptions." }
        } @else {
            table {
                caption { (found.len()) " of " (elements.len()) " " (kind.title().to_lowercase()) }
                thead { tr { th scope="col" { "Name" } th scope="col" { "Description" } } }
                tbody { @for element in found { tr {
                    td {
                        a href=(target(kind, element.shown_name())) { (element.shown_name()) }
                        @if let [_, others @ ..] = element.names.as_slice() && !others.is_empty() {
                            " " span.hint { (others.join(", ")) }
                        }
                    }
                    td { (element.description) @if element.is_obsolete { " (obsolete)" } }
                } } }
            }
        }
    }
}

/// Returns the address of a description.
fn target(kind: ElementKind, name: &str) -> String {
    link(PATH, &[("kind", kind.word()), ("name", name)])
}

/// Returns links to descriptions; a name that the schema lacks is text.
fn links<'n>(
    schema: &SchemaNames,
    kind: ElementKind,
    names: impl IntoIterator<Item = &'n str>,
) -> Markup {
    html! {
        @for (at, name) in names.into_iter().enumerate() {
            @if at > 0 { ", " }
            @match schema.element(kind, name) {
                Some(element) => { a href=(target(kind, name)) {
                    @match kind {
                        ElementKind::Syntax if !element.description.is_empty() => (element.description),
                        _ => (name),
                    }
                } }
                None => (name),
            }
        }
    }
}

/// Returns a row of the facts, unless there is nothing to tell.
fn fact(label: &str, text: &Markup) -> Markup {
    html! { @if !text.0.is_empty() { dt { (label) } dd { (text) } } }
}

/// Returns the facts that all descriptions have.
fn common(element: &SchemaElement) -> Markup {
    html! {
        (fact("Description", &html! { (element.description) }))
        (fact("Names", &html! { (element.names.join(", ")) }))
        (fact("OID", &html! { code { (element.oid) } }))
        @if element.is_obsolete { (fact("State", &html! { "obsolete" })) }
    }
}

fn attribute(schema: &SchemaNames, element: &SchemaElement) -> Markup {
    let kind = ElementKind::Attribute;
    let above = element.superiors.iter().map(String::as_str);
    let below = schema.elements(kind).iter();
    let below = below.filter(|other| is_above(element, other));
    let syntax = schema.inherited(element, |element| &element.syntax);
    let length = schema.inherited(element, |element| &element.length);
    let rule = |part| {
        let name = schema.inherited(element, part);
        let name = Some(name).filter(|name| !name.is_empty());
        links(schema, ElementKind::Rule, name)
    };
    let use_ = match element.usage.as_str() {
        "" | "userApplications" => "data of users",
        "dSAOperation" => "data of this server",
        _ => "data that the directory keeps about entries",
    };
    html! {
        dl.facts {
            (common(element))
            (fact("Values", &html! { (if element.is_single { "one" } else { "any number" }) }))
            (fact("Use", &html! { (use_) @if element.is_of_server { ", only the server sets it" } }))
            (fact("Superior", &links(schema, kind, above)))
            (fact("Inferior", &links(schema, kind, below.map(SchemaElement::shown_name))))
            (fact("Syntax", &html! {
                (links(schema, ElementKind::Syntax, Some(syntax).filter(|name| !name.is_empty())))
                @if !length.is_empty() { ", " (length) " characters suggested" }
            }))
            (fact("Equality", &rule(|element| &element.equality)))
            (fact("Ordering", &rule(|element| &element.ordering)))
            (fact("Substrings", &rule(|element| &element.substrings)))
        }
        h2 { "Entries that may have it" }
        (holders(schema, element))
    }
}

/// Returns the classes that demand or allow an attribute.
fn holders(schema: &SchemaNames, attribute: &SchemaElement) -> Markup {
    let is_it = |names: &BTreeSet<String>| names.iter().any(|name| is_named(attribute, name));
    let (mut must, mut may) = (Vec::new(), Vec::new());
    for class in schema.elements(ElementKind::Class) {
        let of = schema.attributes_of(&[class.shown_name().to_owned()]);
        if is_it(&of.must) {
            must.push(class.shown_name());
        } else if is_it(&of.may) {
            may.push(class.shown_name());
        }
    }
    let kind = ElementKind::Class;
    html! {
        @if attribute.is_operational() {
            p { "It is operational: an entry needs no class for it. Searches show it to those who name it, or ask for " code { "+" } "." }
        } @else if must.is_empty() && may.is_empty() {
            p { "No class names it. Entries of the class extensibleObject may have it." }
        }
        dl.facts {
            (fact("Demanded by", &links(schema, kind, must)))
            (fact("Allowed by", &links(schema, kind, may)))
        }
    }
}

fn class(schema: &SchemaNames, element: &SchemaElement) -> Markup {
    let kind = ElementKind::Class;
    let above = element.superiors.iter().map(String::as_str);
    let below = schema.elements(kind).iter();
    let below = below.filter(|other| is_above(element, other));
    let own = |names: &[String]| -> BTreeSet<String> {
        names.iter().map(|name| name.to_lowercase()).collect()
    };
    let (own_must, own_may) = (own(&element.must), own(&element.may));
    let all = schema.attributes_of(&[element.shown_name().to_owned()]);
    let is_inherited = |name: &str| {
        let name = name.to_lowercase();
        !own_must.contains(&name) && !own_may.contains(&name)
    };
    let shown = |names: &[String]| {
        links(
            schema,
            ElementKind::Attribute,
            names.iter().map(String::as_str),
        )
    };
    let inherited = |names: &BTreeSet<String>| {
        let names = names.iter().map(String::as_str);
        links(
            schema,
            ElementKind::Attribute,
            names.filter(|name| is_inherited(name)),
        )
    };
    let meaning = match element.class_kind.as_str() {
        "AUXILIARY" => "auxiliary: it adds attributes to entries of other classes",
        "ABSTRACT" => "abstract: it is there for classes below it",
        _ => "structural: an entry has one such class, with those above it",
    };
    html! {
        dl.facts {
            (common(element))
            (fact("Kind", &html! { (meaning) }))
            (fact("Superior", &links(schema, kind, above)))
            (fact("Inferior", &links(schema, kind, below.map(SchemaElement::shown_name))))
            (fact("Demands", &shown(&element.must)))
            (fact("Demands by its superiors", &inherited(&all.must)))
            (fact("Allows", &shown(&element.may)))
            (fact("Allows by its superiors", &inherited(&all.may)))
        }
    }
}

fn rule(schema: &SchemaNames, element: &SchemaElement) -> Markup {
    let users = schema.elements(ElementKind::Attribute).iter();
    let users = users.filter(|attribute| {
        let parts: [fn(&SchemaElement) -> &String; 3] =
            [|e| &e.equality, |e| &e.ordering, |e| &e.substrings];
        let mut rules = parts
            .into_iter()
            .map(|part| schema.inherited(attribute, part));
        rules.any(|name| is_named(element, name))
    });
    html! {
        dl.facts {
            (common(element))
            (fact("Syntax of assertions", &links(schema, ElementKind::Syntax, Some(element.syntax.as_str()))))
            (fact("Attributes that use it", &links(schema, ElementKind::Attribute, users.map(SchemaElement::shown_name))))
        }
    }
}

fn syntax(schema: &SchemaNames, element: &SchemaElement) -> Markup {
    let types = schema.elements(ElementKind::Attribute).iter();
    let types = types
        .filter(|attribute| schema.inherited(attribute, |element| &element.syntax) == element.oid);
    let rules = schema.elements(ElementKind::Rule).iter();
    let rules = rules.filter(|rule| rule.syntax == element.oid);
    html! {
        dl.facts {
            (common(element))
            (fact("Attributes", &links(schema, ElementKind::Attribute, types.map(SchemaElement::shown_name))))
            (fact("Matching rules", &links(schema, ElementKind::Rule, rules.map(SchemaElement::shown_name))))
        }
    }
}

/// Returns true if a name is one of an element.
fn is_named(element: &SchemaElement, name: &str) -> bool {
    let mut names = element.names.iter().chain([&element.oid]);
    names.any(|own| own.eq_ignore_ascii_case(name))
}

/// Returns true if an element is directly above another.
fn is_above(element: &SchemaElement, other: &SchemaElement) -> bool {
    other.superiors.iter().any(|name| is_named(element, name))
}
