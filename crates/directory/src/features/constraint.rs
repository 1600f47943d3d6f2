//! Rules for values beyond their syntax (slapd's overlay `constraint`).

use fulgurite_access::{Pattern, Set};
use fulgurite_ldap::{Assertion, Filter as FilterText, LdapUrl, ModifyOperation};
use fulgurite_policy::{OverlayLine, OverlaySettings, Sourced};
use fulgurite_schema::{
    Attribute, AttributeDescription, AttributeSelector, Dn, EntrySubject, Filter, Schema,
};
use fulgurite_store::{Snapshot, View};

use super::compilation::Compilation;
use super::guard_question::{GuardContext, GuardRefusal, GuardedUpdate};
use super::region::{Region, UrlFilter, filter_of, scope_of};
use crate::request::change::Change;
use crate::rights::facts::{EntryFacts, EntrySource};

/// The arguments of the directive, in slapd's words.
const ARGUMENTS: &str =
    "<attribute[list]> (regex|negregex|uri|set|size|count) <value> [<restrict URI>]>";

/// The attribute with the name of an entry, which no entry stores.
const ENTRY_DN: &[u8] = b"entryDN";

/// The feature: its rules, in the order of the configuration.
#[derive(Debug)]
pub(crate) struct Constraint {
    rules: Vec<ConstraintRule>,
}

/// One rule for the values of some attributes.
#[derive(Debug)]
struct ConstraintRule {
    attributes: Vec<AttributeDescription>,
    test: ValueTest,
    restriction: Option<Restriction>,
}

/// The condition of a rule.
#[derive(Debug)]
enum ValueTest {
    Regex(Pattern),
    NegatedRegex(Pattern),
    /// The number of bytes that a value has at most.
    Size(u64),
    /// The number of values that the attribute has at most.
    Count(u64),
    Listed(ValueList),
    Unlisted(ValueList),
    Set(Set),
    NegatedSet(Set),
}

/// Entries that list the permitted values.
#[derive(Debug)]
struct ValueList {
    region: Region,
    filter: Option<UrlFilter>,
    /// The attributes that have the values.
    attributes: Vec<AttributeDescription>,
}

/// The entries that a rule is about, as they are before the update.
#[derive(Debug)]
struct Restriction {
    /// `None` for all entries of the database.
    region: Option<Region>,
    filter: Option<UrlFilter>,
}

impl Constraint {
    /// Compiles the directives of the overlay.
    ///
    /// # Errors
    /// slapd's sentence about the first wrong directive.
    pub(super) fn compile(
        compilation: &mut Compilation<'_>,
        settings: &OverlaySettings,
    ) -> Result<Constraint, Sourced<String>> {
        let rules = settings.lines.iter().map(|line| {
            let rule = ConstraintRule::parse(compilation, line);
            rule.map_err(|text| Sourced::new(text, line.origin.clone()))
        });
        let rules: Vec<ConstraintRule> = rules.collect::<Result<_, _>>()?;
        for rule in &rules {
            if let ValueTest::Listed(list) | ValueTest::Unlisted(list) = &rule.test {
                for attribute in list.stored_attributes(compilation.schema) {
                    compilation.note_lookup(attribute.attribute, &settings.origin);
                }
            }
        }
        Ok(Constraint { rules })
    }

    /// Refuses an update that breaks a rule.
    pub(super) fn check(
        &self,
        context: &mut GuardContext<'_, '_>,
        update: &GuardedUpdate<'_>,
    ) -> Result<(), GuardRefusal> {
        let schema = &context.core.schema;
        let mut changes: Vec<&Change> = update.changes.iter().collect();
        if update.is_rename {
            // As in slapd, the last attribute by name is named first.
            changes.reverse();
        }
        for change in changes {
            let given = &change.attribute;
            let definition = schema.attribute_at(given.description.attribute);
            if definition.is_operational()
                || given.values.is_empty()
                || change.operation == ModifyOperation::Increment
            {
                continue;
            }
            let rules = self.rules.iter();
            for rule in rules.filter(|rule| rule.attributes.contains(&given.description)) {
                if !rule.concerns(context, update)? || rule.permits(context, update, change)? {
                    continue;
                }
                let name = given.description.text(schema);
                let text = format!("{} breaks constraint on {name}", update.operation);
                return Err(GuardRefusal::violation(text));
            }
        }
        Ok(())
    }

