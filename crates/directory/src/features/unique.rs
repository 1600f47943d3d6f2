//! Values that only one entry of a region may have (slapd's overlay `unique`).
//!
//! The check asks the indexes of the writer, so two updates never pass it at the same time. The
//! option `serialize` is implied. An attribute without an equality index is checked by reading the
//! entries of the region.

use std::borrow::Cow;

use fulgurite_ldap::{Assertion, Filter as FilterText, LdapUrl, ModifyOperation};
use fulgurite_policy::{OverlayLine, OverlaySettings, Sourced};
use fulgurite_schema::{AttributeDescription, AttributeSelector, Dn, EntrySubject, Filter, Schema};
use fulgurite_store::Scope;

use super::compilation::Compilation;
use super::guard_question::{GuardContext, GuardRefusal, GuardedUpdate};
use super::region::{Region, UrlFilter, filter_of, scope_of, write_equality};
use super::truth;

/// The feature: its domains, in the order of the configuration.
#[derive(Debug)]
pub(crate) struct Unique {
    domains: Vec<Domain>,
}

/// The searches that one directive asks for.
#[derive(Debug)]
struct Domain {
    /// True if replacing an attribute by nothing looks for entries that have it.
    strict: bool,
    /// True if the attributes are those that need not be unique.
    ignore: bool,
    searches: Vec<UniqueSearch>,
}

/// One search: a region, the attributes that are unique there, and the entries that count.
#[derive(Debug)]
struct UniqueSearch {
    region: Region,
    /// Empty for all attributes of users.
    attributes: Vec<AttributeDescription>,
    filter: Option<UrlFilter>,
}

/// A value, or an attribute, that no other entry may have.
struct Probe<'u> {
    name: Cow<'u, str>,
    /// `None` for any value.
    value: Option<&'u [u8]>,
}

impl Unique {
    /// Compiles the directives of the overlay.
    ///
    /// # Errors
    /// slapd's sentence about the first wrong directive.
    pub(super) fn compile(
        compilation: &mut Compilation<'_>,
        settings: &OverlaySettings,
    ) -> Result<Unique, Sourced<String>> {
        let mut domains = Vec::new();
        let mut legacy: Option<Domain> = None;
        for line in &settings.lines {
            let is_uri = line.directive.keyword == "unique_uri";
            let outcome = if is_uri && legacy.is_some() {
                Err("cannot set URIs when legacy attrs are present".to_owned())
            } else if is_uri {
                Domain::parse(compilation, line).map(|domain| domains.push(domain))
            } else if !domains.is_empty() {
                Err("cannot set legacy attrs when URIs are present".to_owned())
            } else {
                let domain = legacy.get_or_insert_with(|| Domain::legacy(compilation));
                domain.take(compilation, line)
            };
            outcome.map_err(|text| Sourced::new(text, line.origin.clone()))?;
        }
        domains.extend(legacy);
        for domain in domains.iter().filter(|domain| !domain.ignore) {
            domain.note_lookups(compilation, settings);
        }
        Ok(Unique { domains })
    }

    /// Refuses an update that gives an attribute a value of another entry.
    pub(super) fn check(
        &self,
        context: &mut GuardContext<'_, '_>,
        update: &GuardedUpdate<'_>,
    ) -> Result<(), GuardRefusal> {
        let schema = &context.core.schema;
        for domain in &self.domains {
            for search in &domain.searches {
                if !search.concerns(schema, update) {
                    continue;
                }
                let probes = domain.probes(schema, search, update);
                let Some(filter) = search.filter(schema, &probes) else {
                    continue;
                };
                if context.finds(&search.region, &filter, update.before)? {
                    let text = search.filter_text(&probes);
                    let text = format!("non-unique attributes found with {text}");
                    return Err(GuardRefusal::violation(text));
                }
            }
        }
        Ok(())
    }
}

impl Domain {
    /// Returns the domain of the older directives, before any of them.
    fn legacy(compilation: &Compilation<'_>) -> Domain {
        let region = Region {
            bases: compilation.suffixes.to_vec(),
            scope: Scope::Subtree,
        };
        Domain {
            strict: false,
            ignore: false,
            searches: vec![UniqueSearch {
                region,
                attributes: Vec::new(),
                filter: None,
            }],
        }
    }

