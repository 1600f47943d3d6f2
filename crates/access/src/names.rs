//! Sets of names, as rules describe them.

use fulgurite_schema::{Dn, Schema, normal_is_under};

use crate::pattern::{Found, Pattern, Template};

/// Which names: all comparisons are of normal forms.
#[derive(Clone, Debug)]
pub(crate) enum Names {
    Any,
    Base(String),
    One(String),
    Subtree(String),
    Children(String),
    /// Names that many levels below.
    Level(String, usize),
    /// Names an expression matches. Where a comparison says the same as the expression, it is asked instead.
    Regex(Box<Pattern>, Option<Box<Names>>),
}

/// How a name is compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Base,
    One,
    Subtree,
    Children,
    Level(usize),
    Regex,
}

/// A set of names that may depend on what the rule's target matched.
#[derive(Clone, Debug)]
pub(crate) enum NameTest {
    Fixed(Names),
    Expanded(Style, Template),
}

impl Names {
    /// `pattern` in that style. A regular expression is compiled, anything else is a name.
    pub(crate) fn new(schema: &Schema, style: Style, pattern: &str) -> Result<Names, String> {
        if style == Style::Regex {
            let quick = quick(schema, pattern);
            return Ok(match quick {
                Some(Names::Any) => Names::Any,
                quick => Names::Regex(Box::new(Pattern::new(pattern)?), quick.map(Box::new)),
            });
        }
        let dn = Dn::parse(schema, pattern).map_err(|error| error.to_string())?;
        let normal = dn.normal().to_owned();
        Ok(match style {
            Style::One => Names::One(normal),
            Style::Subtree => Names::Subtree(normal),
            Style::Children => Names::Children(normal),
            Style::Level(0) | Style::Base | Style::Regex => Names::Base(normal),
            Style::Level(depth) => Names::Level(normal, depth),
        })
    }

    pub(crate) fn contains(&self, normal: &str) -> bool {
        match self {
            Names::Any => true,
            Names::Base(base) => normal == base,
            Names::One(base) => !normal.is_empty() && parent(normal) == base,
            Names::Subtree(base) => {
                base.is_empty() || normal == base || normal_is_under(normal, base)
            }
            Names::Children(base) => normal_is_under(normal, base),
            Names::Level(base, depth) => ancestor(normal, *depth) == Some(base),
            Names::Regex(_, Some(quick)) => quick.contains(normal),
            Names::Regex(pattern, None) => pattern.is_match(normal),
        }
    }

    /// What of the name was matched: group 0 is all of it; group 1 of a subtree and the like is the base.
    pub(crate) fn found_in(&self, normal: &str) -> Found {
        let whole = 0..normal.len();
        let base_of = |base: &str| normal.len().saturating_sub(base.len())..normal.len();
        match self {
            Names::Any | Names::Base(_) => vec![Some(whole)],
            Names::One(base)
            | Names::Subtree(base)
            | Names::Children(base)
            | Names::Level(base, _) => vec![Some(whole), Some(base_of(base))],
            Names::Regex(pattern, _) => pattern.captures(normal).unwrap_or_default(),
        }
    }

    /// Whether a name's being in it has to be found out for each.
    pub(crate) fn is_any(&self) -> bool {
        matches!(self, Names::Any)
    }
}

/// A raw `,` occurs only between RDNs of a normal form.
pub(crate) fn parent(normal: &str) -> &str {
    normal.split_once(',').map_or("", |(_, above)| above)
}

/// The name that many levels above; `None` above the root.
pub(crate) fn ancestor(normal: &str, levels: usize) -> Option<&str> {
    let mut name = normal;
    for _ in 0..levels {
        if name.is_empty() {
            return None;
        }
        name = parent(name);
    }
    Some(name)
}

/// The comparison that says the same as an expression, for the expressions that administrators write most.
fn quick(schema: &Schema, pattern: &str) -> Option<Names> {
    if matches!(pattern, "*" | ".*" | "^.*$" | ".*$" | "^.*") {
        return Some(Names::Any);
    }
    let anchored = pattern.strip_prefix('^');
    let body = anchored.unwrap_or(pattern).strip_suffix('$')?;
    type Form = (&'static str, fn(String) -> Names);
    let forms: [Form; 7] = [
        ("(.+,)?", Names::Subtree),
        ("(.*,)?", Names::Subtree),
        (".+,", Names::Children),
        (".*,", Names::Children),
        ("(.+),", Names::Children),
        ("[^,]+,", Names::One),
        ("", Names::Base),
    ];
    let (text, make) = forms
        .into_iter()
        .find_map(|(prefix, make)| Some((body.strip_prefix(prefix)?, make)))?;
    let floating = matches!(
        make(String::new()),
        Names::One(_) | Names::Base(_) | Names::Subtree(_)
    );
    if floating && anchored.is_none() {
        return None;
    }
    literal_name(schema, text).map(make)
}

/// The normal form of a name without anything special, which compares without regard to case anyhow.
fn literal_name(schema: &Schema, text: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ',' | '=' | '-' | '_' | ' ');
    if text.is_empty() || !text.chars().all(plain) {
        return None;
    }
    let normal = |text: &str| Some(Dn::parse(schema, text).ok()?.normal().to_owned());
    let lower = normal(&text.to_ascii_lowercase())?;
    let same = normal(&text.to_ascii_uppercase())? == lower && lower.eq_ignore_ascii_case(text);
    same.then_some(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_that_are_comparisons() {
        let schema = Schema::standard();
        let plain = |pattern: &str| quick(&schema, pattern).map(|names| format!("{names:?}"));
        let base = "\"dc=example,dc=com\"";
        for (pattern, kind) in [
            ("^(.+,)?dc=Example,dc=com$", "Subtree"),
            (".+,dc=example,dc=com$", "Children"),
            ("^[^,]+,dc=example,dc=com$", "One"),
            ("^dc=example,dc=com$", "Base"),
        ] {
            assert_eq!(plain(pattern), Some(format!("{kind}({base})")), "{pattern}");
        }
        for pattern in [
            "dc=example,dc=com$",
            "(.+,)?dc=example,dc=com$",
            "^dc=example,dc=com",
            "^dc=ex.mple,dc=com$",
            "^dc= example,dc=com$",
            "^uid=[^,]+,dc=example,dc=com$",
        ] {
            assert_eq!(plain(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn what_is_found_in_names() {
        let schema = Schema::standard();
        let name = "uid=x,ou=people,dc=com";
        let found = |style, pattern: &str| {
            let names = Names::new(&schema, style, pattern).expect(pattern);
            assert!(names.contains(name), "{pattern}");
            let found = names.found_in(name);
            let text = |range: Option<std::ops::Range<usize>>| range.map(|range| &name[range]);
            found
                .into_iter()
                .map(|range| text(range).unwrap_or_default())
                .collect::<Vec<_>>()
        };
        assert_eq!(found(Style::Base, "UID=x,OU=people,DC=com"), [name]);
        assert_eq!(found(Style::Subtree, "dc=com"), [name, "dc=com"]);
        assert_eq!(
            found(Style::One, "ou=people,dc=com"),
            [name, "ou=people,dc=com"]
        );
        assert_eq!(found(Style::Level(2), "dc=com"), [name, "dc=com"]);
        assert_eq!(
            found(Style::Regex, "^uid=([^,]+),(.*)$"),
            [name, "x", "ou=people,dc=com"]
        );
    }
}
