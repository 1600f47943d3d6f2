//! Dynamic lists and groups (slapd's overlay `dynlist`).
//!
//! This module compiles the directives. A set gives lists, and memberships if it lists groups in
//! the entries of their members. See [`DynamicLists`] and [`Membership`].

use fulgurite_ldap::{FilterBuf, LdapUrl};
use fulgurite_policy::{DynlistItem, DynlistSet, OverlayLine, OverlaySettings, Sourced};
use fulgurite_schema::{
    AttributeDescription, AttributeIndex, AttributeSelector, AttributeType, Dn, Filter, Schema,
};

use super::compilation::Compilation;
use crate::core::dynamic_lists::{DynamicLists, ListSet, ListValues};
use crate::core::membership::{ListedGroups, Membership};

/// The beginning of most errors.
const USAGE: &str = "\"dynlist-attrset <oc> [uri] <URL-ad> \
    [[<mapped-ad>:]<member-ad>[+<memberOf-ad>[@<static-oc>[*]] ...]\"";

/// An attribute of a set.
struct Item {
    /// The attribute that shows the values; `None` for the attribute itself.
    mapped: Option<AttributeIndex>,
    attribute: AttributeDescription,
    groups: Option<Groups>,
}

/// The groups that an attribute of a set lists.
struct Groups {
    member_of: AttributeDescription,
    static_class: Option<Filter<AttributeSelector>>,
    nested: bool,
}

/// Compiles the directives of the overlay: the lists, and the attributes that list groups.
///
/// # Errors
/// slapd's sentence about the first wrong directive.
pub(super) fn compile(
    compilation: &mut Compilation<'_>,
    settings: &OverlaySettings,
) -> Result<(DynamicLists, Vec<Membership>), Sourced<String>> {
    let schema = compilation.schema;
    let named = |name: &str| {
        let found = schema.attribute(name);
        found.map(|definition| AttributeDescription::plain(definition.index))
    };
    let mut lists = DynamicLists {
        sets: Vec::new(),
        identity: named("dgIdentity"),
        authorized: named("dgAuthz"),
    };
    let mut memberships = Vec::new();
    for line in &settings.lines {
        let wrong = |text| Sourced::new(text, line.origin.clone());
        let set = parse(line).map_err(wrong)?;
        if let Some(uri) = &set.uri {
            check_uri(schema, uri).map_err(wrong)?;
            let text = format!("dynlist-attrset: as in slapd, the URI \"{uri}\" restricts nothing");
            compilation.warn(text, &line.origin);
        }
        let number = lists.sets.len();
        let (set, items) = compile_set(schema, &set).map_err(wrong)?;
        for item in items.iter().filter(|item| item.mapped.is_none()) {
            memberships.extend(memberships_of(item, number, &set));
        }
        lists.sets.push(set);
    }
    Ok((lists, memberships))
}

fn parse(line: &Sourced<OverlayLine>) -> Result<DynlistSet, String> {
    let keyword = line.directive.keyword;
    let missing = || {
        format!(
            "keyword <{keyword}> missing <group-oc> [uri] <URL-ad> <[mapped:]member-ad> [...]> argument"
        )
    };
    DynlistSet::parse(&line.arguments).ok_or_else(missing)
}

fn check_uri(schema: &Schema, uri: &str) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{USAGE}: {what} URI \"{uri}\"."));
    let Ok(url) = uri.parse::<LdapUrl>() else {
        return wrong("unable to parse");
    };
    if url.host.is_some() {
        return wrong("host not allowed in");
    }
    if !url.attributes.is_empty() {
        return wrong("attrs not allowed in");
    }
    if Dn::parse(schema, &url.dn).is_err() {
        return wrong("DN normalization failed in");
    }
    if url
        .filter
        .as_deref()
        .map(FilterBuf::parse)
        .is_some_and(|filter| filter.is_err())
    {
        return wrong("filter parsing failed in");
    }
    Ok(())
}

