//! Search (RFC 4511, section 4.5): a task that works in steps.
//!
//! ```text
//!   begin_search: base, rights, plan          advance, again and again                    the last one
//!   request -------------------------> task -----------------------------> entries ... -----------------> result
//!                                            candidates -> record in the map -> filter
//!                                            -> rights -> octets of the response
//! ```
//!
//! Between steps the task is plain data and a snapshot. It can be parked, which gives up the snapshot, and dropped at
//! any time, which abandons the search.

mod page;
mod scan;
mod shown;
mod subject;
mod tree;

use fulgurite_access::{Decisions, Level};
use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{
    Control, Controls, LdapResult, MessageId, Operation, ResultCode, Scope, SearchRequest, encode,
    oid,
};
use fulgurite_schema::{AttributeSelector, Dn, Entry, EntrySubject, Filter};
use fulgurite_store::EntryId;

use crate::answer::{self, Answer};
use crate::controls::RequestControls;
use crate::database::Database;
use crate::directory::{Directory, Place};
use crate::limits::SearchLimits;
use crate::lookup;
use crate::referral::Referrals;
use crate::selection::Selection;
use crate::session::Session;
use page::Page;
use scan::{End, Scan};
use shown::Shown;

pub use scan::Quantum;

/// Whether a search needs another step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    More,
    /// The result has been written.
    Done,
}

/// A search in progress. Dropping it abandons the search.
pub struct SearchTask<'d> {
    id: MessageId,
    state: State<'d>,
    entries: u32,
    code: ResultCode,
}

enum State<'d> {
    Scan(Box<Scan<'d>>),
    /// What is written with the next step: encoded entries and the end.
    Ready(Vec<u8>, End),
    Done,
}

impl Directory {
    /// Begins a search. Looks its base up and plans it; entries and errors alike come from [`SearchTask::advance`].
    #[must_use]
    pub fn begin_search(
        &self,
        session: &Session,
        id: MessageId,
        request: &SearchRequest<'_>,
        controls: &Controls<'_>,
    ) -> SearchTask<'_> {
        let state = self
            .search(session, id, request, controls)
            .unwrap_or_else(State::refused);
        SearchTask {
            id,
            state,
            entries: 0,
            code: ResultCode::Success,
        }
    }

    fn search(
        &self,
        session: &Session,
        id: MessageId,
        request: &SearchRequest<'_>,
        controls: &Controls<'_>,
    ) -> Answer<State<'_>> {
        let controls = RequestControls::decode(Operation::Search, controls)?;
        let base = answer::dn(&self.schema, request.base)?;
        let place = self.place(&base);
        self.permit_reading(session, &place, Operation::Search)?;
        let (granted, unlimited) = match place {
            Place::In(database) => (&database.limits, database.is_root(session)),
            Place::Tree(tree) => (&tree.limits, tree.is_root(session)),
            Place::RootDse | Place::Subschema | Place::Nowhere => (&self.limits, false),
        };
        let limits = granted.of_search(unlimited, request.size_limit, request.time_limit_s);
        let page = match controls.paged {
            Some(control) => page_wanted(&control, request, limits)?,
            None => None,
        };
        if page.is_some_and(|page| page.size == 0) {
            return Ok(State::nothing_more());
        }
        let filter = Filter::resolve(&self.schema, &request.filter);
        let selection = Selection::parse(&self.schema, &request.attributes);
        let shown = Shown::new(&self.known, selection, request.types_only);
        let owned = |entry| match request.scope {
            Scope::Base => self.search_owned(id, &self.decisions(session), entry, &filter, &shown),
            _ => Err(LdapResult::new(ResultCode::NoSuchObject)),
        };
        let database = match place {
            Place::RootDse => return owned(&self.special.root_dse),
            Place::Subschema => return owned(&self.special.subschema),
            Place::Nowhere => {
                let scope = Some(request.scope);
                return Err(self.elsewhere(&base, scope, ResultCode::NoSuchObject));
            }
            Place::Tree(tree) => {
                let place = (&base, request.scope);
                return self.search_tree(session, tree, id, place, &filter, &shown, limits);
            }
            Place::In(database) => database,
        };
        let scan = self.scan(
            database,
            id,
            database.decisions(session),
            (&base, request.scope, controls.manage_dsa_it),
            filter,
            shown,
            limits,
        )?;
        Ok(State::Scan(Box::new(match page {
            Some(page) => scan.paged(page),
            None => scan,
        })))
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one request")]
    fn scan<'d>(
        &'d self,
        database: &'d Database,
        id: MessageId,
        decisions: Decisions<'d>,
        (base, scope, managed): (&Dn, Scope, bool),
        filter: Filter<AttributeSelector>,
        shown: Shown,
        limits: SearchLimits,
    ) -> Answer<Scan<'d>> {
        let failed = |error| answer::store(&error);
        let view = database.store.snapshot().map_err(failed)?;
        let referrals = Referrals {
            known: &self.known,
            scope: Some(scope),
            managed,
        };
        let base_id: EntryId = lookup::locate(&view, base, &decisions, referrals)?;
        require_search(&decisions, base)?;
        let scope_of_plan = store_scope(scope);
        let is_referral = self.known.referral_filter.clone();
        let references = !managed
            && view
                .plan(base_id, scope_of_plan, &is_referral)
                .map_err(failed)?
                .count_max()
                > 0;
        let candidates = if references {
            let either = Filter::Or(vec![is_referral, filter.clone()]);
            view.plan(base_id, scope_of_plan, &either)
        } else {
            view.plan(base_id, scope_of_plan, &filter)
        };
        let found = (view, candidates.map_err(failed)?);
        let scan = Scan::new(self, id, decisions, found, filter, shown, limits);
        Ok(if references {
            scan.with_references(scope)
        } else {
            scan
        })
    }

    /// Searches an entry that is in no store: it is encoded here and now.
    fn search_owned(
        &self,
        id: MessageId,
        decisions: &Decisions<'_>,
        entry: &Entry,
        filter: &Filter<AttributeSelector>,
        shown: &Shown,
    ) -> Answer<State<'_>> {
        let rights = decisions.at(entry.dn.normal());
        require_search(decisions, &entry.dn)?;
        let mut out = Vec::new();
        let schema = &self.schema;
        let subject = EntrySubject { schema, entry };
        if rights.entry() >= Level::Read && filter.test(schema, &subject).is_true() {
            shown.write_owned(&mut out, id, entry, schema, rights);
        }
        Ok(State::Ready(out, End::plain(LdapResult::success())))
    }
}

