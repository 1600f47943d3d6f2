//! Permissions to act as another user: the values of authzTo and authzFrom.
//!
//! ```text
//! * dn:* dn:cn=x dn.exact:cn=x dn.regex:^cn=.*$ dn.children:dc=x dn.subtree:dc=x
//!     dn.onelevel:dc=x
//!   u:ada   u.mech:ada   u.mech/realm:ada   group:cn=g   group/class/attribute:cn=g   ldap:///dc=x??sub?(cn=a)   cn=x
//! ```

use fulgurite_ldap::{FilterBuf, LdapUrl, Scheme};

use crate::matching::NameResolver;

/// Returns true if the value is one of the forms above. A position in front (`{0}`) is skipped,
/// because the attributes are ordered.
pub(super) fn is_authz(names: &dyn NameResolver, value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else {
        return false;
    };
    let text = without_position(text);
    if text == "*" || is_name(names, text) {
        return true;
    }
    if is_url(text) {
        return url(names, text);
    }
    let Some((kind, rest)) = text.split_once(':') else {
        return false;
    };
    let kind = kind.to_ascii_lowercase();
    match kind.as_str() {
        "dn" | "dn.exact" | "dn.children" | "dn.subtree" | "dn.onelevel" => {
            rest == "*" || is_name(names, rest)
        }
        "dn.regex" => true,
        "group" | "group.exact" => is_name(names, rest),
        "u" => true,
        other if other.starts_with("u.") => true,
        other if other.starts_with("group/") => group(names, other) && is_name(names, rest),
        _ => false,
    }
}

fn without_position(text: &str) -> &str {
    let position = text.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    match position {
        Some((digits, rest)) if digits.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => text,
    }
}

fn is_name(names: &dyn NameResolver, text: &str) -> bool {
    names.normal_dn(text.as_bytes()).is_ok()
}

/// Returns true for `group/class` or `group/class/attribute` of this schema, with or without
/// `.exact`.
fn group(names: &dyn NameResolver, kind: &str) -> bool {
    let kind = kind.strip_suffix(".exact").unwrap_or(kind);
    let mut parts = kind.split('/').skip(1);
    let class = parts.next().is_some_and(|c| names.has_object_class(c));
    class && parts.next().is_none_or(|a| names.has_attribute(a)) && parts.next().is_none()
}

fn is_url(text: &str) -> bool {
    text.get(..7)
        .is_some_and(|start| start.eq_ignore_ascii_case("ldap://"))
}

/// Returns a search of this server: no host, no attributes, a name and a filter that are sound.
fn url(names: &dyn NameResolver, text: &str) -> bool {
    let Ok(url) = LdapUrl::parse(text) else {
        return false;
    };
    url.scheme == Scheme::Ldap
        && url.host.is_none()
        && url.attributes.is_empty()
        && is_name(names, &url.dn)
        && url
            .filter
            .as_ref()
            .is_none_or(|filter| FilterBuf::parse(filter).is_ok())
}
