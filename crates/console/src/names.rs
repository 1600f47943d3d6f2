//! Names and filters from text, escaped.

use fulgurite_ldap::dn::{self, write_value_escaped};

/// Returns the DN of an entry below another.
pub(crate) fn child(attribute: &str, value: &str, parent: &str) -> String {
    let mut name = rdn(attribute, value);
    if !parent.is_empty() {
        name.push(',');
        name.push_str(parent);
    }
    name
}

/// Returns the first part of a DN.
pub(crate) fn rdn(attribute: &str, value: &str) -> String {
    let mut name = format!("{attribute}=");
    write_value_escaped(&mut name, value.as_bytes());
    name
}

/// Returns true for text that is a DN rather than a short name.
pub(crate) fn is_dn(text: &str) -> bool {
    text.contains('=') && dn::parse(text).is_ok()
}

/// Returns a value as a filter has it (RFC 4515).
pub(crate) fn filter_value(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '*' | '(' | ')' | '\\' | '\0' => out.push_str(&format!("\\{:02x}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out
}

/// Returns a DN in one spelling, for comparison.
pub(crate) fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    match dn::parse(text) {
        Ok(rdns) => dn::write(&mut out, &rdns),
        Err(_) => out.push_str(text),
    }
    out.to_lowercase()
}

/// Returns the first part of a DN and the name of the entry above.
pub(crate) fn split(text: &str) -> Option<(String, String)> {
    let rdns = dn::parse(text).ok()?;
    let (first, above) = rdns.split_first()?;
    let (mut rdn, mut parent) = (String::new(), String::new());
    dn::write(&mut rdn, std::slice::from_ref(first));
    dn::write(&mut parent, above);
    Some((rdn, parent))
}

/// Returns the attributes of the first part of a DN.
pub(crate) fn rdn_attributes(text: &str) -> Vec<String> {
    let rdns = dn::parse(text).unwrap_or_default();
    let first = rdns.first().into_iter().flatten();
    first
        .map(|part| part.attribute.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_split() {
        let dn = child("cn", "Lovelace, Ada+\"x\"#", "ou=people,dc=x");
        let (rdn, parent) = split(&dn).unwrap();
        assert_eq!(parent, "ou=people,dc=x");
        assert_eq!(child_of(&rdn, &parent), dn);
        assert_eq!(filter_value("a*(b)\\"), "a\\2a\\28b\\29\\5c");
        assert_eq!(normal("UID=Ada, OU=People,dc=X"), "uid=ada,ou=people,dc=x");
        assert!(is_dn("uid=ada,dc=x") && !is_dn("ada") && !is_dn("a=b=\\"));
        assert_eq!(rdn_attributes("CN=a+uid=b,dc=x"), ["cn", "uid"]);
    }

    fn child_of(rdn: &str, parent: &str) -> String {
        format!("{rdn},{parent}")
    }
}
