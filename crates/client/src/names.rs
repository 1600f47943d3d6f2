//! Names and filters from what a person types, escaped.

use fulgurite_ldap::dn::{self, write_value_escaped};

/// Returns the DN of an entry below another.
#[must_use]
pub fn child(attribute: &str, value: &str, parent: &str) -> String {
    let mut name = format!("{attribute}=");
    write_value_escaped(&mut name, value.as_bytes());
    if !parent.is_empty() {
        name.push(',');
        name.push_str(parent);
    }
    name
}

/// Returns true for text that is a DN rather than a short name.
#[must_use]
pub fn is_dn(text: &str) -> bool {
    text.contains('=') && dn::parse(text).is_ok()
}

/// Returns a value as a filter has it (RFC 4515).
#[must_use]
pub fn filter_value(value: &str) -> String {
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
#[must_use]
pub fn normal(text: &str) -> String {
    let Ok(rdns) = dn::parse(text) else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len());
    dn::write(&mut out, &rdns);
    out.make_ascii_lowercase();
    out
}

/// Returns the DN of the entry above; `None` above a suffix of one part, and for no DN.
#[must_use]
pub fn parent(text: &str) -> Option<String> {
    split(text)
        .map(|(_, parent)| parent)
        .filter(|parent| !parent.is_empty())
}

/// Returns the first part of a DN and the name of the entry above, empty if there is none. `None`
/// for text that is no DN.
#[must_use]
pub fn split(text: &str) -> Option<(String, String)> {
    let rdns = dn::parse(text).ok()?;
    let (first, above) = rdns.split_first()?;
    let (mut rdn, mut parent) = (String::new(), String::new());
    dn::write(&mut rdn, std::slice::from_ref(first));
    dn::write(&mut parent, above);
    Some((rdn, parent))
}

/// Returns the number of parts of a DN; `None` for text that is none.
#[must_use]
pub fn depth(text: &str) -> Option<usize> {
    dn::parse(text).ok().map(|rdns| rdns.len())
}

/// Returns attribute and value of the first part of a DN.
#[must_use]
pub fn first_part(text: &str) -> Option<(String, String)> {
    let rdns = dn::parse(text).ok()?;
    let part = rdns.first()?.first()?;
    let value = String::from_utf8_lossy(&part.value).into_owned();
    Some((part.attribute.to_owned(), value))
}

/// Returns the attributes of the first part of a DN, in lower case.
#[must_use]
pub fn rdn_attributes(text: &str) -> Vec<String> {
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
    fn names_are_escaped_and_read_back() {
        let dn = child("cn", " Lovelace, Ada+\"x\"#", "ou=people,dc=x");
        assert_eq!(
            first_part(&dn),
            Some(("cn".to_owned(), " Lovelace, Ada+\"x\"#".to_owned()))
        );
        assert_eq!(parent(&dn).as_deref(), Some("ou=people,dc=x"));
        let (rdn, above) = split(&dn).expect("a DN");
        assert_eq!(format!("{rdn},{above}"), dn);
        assert_eq!(rdn_attributes("CN=a+uid=b,dc=x"), ["cn", "uid"]);
        assert_eq!((parent("dc=x"), depth("ou=a,dc=x")), (None, Some(2)));
        assert_eq!(filter_value("a*(b)\\"), "a\\2a\\28b\\29\\5c");
        assert_eq!(normal("UID=Ada, OU=People,dc=X"), "uid=ada,ou=people,dc=x");
        assert!(is_dn("uid=ada,dc=x") && !is_dn("ada") && !is_dn("a=b=\\"));
    }
}