    /// Applies one of the older directives.
    fn take(&mut self, compilation: &Compilation<'_>, line: &OverlayLine) -> Result<(), String> {
        let keyword = line.directive.keyword;
        let Some(search) = self.searches.first_mut() else {
            return Ok(());
        };
        match keyword {
            "unique_base" => search.region.bases = vec![base(compilation, keyword, line.first())?],
            "unique_strict" => {
                self.strict =
                    truth::parse(line.first()).ok_or(format!("<{keyword}> invalid value"))?;
            }
            _ => {
                let ignore = keyword == "unique_ignore";
                if line.arguments.is_empty() {
                    return Err(format!(
                        "keyword <{keyword}> missing <attribute...> argument"
                    ));
                }
                if !search.attributes.is_empty() && ignore != self.ignore {
                    return Err("cannot set both attrs and ignore-attrs".to_owned());
                }
                self.ignore = ignore;
                for name in &line.arguments {
                    search.attributes.push(attribute(compilation.schema, name)?);
                }
            }
        }
        Ok(())
    }

    /// Parses `[serialize] [strict] [ignore] URI...`.
    fn parse(
        compilation: &mut Compilation<'_>,
        line: &Sourced<OverlayLine>,
    ) -> Result<Domain, String> {
        let mut domain = Domain {
            strict: false,
            ignore: false,
            searches: Vec::new(),
        };
        let mut rest = line.first().trim_start();
        if rest.is_empty() {
            return Err("keyword <unique_uri> missing <ldapuri> argument".to_owned());
        }
        while let Some((word, after)) = rest.split_once(char::is_whitespace) {
            match word.to_ascii_lowercase().as_str() {
                "strict" => domain.strict = true,
                "ignore" => domain.ignore = true,
                "serialize" => {}
                _ => break,
            }
            rest = after.trim_start();
        }
        for uri in rest.split_whitespace() {
            let url = LdapUrl::parse(uri).map_err(|_| format!("<{rest}> invalid ldap urilist"))?;
            let search = UniqueSearch::resolve(compilation, &url)?;
            search.warn(compilation, &domain, line);
            domain.searches.push(search);
        }
        if domain.searches.is_empty() {
            return Err(format!("<{rest}> invalid ldap urilist"));
        }
        Ok(domain)
    }

    /// Returns the attributes that the searches look up, for the advice on indexes.
    fn note_lookups(&self, compilation: &mut Compilation<'_>, settings: &OverlaySettings) {
        let searches = self.searches.iter();
        let searches = searches.filter(|search| search.region.scope != Scope::Base);
        for attribute in searches.flat_map(|search| &search.attributes) {
            compilation.note_lookup(attribute.attribute, &settings.origin);
        }
    }

    /// Returns the values of an update that one search is about.
    fn probes<'u>(
        &self,
        schema: &'u Schema,
        search: &UniqueSearch,
        update: &GuardedUpdate<'u>,
    ) -> Vec<Probe<'u>> {
        let mut probes = Vec::new();
        for change in update.changes {
            let given = &change.attribute;
            let description = &given.description;
            if !self.covers(schema, search, description) {
                continue;
            }
            let name = description.text(schema);
            let values: &[Vec<u8>] = match change.operation {
                ModifyOperation::Delete => continue,
                ModifyOperation::Add | ModifyOperation::Replace => &given.values,
                // The sums count.
                ModifyOperation::Increment => {
                    let held = update.after.attribute(description);
                    held.map_or(&[], |held| held.values.as_slice())
                }
            };
            if values.is_empty() && self.strict {
                let name = name.clone();
                probes.push(Probe { name, value: None });
            }
            probes.extend(values.iter().map(|value| Probe {
                name: name.clone(),
                value: Some(value),
            }));
        }
        probes
    }

    /// Returns true if an attribute has to be unique.
    fn covers(
        &self,
        schema: &Schema,
        search: &UniqueSearch,
        description: &AttributeDescription,
    ) -> bool {
        let definition = schema.attribute_at(description.attribute);
        !definition.is_operational()
            && (search.attributes.is_empty()
                || search.attributes.contains(description) != self.ignore)
    }
}

