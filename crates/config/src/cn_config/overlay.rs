//! Directives of overlays as attributes, in the forms that slapd writes.

use fulgurite_policy::{
    OverlayDirective, OverlayLine, OverlaySettings, OverlayValue, find_overlay, overlay_truth,
    result_name, result_number,
};

use super::entry::{ConfigEntry, numbered};
use super::number::without_number;
use crate::Sourced;
use crate::value_tokens::{quoted_token, reads_as, split_value, value_text, value_token};

/// The class of all entries of overlays.
const OVERLAY_CLASS: &str = "olcOverlayConfig";

/// Returns the entry of an overlay below its database; `at` is its number.
pub(super) fn entry(at: usize, overlay: &OverlaySettings, above: &str) -> ConfigEntry {
    let lines = overlay.lines.iter().map(|line| &line.value);
    let lines = lines.filter(|line| !is_below(line.directive));
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
        let own = lines.clone().filter(|line| line.directive == directive);
        let mut shown: Vec<String> = own.flat_map(shown).collect();
        // slapd writes some values that nothing has set.
        if shown.is_empty() {
            shown.extend(directive.default.map(str::to_owned));
        }
        match directive.value {
            OverlayValue::OrderedWords => entry.add(directive.olc, numbered(shown)),
            _ => entry.add(directive.olc, shown),
        }
    }
    entry
}

/// Returns true for a directive that an entry below the overlay has.
pub(super) fn is_below(directive: &OverlayDirective) -> bool {
    directive.olc.starts_with("olcDb")
}

/// Returns the values of a directive. A line without one is shown as its words; no file holds it.
pub(super) fn shown(line: &OverlayLine) -> Vec<String> {
    values(line).unwrap_or_else(|| vec![line.arguments.join(" ")])
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
        OverlayValue::OrderedWords => split_value(without_number(text)),
        _ => split_value(text),
    };
    let line = OverlayLine {
        directive,
        arguments,
    };
    Sourced::new(line, value.origin.clone())
}

/// Returns true if values express a directive.
pub(super) fn has_values(line: &OverlayLine) -> bool {
    values(line).is_some()
}

/// Returns the values of a directive; `None` if none read back as its arguments.
fn values(line: &OverlayLine) -> Option<Vec<String>> {
    let arguments = &line.arguments;
    match line.directive.value {
        OverlayValue::Words => value_text(arguments).map(|text| vec![text]),
        OverlayValue::Truth => {
            let truth = overlay_truth(line.first()).filter(|_| arguments.len() <= 1);
            let text = truth.map(|truth| if truth { "TRUE" } else { "FALSE" }.to_owned());
            let text = text.or_else(|| value_text(arguments));
            text.map(|text| vec![text])
        }
        OverlayValue::ResultCode => {
            let code = result_number(line.first()).filter(|_| arguments.len() <= 1);
            let text = code.map(result_name).or_else(|| value_text(arguments));
            text.map(|text| vec![text])
        }
        OverlayValue::Text => {
            let texts = arguments.first().map(|text| text_value(text));
            texts.into_iter().collect()
        }
        OverlayValue::EachWord => {
            let words = arguments.iter().map(|word| value_token(word));
            words.collect()
        }
        OverlayValue::QuotedWords => {
            let words = arguments.iter().enumerate();
            let words: Option<Vec<_>> = words.map(|(at, word)| quoted_word(at, word)).collect();
            words.map(|words| vec![words.join(" ")])
        }
        OverlayValue::QuotedSecond => {
            let words = arguments.iter().enumerate().map(|(at, word)| match at {
                1 => quoted_token(word),
                _ => value_token(word),
            });
            let words: Option<Vec<_>> = words.collect();
            words.map(|words| vec![words.join(" ")])
        }
        OverlayValue::OrderedWords => {
            let words = arguments.iter().map(|word| match word.contains("://") {
                true => quoted_token(word),
                false => value_token(word),
            });
            let words: Option<Vec<_>> = words.collect();
            words.map(|words| vec![words.join(" ")])
        }
    }
}

/// Returns the value of a text; `None` if no spelling reads back. A value that begins with a quote
/// is read as words.
fn text_value(text: &str) -> Option<String> {
    match text.is_empty() || text.starts_with('"') {
        true => quoted_token(text),
        false => Some(text.to_owned()),
    }
}

/// Returns an argument in quotes, unless it is one of the first two or a number. `None` if no
/// spelling reads back.
///
/// Like slapd, it escapes nothing between the quotes.
fn quoted_word(at: usize, word: &str) -> Option<String> {
    if at < 2 || word.parse::<i64>().is_ok() {
        return value_token(word);
    }
    match word.split_once('=') {
        Some((name, value)) if at > 2 => {
            let text = format!("{name}=\"{value}\"");
            reads_as(&text, word).then_some(text)
        }
        _ => None,
    }
    .or_else(|| quoted_token(word))
}

