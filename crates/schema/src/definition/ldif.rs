//! Schema in LDIF: entries below cn=schema,cn=config (`olcAttributeTypes: {0}( ... )`). It also
//! reads the subschema entry as other servers export it (`attributeTypes: ( ... )`, RFC 4512,
//! section 4.2). ( ... )`; RFC 4512, section 4.2).

use super::statement::Statement;

/// The attributes that hold definitions, without `olc`. Everything else in such a file is about the
/// entry itself.
const ATTRIBUTES: [&str; 8] = [
    "objectidentifier",
    "attributetypes",
    "objectclasses",
    "ditcontentrules",
    "ldapsyntaxes",
    "attributeoptions",
    "nameforms",
    "ditstructurerules",
];

/// Returns true if a text is LDIF rather than a `.schema` file. Its first line that is neither
/// empty nor a comment then has a colon after its first word. The word is no keyword of `.schema`
/// files.
pub(super) fn looks_like_ldif(text: &str) -> bool {
    let first = text.lines().find(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let Some((word, rest)) = first.and_then(|line| line.split_once(':')) else {
        return false;
    };
    let word = word.trim_start_matches('\u{feff}');
    let attribute = !word.is_empty()
        && word
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b';' | b'.'));
    attribute
        && (rest.is_empty() || rest.starts_with([' ', ':', '<', '(']) || word == "version")
        && !matches!(
            word.to_ascii_lowercase().as_str(),
            "attributetype" | "objectclass" | "ditcontentrule" | "ldapsyntax"
        )
}

/// Returns all statements of a file; macros first, because an entry may hold its attributes in any
/// order.
///
/// # Errors
/// Line and reason when a value in base64 is none, or is not UTF-8.
pub(super) fn statements(text: &str) -> Result<Vec<Statement>, (usize, String)> {
    let mut all = Vec::new();
    for (line, logical) in unfolded(text) {
        let Some((attribute, value)) = logical.split_once(':') else {
            continue;
        };
        let attribute = attribute.to_ascii_lowercase();
        let attribute = attribute.split(';').next().unwrap_or_default();
        let keyword = attribute.strip_prefix("olc").unwrap_or(attribute);
        if !ATTRIBUTES.contains(&keyword) {
            continue;
        }
        let value = match value.strip_prefix(':') {
            None => value.trim().to_owned(),
            Some(encoded) => decoded(encoded.trim())
                .ok_or_else(|| (line, "the value is not base64 of UTF-8".to_owned()))?,
        };
        all.push(Statement {
            line,
            keyword: keyword.to_owned(),
            value: without_index(&value).to_owned(),
        });
    }
    all.sort_by_key(|statement| statement.keyword != "objectidentifier");
    Ok(all)
}

/// Joins lines with their continuations (RFC 2849: a line break and one space vanish), and drops
/// comments.
fn unfolded(text: &str) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    let mut in_comment = false;
    for (number, line) in text.lines().enumerate() {
        if let Some(continued) = line.strip_prefix(' ') {
            if let (Some((_, logical)), false) = (all.last_mut(), in_comment) {
                logical.push_str(continued);
            }
            continue;
        }
        in_comment = line.starts_with('#');
        if !in_comment {
            all.push((number + 1, line.trim_start_matches('\u{feff}').to_owned()));
        }
    }
    all
}

/// Removes the position of `{12}( ... )`, which orders values in the configuration tree.
fn without_index(value: &str) -> &str {
    let Some((digits, rest)) = value
        .strip_prefix('{')
        .and_then(|rest| rest.split_once('}'))
    else {
        return value;
    };
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        rest.trim_start()
    } else {
        value
    }
}

/// Decodes base64 (RFC 4648, section 4) of UTF-8 text.
fn decoded(text: &str) -> Option<String> {
    let digit = |b: u8| match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a' + 26),
        b'0'..=b'9' => Some(b - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut bits) = (0u32, 0u32);
    for b in text.trim_end_matches('=').bytes() {
        held = held << 6 | u32::from(digit(b)?);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_files_are_ldif() {
        for ldif in [
            "# c\n\ndn: cn=core,cn=schema,cn=config\n",
            "dn:: Y249eA==\n",
            "version: 1\n\ndn: cn=schema\n",
            "\u{feff}dn: cn=schema\n",
            "attributeTypes: ( 1.2.3 NAME 'x' SUP name )\n",
            "olcAttributeTypes: {0}( 1.2.3 NAME 'x' SUP name )\n",
        ] {
            assert!(looks_like_ldif(ldif), "{ldif}");
        }
        for schema in [
            "",
            "# dn: in a comment\nattributetype ( 1.2.3 NAME 'x' SUP name )",
            "objectidentifier a b:1",
            "attributetype: ( 1.2.3 NAME 'x' SUP name )",
            "objectclass ( a:1 NAME 'x' )",
        ] {
            assert!(!looks_like_ldif(schema), "{schema}");
        }
    }

    #[test]
    fn values_are_unfolded_decoded_and_lose_their_index() {
        let text = "dn: cn=x,cn=schema,cn=config\nobjectClass: olcSchemaConfig\n# a comment\n that goes on\nolcAttributeTypes: {0}( 1.2.3 NA\n ME 'x' )\nattributeTypes;x-more:: KCAxLjIgREVTQyAnw6knICk=\nolcObjectIdentifier: a 1.2\n";
        let all = statements(text).unwrap();
        let seen: Vec<(usize, &str, &str)> = all
            .iter()
            .map(|s| (s.line, s.keyword.as_str(), s.value.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                (8, "objectidentifier", "a 1.2"),
                (5, "attributetypes", "( 1.2.3 NAME 'x' )"),
                (7, "attributetypes", "( 1.2 DESC 'é' )"),
            ]
        );
        assert_eq!(statements("a: b\nattributeTypes:: *\n").unwrap_err().0, 2);
    }
}
