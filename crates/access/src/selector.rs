//! The subject of a limit: the first word of slapd.conf's `limits`.
//!
//! ```text
//! * anonymous users <DN> dn[.self|.this][.<style>]=<pattern>
//!     group[/<class>[/<attribute>]]=<DN>
//! ```
//! `this` looks at the base of the search instead of the requester.

use fulgurite_schema::Schema;

use crate::facts::{EntryRef, Facts};
use crate::names::{NameSet, Style};
use crate::parse;
use crate::rule::{Group, GroupName};

/// A selector, compiled.
#[derive(Clone, Debug)]
pub struct Selector {
    condition: Condition,
}

#[derive(Clone, Debug)]
enum Condition {
    Anyone,
    Anonymous,
    Users,
    /// The requester's name.
    Own(NameSet),
    /// The base of the search.
    Base(NameSet),
    Group(Box<Group>),
}

impl Selector {
    /// Compiles a selector.
    ///
    /// # Errors
    /// A sentence about what is wrong.
    pub fn parse(schema: &Schema, text: &str) -> Result<Selector, String> {
        let condition = match text.to_ascii_lowercase().as_str() {
            "" => return Err("limits need to say whom they are for".to_owned()),
            "*" => Condition::Anyone,
            "anonymous" => Condition::Anonymous,
            "users" => Condition::Users,
            _ => keyed(schema, text)?,
        };
        Ok(Selector { condition })
    }

    /// Returns true if the limit is for this requester and a search from `base`. The name is in
    /// normal form, and empty for an anonymous requester.
    #[must_use]
    pub fn selects(&self, requester: &str, base: &str, facts: &dyn Facts) -> bool {
        match &self.condition {
            Condition::Anyone => true,
            Condition::Anonymous => requester.is_empty(),
            Condition::Users => !requester.is_empty(),
            Condition::Own(names) => !requester.is_empty() && names.contains(requester),
            Condition::Base(names) => names.contains(base),
            Condition::Group(group) => !requester.is_empty() && is_member(group, requester, facts),
        }
    }
}

fn keyed(schema: &Schema, text: &str) -> Result<Condition, String> {
    let (key, pattern) = text.split_once('=').unwrap_or((text, ""));
    let key = key.to_ascii_lowercase();
    if let Some(qualifiers) = key.strip_prefix("group")
        && (qualifiers.is_empty() || qualifiers.starts_with('/'))
    {
        let mut qualifiers = qualifiers.split('/').skip(1);
        let class = qualifiers.next().unwrap_or("groupOfNames");
        let member = qualifiers.next().unwrap_or("member");
        let group = parse::fixed_group(schema, class, member, pattern)?;
        return Ok(Condition::Group(Box::new(group)));
    }
    let Some(styles) = key
        .strip_prefix("dn")
        .filter(|s| s.is_empty() || s.starts_with('.'))
    else {
        return names(schema, Style::Base, text).map(Condition::Own);
    };
    let mut make: fn(NameSet) -> Condition = Condition::Own;
    let mut style = Style::Base;
    for word in styles.split('.').skip(1) {
        match word {
            "self" => {}
            "this" => make = Condition::Base,
            "base" | "baseobject" | "exact" => style = Style::Base,
            "one" | "onelevel" => style = Style::One,
            "sub" | "subtree" => style = Style::Subtree,
            "children" => style = Style::Children,
            "regex" => style = Style::Regex,
            "anonymous" => return Ok(Condition::Anonymous),
            "users" => return Ok(Condition::Users),
            word => return Err(format!("unknown style {word:?} in limits")),
        }
    }
    names(schema, style, pattern).map(make)
}

fn names(schema: &Schema, style: Style, pattern: &str) -> Result<NameSet, String> {
    if pattern == "*" {
        return Ok(NameSet::Any);
    }
    if pattern.is_empty() && style == Style::Regex {
        return Err("limits need a pattern".to_owned());
    }
    NameSet::new(schema, style, pattern)
}

fn is_member(group: &Group, requester: &str, facts: &dyn Facts) -> bool {
    let GroupName::Fixed(name) = &group.name else {
        return false;
    };
    let of = EntryRef::Entry(name);
    facts.matches(of, &group.class) && facts.lists(of, &group.member, requester)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::NoFacts;

    #[test]
    fn selectors() {
        let schema = Schema::standard();
        let jane = "uid=jane,ou=people,dc=com";
        let base = "ou=people,dc=com";
        for (text, jane_fits, nobody_fits) in [
            ("*", true, true),
            ("users", true, false),
            ("Anonymous", false, true),
            ("UID=jane,ou=people,dc=com", true, false),
            ("dn=uid=jane,ou=people,dc=com", true, false),
            ("dn.exact=uid=john,ou=people,dc=com", false, false),
            ("dn.self.one=ou=people,dc=com", true, false),
            ("dn.subtree=dc=com", true, false),
            ("dn.children=uid=jane,ou=people,dc=com", false, false),
            ("dn.regex=^uid=[^,]+,ou=people", true, false),
            ("dn.this.base=ou=people,dc=com", true, true),
            ("dn.this.children=ou=people,dc=com", false, false),
            ("dn.anonymous=x", false, true),
            ("group=cn=g,dc=com", false, false),
            (
                "group/groupOfUniqueNames/uniqueMember=cn=g,dc=com",
                false,
                false,
            ),
        ] {
            let selector = Selector::parse(&schema, text).expect(text);
            assert_eq!(selector.selects(jane, base, &NoFacts), jane_fits, "{text}");
            assert_eq!(selector.selects("", base, &NoFacts), nobody_fits, "{text}");
        }
        for wrong in [
            "",
            "nobody",
            "dn.nope=dc=com",
            "dn.regex=",
            "dn.regex=(",
            "group/nope=dc=x",
            "group=x",
        ] {
            assert!(Selector::parse(&schema, wrong).is_err(), "{wrong}");
        }
    }
}
