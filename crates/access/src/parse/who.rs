//! `by <who>`.

use fulgurite_ldap::FilterBuf;
use fulgurite_schema::{AttributeDescription, Filter, Schema};

use super::what::DN_SYNTAX;
use super::{Keyed, Parsed, Parser, level, normal_name, wrong};
use crate::names::{NameTest, Names, Style};
use crate::pattern::{Pattern, Template};
use crate::peer::{IpTest, TextTest};
use crate::rule::{Clause, Group, GroupName, Layer, Which, Who};
use crate::set::{Set, SetTest};

/// The OID of the Name And Optional UID syntax (RFC 4517, section 3.3.21).
const NAME_AND_UID_SYNTAX: &str = "1.3.6.1.4.1.1466.115.121.1.34";

impl Parser<'_> {
    /// What follows `by`, but for its text.
    pub(super) fn clause(&mut self) -> Parsed<Clause> {
        let mut who: Vec<Who> = Vec::new();
        while let Some(word) = self.peek().cloned() {
            let Some(condition) = self.condition(&word.text, word.at)? else {
                break;
            };
            if who.iter().any(|other| repeats(other, &condition)) {
                return Err(wrong(
                    word.at,
                    format!("{:?} says again what was said", word.text),
                ));
            }
            self.next += 1;
            who.push(condition);
        }
        if who.is_empty() {
            return Err(self.wrong_here(
                "expected *, anonymous, users, self, dn.<style>=, dnattr=, group=, set=, peername=, sockname=, \
                 sockurl=, domain= or ssf= after \"by\"",
            ));
        }
        let (effect, own_value) = self.effect()?;
        let control = self.control();
        if let Some(word) = self.peek().filter(|word| !word.is("by")) {
            return Err(wrong(word.at, format!("unexpected {:?}", word.text)));
        }
        Ok(Clause {
            text: String::new(),
            who,
            effect,
            own_value,
            control,
        })
    }

    /// One condition; `None` if the word is none.
    fn condition(&self, text: &str, at: usize) -> Parsed<Option<Who>> {
        if text == "*" {
            return Ok(Some(Who::Anyone));
        }
        if !text.contains('=') {
            return bare(text, at);
        }
        let word = &self.words[self.next];
        let Some(keyed) = Self::keyed(word) else {
            return Err(wrong(at, "the only modifier of a style is expand"));
        };
        let (key, which) = match keyed.key.strip_prefix("real") {
            Some(key @ ("dn" | "dnattr")) => (key, Which::Real),
            _ => (keyed.key.as_str(), Which::Effective),
        };
        let who = match key {
            "dn" => self.name(&keyed, which)?,
            "dnattr" => Who::Named(which, self.name_attribute(&keyed)?),
            "group" => Who::Group(Box::new(self.group(&keyed)?)),
            "set" => Who::Set(Box::new(self.set(&keyed)?)),
            "peername" => Who::Peer(self.peer(&keyed)?),
            "sockname" => Who::Socket(end(&keyed)?),
            "sockurl" => Who::Url(end(&keyed)?),
            "domain" => Who::Domain(domain(&keyed)?),
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
                return Err(keyed.wrong("access control stored in entries is not supported"));
            }
            _ => return Ok(None),
        };
        Ok(Some(who))
    }

    fn name(&self, keyed: &Keyed, which: Which) -> Parsed<Who> {
        keyed.no_qualifiers()?;
        let (style, expand) = match keyed.style.as_deref() {
            Some("expand") => (Style::Base, true),
            _ => (keyed.name_style(Style::Base)?, keyed.expand),
        };
        if keyed.value.is_empty() {
            return Err(keyed.wrong_value("expected a name"));
        }
        if keyed.value == "*" && style == Style::Regex {
            return Ok(Who::Name(which, NameTest::Fixed(Names::Any)));
        }
        let names =
            |text: &str| Names::new(self.schema, style, text).map_err(|why| keyed.wrong_value(why));
        if style != Style::Regex && !expand {
            return Ok(Who::Name(which, NameTest::Fixed(names(&keyed.value)?)));
        }
        let template = template(keyed)?;
        let test = match template.constant() {
            Some(text) => NameTest::Fixed(names(text)?),
            None => NameTest::Expanded(style, template),
        };
        Ok(Who::Name(which, test))
    }

    fn name_attribute(&self, keyed: &Keyed) -> Parsed<AttributeDescription> {
        keyed.no_style()?;
        keyed.no_qualifiers()?;
        let attribute = self.defined(keyed, &keyed.value)?;
        if holds_names(self.schema, &attribute) {
            return Ok(attribute);
        }
        Err(keyed.wrong_value(format!("{} does not hold names", keyed.value)))
    }

    fn defined(&self, keyed: &Keyed, name: &str) -> Parsed<AttributeDescription> {
        self.schema
            .describe(name.as_bytes())
            .map_err(|why| keyed.wrong(why.to_string()))
    }

    fn group(&self, keyed: &Keyed) -> Parsed<Group> {
        let (class, member) = match keyed.qualifiers.as_slice() {
            [] => ("groupOfNames", "member"),
            [class] => (class.as_str(), "member"),
            [class, member] => (class.as_str(), member.as_str()),
            _ => return Err(keyed.wrong("expected group[/<class>[/<attribute>]][.<style>]=")),
        };
        let expand = match keyed.style.as_deref() {
            None | Some("exact" | "base") => keyed.expand,
            Some("expand" | "regex") => true,
            Some(style) => return Err(keyed.wrong(format!("group has no style {style:?}"))),
        };
        if keyed.value.is_empty() {
            return Err(keyed.wrong_value("expected the name of a group"));
        }
        let constant;
        let text = if expand {
            let template = template(keyed)?;
            let Some(text) = template.constant() else {
                let name = GroupName::Expanded(template);
                return group_named(self.schema, class, member, name)
                    .map_err(|why| keyed.wrong(why));
            };
            constant = text.to_owned();
            &constant
        } else {
            &keyed.value
        };
        group(self.schema, class, member, text).map_err(|why| keyed.wrong(why))
    }

    fn set(&self, keyed: &Keyed) -> Parsed<SetTest> {
        keyed.no_qualifiers()?;
        let expand = match keyed.style.as_deref() {
            None | Some("exact" | "base") => keyed.expand,
            Some("expand" | "regex") => true,
            Some(style) => return Err(keyed.wrong(format!("set has no style {style:?}"))),
        };
        if expand {
            return Ok(SetTest::Expanded(template(keyed)?));
        }
        let set = Set::parse(self.schema, &keyed.value).map_err(|why| keyed.wrong_value(why))?;
        Ok(SetTest::Fixed(set))
    }

    fn peer(&self, keyed: &Keyed) -> Parsed<TextTest> {
        let address = |version6| {
            keyed.no_qualifiers()?;
            let test = IpTest::parse(&keyed.value, version6);
            test.map(TextTest::Ip).map_err(|why| keyed.wrong_value(why))
        };
        match keyed.style.as_deref() {
            Some("ip") => address(false),
            Some("ipv6") => address(true),
            Some("path") => Ok(TextTest::Path(keyed.value.clone())),
            _ => end(keyed),
        }
    }
}