impl SearchTask<'_> {
    /// Works for one quantum and appends encoded responses to `out`: entries, and the result with
    /// [`Progress::Done`].
    pub fn advance(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> Progress {
        let end = match std::mem::replace(&mut self.state, State::Done) {
            State::Done => return Progress::Done,
            State::Ready(entries, end) => {
                self.entries += u32::from(!entries.is_empty());
                out.extend_from_slice(&entries);
                end
            }
            State::Scan(mut scan) => {
                let end = scan.advance(out, quantum);
                self.entries = scan.sent();
                match end {
                    Some(end) => end,
                    None => {
                        self.state = State::Scan(scan);
                        return Progress::More;
                    }
                }
            }
        };
        self.code = end.result.code;
        self.write_end(out, &end);
        Progress::Done
    }

    /// Gives up what pins the store, for a client that does not read. The next step takes up a newer snapshot.
    pub fn park(&mut self) {
        if let State::Scan(scan) = &mut self.state {
            scan.park();
        }
    }

    /// How many entries have been written.
    #[must_use]
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// What the search came to, once it is done.
    #[must_use]
    pub fn code(&self) -> ResultCode {
        self.code
    }

    fn write_end(&self, out: &mut Vec<u8>, end: &End) {
        let value = end
            .cookie
            .as_ref()
            .map(|cookie| PagedResults { size: 0, cookie }.encode());
        let control = value
            .as_ref()
            .map(|value| Control::with_value(oid::PAGED_RESULTS, false, value));
        encode::result(
            out,
            self.id,
            Operation::Search,
            &end.result,
            control.as_slice(),
        );
    }
}

impl std::fmt::Debug for SearchTask<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchTask")
            .field("id", &self.id)
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}

impl State<'_> {
    fn refused(result: LdapResult) -> Self {
        State::Ready(Vec::new(), End::plain(result))
    }

    /// The end of a paged search that the client does not want to go on with.
    fn nothing_more() -> Self {
        let end = End {
            result: LdapResult::success(),
            cookie: Some(Vec::new()),
        };
        State::Ready(Vec::new(), end)
    }
}

impl End {
    fn plain(result: LdapResult) -> End {
        End {
            result,
            cookie: None,
        }
    }
}

/// The page to return. Pages that cannot be filled before the size limit strikes are no pages (RFC 2696, section 3).
fn page_wanted(
    control: &PagedResults<'_>,
    request: &SearchRequest<'_>,
    limits: SearchLimits,
) -> Answer<Option<Page>> {
    let page = Page::of(control, request)?;
    let limited = limits
        .size_max
        .is_some_and(|max| page.returned == 0 && page.size >= max);
    Ok((!limited).then_some(page))
}

/// The right to search from a base; who may not even know of it is told that it is not there.
fn require_search(decisions: &Decisions<'_>, base: &Dn) -> Answer {
    match decisions.at(base.normal()).entry() {
        Level::None => Err(LdapResult::new(ResultCode::NoSuchObject)),
        Level::Disclose | Level::Auth | Level::Compare => {
            Err(LdapResult::new(ResultCode::InsufficientAccessRights))
        }
        Level::Search | Level::Read | Level::Write => Ok(()),
    }
}

fn store_scope(scope: Scope) -> fulgurite_store::Scope {
    match scope {
        Scope::Base => fulgurite_store::Scope::Base,
        Scope::One => fulgurite_store::Scope::OneLevel,
        Scope::Subtree => fulgurite_store::Scope::Subtree,
        Scope::Children => fulgurite_store::Scope::Subordinates,
    }
}