    /// Returns true if a rule counts the values of a changed attribute, or looks at the whole
    /// entry.
    pub(super) fn needs_whole_entry(&self, changes: &[Change]) -> bool {
        let rules = self.rules.iter();
        let mut rules = rules.filter(|rule| rule.test.needs_whole_entry());
        rules.any(|rule| {
            let mut changed = changes.iter().map(|change| &change.attribute.description);
            changed.any(|description| rule.attributes.contains(description))
        })
    }
}

impl ConstraintRule {
    /// Returns true if the rule is about the entry.
    fn concerns(
        &self,
        context: &GuardContext<'_, '_>,
        update: &GuardedUpdate<'_>,
    ) -> Result<bool, GuardRefusal> {
        let Some(restriction) = &self.restriction else {
            return Ok(true);
        };
        let region = restriction.region.as_ref();
        if region.is_some_and(|region| !region.contains(update.dn)) {
            return Ok(false);
        }
        let Some(filter) = &restriction.filter else {
            return Ok(true);
        };
        let schema: &Schema = &context.core.schema;
        let Some(id) = update.before else {
            let entry = update.after;
            let subject = EntrySubject { schema, entry };
            return Ok(filter.filter.test(schema, &subject).is_true());
        };
        let entry = context.writer.entry(id)?;
        Ok(entry.is_some_and(|entry| filter.filter.test(schema, &entry).is_true()))
    }

    /// Returns true if a change satisfies the rule. Deleted values count only for the number of
    /// those left.
    fn permits(
        &self,
        context: &mut GuardContext<'_, '_>,
        update: &GuardedUpdate<'_>,
        change: &Change,
    ) -> Result<bool, GuardRefusal> {
        let given = &change.attribute;
        let is_deletion = change.operation == ModifyOperation::Delete;
        Ok(match &self.test {
            ValueTest::Count(max) => {
                let held = update.after.attribute(&given.description);
                held.map_or(0, |held| held.values.len() as u64) <= *max
            }
            _ if is_deletion => true,
            ValueTest::Regex(pattern) => all(given, |value| pattern.is_match(value)),
            ValueTest::NegatedRegex(pattern) => all(given, |value| !pattern.is_match(value)),
            ValueTest::Size(max) => {
                let mut values = given.values.iter();
                values.all(|value| value.len() as u64 <= *max)
            }
            ValueTest::Listed(list) | ValueTest::Unlisted(list) => {
                let wanted = matches!(self.test, ValueTest::Listed(_));
                for value in &given.values {
                    if list.has(context, value)? != wanted {
                        return Ok(false);
                    }
                }
                true
            }
            ValueTest::Set(set) => holds(context, update, set),
            ValueTest::NegatedSet(set) => !holds(context, update, set),
        })
    }

    /// Parses `ATTRIBUTES TYPE VALUE [restrict=URI]`.
    fn parse(compilation: &Compilation<'_>, line: &OverlayLine) -> Result<ConstraintRule, String> {
        let [names, kind, value, more @ ..] = line.arguments.as_slice() else {
            return Err(format!(
                "keyword <constraint_attribute> missing {ARGUMENTS} argument"
            ));
        };
        let schema = compilation.schema;
        let attributes = names.split(',').map(|name| attribute(schema, name));
        let attributes = attributes.collect::<Result<_, _>>()?;
        let failed = |text: String| format!("constraint_attribute {names}: {text}");
        let mut restriction = None;
        for (at, argument) in more.iter().enumerate() {
            let Some(uri) = argument.strip_prefix("restrict=") else {
                let text = format!("unrecognized arg #{} ({argument})", at + 4);
                return Err(failed(text));
            };
            restriction = Some(Restriction::parse(compilation, uri).map_err(failed)?);
        }
        let test = ValueTest::parse(schema, kind, value);
        Ok(ConstraintRule {
            attributes,
            test: test.map_err(failed)?,
            restriction,
        })
    }
}

