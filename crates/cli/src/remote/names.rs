//! Names and filters from what a person types, escaped.

use fulgurite_ldap::dn::{self, write_value_escaped};

/// Returns the DN of an entry below another.
pub(crate) fn child(attribute: &str, value: &str, parent: &str) -> String {
    let mut name = format!("{attribute}=");
    write_value_escaped(&mut name, value.as_bytes());
    if !parent.is_empty() {
        name.push(',');
        name.push_str(parent);
    }
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

/// Returns a DN in one spelling: attribute names and ASCII letters in lower case, equal escapes.
/// Text that is no DN stays as it is.
pub(crate) fn normal(text: &str) -> String {
    let Ok(rdns) = dn::parse(text) else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len());
    dn::write(&mut out, &rdns);
    out.make_ascii_lowercase();
    out
}

/// Returns the DN of the entry above; `None` above a suffix of one part, and for no DN.
pub(crate) fn parent(text: &str) -> Option<String> {
    let rdns = dn::parse(text).ok()?;
    let (_, above) = rdns.split_first()?;
    let mut out = String::new();
    dn::write(&mut out, above);
    (!above.is_empty()).then_some(out)
}

/// Returns the number of parts of a DN; `None` for text that is none.
pub(crate) fn depth(text: &str) -> Option<usize> {
    dn::parse(text).ok().map(|rdns| rdns.len())
}

/// Returns attribute and value of the first part of a DN.
pub(crate) fn first_part(text: &str) -> Option<(String, String)> {
    let rdns = dn::parse(text).ok()?;
    let part = rdns.first()?.first()?;
    let value = String::from_utf8_lossy(&part.value).into_owned();
    Some((part.attribute.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_read_back() {
        let dn = child("cn", " Lovelace, Ada+\"x\"#", "ou=people,dc=x");
        assert_eq!(
            first_part(&dn),
            Some(("cn".to_owned(), " Lovelace, Ada+\"x\"#".to_owned()))
        );
        assert_eq!(parent(&dn).as_deref(), Some("ou=people,dc=x"));
        assert_eq!((parent("dc=x"), depth("ou=a,dc=x")), (None, Some(2)));
        assert_eq!(filter_value("a*(b)\\"), "a\\2a\\28b\\29\\5c");
        assert_eq!(normal("UID=Ada, OU=People,dc=X"), "uid=ada,ou=people,dc=x");
        assert!(is_dn("uid=ada,dc=x") && !is_dn("ada") && !is_dn("a=b=\\"));
    }
}
