//! Regular expressions as rules write them, and texts that take up what such an expression has
//! found.
//!
//! Rules are written in POSIX extended syntax, matched without regard to case. They run on the
//! `regex` crate: time linear in the text, no back references. One difference remains: of several
//! alternatives that match at one position the first counts, not the longest. Only sub-matches show
//! it.

use std::ops::Range;

use regex::{Regex, RegexBuilder};

/// Bytes a compiled expression may take.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
}

/// The ranges that the groups of an expression matched. Group 0 is the whole match.
pub(crate) type Captures = Vec<Option<Range<usize>>>;

impl Pattern {
    /// Compiles an expression that ignores case; the error is a sentence.
    pub(crate) fn new(posix: &str) -> Result<Pattern, String> {
        Pattern::compile(posix, true)
    }

    /// Compiles an expression that observes case.
    ///
    /// # Errors
    /// A sentence about the first error.
    pub fn exact_case(posix: &str) -> Result<Pattern, String> {
        Pattern::compile(posix, false)
    }

    fn compile(posix: &str, ignore_case: bool) -> Result<Pattern, String> {
        RegexBuilder::new(&translated(posix)?)
            .case_insensitive(ignore_case)
            .dot_matches_new_line(true)
            .size_limit(COMPILED_BYTES_MAX)
            .build()
            .map(|regex| Pattern { regex })
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => "the regular expression is too large".to_owned(),
                error => format!("bad regular expression: {}", last_line(&error.to_string())),
            })
    }

    /// Returns true if the expression matches somewhere in the text.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    pub(crate) fn captures(&self, text: &str) -> Option<Captures> {
        let found = self.regex.captures(text)?;
        Some(
            found
                .iter()
                .map(|group| group.map(|group| group.range()))
                .collect(),
        )
    }
}

fn last_line(text: &str) -> &str {
    let last = text.lines().last().unwrap_or(text);
    last.strip_prefix("error: ").unwrap_or(last)
}

/// Translates POSIX extended syntax into the syntax of the `regex` crate.
fn translated(posix: &str) -> Result<String, String> {
    let mut out = String::with_capacity(posix.len() + 8);
    let mut chars = posix.chars().peekable();
    // Where the last piece begins, for a second quantifier; groups remember where they began.
    let mut piece = None;
    let mut groups = Vec::new();
    let mut quantified = false;
    while let Some(c) = chars.next() {
        let start = out.len();
        match c {
            '(' => {
                groups.push(start);
                out.push('(');
                (piece, quantified) = (None, false);
                continue;
            }
            ')' if !groups.is_empty() => {
                out.push(')');
                (piece, quantified) = (groups.pop(), false);
                continue;
            }
            ')' => return Err("bad regular expression: unopened group".to_owned()),
            '|' => {
                out.push('|');
                (piece, quantified) = (None, false);
                continue;
            }
            '*' | '+' | '?' | '{' => {
                let bound = match c {
                    '{' => interval(&mut chars)?,
                    c => c.to_string(),
                };
                let Some(from) = piece else {
                    // Nothing to repeat: the character is literal.
                    push_literal(&mut out, &bound);
                    (piece, quantified) = (Some(start), false);
                    continue;
                };
                if quantified {
                    out.insert_str(from, "(?:");
                    out.push(')');
                }
                out.push_str(&bound);
                quantified = true;
                continue;
            }
            '[' => bracket(&mut chars, &mut out)?,
            '\\' => {
                let escaped = chars
                    .next()
                    .ok_or("bad regular expression: trailing backslash")?;
                escape(&mut out, escaped)?;
            }
            '.' | '^' | '$' => out.push(c),
            c => push_literal(&mut out, c.encode_utf8(&mut [0; 4])),
        }
        (piece, quantified) = (Some(start), false);
    }
    Ok(out)
}

fn push_literal(out: &mut String, text: &str) {
    out.push_str(&regex::escape(text));
}

fn escape(out: &mut String, escaped: char) -> Result<(), String> {
    match escaped {
        'w' | 'W' | 's' | 'S' | 'b' | 'B' => {
            out.push('\\');
            out.push(escaped);
        }
        '<' => out.push_str(r"\b{start}"),
        '>' => out.push_str(r"\b{end}"),
        '1'..='9' => {
            return Err("bad regular expression: back references are not supported".to_owned());
        }
        other => push_literal(out, other.encode_utf8(&mut [0; 4])),
    }
    Ok(())
}

/// Reads `{n}`, `{n,}` or `{n,m}` after its opening brace.
fn interval(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String, String> {
    let mut text = "{".to_owned();
    for c in chars.by_ref() {
        text.push(c);
        match c {
            '}' => return Ok(text),
            ',' | '0'..='9' => {}
            _ => break,
        }
    }
    Err("bad regular expression: invalid repetition".to_owned())
}

/// Returns a bracket expression after its `[`. Backslashes are ordinary there, and so are the set
/// operations of the other syntax.
fn bracket(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    out: &mut String,
) -> Result<(), String> {
    let unclosed = || "bad regular expression: unclosed bracket".to_owned();
    out.push('[');
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut first = true;
    loop {
        let c = chars.next().ok_or_else(unclosed)?;
        match c {
            ']' if !first => {
                out.push(']');
                return Ok(());
            }
            '[' if chars.next_if_eq(&':').is_some() => {
                out.push_str("[:");
                for c in chars.by_ref() {
                    out.push(c);
                    if c == ']' {
                        break;
                    }
                }
            }
            '[' if matches!(chars.peek(), Some('.' | '=')) => {
                return Err("bad regular expression: collation is not supported".to_owned());
            }
            ']' | '[' | '\\' | '&' | '~' | '^' => {
                out.push('\\');
                out.push(c);
            }
            '-' if first || chars.peek() == Some(&']') => out.push_str(r"\-"),
            c => out.push(c),
        }
        first = false;
    }
}

/// A text with places for sub-matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// Of the target's name.
    Name(usize),
    /// Of the value.
    Value(usize),
}