/// Returns true if a set is not empty for the entry after an update.
fn holds(context: &GuardContext<'_, '_>, update: &GuardedUpdate<'_>, set: &Set) -> bool {
    let entry = update.after;
    let view: &View<'_, _> = context.writer;
    let facts = EntryFacts::new(context.core, view, EntrySource::Owned(entry));
    let schema = &context.core.schema;
    set.holds(schema, entry.dn.normal(), context.user, &facts)
}

/// Returns true if all values, as texts, pass a test.
fn all(given: &Attribute, test: impl Fn(&str) -> bool) -> bool {
    let mut values = given.values.iter();
    values.all(|value| test(&String::from_utf8_lossy(value)))
}

impl ValueTest {
    /// Returns true if the condition is about more than the given values.
    fn needs_whole_entry(&self) -> bool {
        let is_set = matches!(self, ValueTest::Set(_) | ValueTest::NegatedSet(_));
        is_set || matches!(self, ValueTest::Count(_))
    }

    fn parse(schema: &Schema, kind: &str, value: &str) -> Result<ValueTest, String> {
        let pattern = || {
            let pattern = Pattern::exact_case(value);
            pattern.map_err(|why| format!("Illegal regular expression \"{value}\": Error {why}"))
        };
        let set = || {
            let set = Set::parse(schema, value);
            set.map_err(|why| format!("set \"{value}\": {why}"))
        };
        // Like slapd, a negative number is no limit.
        let number = || {
            let number = value.parse::<i64>();
            let number = number.map_err(|_| format!("\"{value}\" is no number"))?;
            Ok::<_, String>(u64::try_from(number).unwrap_or(u64::MAX))
        };
        Ok(match kind.to_ascii_lowercase().as_str() {
            "regex" => ValueTest::Regex(pattern()?),
            "negregex" => ValueTest::NegatedRegex(pattern()?),
            "size" => ValueTest::Size(number()?),
            "count" => ValueTest::Count(number()?),
            "uri" => ValueTest::Listed(ValueList::parse(schema, value)?),
            "neguri" => ValueTest::Unlisted(ValueList::parse(schema, value)?),
            "set" => ValueTest::Set(set()?),
            "negset" => ValueTest::NegatedSet(set()?),
            _ => return Err(format!("Unknown constraint type: {kind}")),
        })
    }
}

impl ValueList {
    fn parse(schema: &Schema, text: &str) -> Result<ValueList, String> {
        let url = LdapUrl::parse(text).map_err(|_| format!("Invalid URI \"{text}\""))?;
        if url.host.is_some() {
            return Err(format!("unsupported hostname in URI \"{text}\""));
        }
        if url.attributes.is_empty() {
            return Err(format!("no attributes in URI \"{text}\""));
        }
        let names = url.attributes.iter();
        let attributes = names.map(|name| attribute(schema, name));
        let base = Dn::parse(schema, &url.dn);
        let base = base.map_err(|_| format!("URI {text} DN normalization failed"))?;
        let filter = filter_of(schema, &url).map_err(|()| {
            let filter = url.filter.as_deref().unwrap_or_default();
            format!("invalid URI filter: {filter}")
        });
        Ok(ValueList {
            region: Region {
                bases: vec![base],
                scope: scope_of(&url),
            },
            filter: filter?,
            attributes: attributes.collect::<Result<_, _>>()?,
        })
    }

    /// The attributes that entries store: all but `entryDN`.
    fn stored_attributes(&self, schema: &Schema) -> impl Iterator<Item = &AttributeDescription> {
        let entry_dn = schema.describe(ENTRY_DN).ok();
        let mut attributes = self.attributes.iter();
        std::iter::from_fn(move || {
            attributes.find(|attribute| Some(*attribute) != entry_dn.as_ref())
        })
    }

