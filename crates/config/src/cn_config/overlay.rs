//! Directives of overlays as attributes, in the forms that slapd writes.

use fulgurite_policy::{
    OverlayDirective, OverlayLine, OverlaySettings, OverlayValue, find_overlay,
};

use super::entry::ConfigEntry;
use crate::Sourced;
use crate::value_tokens::{split_value, value_token};

/// The class of all entries of overlays.
const OVERLAY_CLASS: &str = "olcOverlayConfig";

/// Returns the entry of an overlay below its database; `at` is its number.
pub(super) fn entry(at: usize, overlay: &OverlaySettings, above: &str) -> ConfigEntry {
    let name = format!("{{{at}}}{}", overlay.name);
    let dn = format!("olcOverlay={name},olcDatabase={above},cn=config");
    let row = find_overlay(&overlay.name);
    let own = row.map_or(OVERLAY_CLASS, |row| row.olc_class);
    let classes = match own {
        OVERLAY_CLASS => vec![OVERLAY_CLASS],
        own => vec![OVERLAY_CLASS, own],
    };
    let mut entry = ConfigEntry::new(dn, &classes, "olcOverlay", &name);
    for directive in row.into_iter().flat_map(|row| row.directives) {
        let lines = overlay.lines.iter().map(|line| &line.value);
        let own = lines.filter(|line| line.directive == directive);
        entry.add(directive.olc, own.flat_map(values));
    }
    entry
}

/// Reads a value as a directive.
pub(super) fn line(
    directive: &'static OverlayDirective,
    value: &Sourced<String>,
) -> Sourced<OverlayLine> {
    let text = value.value.as_str();
    let arguments = match directive.value {
        // slapd reads a text with blanks only within quotes.
        OverlayValue::Text if !text.starts_with('"') => vec![text.to_owned()],
        _ => split_value(text),
    };
    let line = OverlayLine {
        directive,
        arguments,
    };
    Sourced::new(line, value.origin.clone())
}

/// Returns the values of a directive.
fn values(line: &OverlayLine) -> Vec<String> {
    match line.directive.value {
        OverlayValue::Words => {
            let spelled = |word: &String| value_token(word).unwrap_or_else(|| word.clone());
            let words: Vec<String> = line.arguments.iter().map(spelled).collect();
            vec![words.join(" ")]
        }
        OverlayValue::Text => vec![line.first().to_owned()],
        OverlayValue::EachWord => line.arguments.clone(),
        OverlayValue::QuotedWords => {
            let words = line.arguments.iter().enumerate();
            let words: Vec<String> = words.map(|(at, word)| quoted_word(at, word)).collect();
            vec![words.join(" ")]
        }
    }
}

/// Returns an argument in quotes, unless it is one of the first two or a number.
///
/// Like slapd, it escapes nothing between the quotes.
fn quoted_word(at: usize, word: &str) -> String {
    if at < 2 || word.parse::<i64>().is_ok() {
        return word.to_owned();
    }
    match word.split_once('=') {
        Some((name, value)) if at > 2 => format!("{name}=\"{value}\""),
        _ => format!("\"{word}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_policy::Origin;

    fn read(overlay: &str, olc: &str, value: &str) -> OverlayLine {
        let directive = find_overlay(overlay).and_then(|row| row.directive(olc));
        let value = Sourced::new(value.to_owned(), Origin::Default);
        line(directive.expect(olc), &value).value
    }

    #[test]
    fn values_are_written_as_slapd_writes_them_and_read_back() {
        let rule = "olcConstraintAttribute";
        for (overlay, olc, value, arguments) in [
            (
                "unique",
                "olcUniqueURI",
                "strict ldap:///?mail?sub  ldap:///?cn?one?(sn=a\\2a)",
                &["strict ldap:///?mail?sub  ldap:///?cn?one?(sn=a\\2a)"][..],
            ),
            ("unique", "olcUniqueAttribute", "mail", &["mail"]),
            (
                "constraint",
                rule,
                "mail regex \"^[a-z]+ @x\\.org$\"",
                &["mail", "regex", "^[a-z]+ @x\\.org$"],
            ),
            (
                "constraint",
                rule,
                "title,description size 4 restrict=\"ldap:///ou=p,dc=x??sub?(cn=a b)\"",
                &[
                    "title,description",
                    "size",
                    "4",
                    "restrict=ldap:///ou=p,dc=x??sub?(cn=a b)",
                ],
            ),
            (
                "constraint",
                rule,
                "l uri \"ldap:///dc=x?cn?sub?(cn=*)\"",
                &["l", "uri", "ldap:///dc=x?cn?sub?(cn=*)"],
            ),
            ("syncprov", "olcSpCheckpoint", "100 10", &["100", "10"]),
        ] {
            let line = read(overlay, olc, value);
            assert_eq!(line.arguments, arguments, "{value}");
            assert_eq!(values(&line), [value]);
        }
        let quoted = read("unique", "olcUniqueURI", "\"strict ldap:///?mail?sub\"");
        assert_eq!(quoted.arguments, ["strict ldap:///?mail?sub"]);
        let several = read("unique", "olcUniqueIgnore", "mail uid");
        assert_eq!(values(&several), ["mail", "uid"]);
    }
}
