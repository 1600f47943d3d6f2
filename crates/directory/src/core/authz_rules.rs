//! The values of `authzTo` and `authzFrom`, which say who may act for whom.
//!
//! | form | matches |
//! | --- | --- |
//! | `dn[.exact]:<name>`, `<name>` | that name |
//! | `dn.onelevel:`, `dn.children:`, `dn.subtree:` | names below, and the name itself for `subtree` |
//! | `dn.regex:<pattern>` | names that match the pattern |
//! | `dn:*`, `*` | every authenticated identity |
//! | `u:<user>` | the entry the user is mapped to |
//! | `group[/<class>[/<attribute>]]:<name>` | the group's members |
//! | `ldap:///<base>??<scope>?<filter>` | entries that a search would find |

use fulgurite_auth::AuthzId;
use fulgurite_ldap::LdapUrl;
use fulgurite_schema::{AttributeDescription, Dn, Schema};
use regex::{Regex, RegexBuilder};

/// One value.
pub(crate) enum Rule {
    Everybody,
    Dn {
        style: Style,
        dn: Dn,
    },
    Regex(Regex),
    User(AuthzId),
    Group {
        dn: Dn,
        class: String,
        member: AttributeDescription,
    },
    Url(LdapUrl),
}

/// The names around a base that a rule matches.
#[derive(Clone, Copy)]
pub(crate) enum Style {
    Exact,
    OneLevel,
    Children,
    Subtree,
}

impl Style {
    pub(crate) fn fits(self, base: &Dn, name: &Dn) -> bool {
        match self {
            Style::Exact => name == base,
            Style::OneLevel => name.parent().is_some_and(|parent| parent == *base),
            Style::Children => name.is_under(base),
            Style::Subtree => name.is_within(base),
        }
    }
}

/// Parses a value; `None` for a value of no known form, which matches nothing.
pub(crate) fn parse(schema: &Schema, text: &str) -> Option<Rule> {
    // A number in braces keeps the values in order (X-ORDERED).
    let text = match text.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => text,
    };
    if text == "*" {
        return Some(Rule::Everybody);
    }
    if text.contains("://") {
        return LdapUrl::parse(text)
            .ok()
            .filter(|url| url.host.is_none())
            .map(Rule::Url);
    }
    let exact = |name: &str| {
        Some(Rule::Dn {
            style: Style::Exact,
            dn: Dn::parse(schema, name).ok()?,
        })
    };
    let Some((kind, rest)) = text.split_once(':') else {
        return exact(text);
    };
    let kind = kind.to_ascii_lowercase();
    if kind == "u" || kind.starts_with("u.") {
        return AuthzId::parse(text).map(Rule::User);
    }
    if kind == "group" || kind.starts_with("group/") {
        return group(schema, &kind, rest);
    }
    let style = match kind.as_str() {
        "dn" if rest == "*" => return Some(Rule::Everybody),
        "dn" | "dn.exact" => Style::Exact,
        "dn.onelevel" => Style::OneLevel,
        "dn.children" => Style::Children,
        "dn.subtree" => Style::Subtree,
        "dn.regex" => {
            let mut builder = RegexBuilder::new(rest);
            builder.case_insensitive(true).size_limit(1 << 20);
            return builder.build().ok().map(Rule::Regex);
        }
        _ => return exact(text),
    };
    let dn = Dn::parse(schema, rest).ok()?;
    Some(Rule::Dn { style, dn })
}

fn group(schema: &Schema, kind: &str, name: &str) -> Option<Rule> {
    let mut parts = kind.splitn(3, '/').skip(1);
    let class = parts.next().unwrap_or("groupOfNames");
    let member = parts.next().unwrap_or("member");
    let class = schema.object_class(class)?.oid.as_str().to_owned();
    let member = schema.attribute(member)?;
    Some(Rule::Group {
        dn: Dn::parse(schema, name).ok()?,
        class,
        member: AttributeDescription::plain(member.index),
    })
}
