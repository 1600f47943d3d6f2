//! `by <who>`.

use fulgurite_schema::AttributeDescription;

use super::group::{fixed_group, group_named, holds_names};
use super::parser::{KeyValue, ParseResult, Parser, error_at, level};
use super::set::parse_set;
use crate::names::{NameSet, NameTest, Style, without_blanks};
use crate::pattern::{Pattern, Template};
use crate::peer::{IpTest, TextTest};
use crate::rule::{Clause, Group, GroupName, Identity, Layer, SubjectPattern};
use crate::set::SetTest;

impl Parser<'_> {
    /// Parses a clause after `by`, without its text.
    pub(super) fn clause(&mut self) -> ParseResult<Clause> {
        let mut subjects: Vec<SubjectPattern> = Vec::new();
        while let Some(word) = self.peek().cloned() {
            let Some(condition) = self.condition(&word.text, word.at)? else {
                break;
            };
            if subjects.iter().any(|other| repeats(other, &condition)) {
                return Err(error_at(
                    word.at,
                    format!("{:?} says again what was said", word.text),
                ));
            }
            self.next += 1;
            subjects.push(condition);
        }
        if subjects.is_empty() {
            return Err(self.error_here(
                "expected *, anonymous, users, self, dn.<style>=, dnattr=, group=, set=, peername=, sockname=, \
                 sockurl=, domain= or ssf= after \"by\"",
            ));
        }
        let (effect, own_value) = self.effect()?;
        let control = self.control();
        if let Some(word) = self.peek().filter(|word| !word.is("by")) {
            return Err(error_at(word.at, format!("unexpected {:?}", word.text)));
        }
        Ok(Clause {
            text: String::new(),
            subjects,
            effect,
            own_value,
            control,
        })
    }

    /// Parses one condition. Returns `None` if the word is no condition.
    fn condition(&self, text: &str, at: usize) -> ParseResult<Option<SubjectPattern>> {
        if text == "*" {
            return Ok(Some(SubjectPattern::Anyone));
        }
        if !text.contains('=') {
            return bare(text, at);
        }
        let word = &self.tokens[self.next];
        let Some(keyed) = Self::keyed(word) else {
            return Err(error_at(at, "the only modifier of a style is expand"));
        };
        let (key, identity) = match keyed.key.strip_prefix("real") {
            Some(key @ ("dn" | "dnattr")) => (key, Identity::Real),
            _ => (keyed.key.as_str(), Identity::Effective),
        };
        let pattern = match key {
            "dn" => self.name(&keyed, identity)?,
            "dnattr" => SubjectPattern::DnAttribute(identity, self.name_attribute(&keyed)?),
            "group" => SubjectPattern::Group(Box::new(self.group(&keyed)?)),
            "set" => SubjectPattern::Set(Box::new(self.set(&keyed)?)),
            "peername" => SubjectPattern::Peer(self.peer(&keyed)?),
            "sockname" => SubjectPattern::Socket(end(&keyed)?),
            "sockurl" => SubjectPattern::Url(end(&keyed)?),
            "domain" => SubjectPattern::Domain(domain(&keyed)?),
            "ssf" => strength(&keyed, Layer::Any)?,
            "transport_ssf" => strength(&keyed, Layer::Transport)?,
            "tls_ssf" => strength(&keyed, Layer::Tls)?,
            "sasl_ssf" => strength(&keyed, Layer::Sasl)?,
            // slapd takes what follows for nothing: "self=w" is no privilege here.
            "self" | "users" | "anonymous" | "realself" | "realusers" | "realanonymous" => {
                let bare_text = text.split_once('=').map_or(text, |(bare, _)| bare);
                return bare(bare_text, at);
            }
            "aci" | "dynacl" => {
                return Err(keyed.error("access control stored in entries is not supported"));
            }
            _ => return Ok(None),
        };
        Ok(Some(pattern))
    }

    fn name(&self, keyed: &KeyValue, identity: Identity) -> ParseResult<SubjectPattern> {
        keyed.no_qualifiers()?;
        let (style, expand) = match keyed.style.as_deref() {
            Some("expand") => (Style::Base, true),
            _ => (keyed.name_style(Style::Base)?, keyed.expand),
        };
        if keyed.value.is_empty() {
            return Err(keyed.value_error("expected a name"));
        }
        if keyed.value == "*" && style == Style::Regex {
            return Ok(SubjectPattern::Name(
                identity,
                NameTest::Fixed(NameSet::Any),
            ));
        }
        let names = |text: &str| {
            NameSet::new(self.schema, style, text).map_err(|why| keyed.value_error(why))
        };
        if style != Style::Regex && !expand {
            return Ok(SubjectPattern::Name(
                identity,
                NameTest::Fixed(names(&keyed.value)?),
            ));
        }
        let template = match style {
            Style::Regex => Template::parse(&without_blanks(&keyed.value)),
            _ => Template::parse(&keyed.value),
        };
        let template = template.map_err(|why| keyed.value_error(why))?;
        let test = match template.constant() {
            Some(text) => NameTest::Fixed(names(text)?),
            None => NameTest::Expanded(style, template),
        };
        Ok(SubjectPattern::Name(identity, test))
    }

    fn name_attribute(&self, keyed: &KeyValue) -> ParseResult<AttributeDescription> {
        keyed.no_style()?;
        keyed.no_qualifiers()?;
        let attribute = self.defined(keyed, &keyed.value)?;
        if holds_names(self.schema, &attribute) {
            return Ok(attribute);
        }
        Err(keyed.value_error(format!("{} does not hold names", keyed.value)))
    }

    fn defined(&self, keyed: &KeyValue, name: &str) -> ParseResult<AttributeDescription> {
        self.schema
            .describe(name.as_bytes())
            .map_err(|why| keyed.error(why.to_string()))
    }

    fn group(&self, keyed: &KeyValue) -> ParseResult<Group> {
        let (class, member) = match keyed.qualifiers.as_slice() {
            [] => ("groupOfNames", "member"),
            [class] => (class.as_str(), "member"),
            [class, member] => (class.as_str(), member.as_str()),
            _ => return Err(keyed.error("expected group[/<class>[/<attribute>]][.<style>]=")),
        };
        let expand = match keyed.style.as_deref() {
            None | Some("exact" | "base") => keyed.expand,
            Some("expand" | "regex") => true,
            Some(style) => return Err(keyed.error(format!("group has no style {style:?}"))),
        };
        if keyed.value.is_empty() {
            return Err(keyed.value_error("expected the name of a group"));
        }
        let constant;
        let text = if expand {
            let template = template(keyed)?;
            let Some(text) = template.constant() else {
                let name = GroupName::Expanded(template);
                return group_named(self.schema, class, member, name)
                    .map_err(|why| keyed.error(why));
            };
            constant = text.to_owned();
            &constant
        } else {
            &keyed.value
        };
        fixed_group(self.schema, class, member, text).map_err(|why| keyed.error(why))
    }

    fn set(&self, keyed: &KeyValue) -> ParseResult<SetTest> {
        keyed.no_qualifiers()?;
        let expand = match keyed.style.as_deref() {
            None | Some("exact" | "base") => keyed.expand,
            Some("expand" | "regex") => true,
            Some(style) => return Err(keyed.error(format!("set has no style {style:?}"))),
        };
        if expand {
            return Ok(SetTest::Expanded(template(keyed)?));
        }
        let set = parse_set(self.schema, &keyed.value).map_err(|why| keyed.value_error(why))?;
        Ok(SetTest::Fixed(set))
    }

    fn peer(&self, keyed: &KeyValue) -> ParseResult<TextTest> {
        let address = |version6| {
            keyed.no_qualifiers()?;
            let test = IpTest::parse(&keyed.value, version6);
            test.map(TextTest::Ip).map_err(|why| keyed.value_error(why))
        };
        match keyed.style.as_deref() {
            Some("ip") => address(false),
            Some("ipv6") => address(true),
            Some("path") => Ok(TextTest::Path(keyed.value.clone())),
            _ => end(keyed),
        }
    }
}