    /// Returns true if the value names an entry of the list.
    fn names_entry<T: Snapshot>(
        &self,
        view: &View<'_, T>,
        value: &[u8],
    ) -> Result<bool, GuardRefusal> {
        let schema = view.schema();
        let Ok(dn) = Dn::parse_bytes(schema, value) else {
            return Ok(false);
        };
        let id = match self.region.contains(&dn) {
            true => view.find_base(dn.normal())?,
            false => None,
        };
        let Some(entry) = id.map(|id| view.entry(id)).transpose()?.flatten() else {
            return Ok(false);
        };
        let filter = self.filter.as_ref();
        Ok(filter.is_none_or(|filter| filter.filter.test(schema, &entry).is_true()))
    }

    /// Returns true if an entry of the list has the value.
    fn has(&self, context: &mut GuardContext<'_, '_>, value: &[u8]) -> Result<bool, GuardRefusal> {
        let schema = &context.core.schema;
        let has_names = self.attributes.contains(&context.core.types.entry_dn);
        let items = self.stored_attributes(schema).map(|attribute| {
            let name = attribute.text(schema);
            let attribute = name.as_bytes();
            Filter::resolve(
                schema,
                &FilterText::Equality(Assertion { attribute, value }),
            )
        });
        let any = Filter::Or(items.collect());
        let filter = match &self.filter {
            Some(filter) => Filter::And(vec![filter.filter.clone(), any]),
            None => any,
        };
        let mut bases = self.region.bases.iter();
        let database = bases.find_map(|base| context.core.databases.database_of(base));
        match database {
            Some(database) if std::ptr::eq(database, context.database) => Ok(has_names
                && self.names_entry(context.writer, value)?
                || context.finds(&self.region, &filter, None)?),
            Some(database) => {
                let view = database.store.snapshot()?;
                Ok(has_names && self.names_entry(&view, value)?
                    || self.is_elsewhere(&view, &filter)?)
            }
            None => Ok(false),
        }
    }

    /// Returns true if an entry of another database has the value.
    fn is_elsewhere(
        &self,
        view: &View<'_>,
        filter: &Filter<AttributeSelector>,
    ) -> Result<bool, GuardRefusal> {
        for base in &self.region.bases {
            let Some(id) = view.find_base(base.normal())? else {
                continue;
            };
            let mut candidates = view.plan(id, self.region.scope, filter)?;
            while let Some(entry) = candidates.next_entry(view)? {
                if filter.test(view.schema(), &entry).is_true() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

impl Restriction {
    fn parse(compilation: &Compilation<'_>, text: &str) -> Result<Restriction, String> {
        let schema = compilation.schema;
        let url = LdapUrl::parse(text).map_err(|_| format!("Invalid restrict URI \"{text}\""))?;
        if url.host.is_some() {
            return Err(format!("unsupported hostname in restrict URI \"{text}\""));
        }
        if !url.attributes.is_empty() {
            return Err(format!("attrs not allowed in restrict URI {text}"));
        }
        let mut region = None;
        if !url.dn.is_empty() {
            let base = Dn::parse(schema, &url.dn);
            let base = base.map_err(|_| format!("restrict URI {text} DN normalization failed"))?;
            let mut suffixes = compilation.suffixes.iter();
            if !suffixes.any(|suffix| base.is_within(suffix)) {
                return Err(format!(
                    "restrict URI DN {} not within database naming context(s)",
                    url.dn
                ));
            }
            region = Some(Region {
                bases: vec![base],
                scope: scope_of(&url),
            });
        }
        let filter = filter_of(schema, &url).map_err(|()| {
            let filter = url.filter.as_deref().unwrap_or_default();
            format!("restrict URI filter {filter} invalid")
        });
        Ok(Restriction {
            region,
            filter: filter?,
        })
    }
}

/// Resolves an attribute that a directive names.
fn attribute(schema: &Schema, name: &str) -> Result<AttributeDescription, String> {
    let described = schema.describe_one(name.as_bytes());
    described.map_err(|error| format!("constraint_attribute <{name}>: {}", error.reason()))
}
