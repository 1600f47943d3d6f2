//! `to <what>`.

use fulgurite_ldap::FilterBuf;
use fulgurite_schema::{AttributeIndex, Filter, MatchingRule};

use super::parser::DN_SYNTAX;
use super::parser::{KeyValue, ParseResult, Parser, error_at};
use crate::names::{NameSet, Style, without_blanks};
use crate::pattern::Pattern;
use crate::rule::{AttributeSet, Target, ValueTest};

/// The refusal of selectors that came with OpenLDAP 2.7.
const OF_2_7: &str = "op= and control= of OpenLDAP 2.7 are not supported: select by dn, filter= and attrs=, \
     and the kinds of operations by the rights after \"by\"";

impl Parser<'_> {
    pub(super) fn target(&mut self) -> ParseResult<Target> {
        let mut names = None;
        let mut target = Target {
            names: NameSet::Any,
            filter: None,
            attributes: None,
            value: None,
        };
        // The one attribute of attrs=, whose values val= may choose.
        let mut single = None;
        while let Some(word) = self.peek().filter(|word| !word.is("by")).cloned() {
            self.next += 1;
            if word.text == "*" {
                if names.replace(NameSet::Any).is_some() {
                    return Err(error_at(word.at, "a second name in one target"));
                }
                continue;
            }
            let expected = "expected *, dn.<style>=, filter=, attrs= or val=";
            let keyed = Self::keyed(&word).ok_or_else(|| error_at(word.at, expected))?;
            if keyed.expand {
                return Err(keyed.error("expand has its place in \"by\" only"));
            }
            match keyed.key.as_str() {
                "dn" => {
                    let given = self.target_names(&keyed)?;
                    if names.replace(given).is_some() {
                        return Err(keyed.error("a second name in one target"));
                    }
                }
                "filter" => {
                    if target.filter.is_some() {
                        return Err(keyed.error("a second filter= in one target"));
                    }
                    target.filter = Some(self.filter(&keyed)?);
                }
                "attr" | "attrs" => {
                    if target.attributes.is_some() {
                        return Err(keyed.error("a second attrs= in one target"));
                    }
                    let (set, one) = self.attributes(&keyed)?;
                    target.attributes = Some(set);
                    single = one;
                }
                "val" => {
                    if target.value.is_some() {
                        return Err(keyed.error("a second val= in one target"));
                    }
                    let attribute = single.ok_or_else(|| {
                        keyed.error("val= needs attrs= with one attribute before it")
                    })?;
                    target.value = Some(self.value(&keyed, attribute)?);
                }
                "op" | "control" => return Err(error_at(word.at, OF_2_7)),
                _ => return Err(error_at(word.at, expected)),
            }
        }
        target.names = names.unwrap_or(NameSet::Any);
        Ok(target)
    }

    fn target_names(&self, keyed: &KeyValue) -> ParseResult<NameSet> {
        keyed.no_qualifiers()?;
        let style = keyed.name_style(Style::Base)?;
        if keyed.value == "*" {
            return Ok(NameSet::Any);
        }
        let names = match style {
            Style::Regex => NameSet::new(self.schema, style, &without_blanks(&keyed.value)),
            _ => NameSet::new(self.schema, style, &keyed.value),
        };
        names.map_err(|why| keyed.value_error(why))
    }

    fn filter(&self, keyed: &KeyValue) -> ParseResult<Filter<fulgurite_schema::AttributeSelector>> {
        keyed.no_style()?;
        keyed.no_qualifiers()?;
        let filter =
            FilterBuf::parse(&keyed.value).map_err(|why| keyed.value_error(why.to_string()))?;
        Ok(Filter::resolve(self.schema, &filter.filter()))
    }

    fn attributes(&self, keyed: &KeyValue) -> ParseResult<(AttributeSet, Option<AttributeIndex>)> {
        keyed.no_style()?;
        keyed.no_qualifiers()?;
        let mut set = AttributeSet::default();
        let mut not = AttributeSet::default();
        let mut at = keyed.value_at;
        let mut items = 0;
        let mut single = None;
        if keyed.value.is_empty() {
            return Err(keyed.value_error("expected attributes"));
        }
        for item in keyed.value.split(',') {
            if !item.is_empty() {
                let mut named = AttributeSet::default();
                single = self.attribute(at, item, &mut named, &mut not)?;
                set.add(named, &not);
                items += 1;
            }
            at += item.len() + 1;
        }
        Ok((set, single.filter(|_| items == 1)))
    }

    /// Adds one item of attrs=. Returns the attribute, if the item is one.
    fn attribute(
        &self,
        at: usize,
        item: &str,
        set: &mut AttributeSet,
        not: &mut AttributeSet,
    ) -> ParseResult<Option<AttributeIndex>> {
        if item.eq_ignore_ascii_case("entry") {
            set.entry = true;
        } else if item.eq_ignore_ascii_case("children") {
            set.children = true;
        } else if let Some(class) = item.strip_prefix('@') {
            self.class(at, class, true, set)?;
        } else if let Some(class) = item.strip_prefix('!') {
            // Those of the class are out of reach for the items that follow.
            self.class(at, class, false, set)?;
            let before = std::mem::take(not);
            self.class(at, class, true, not)?;
            not.add(before, &AttributeSet::default());
        } else if let Ok(description) = self.schema.describe(item.as_bytes()) {
            let index = description.attribute;
            if description.options().is_some() {
                set.optioned.push(description);
            } else {
                self.with_subtypes(index, set);
            }
            return Ok(Some(index));
        } else if self.schema.object_class(item).is_some() {
            self.class(at, item, true, set)?;
        } else {
            return Err(error_at(
                at,
                format!("{item}: neither an attribute type nor an object class"),
            ));
        }
        Ok(None)
    }

    /// Returns the attributes a class requires or allows, or all others.
    fn class(&self, at: usize, name: &str, among: bool, set: &mut AttributeSet) -> ParseResult<()> {
        let class = self
            .schema
            .object_class(name)
            .ok_or_else(|| error_at(at, format!("{name}: object class undefined")))?;
        let everything = class.is_kind_of(self.schema.extensible_object());
        let mut named = AttributeSet::default();
        for &index in class.must.iter().chain(&class.may) {
            self.with_subtypes(index, &mut named);
        }
        for attribute in self.schema.attributes() {
            let has = everything || named.has(attribute.index);
            if has == among {
                set.insert(attribute.index);
            }
        }
        // The entry itself and its children belong to extensibleObject, and to no other class.
        if everything == among {
            set.entry = true;
            set.children = true;
        }
        Ok(())
    }

    fn with_subtypes(&self, index: AttributeIndex, set: &mut AttributeSet) {
        for &subtype in &self.schema.attribute_at(index).subtypes {
            set.insert(subtype);
        }
    }

    fn value(&self, keyed: &KeyValue, attribute: AttributeIndex) -> ParseResult<ValueTest> {
        let definition = self.schema.attribute_at(attribute);
        if attribute == self.schema.object_class_attribute()
            && keyed.qualifiers.is_empty()
            && let Some(class) = self.schema.object_class(&keyed.value)
        {
            return Ok(ValueTest::Class(class.index));
        }
        let rule = match keyed.qualifiers.as_slice() {
            [] => definition.equality,
            [name] => Some(
                MatchingRule::find(name)
                    .ok_or_else(|| keyed.error(format!("{name}: matching rule undefined")))?,
            ),
            _ => return Err(keyed.error("expected val[/<rule>][.<style>]=")),
        };
        if keyed.style.as_deref() == Some("regex") {
            let pattern = Pattern::new(&keyed.value).map_err(|why| keyed.value_error(why))?;
            return Ok(ValueTest::Regex(Box::new(pattern)));
        }
        let style = keyed.name_style(Style::Base)?;
        if definition.syntax.oid == DN_SYNTAX {
            let names = NameSet::new(self.schema, style, &keyed.value);
            return names
                .map(ValueTest::Names)
                .map_err(|why| keyed.value_error(why));
        }
        if style != Style::Base {
            return Err(keyed.error("this style is for attributes of DN syntax"));
        }
        let rule =
            rule.ok_or_else(|| keyed.error(format!("{} has no equality rule", definition.name())))?;
        let normal = rule
            .normalise_assertion(self.schema, keyed.value.as_bytes())
            .map_err(|_| {
                keyed.value_error("the value does not have the syntax of the attribute")
            })?;
        Ok(ValueTest::Equal(rule, normal.into_owned().into()))
    }
}
