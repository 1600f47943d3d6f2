//! Compares names without a schema: a configuration names entries before its definitions are read.

/// Returns true if a name is another one or below it. Escapes (`\,`, `\2C`) mean what they mean in
/// any name; case and blanks around values do not count.
pub(crate) fn is_within(name: &str, suffix: &str) -> bool {
    suffix.trim().is_empty() || parts(name).ends_with(&parts(suffix))
}

/// Returns true if two names are the same one.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    parts(a) == parts(b)
}

/// Returns the parts of a name, in lower case and without escapes.
fn parts(name: &str) -> Vec<String> {
    let parts = split_unescaped(name, b',').into_iter().map(|part| {
        let (attribute, value) = part.split_once('=').unwrap_or((part, ""));
        format!("{}={}", attribute.trim(), unescaped(value))
    });
    parts.map(|part| part.to_lowercase()).collect()
}

/// Splits a text at a character that no backslash precedes.
fn split_unescaped(text: &str, at: u8) -> Vec<&str> {
    let (mut parts, mut begin, mut is_escaped) = (Vec::new(), 0, false);
    for (place, byte) in text.bytes().enumerate() {
        if byte == at && !is_escaped {
            parts.extend(text.get(begin..place));
            begin = place + 1;
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    parts.extend(text.get(begin..));
    parts
}

/// Returns a value without its escapes, and without blanks around it that none protects.
fn unescaped(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let (mut rest, mut protected) = (value.trim_start().as_bytes(), 0);
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = digits.filter(|two| two.bytes().all(|one| one.is_ascii_hexdigit()));
        let code = code.and_then(|two| u8::from_str_radix(two, 16).ok());
        let (byte, used) = match (code, after.first()) {
            (Some(code), _) => (code, 2),
            (None, Some(next)) => (*next, 1),
            (None, None) => (b'\\', 0),
        };
        // A plus sign between values is none within a value.
        if byte == b'+' {
            bytes.push(b'\\');
        }
        bytes.push(byte);
        protected = bytes.len();
        rest = after.get(used..).unwrap_or_default();
    }
    while bytes.len() > protected && bytes.last() == Some(&b' ') {
        bytes.pop();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_do_not_count() {
        for (a, b) in [
            (r"o=Müller\, Söhne,c=DE", r"O = müller\2C Söhne , c=de"),
            (r"o=M\C3\BCller,c=DE", "o=Müller,c=de"),
            (r#"cn=a\"b"#, r"cn=a\22b"),
            (r"cn=a\\", r"cn=a\5C"),
            (r"cn=a\ ", r"cn=a\20"),
            (r"cn=a\+b", r"cn=a\2bb"),
        ] {
            assert!(same_name(a, b), "{a} {b}");
            assert!(is_within(&format!("cn=x,{b}"), a), "{a} {b}");
            assert!(!is_within(a, &format!("cn=x,{b}")), "{a} {b}");
        }
    }

    #[test]
    fn other_names_are_others() {
        for (a, b) in [
            (r"o=a\,b,c=de", "o=a,b,c=de"),
            (r"cn=a\+b=c", "cn=a+b=c"),
            (r"cn=a\ ", "cn=a"),
            ("cn=a", "cn=b"),
            (r"cn=a\", "cn=a"),
        ] {
            assert!(!same_name(a, b), "{a} {b}");
        }
        assert!(is_within("cn=x", "") && !is_within("cn=x", "cn=y"));
    }
}
