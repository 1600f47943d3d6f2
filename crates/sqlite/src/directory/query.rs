//! The entries that a scan reads, found by the store's own plans.

use fulgurite::ReadTxn;
use fulgurite_ldap as ldap;
use fulgurite_schema::{AttributeSelector, Dn, Filter};
use fulgurite_store::{
    AllEntries, AttributeId, Candidates, EntryId, EntryView, EntryWalk, Scope, StoredSelector,
    View, compile_filter,
};

use super::failures;
use crate::error::{Result, misuse};

/// Ids that a plan reads before it pauses. A scan asks on at once.
const QUANTUM: usize = 1024;

/// The wishes of a scan: the arguments of the function, and the comparisons that it answers.
#[derive(Debug, Default)]
pub(super) struct Query {
    pub(super) filter: Option<ldap::FilterBuf>,
    pub(super) base: Option<String>,
    pub(super) dn: Option<String>,
    pub(super) entry: Option<EntryId>,
    pub(super) parent: Option<EntryId>,
    pub(super) attribute: Option<String>,
    pub(super) value: Option<Vec<u8>>,
}

/// The entries of a scan.
pub(super) struct EntrySource<'v> {
    view: &'v View<'v>,
    source: Source<'v>,
    /// The argument `filter`, for entries of which no plan knows that they match.
    filter: Option<Filter<StoredSelector>>,
    /// The descriptions whose values are shown; `None` is all.
    pub(super) wanted: Option<Vec<AttributeId>>,
}

enum Source<'v> {
    Nothing,
    All(Box<AllEntries<'v, 'v, ReadTxn<'v>>>),
    One(EntryId),
    Planned(Box<(Candidates, EntryWalk<'v>)>),
}

impl<'v> EntrySource<'v> {
    /// Plans a query over a snapshot.
    pub(super) fn plan(view: &'v View<'v>, query: &Query) -> Result<EntrySource<'v>> {
        let filter = match &query.filter {
            Some(filter) => Some(resolved(view, filter)?),
            None => None,
        };
        let wanted = query.attribute.as_ref().map(|name| {
            let infos = view.attributes().iter();
            let same = infos.filter(|info| info.text.eq_ignore_ascii_case(name));
            same.map(|info| info.id).collect::<Vec<_>>()
        });
        let mut found = EntrySource {
            view,
            source: Source::Nothing,
            filter: None,
            wanted,
        };
        if found.wanted.as_ref().is_some_and(Vec::is_empty) {
            return Ok(found);
        }
        let Some(base) = base(view, query.base.as_deref())? else {
            return Ok(found);
        };
        found.source = match one(view, query)? {
            Some(None) => Source::Nothing,
            Some(Some(id)) if base == EntryId::ROOT || is_within(view, id, base)? => {
                Source::One(id)
            }
            Some(Some(_)) => Source::Nothing,
            None => planned(view, query, base, filter.as_ref(), found.wanted.as_deref())?,
        };
        let is_tested = match &found.source {
            Source::Planned(planned) => !planned.0.is_exact(),
            _ => true,
        };
        found.filter = filter
            .filter(|_| is_tested)
            .map(|filter| compile_filter(view, filter));
        Ok(found)
    }

    /// Returns the next entry.
    pub(super) fn next(&mut self) -> Result<Option<EntryView<'v>>> {
        while let Some(entry) = self.next_candidate()? {
            let matches =
                |filter: &Filter<StoredSelector>| filter.test(self.view.schema(), &entry).is_true();
            if !entry.is_placeholder() && self.filter.as_ref().is_none_or(matches) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    fn next_candidate(&mut self) -> Result<Option<EntryView<'v>>> {
        let found = match &mut self.source {
            Source::Nothing => Ok(None),
            Source::All(entries) => entries.next(),
            Source::One(id) => {
                let id = *id;
                self.source = Source::Nothing;
                self.view.entry(id)
            }
            Source::Planned(planned) => {
                let (candidates, walk) = &mut **planned;
                loop {
                    let mut left = QUANTUM;
                    let next = candidates.next_entry_within(self.view, walk, &mut left);
                    if left > 0 || !matches!(next, Ok(None)) {
                        break next;
                    }
                }
            }
        };
        found.map_err(failures::store)
    }
}

fn resolved(view: &View<'_>, filter: &ldap::FilterBuf) -> Result<Filter<AttributeSelector>> {
    let filter = Filter::resolve(view.schema(), &filter.filter());
    match filter.has_chains() {
        true => Err(misuse(
            "a filter with the rule of chains (1.2.840.113556.1.4.1941) needs the server",
        )),
        false => Ok(filter),
    }
}

/// Returns the id of the base, which is the root without one; `None` if it does not exist.
fn base(view: &View<'_>, base: Option<&str>) -> Result<Option<EntryId>> {
    let Some(text) = base.filter(|text| !text.is_empty()) else {
        return Ok(Some(EntryId::ROOT));
    };
    let dn = Dn::parse(view.schema(), text)
        .map_err(|error| misuse(format!("the base '{text}' is no name: {error}")))?;
    Ok(view.find(&dn).map_err(failures::store)?.entry())
}

/// Returns the only entry that a query can find: none, or one. `None` means that there may be more.
fn one(view: &View<'_>, query: &Query) -> Result<Option<Option<EntryId>>> {
    if query.entry.is_some() {
        return Ok(Some(query.entry));
    }
    let Some(text) = &query.dn else {
        return Ok(None);
    };
    let Ok(dn) = Dn::parse(view.schema(), text) else {
        return Ok(Some(None));
    };
    Ok(Some(view.find(&dn).map_err(failures::store)?.entry()))
}

fn is_within(view: &View<'_>, id: EntryId, base: EntryId) -> Result<bool> {
    Ok(id == base || view.is_descendant(id, base).map_err(failures::store)?)
}

fn planned<'v>(
    view: &'v View<'v>,
    query: &Query,
    base: EntryId,
    filter: Option<&Filter<AttributeSelector>>,
    wanted: Option<&[AttributeId]>,
) -> Result<Source<'v>> {
    let mut filters: Vec<_> = filter.cloned().into_iter().collect();
    if let Some(wanted) = wanted {
        let infos = wanted.iter().filter_map(|id| view.attributes().get(*id));
        let any = infos.map(|info| {
            let equal = query.value.as_ref().and_then(|value| {
                let assertion = ldap::Assertion {
                    attribute: info.text.as_bytes(),
                    value,
                };
                let filter = ldap::Filter::Equality(assertion);
                let filter = Filter::resolve(view.schema(), &filter);
                // A value of no valid form is in no index, and may be stored.
                Some(filter).filter(|filter| !matches!(filter, Filter::Constant(_)))
            });
            equal.unwrap_or_else(|| Filter::Present(info.description.clone()))
        });
        filters.push(Filter::Or(any.collect()));
    }
    let (base, scope) = match query.parent {
        Some(parent) if base == EntryId::ROOT => (parent, Scope::OneLevel),
        _ => (base, Scope::Subtree),
    };
    if filters.is_empty() && base == EntryId::ROOT && scope == Scope::Subtree {
        let all = AllEntries::of(view).map_err(failures::store)?;
        return Ok(Source::All(Box::new(all)));
    }
    let filter = match filters.len() {
        1 => filters.remove(0),
        _ => Filter::And(filters),
    };
    let candidates = view.plan(base, scope, &filter).map_err(failures::store)?;
    Ok(Source::Planned(Box::new((candidates, EntryWalk::new()))))
}