impl UniqueSearch {
    fn resolve(compilation: &Compilation<'_>, url: &LdapUrl) -> Result<UniqueSearch, String> {
        if let Some(host) = &url.host {
            return Err(format!("host <{host}> not allowed in URI"));
        }
        let bases = match url.dn.as_str() {
            "" => compilation.suffixes.to_vec(),
            text => {
                let dn = Dn::parse(compilation.schema, text);
                let dn = dn.map_err(|_| format!("<{text}> invalid DN 21 (Invalid syntax)"))?;
                vec![within(compilation, dn)?]
            }
        };
        let names = url.attributes.iter();
        let attributes = names.map(|name| attribute(compilation.schema, name));
        let attributes = attributes.collect::<Result<_, _>>()?;
        if url.scope == Some(fulgurite_ldap::Scope::Base) {
            return Err("unique: uri with base scope will always be unique".to_owned());
        }
        let filter = filter_of(compilation.schema, url);
        Ok(UniqueSearch {
            region: Region {
                bases,
                scope: scope_of(url),
            },
            attributes,
            filter: filter.map_err(|()| "unique: bad filter".to_owned())?,
        })
    }

    /// Returns true if an update needs the search.
    ///
    /// As in slapd, the entry is at or below the base, whatever the scope. A filter exempts new
    /// entries only.
    fn concerns(&self, schema: &Schema, update: &GuardedUpdate<'_>) -> bool {
        let entry = update.after;
        let mut bases = self.region.bases.iter();
        let is_below = bases.any(|base| update.dn.is_within(base) || entry.dn.is_within(base));
        let is_exempt = |filter: &UrlFilter| {
            let subject = EntrySubject { schema, entry };
            !filter.filter.test(schema, &subject).is_true()
        };
        // A search without a scope finds nothing.
        self.region.scope != Scope::Base
            && is_below
            && !(update.before.is_none() && self.filter.as_ref().is_some_and(is_exempt))
    }

    /// Warns of a search that does nothing, or too much.
    fn warn(
        &self,
        compilation: &mut Compilation<'_>,
        domain: &Domain,
        line: &Sourced<OverlayLine>,
    ) {
        let value = line.first();
        let text = if self.region.scope == Scope::Base {
            format!("unique_uri \"{value}\" has no scope, so nothing is checked: write ?sub")
        } else if self.attributes.is_empty() && !domain.ignore {
            format!(
                "unique_uri \"{value}\" names no attribute, so every value must be unique, also of objectClass"
            )
        } else {
            return;
        };
        compilation.warn(text, &line.origin);
    }

    /// Returns the filter for entries that have one of the values; `None` if there is nothing to
    /// look for.
    fn filter(&self, schema: &Schema, probes: &[Probe<'_>]) -> Option<Filter<AttributeSelector>> {
        let items = probes.iter().map(|probe| {
            let attribute = probe.name.as_bytes();
            let item = match probe.value {
                Some(value) => FilterText::Equality(Assertion { attribute, value }),
                None => FilterText::Present(attribute),
            };
            Filter::resolve(schema, &item)
        });
        // A value of an attribute without an equality rule equals no other.
        let items = items.filter(|item| !matches!(item, Filter::Constant(_)));
        let items: Vec<_> = items.collect();
        if items.is_empty() {
            return None;
        }
        let any = Filter::Or(items);
        Some(match &self.filter {
            Some(filter) => Filter::And(vec![filter.filter.clone(), any]),
            None => any,
        })
    }

    /// Returns the filter in slapd's form.
    fn filter_text(&self, probes: &[Probe<'_>]) -> String {
        let mut text = "(|".to_owned();
        for probe in probes {
            match probe.value {
                Some(value) => write_equality(&probe.name, value, &mut text),
                None => text.push_str(&format!("({}=*)", probe.name)),
            }
        }
        text.push(')');
        match &self.filter {
            Some(filter) => format!("(&{}{text})", filter.text),
            None => text,
        }
    }
}

/// Resolves an attribute that a directive names.
fn attribute(schema: &Schema, name: &str) -> Result<AttributeDescription, String> {
    let described = schema.describe_one(name.as_bytes());
    described.map_err(|error| format!("unique: attribute: {name}: {}", error.reason()))
}

fn base(compilation: &Compilation<'_>, keyword: &str, text: &str) -> Result<Dn, String> {
    let dn = Dn::parse(compilation.schema, text);
    within(
        compilation,
        dn.map_err(|_| format!("<{keyword}> invalid DN 21 (Invalid syntax)"))?,
    )
}

/// Passes a name within the database on.
fn within(compilation: &Compilation<'_>, dn: Dn) -> Result<Dn, String> {
    let mut suffixes = compilation.suffixes.iter();
    if suffixes.clone().any(|suffix| dn.is_within(suffix)) {
        return Ok(dn);
    }
    let suffix = suffixes.next().map_or("", Dn::pretty);
    Err(format!(
        "dn <{}> is not a suffix of backend base dn <{suffix}>",
        dn.pretty()
    ))
}