/// A group by its name.
pub(crate) fn group(
    schema: &Schema,
    class: &str,
    member: &str,
    name: &str,
) -> Result<Group, String> {
    let name = GroupName::Fixed(normal_name(schema, name)?);
    group_named(schema, class, member, name)
}

fn group_named(
    schema: &Schema,
    class: &str,
    member: &str,
    name: GroupName,
) -> Result<Group, String> {
    let class = schema
        .object_class(class)
        .ok_or_else(|| format!("{class}: object class undefined"))?;
    let member = schema
        .describe(member.as_bytes())
        .map_err(|why| why.to_string())?;
    let attribute = &member.attribute;
    let everything = class.is_kind_of(schema.extensible_object());
    if !everything && !class.must.contains(attribute) && !class.may.contains(attribute) {
        let name = member.text(schema);
        return Err(format!("{name} is not allowed by {}", class.name()));
    }
    let urls = schema.attribute("labeledURI");
    let dynamic = urls.is_some_and(|urls| urls.covers(member.attribute));
    if !dynamic && !holds_names(schema, &member) {
        let name = member.text(schema);
        return Err(format!("{name} holds neither names nor search URLs"));
    }
    let of_class = FilterBuf::parse(&format!("(objectClass={})", class.name()))
        .map_err(|why| why.to_string())?;
    Ok(Group {
        number: 0,
        name,
        class: Filter::resolve(schema, &of_class.filter()),
        member,
        dynamic,
    })
}