/// Sub-matches of a rule's target.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubMatches {
    pub(crate) name: (String, Captures),
    pub(crate) value: (String, Captures),
}

impl Template {
    /// Parses a text. `$1`, `${1}`, `${d1}` and `${v1}` are placeholders, `$$` is a dollar.
    pub(crate) fn parse(text: &str) -> Result<Template, String> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            literal.push_str(before);
            let (piece, left) = placeholder(after)?;
            match piece {
                Piece::Text(text) => literal.push_str(&text),
                place => {
                    if !literal.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut literal)));
                    }
                    pieces.push(place);
                }
            }
            rest = left;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Ok(Template { pieces })
    }

    /// Returns the text, if it has no places.
    pub(crate) fn constant(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Puts in what was found; nothing for what was not.
    pub(crate) fn expand(&self, found: &SubMatches) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Name(group) => out.push_str(group_of(&found.name, *group)),
                Piece::Value(group) => out.push_str(group_of(&found.value, *group)),
            }
        }
        out
    }
}

fn group_of((text, found): &(String, Captures), group: usize) -> &str {
    let range = found.get(group).cloned().flatten();
    range.and_then(|range| text.get(range)).unwrap_or_default()
}

/// Parses the placeholder after a dollar. Returns it and the rest of the text.
fn placeholder(after: &str) -> Result<(Piece, &str), String> {
    let mut chars = after.chars();
    match chars.next() {
        Some('$') => Ok((Piece::Text("$".to_owned()), chars.as_str())),
        Some(digit @ '0'..='9') => {
            let group = digit.to_digit(10).unwrap_or_default() as usize;
            Ok((Piece::Name(group), chars.as_str()))
        }
        Some('{') => {
            let (inside, left) = chars
                .as_str()
                .split_once('}')
                .ok_or("the brace after $ is not closed")?;
            let number = |text: &str| {
                text.parse()
                    .map_err(|_| format!("${{{inside}}} names no sub-match"))
            };
            let piece = match inside.as_bytes().first() {
                Some(b'v' | b'V') => Piece::Value(number(&inside[1..])?),
                Some(b'd' | b'D') => Piece::Name(number(&inside[1..])?),
                _ => Piece::Name(number(inside)?),
            };
            Ok((piece, left))
        }
        // A dollar that was meant as the end of an expression.
        _ => Ok((Piece::Text("$".to_owned()), after)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> Option<Vec<String>> {
        let groups = Pattern::new(pattern).expect(pattern).captures(text)?;
        let text = |range: Option<Range<usize>>| range.map_or(String::new(), |r| text[r].into());
        Some(groups.into_iter().map(text).collect())
    }

    #[test]
    fn extended_syntax_keeps_its_meaning() {
        let cases = [
            ("^(.+,)?uid=([^,]+),dc=com$", "UID=x,dc=com", true),
            (r"[\d]+", "d", true),
            (r"[\d]", "5", false),
            ("[]a]+$", "]a]", true),
            ("[a&&b]+$", "&", true),
            ("[a-]+$", "-", true),
            ("[[:digit:]x]+$", "1x2", true),
            (r"a\.b", "axb", false),
            ("a*?b", "aaab", true),
            ("(?i)", "i", false),
            ("*a", "*a", true),
            ("a{2,3}$", "aaa", true),
            ("^a{2}$", "aaa", false),
            (r"\d", "d", true),
            ("x|", "", true),
        ];
        for (pattern, text, matches) in cases {
            let Ok(compiled) = Pattern::new(pattern) else {
                assert!(!matches, "{pattern} does not compile");
                continue;
            };
            assert_eq!(compiled.is_match(text), matches, "{pattern} on {text}");
        }
        assert_eq!(
            found("(a)(x)?(b)", "ab"),
            Some(vec!["ab".into(), "a".into(), String::new(), "b".into()])
        );
        // A lazy quantifier of the other syntax is a second quantifier here.
        assert_eq!(
            found("a+?", "aaa").map(|f| f[0].clone()),
            Some("aaa".to_owned())
        );
        for bad in ["(", ")", "[a", "a{", "a{x}", r"\", r"(a)\1", "[[.x.]]"] {
            assert!(Pattern::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn templates() {
        let found = SubMatches {
            name: (
                "uid=x,dc=com".to_owned(),
                vec![Some(0..12), Some(4..5), None],
            ),
            value: ("v".to_owned(), vec![Some(0..1)]),
        };
        let expand = |text: &str| Template::parse(text).map(|template| template.expand(&found));
        assert_eq!(
            expand("cn=$1-${1}-${d1}-${v0}$$"),
            Ok("cn=x-x-x-v$".to_owned())
        );
        assert_eq!(expand("$0|$2|$7"), Ok("uid=x,dc=com||".to_owned()));
        assert_eq!(expand("a$"), Ok("a$".to_owned()));
        assert!(expand("${1").is_err() && expand("${x}").is_err());
        let constant = Template::parse("a$$b").expect("a template");
        assert_eq!(constant.constant(), Some("a$b"));
    }
}
