//! Sets of names, as rules describe them.

use fulgurite_schema::{Dn, Schema, normal_is_under};

use crate::pattern::{Captures, Pattern, Template};

/// A set of names. All comparisons are of normal forms.
#[derive(Clone, Debug)]
pub(crate) enum NameSet {
    Any,
    Base(String),
    One(String),
    Subtree(String),
    Children(String),
    /// Names that many levels below.
    Level(String, usize),
    /// Names that an expression matches. A comparison that is equivalent to the expression replaces
    /// it.
    Regex(Box<Pattern>, Option<Box<NameSet>>),
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
    Fixed(NameSet),
    Expanded(Style, Template),
}

impl NameSet {
    /// Returns the set that a pattern describes in this style. A regular expression is compiled;
    /// other patterns are names.
    pub(crate) fn new(schema: &Schema, style: Style, pattern: &str) -> Result<NameSet, String> {
        if style == Style::Regex {
            let same = comparison(schema, pattern);
            return Ok(match same {
                Some(NameSet::Any) => NameSet::Any,
                same => NameSet::Regex(Box::new(Pattern::new(pattern)?), same.map(Box::new)),
            });
        }
        let dn = Dn::parse(schema, pattern).map_err(|error| error.to_string())?;
        let normal = dn.normal().to_owned();
        Ok(match style {
            Style::One => NameSet::One(normal),
            Style::Subtree => NameSet::Subtree(normal),
            Style::Children => NameSet::Children(normal),
            Style::Level(0) | Style::Base | Style::Regex => NameSet::Base(normal),
            Style::Level(depth) => NameSet::Level(normal, depth),
        })
    }

    pub(crate) fn contains(&self, normal: &str) -> bool {
        match self {
            NameSet::Any => true,
            NameSet::Base(base) => normal == base,
            NameSet::One(base) => !normal.is_empty() && parent(normal) == base,
            NameSet::Subtree(base) => {
                base.is_empty() || normal == base || normal_is_under(normal, base)
            }
            NameSet::Children(base) => normal_is_under(normal, base),
            NameSet::Level(base, depth) => ancestor(normal, *depth) == Some(base),
            NameSet::Regex(_, Some(same)) => same.contains(normal),
            NameSet::Regex(pattern, None) => pattern.is_match(normal),
        }
    }

    /// Returns the parts of the name that matched. Group 0 is the whole name, and group 1 of a
    /// subtree, level or child set is the base.
    pub(crate) fn captures(&self, normal: &str) -> Captures {
        let whole = 0..normal.len();
        let base_of = |base: &str| normal.len().saturating_sub(base.len())..normal.len();
        match self {
            NameSet::Any | NameSet::Base(_) => vec![Some(whole)],
            NameSet::One(base)
            | NameSet::Subtree(base)
            | NameSet::Children(base)
            | NameSet::Level(base, _) => vec![Some(whole), Some(base_of(base))],
            NameSet::Regex(pattern, _) => pattern.captures(normal).unwrap_or_default(),
        }
    }

    /// Returns the name that the set is about, if it is about one.
    pub(crate) fn base(&self) -> Option<&str> {
        match self {
            NameSet::Base(base)
            | NameSet::One(base)
            | NameSet::Subtree(base)
            | NameSet::Children(base)
            | NameSet::Level(base, _) => Some(base),
            NameSet::Regex(_, Some(same)) => same.base(),
            NameSet::Any | NameSet::Regex(_, None) => None,
        }
    }

    /// Returns true if the set contains every name.
    pub(crate) fn is_any(&self) -> bool {
        matches!(self, NameSet::Any)
    }
}

/// Returns an expression for names without the blanks behind commas. slapd drops them wherever they
/// are, because normal forms of names have none.
pub(crate) fn without_blanks(expression: &str) -> String {
    let mut out = String::with_capacity(expression.len());
    for c in expression.chars() {
        if c != ' ' || !out.ends_with(',') {
            out.push(c);
        }
    }
    out
}

/// Returns a raw `,` occurs only between RDNs of a normal form.
pub(crate) fn parent(normal: &str) -> &str {
    normal.split_once(',').map_or("", |(_, above)| above)
}

/// Returns the name that many levels above; `None` above the root.
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

/// Returns the comparison that says the same as an expression, for the expressions that
/// administrators write most.
fn comparison(schema: &Schema, pattern: &str) -> Option<NameSet> {
    if matches!(pattern, "*" | ".*" | "^.*$" | ".*$" | "^.*") {
        return Some(NameSet::Any);
    }
    let anchored = pattern.strip_prefix('^');
    let body = anchored.unwrap_or(pattern).strip_suffix('$')?;
    type Row = (&'static str, fn(String) -> NameSet);
    let rows: [Row; 7] = [
        ("(.+,)?", NameSet::Subtree),
        ("(.*,)?", NameSet::Subtree),
        (".+,", NameSet::Children),
        (".*,", NameSet::Children),
        ("(.+),", NameSet::Children),
        ("[^,]+,", NameSet::One),
        ("", NameSet::Base),
    ];
    let (text, make) = rows
        .into_iter()
        .find_map(|(prefix, make)| Some((body.strip_prefix(prefix)?, make)))?;
    let floating = matches!(
        make(String::new()),
        NameSet::One(_) | NameSet::Base(_) | NameSet::Subtree(_)
    );
    if floating && anchored.is_none() {
        return None;
    }
    literal_name(schema, text).map(make)
}

/// Returns the normal form of a name without anything special, which compares without regard to
/// case anyhow.
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
    fn blanks_behind_commas_go() {
        for (expression, expected) in [
            ("^cn=a, dc=x$", "^cn=a,dc=x$"),
            ("^cn=a,   dc=x$", "^cn=a,dc=x$"),
            ("^cn=[^, ]+ ,dc=x y$", "^cn=[^,]+ ,dc=x y$"),
            ("a\\, b[,] c,\td", "a\\,b[,] c,\td"),
            ("", ""),
        ] {
            assert_eq!(without_blanks(expression), expected);
        }
    }

    #[test]
    fn expressions_that_are_comparisons() {
        let schema = Schema::standard();
        let plain = |pattern: &str| comparison(&schema, pattern).map(|names| format!("{names:?}"));
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
    fn names_yield_their_sub_matches() {
        let schema = Schema::standard();
        let name = "uid=x,ou=people,dc=com";
        let found = |style, pattern: &str| {
            let names = NameSet::new(&schema, style, pattern).expect(pattern);
            assert!(names.contains(name), "{pattern}");
            let found = names.captures(name);
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