fn holds_names(schema: &Schema, attribute: &AttributeDescription) -> bool {
    let syntax = schema.attribute_at(attribute.attribute).syntax.oid;
    syntax == DN_SYNTAX || syntax == NAME_AND_UID_SYNTAX
}

/// Conditions that are one word.
fn bare(text: &str, at: usize) -> Parsed<Option<Who>> {
    let text = text.to_ascii_lowercase();
    let (word, which) = match text.strip_prefix("real") {
        Some(word) => (word, Which::Real),
        None => (text.as_str(), Which::Effective),
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
            _ => return Err(wrong(at, "expected self.level{n}")),
        },
        ("users" | "anonymous", Some(_)) => {
            return Err(wrong(at, format!("{word} has no style")));
        }
        _ => return Ok(None),
    };
    Ok(Some(match word {
        "anonymous" => Who::Anonymous(which),
        "users" => Who::Users(which),
        "self" => Who::Itself(which, levels),
        _ => return Ok(None),
    }))
}

/// Whether a clause may not have both.
fn repeats(a: &Who, b: &Who) -> bool {
    match (name_of(a), name_of(b)) {
        (Some(a), Some(b)) => a == b,
        _ => match (a, b) {
            (Who::Strength(a, _), Who::Strength(b, _)) => a == b,
            (Who::Named(a, _), Who::Named(b, _)) => a == b,
            _ => std::mem::discriminant(a) == std::mem::discriminant(b),
        },
    }
}

/// The name that a condition is about, for those of which a clause may have one.
fn name_of(who: &Who) -> Option<Which> {
    match who {
        Who::Anyone => Some(Which::Effective),
        Who::Anonymous(which) | Who::Users(which) | Who::Itself(which, _) | Who::Name(which, _) => {
            Some(*which)
        }
        _ => None,
    }
}

fn template(keyed: &Keyed) -> Parsed<Template> {
    Template::parse(&keyed.value).map_err(|why| keyed.wrong_value(why))
}

/// sockname, sockurl, peername.
fn end(keyed: &Keyed) -> Parsed<TextTest> {
    keyed.no_qualifiers()?;
    if keyed.value.is_empty() {
        return Err(keyed.wrong_value("expected a value"));
    }
    match keyed.style.as_deref() {
        None | Some("exact" | "base") if !keyed.expand => Ok(TextTest::Exact(keyed.value.clone())),
        None | Some("exact" | "base" | "expand") => {
            expanded(keyed, TextTest::Exact, TextTest::Expanded)
        }
        Some("regex") => regex(keyed),
        Some(style) => Err(keyed.wrong(format!("{} has no style {style:?}", keyed.key))),
    }
}

fn domain(keyed: &Keyed) -> Parsed<TextTest> {
    keyed.no_qualifiers()?;
    if keyed.value.is_empty() {
        return Err(keyed.wrong_value("expected a value"));
    }
    match keyed.style.as_deref() {
        Some("sub" | "subtree") if !keyed.expand => Ok(TextTest::Domain(keyed.value.clone())),
        Some("sub" | "subtree") => expanded(keyed, TextTest::Domain, TextTest::DomainExpanded),
        _ => end(keyed),
    }
}

fn expanded(
    keyed: &Keyed,
    fixed: fn(String) -> TextTest,
    open: fn(Template) -> TextTest,
) -> Parsed<TextTest> {
    let template = template(keyed)?;
    Ok(match template.constant() {
        Some(text) => fixed(text.to_owned()),
        None => open(template),
    })
}

fn regex(keyed: &Keyed) -> Parsed<TextTest> {
    let template = template(keyed)?;
    match template.constant() {
        None => Ok(TextTest::RegexExpanded(template)),
        Some(text) => {
            let pattern = Pattern::new(text).map_err(|why| keyed.wrong_value(why))?;
            Ok(TextTest::Regex(Box::new(pattern)))
        }
    }
}

fn strength(keyed: &Keyed, layer: Layer) -> Parsed<Who> {
    keyed.no_style()?;
    keyed.no_qualifiers()?;
    let wanted = keyed.value.parse().ok().filter(|wanted| *wanted > 0);
    wanted
        .map(|wanted| Who::Strength(layer, wanted))
        .ok_or_else(|| keyed.wrong_value("expected a number above 0"))
}
