//! A search's plan and its results, item by item, as `fulgurite explain` shows them.
//!
//! ```text
//!   (&(l=A)(st=X))     expected at most 100000   looked at 10       found 10
//!     (l=A)            expected at most 100000   looked at 100000   found 100000
//!     (st=X)           ...                       each with the times of planning and reading
//! ```
//! Each part of the filter is planned as if it were the whole. Access rules and limits play no
//! part.

use std::time::{Duration, Instant};

use fulgurite_ldap::{Filter as FilterText, FilterBuf};
use fulgurite_schema::{Dn, Filter};
use fulgurite_store::{EntryId, IndexSpec, Scope, Store, StoreError, View};

/// The start of the search to explain.
#[derive(Clone, Debug)]
pub struct ExplainOptions {
    /// Where the search begins; the first suffix if there is none.
    pub base: Option<Dn>,
    /// How far it reaches.
    pub scope: Scope,
}

/// A search explained.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The filter, then its parts, each behind the one it is part of.
    pub terms: Vec<ExplainedTerm>,
    /// Indexes that the store does not have and that would answer items of the filter.
    pub missing: Vec<IndexSpec>,
}

/// A part of a filter, planned and searched for.
#[derive(Clone, Debug)]
pub struct ExplainedTerm {
    /// How deep in the filter it is; the whole is 0.
    pub depth: usize,
    /// As text (RFC 4515).
    pub filter: String,
    /// The plan, on one line.
    pub plan: String,
    /// Candidates that the plan expects, at most.
    pub expected: u64,
    /// Candidates that there were within the scope.
    pub candidates: u64,
    /// Entries that match.
    pub found: u64,
    /// The time of the plan: index keys are looked up, and their entries counted.
    pub planning: Duration,
    /// The time of reading the candidates and testing the filter on each.
    pub reading: Duration,
}

/// The entry at which a search begins, and how far it reaches.
#[derive(Clone, Copy)]
struct SearchStart {
    base: EntryId,
    scope: Scope,
}

impl SearchStart {
    /// Finds the base as the server does: the empty name is above all entries of an empty suffix.
    fn find(view: &View<'_>, options: &ExplainOptions) -> Result<SearchStart, ExplainError> {
        let store = view.store();
        let scope = options.scope;
        let base = options.base.as_ref().or_else(|| store.suffixes().first());
        let base = base.ok_or_else(|| ExplainError::NoBase(String::new()))?;
        if base.is_root() && scope == Scope::Base {
            return Err(ExplainError::RootDse);
        }
        let found = view.find_base(base.normal())?;
        let base = found.ok_or_else(|| ExplainError::NoBase(base.pretty().to_owned()))?;
        Ok(SearchStart { base, scope })
    }
}

/// Why nothing can be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// The search would begin at an entry that does not exist.
    #[error("there is no entry \"{0}\" to search from")]
    NoBase(String),
    /// The search would read the root DSE, which the server generates.
    #[error("the base \"\" with scope base is the root DSE: no store holds it, so it has no plan")]
    RootDse,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Plans a search and each part of its filter, and counts what they find. Cost: that of as many
/// searches.
///
/// # Errors
/// [`ExplainError`] without a base or when the store fails.
pub fn explain(
    store: &Store,
    options: &ExplainOptions,
    filter: &FilterBuf,
) -> Result<Explanation, ExplainError> {
    let view = store.snapshot()?;
    let start = SearchStart::find(&view, options)?;
    let mut terms = Vec::new();
    let text = filter.filter();
    each_part(&text, 0, &mut |part, depth| {
        terms.push(term(&view, start, part, depth)?);
        Ok::<_, StoreError>(())
    })?;
    let missing = view.missing_indexes(&Filter::resolve(store.schema(), &text));
    Ok(Explanation { terms, missing })
}

fn each_part<E>(
    filter: &FilterText<'_>,
    depth: usize,
    visit: &mut impl FnMut(&FilterText<'_>, usize) -> Result<(), E>,
) -> Result<(), E> {
    visit(filter, depth)?;
    match filter {
        FilterText::And(parts) | FilterText::Or(parts) => parts
            .iter()
            .try_for_each(|part| each_part(part, depth + 1, visit)),
        FilterText::Not(part) => each_part(part, depth + 1, visit),
        _ => Ok(()),
    }
}

fn term(
    view: &View<'_>,
    start: SearchStart,
    part: &FilterText<'_>,
    depth: usize,
) -> Result<ExplainedTerm, StoreError> {
    let filter = Filter::resolve(view.schema(), part);
    let begun = Instant::now();
    let mut plan = view.plan(start.base, start.scope, &filter)?;
    let planned = Instant::now();
    let text = plan.explain(view);
    let (mut candidates, mut found) = (0, 0);
    let reading = Instant::now();
    while let Some(entry) = plan.next_entry(view)? {
        candidates += 1;
        found += u64::from(filter.test(view.schema(), &entry).is_true());
    }
    Ok(ExplainedTerm {
        depth,
        filter: part.to_string(),
        plan: text,
        expected: plan.count_max(),
        candidates,
        found,
        planning: planned.duration_since(begun),
        reading: reading.elapsed(),
    })
}