fn compile_set(schema: &Schema, set: &DynlistSet) -> Result<(ListSet, Vec<Item>), String> {
    let name = &set.class;
    let class = class_filter(schema, name)
        .ok_or_else(|| format!("{USAGE}: unable to find ObjectClass \"{name}\"."))?;
    let name = &set.url;
    let url = describe(schema, name)
        .ok_or_else(|| format!("{USAGE}: unable to find AttributeDescription \"{name}\"."))?;
    let urls = schema.attribute("labeledURI");
    if !urls.is_some_and(|urls| urls.covers(url.attribute)) {
        return Err(format!(
            "{USAGE}: AttributeDescription \"{name}\" must be a subtype of \"labeledURI\"."
        ));
    }
    let items = set.items.iter().enumerate();
    let items = items.map(|(number, item)| {
        let compiled = compile_item(schema, item);
        compiled
            .map_err(|(what, text)| format!("{USAGE}: unable to find {what} #{number} \"{text}\""))
    });
    let items = items.collect::<Result<Vec<Item>, String>>()?;
    for item in &items {
        require_names(schema, item)?;
    }
    // As in slapd, the first attribute decides.
    let values = match items.first() {
        Some(first) if first.mapped.is_none() => {
            let own = items.iter().filter(|item| item.mapped.is_none());
            ListValues::Names(own.map(|item| item.attribute.clone()).collect())
        }
        _ => ListValues::Attributes(items.iter().map(Item::pair).collect()),
    };
    Ok((ListSet { class, url, values }, items))
}

/// Compiles an attribute of a set. An error names what is missing, and the item.
fn compile_item(schema: &Schema, item: &DynlistItem) -> Result<Item, (&'static str, String)> {
    // slapd has cut the star off by then.
    let text = || item.text.strip_suffix('*').unwrap_or(&item.text).to_owned();
    let mapped = item.mapped.as_ref().map(|name| {
        let found = schema.attribute(name);
        found
            .map(|definition| definition.index)
            .ok_or_else(|| ("mapped AttributeDescription", text()))
    });
    let mapped = mapped.transpose()?;
    let attribute = describe(schema, &item.attribute);
    let attribute = attribute.ok_or_else(|| ("AttributeDescription", text()))?;
    let groups = item.member_of.as_ref().map(|name| {
        let member_of = describe(schema, name);
        let member_of = member_of.ok_or_else(|| ("memberOf AttributeDescription", text()))?;
        let class = item.static_class.as_ref().map(|class| {
            class_filter(schema, class).ok_or_else(|| ("static-oc ObjectClass", text()))
        });
        Ok(Groups {
            member_of,
            static_class: class.transpose()?,
            nested: item.nested,
        })
    });
    Ok(Item {
        mapped,
        attribute,
        groups: groups.transpose()?,
    })
}

/// Refuses groups in an attribute without names, which slapd takes.
fn require_names(schema: &Schema, item: &Item) -> Result<(), String> {
    let Some(groups) = item.groups.as_ref().filter(|_| item.mapped.is_none()) else {
        return Ok(());
    };
    let holds_names =
        |definition: &AttributeType| definition.syntax.is_name() && definition.equality.is_some();
    for description in [&item.attribute, &groups.member_of] {
        let definition = schema.attribute_at(description.attribute);
        if !holds_names(definition) {
            let name = definition.name();
            return Err(format!(
                "{USAGE}: AttributeDescription \"{name}\" must have DN (1.3.6.1.4.1.1466.115.121.1.12) or nameUID (1.3.6.1.4.1.1466.115.121.1.34) syntax."
            ));
        }
    }
    Ok(())
}

impl Item {
    /// Returns the attribute to show, and the one of the entries found.
    fn pair(&self) -> (AttributeIndex, AttributeIndex) {
        let source = self.attribute.attribute;
        (self.mapped.unwrap_or(source), source)
    }
}

/// Returns the memberships of an attribute: in the groups of its set, and in static ones.
fn memberships_of(item: &Item, number: usize, set: &ListSet) -> Vec<Membership> {
    let Some(groups) = &item.groups else {
        return Vec::new();
    };
    let membership = |group: &Filter<AttributeSelector>, set| Membership {
        attribute: groups.member_of.clone(),
        member: item.attribute.clone(),
        group: group.clone(),
        listed: Some(ListedGroups {
            set,
            nested: groups.nested,
        }),
    };
    let dynamic = membership(&set.class, Some(number));
    let fixed = groups
        .static_class
        .iter()
        .map(|class| membership(class, None));
    std::iter::once(dynamic).chain(fixed).collect()
}

fn describe(schema: &Schema, name: &str) -> Option<AttributeDescription> {
    schema.describe_one(name.as_bytes()).ok()
}

/// Returns a filter for the entries of a class and of its subclasses.
fn class_filter(schema: &Schema, name: &str) -> Option<Filter<AttributeSelector>> {
    let class = schema.object_class(name)?;
    let closure = schema.class_closure(name)?;
    Some(Filter::ObjectClass {
        attribute: AttributeDescription::plain(schema.object_class_attribute()),
        class: class.index,
        implied_by: closure.iter().map(|oid| oid.as_bytes().into()).collect(),
    })
}