#[cfg(test)]
mod tests {
    use fulgurite_policy::Origin;
    use proptest::prelude::*;

    use super::*;

    const RULE: &str = "olcConstraintAttribute";

    fn read(overlay: &str, olc: &str, value: &str) -> OverlayLine {
        let directive = find_overlay(overlay).and_then(|row| row.directive(olc));
        let value = Sourced::new(value.to_owned(), Origin::Default);
        line(directive.expect(olc), &value).value
    }

    #[test]
    fn result_codes_are_written_by_name_and_read_in_any_spelling() {
        let directive = find_overlay("memberof")
            .and_then(|row| row.directive("olcMemberOfDanglingError"))
            .expect("a directive");
        for (text, written) in [
            ("32", "noSuchObject"),
            ("NOSUCHOBJECT", "noSuchObject"),
            ("0x15", "invalidSyntax"),
            ("999", "0x3e7"),
            // slapd.conf is read elsewhere, and refuses it there.
            ("foo", "foo"),
        ] {
            let line = OverlayLine {
                directive,
                arguments: vec![text.to_owned()],
            };
            assert_eq!(shown(&line), [written], "{text}");
            assert!(has_values(&line));
            // A change of cn=config keeps its spelling.
            let value = read("memberof", "olcMemberOfDanglingError", text);
            assert_eq!(value.arguments, [text]);
        }
    }

    #[test]
    fn values_are_written_as_slapd_writes_them_and_read_back() {
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
                RULE,
                "mail regex \"^[a-z]+ @x\\.org$\"",
                &["mail", "regex", "^[a-z]+ @x\\.org$"],
            ),
            (
                "constraint",
                RULE,
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
                RULE,
                "l uri \"ldap:///dc=x?cn?sub?(cn=*)\"",
                &["l", "uri", "ldap:///dc=x?cn?sub?(cn=*)"],
            ),
            ("syncprov", "olcSpCheckpoint", "100 10", &["100", "10"]),
            (
                "valsort",
                "olcValSortAttr",
                "title \"ou=my p,dc=x\" weighted alpha-descend",
                &["title", "ou=my p,dc=x", "weighted", "alpha-descend"],
            ),
        ] {
            let line = read(overlay, olc, value);
            assert_eq!(line.arguments, arguments, "{value}");
            assert_eq!(values(&line).unwrap(), [value]);
        }
        let quoted = read("unique", "olcUniqueURI", "\"strict ldap:///?mail?sub\"");
        assert_eq!(quoted.arguments, ["strict ldap:///?mail?sub"]);
        let several = read("unique", "olcUniqueIgnore", "mail uid");
        assert_eq!(values(&several).unwrap(), ["mail", "uid"]);
    }

    #[test]
    fn truth_values_are_shown_in_one_spelling() {
        let refint = |arguments: &[&str]| {
            let directive = find_overlay("memberof");
            let directive = directive.and_then(|row| row.directive("memberof-refint"));
            values(&OverlayLine {
                directive: directive.expect("a directive"),
                arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
            })
        };
        for (arguments, expected) in [
            (&["yes"][..], "TRUE"),
            (&["On"], "TRUE"),
            (&[], "TRUE"),
            (&["off"], "FALSE"),
            (&["FALSE"], "FALSE"),
            (&["foo"], "foo"),
        ] {
            assert_eq!(refint(arguments).expect("a value"), [expected]);
        }
    }

    #[test]
    fn a_rule_that_no_value_expresses_has_none() {
        let rule = |pattern: &str| {
            let directive = find_overlay("constraint").and_then(|row| row.directive(RULE));
            OverlayLine {
                directive: directive.expect(RULE),
                arguments: ["cn", "regex", pattern].map(str::to_owned).to_vec(),
            }
        };
        let written = values(&rule("a\"b")).expect("a value");
        assert_eq!(written, ["cn regex \"a\"\"b\""]);
        assert!(!has_values(&rule("a\" b")));
    }

    proptest! {
        #[test]
        fn a_written_value_reads_back(
            arguments in proptest::collection::vec("[ab=1 \\\\\"]{0,6}", 1..5),
        ) {
            for (overlay, olc) in [
                ("constraint", RULE),
                ("unique", "olcUniqueURI"),
                ("unique", "olcUniqueIgnore"),
                ("syncprov", "olcSpCheckpoint"),
                ("valsort", "olcValSortAttr"),
            ] {
                let directive = find_overlay(overlay).and_then(|row| row.directive(olc));
                let directive = directive.expect(olc);
                let mut arguments = arguments.clone();
                if directive.value == OverlayValue::Text {
                    arguments.truncate(1);
                }
                let line = OverlayLine { directive, arguments };
                let Some(written) = values(&line) else { continue };
                let read: Vec<String> = written
                    .iter()
                    .flat_map(|value| self::read(overlay, olc, value).arguments)
                    .collect();
                prop_assert_eq!(read, line.arguments);
            }
        }
    }
}