/// Parses conditions of one word.
fn bare(text: &str, at: usize) -> ParseResult<Option<SubjectPattern>> {
    let text = text.to_ascii_lowercase();
    let (word, identity) = match text.strip_prefix("real") {
        Some(word) => (word, Identity::Real),
        None => (text.as_str(), Identity::Effective),
    };
    let (word, style) = match word.split_once('.') {
        None => (word, None),
        Some((word, style)) => (word, Some(style)),
    };
    let levels = match (word, style) {
        (_, None) => 0,
        ("self", Some("exact" | "base")) => 0,
        ("self", Some(style)) => match level(style) {
            Some(Ok(levels)) => levels,
            _ => return Err(error_at(at, "expected self.level{n}")),
        },
        ("users" | "anonymous", Some(_)) => {
            return Err(error_at(at, format!("{word} has no style")));
        }
        _ => return Ok(None),
    };
    Ok(Some(match word {
        "anonymous" => SubjectPattern::Anonymous(identity),
        "users" => SubjectPattern::Users(identity),
        "self" => SubjectPattern::SelfEntry(identity, levels),
        _ => return Ok(None),
    }))
}

/// Returns true if a clause may not have both.
fn repeats(a: &SubjectPattern, b: &SubjectPattern) -> bool {
    match (name_of(a), name_of(b)) {
        (Some(a), Some(b)) => a == b,
        _ => match (a, b) {
            (SubjectPattern::Strength(a, _), SubjectPattern::Strength(b, _)) => a == b,
            (SubjectPattern::DnAttribute(a, _), SubjectPattern::DnAttribute(b, _)) => a == b,
            _ => std::mem::discriminant(a) == std::mem::discriminant(b),
        },
    }
}

/// Returns the name that a condition is about, for those of identity a clause may have one.
fn name_of(pattern: &SubjectPattern) -> Option<Identity> {
    match pattern {
        SubjectPattern::Anyone => Some(Identity::Effective),
        SubjectPattern::Anonymous(identity)
        | SubjectPattern::Users(identity)
        | SubjectPattern::SelfEntry(identity, _)
        | SubjectPattern::Name(identity, _) => Some(*identity),
        _ => None,
    }
}

fn template(keyed: &KeyValue) -> ParseResult<Template> {
    Template::parse(&keyed.value).map_err(|why| keyed.value_error(why))
}

/// Parses sockname, sockurl, peername.
fn end(keyed: &KeyValue) -> ParseResult<TextTest> {
    keyed.no_qualifiers()?;
    if keyed.value.is_empty() {
        return Err(keyed.value_error("expected a value"));
    }
    match keyed.style.as_deref() {
        None | Some("exact" | "base") if !keyed.expand => Ok(TextTest::Exact(keyed.value.clone())),
        None | Some("exact" | "base" | "expand") => {
            expanded(keyed, TextTest::Exact, TextTest::Expanded)
        }
        Some("regex") => regex(keyed),
        Some(style) => Err(keyed.error(format!("{} has no style {style:?}", keyed.key))),
    }
}

fn domain(keyed: &KeyValue) -> ParseResult<TextTest> {
    keyed.no_qualifiers()?;
    if keyed.value.is_empty() {
        return Err(keyed.value_error("expected a value"));
    }
    match keyed.style.as_deref() {
        Some("sub" | "subtree") if !keyed.expand => Ok(TextTest::Domain(keyed.value.clone())),
        Some("sub" | "subtree") => expanded(keyed, TextTest::Domain, TextTest::DomainExpanded),
        _ => end(keyed),
    }
}

fn expanded(
    keyed: &KeyValue,
    fixed: fn(String) -> TextTest,
    open: fn(Template) -> TextTest,
) -> ParseResult<TextTest> {
    let template = template(keyed)?;
    Ok(match template.constant() {
        Some(text) => fixed(text.to_owned()),
        None => open(template),
    })
}

fn regex(keyed: &KeyValue) -> ParseResult<TextTest> {
    let template = template(keyed)?;
    match template.constant() {
        None => Ok(TextTest::RegexExpanded(template)),
        Some(text) => {
            let pattern = Pattern::new(text).map_err(|why| keyed.value_error(why))?;
            Ok(TextTest::Regex(Box::new(pattern)))
        }
    }
}

fn strength(keyed: &KeyValue, layer: Layer) -> ParseResult<SubjectPattern> {
    keyed.no_style()?;
    keyed.no_qualifiers()?;
    let wanted = keyed.value.parse().ok().filter(|wanted| *wanted > 0);
    wanted
        .map(|wanted| SubjectPattern::Strength(layer, wanted))
        .ok_or_else(|| keyed.value_error("expected a number above 0"))
}
