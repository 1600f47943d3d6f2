//! The beginning of a search: what is asked for, whether that may be, and where it begins.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use fulgurite_access::{Decisions, EntryRights, Rights};
use fulgurite_ldap::{
    Controls, LdapResult, MessageId, Operation, ResultCode, Scope, SearchRequest,
};
use fulgurite_policy::SortLimits;
use fulgurite_schema::{AttributeSelector, Dn, Entry, Filter};
use fulgurite_store::{EntryId, NameLookup, View};

use super::database_search::Sought;
use super::output::{End, Output};
use super::page::{CookieKey, Page, SearchHash, search_hash};
use super::regions::Region;
use super::run::{self, Run, Sorting, Start};
use super::sort::{Key, Sorter, Unsorted};
use super::sorted_entries::Arranged;
use super::task::{State, Visible};
use super::vlv;
use crate::core::database::Database;
use crate::core::limits::{SearchLimits, Wanted};
use crate::core::result::{self, Answer, refuse};
use crate::core::session::{Name, Session};
use crate::directory::{Directory, Place};
use crate::request::alias::{self, Followed};
use crate::request::controls::GivenControls;
use crate::request::referral::{self, Referrals};
use crate::rights::assertion;
use crate::rights::computed::Asker;
use crate::rights::disclosure;
use crate::rights::facts::{EntryFacts, OwnFacts, Target};
use crate::rights::projection::Shown;
use crate::rights::selection::Selection;
use crate::rights::snapshots::Snapshots;
use crate::rights::value_filter::ValuesFilter;
use crate::rights::visible_entry::SeenOwned;
use crate::write::permission;

/// A request that has been looked at.
struct Asked<'r, 'c> {
    id: MessageId,
    request: &'r SearchRequest<'r>,
    controls: GivenControls<'c>,
    base: Cow<'r, Dn>,
    limits: SearchLimits,
    filter: Arc<Filter<AttributeSelector>>,
}

/// The sorting that was asked for.
struct Order {
    keys: Vec<Key>,
    sorting: Sorting,
    view: Option<vlv::View>,
}

impl Directory {
    pub(super) fn search<'d>(
        &'d self,
        snapshots: &mut Snapshots<'d>,
        session: &Session,
        id: MessageId,
        request: &SearchRequest<'_>,
        controls: &Controls<'_>,
    ) -> Answer<State<'d>> {
        // slapd reads the base first, too.
        let mut base = match self.suffix_written(request.base) {
            Some(suffix) => Cow::Borrowed(suffix),
            None => Cow::Owned(result::dn(&self.schema, request.base)?),
        };
        let (controls, acting) = self.controls_of(session, Operation::Search, controls)?;
        let session = acting.as_ref().unwrap_or(session);
        if let Some(default) = &self.default_search_base
            && base.is_root()
            && request.scope != Scope::Base
        {
            base = Cow::Borrowed(default);
        }
        let place = self.place_of_search(&base, request.scope);
        self.permit_reading(session, &place, Operation::Search)?;
        let (granted, unlimited) = match place {
            Place::In(database) => (&database.limits, database.is_root(session)),
            Place::Tree(tree) => (&tree.limits, tree.is_root(session)),
            Place::RootDse | Place::Subschema | Place::Nowhere => (&self.limits, false),
        };
        let limits = granted.of_search(
            &Wanted {
                requester: session.identity().name().map_or("", Name::normal),
                is_root: unlimited,
                base: base.normal(),
                size: request.size_limit,
                time_s: request.time_limit_s,
                page: controls.paged.as_ref().map(|paged| paged.size),
            },
            &OwnFacts {
                directory: self,
                entry: None,
            },
        )?;
        let asked = Asked {
            id,
            request,
            controls,
            base,
            limits,
            filter: Arc::new(Filter::resolve(&self.schema, &request.filter)),
        };
        let hash = asked.hash(session, self.legs_at(&place, &asked));
        let cookie_key = self.cookie_key_at(&place);
        let page = match self.page(&asked, hash, cookie_key)? {
            Some(page) if page.size == 0 => return Ok(State::nothing_more()),
            page => page,
        };
        let order = match self.order(session, &asked, hash) {
            Ok(order) => order,
            Err(end) => return Ok(State::Ready(Vec::new(), 0, *end)),
        };
        let selection = Selection::parse(&self.schema, &request.attributes);
        // Without values there is nothing to choose from, as in slapd.
        let values = asked.controls.matched_values.as_ref();
        let values = values.filter(|_| !request.types_only);
        let values = values.and_then(|control| ValuesFilter::resolve(&self.schema, control));
        let shown = Shown::new(&self.known, selection, request.types_only).only(values);
        match place {
            // More than the entry itself is nobody's here, unless somebody is known to have it.
            Place::RootDse if request.scope != Scope::Base => {
                let scope = Some(request.scope);
                Err(self.elsewhere(&asked.base, scope, ResultCode::NoSuchObject))
            }
            Place::RootDse => {
                self.search_owned(session, &asked, &self.root_dse(session), &shown, order)
            }
            Place::Subschema => {
                self.search_owned(session, &asked, &self.special.subschema, &shown, order)
            }
            Place::Nowhere => {
                let scope = Some(request.scope);
                Err(self.elsewhere(&asked.base, scope, ResultCode::NoSuchObject))
            }
            Place::Tree(tree) => {
                let place = (&*asked.base, request.scope);
                let (arranged, _leave) = self.arranged(order);
                self.search_tree(
                    session,
                    tree,
                    id,
                    place,
                    &asked.filter,
                    &shown,
                    asked.limits,
                    arranged,
                )
            }
            Place::In(database) => {
                let mut output = Output::new(id, shown, asked.limits, *cookie_key);
                output.page = page;
                self.search_stored(snapshots, session, database, &asked, order, output)
            }
        }
    }

    fn search_stored<'d>(
        &'d self,
        snapshots: &mut Snapshots<'d>,
        session: &Session,
        database: &'d Database,
        asked: &Asked<'_, '_>,
        order: Order,
        mut output: Output,
    ) -> Answer<State<'d>> {
        let failed = |error| result::store(&error);
        let decisions = database.decisions(session);
        let view = snapshots.take(&database.store).map_err(failed)?;
        let (base, region) = match self.permitted_base(&view, database, &decisions, asked) {
            Ok(Some(found)) => found,
            Ok(None) => {
                snapshots.give(view);
                return Ok(State::Ready(Vec::new(), 0, output.end(ResultCode::Success)));
            }
            Err(refused) => {
                snapshots.give(view);
                return Err(refused);
            }
        };
        if matches!(order.sorting, Sorting::Asked { .. }) {
            output.sorter = Some(Sorter::new(self.sort_limits.bytes_max));
            output.sort_keys = order.keys;
        }
        let controls = &asked.controls;
        let visible = match controls.subentries {
            None => Visible::AsNamed,
            Some(control) if control.visible => Visible::OnlySubentries,
            Some(_) => Visible::NoSubentries,
        };
        let sought = Sought {
            filter: Arc::clone(&asked.filter),
            deref: asked.request.deref.searching(),
            references: !controls.manage_dsa_it
                && !controls.domain_scope
                && visible != Visible::OnlySubentries,
            hides_referrals: controls.domain_scope && !controls.manage_dsa_it,
            visible,
        };
        let others = self.glued_legs(database, &base, asked.request.scope);
        let waiting: VecDeque<Start<'d>> = others
            .into_iter()
            .map(|leg| Start {
                database: leg.database,
                decisions: leg.database.decisions(session),
                base: leg.base,
                scope: leg.scope,
            })
            .collect();
        let (likeness, selection) = (decisions.likeness(), &output.shown.selection);
        let verdicts = snapshots.take_verdicts(&database.store, likeness, selection);
        let mut run = Run::new(self, output, sought, order.sorting, order.view, waiting);
        run.begin(database, decisions, view, region, verdicts)
            .map_err(failed)?;
        Ok(State::Run(run))
    }

    /// The entry that the search begins at, with its name, if it may; `None` behind more aliases than are followed, where
    /// nothing is found.
    fn permitted_base<'a>(
        &self,
        view: &View<'_>,
        database: &Database,
        decisions: &Decisions<'_>,
        asked: &'a Asked<'_, '_>,
    ) -> Answer<Option<(Cow<'a, Dn>, Region)>> {
        let failed = |error| result::store(&error);
        let referrals = self.referrals(asked);
        let (name, base) = if asked.base.is_root() {
            (Cow::Owned(Dn::root()), EntryId::ROOT)
        } else {
            let (name, found) = if asked.request.deref.finding() {
                let depth_max = database.max_deref_depth;
                let followed = alias::follow(view, self, decisions, &asked.base, depth_max);
                match followed.map_err(failed)? {
                    Followed::Arrived(name, found) => (Cow::Owned(name), found),
                    Followed::Problem(result) => return Err(result),
                    Followed::TooMany => return Ok(None),
                }
            } else {
                let found = view.find(&asked.base).map_err(failed)?;
                (Cow::Borrowed(&*asked.base), found)
            };
            let base = match found {
                NameLookup::Entry(id) if !self.has_referrals(database, view, id)? => id,
                found => {
                    if asked.controls.domain_scope {
                        self.hide_referral(view, decisions, asked, found)?;
                    }
                    referrals.resolve(view, decisions, &name, found)?
                }
            };
            (name, base)
        };
        let scope = asked.request.scope;
        let region = Region { base, scope };
        self.require_base(view, decisions, asked, (&name, region))
            .map_err(|refused| referrals.refusal(view, decisions, (&name, base), refused))?;
        Ok(Some((name, region)))
    }

    /// The right to search from the base, and what the client asserts about it.
    fn require_base(
        &self,
        view: &View<'_>,
        decisions: &Decisions<'_>,
        asked: &Asked<'_, '_>,
        (name, region): (&Dn, Region),
    ) -> Answer {
        let failed = |error| result::store(&error);
        let facts = if decisions.uniform() {
            // No rule looks at the entry.
            EntryFacts::new(self, view, Target::Missing)
        } else {
            EntryFacts::of(self, view, region.base).map_err(failed)?
        };
        let rights = facts.rights(decisions, name.normal());
        let searched = rights.entry().allows(Rights::SEARCH);
        permission::require(searched, "")?;
        let Some(assert) = &asked.controls.assertion else {
            return Ok(());
        };
        let filter = Filter::resolve(&self.schema, &assert.filter);
        let asker = Asker {
            directory: self,
            decisions,
        };
        // The empty suffix is no entry that something could be asserted about.
        if region.base == EntryId::ROOT {
            return Err(LdapResult::new(ResultCode::NoSuchObject));
        }
        let entry = disclosure::whole_entry(view, asker, region.base).map_err(failed)?;
        assertion::require(&self.schema, rights, &entry, &filter)
    }

    fn referrals(&self, asked: &Asked<'_, '_>) -> Referrals<'_> {
        Referrals {
            directory: self,
            scope: Some(asked.request.scope),
            managed: asked.controls.manage_dsa_it,
            ignored: asked.controls.domain_scope,
        }
    }

    /// With the domain scope control a referral object is just not there (unless it is meant itself).
    fn hide_referral(
        &self,
        view: &View<'_>,
        decisions: &Decisions<'_>,
        asked: &Asked<'_, '_>,
        found: NameLookup,
    ) -> Answer {
        let NameLookup::Entry(id) = found else {
            return Ok(());
        };
        let entry = view.entry(id).map_err(|error| result::store(&error))?;
        let is_referral = entry.is_some_and(|entry| referral::is_referral(&entry, &self.known));
        if !is_referral || asked.controls.manage_dsa_it {
            return Ok(());
        }
        Err(disclosure::no_such_object(self, view, decisions, Some(id)))
    }

    /// The page to return. Pages that cannot be filled before the client's own size limit strikes are no pages
    /// (RFC 2696, section 3).
    fn page(
        &self,
        asked: &Asked<'_, '_>,
        hash: SearchHash,
        key: &CookieKey,
    ) -> Answer<Option<Page>> {
        let Some(control) = &asked.controls.paged else {
            return Ok(None);
        };
        let page = Page::of(control, hash, self.clock.now().0, key)?;
        Ok((!asked.limits.unpaged).then_some(page))
    }

    /// The names at which the legs of a search begin: cookies count legs.
    fn legs_at(&self, place: &Place<'_>, asked: &Asked<'_, '_>) -> Vec<Dn> {
        match place {
            Place::In(database) if asked.controls.paged.is_some() => {
                let legs = self.legs(database, &asked.base, asked.request.scope);
                legs.into_iter().map(|leg| leg.base).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What is to be sorted, and how; or the end of a search that demands what cannot be.
    fn order(
        &self,
        session: &Session,
        asked: &Asked<'_, '_>,
        hash: SearchHash,
    ) -> Result<Order, Box<End>> {
        let controls = &asked.controls;
        let Some(control) = &controls.sort else {
            if controls.vlv.is_some() {
                return Err(Box::new(run::view_without_order()));
            }
            return Ok(Order {
                keys: Vec::new(),
                sorting: Sorting::None,
                view: None,
            });
        };
        let limits = &self.sort_limits;
        let demanded = controls.sort_critical || controls.vlv.is_some();
        let keys_max = if limits.keys_max == 0 {
            usize::MAX
        } else {
            limits.keys_max
        };
        let keys = match Key::resolve_all(&self.schema, &control.keys, keys_max) {
            Ok(keys) => keys,
            Err(unsorted) if demanded => return Err(Box::new(run::unsortable(&unsorted))),
            Err(unsorted) => {
                return Ok(Order {
                    keys: Vec::new(),
                    sorting: Sorting::Not(unsorted),
                    view: None,
                });
            }
        };
        let view = match &controls.vlv {
            None => None,
            Some(request) => {
                let view = vlv::View::resolve(&self.schema, request, &keys, hash);
                Some(view.ok_or_else(|| Box::new(End::plain(no_such_value())))?)
            }
        };
        let permit = self.permit_sort(session, limits);
        Ok(Order {
            keys,
            sorting: Sorting::Asked {
                _leave: permit.map_err(|unsorted| run::unsortable(&unsorted))?,
            },
            view,
        })
    }

    fn permit_sort(
        &self,
        session: &Session,
        limits: &SortLimits,
    ) -> Result<crate::features::sssvlv::SortPermit, Unsorted> {
        let permit = self.sorts.begin(session.connection().id, limits);
        permit.ok_or_else(|| Unsorted {
            result: refuse(ResultCode::Busy, "Other sort requests already in progress"),
            attribute: None,
        })
    }

    /// Searches an entry that is in no store: it is encoded here and now.
    fn search_owned(
        &self,
        session: &Session,
        asked: &Asked<'_, '_>,
        entry: &Entry,
        shown: &Shown,
        order: Order,
    ) -> Answer<State<'_>> {
        if asked.request.scope != Scope::Base {
            return Err(LdapResult::new(ResultCode::NoSuchObject));
        }
        let decisions = self.decisions(session);
        let facts = OwnFacts {
            directory: self,
            entry: Some(entry),
        };
        let rights = decisions.at(entry.dn.normal(), &facts);
        require_search(&rights)?;
        let schema = &self.schema;
        if let Some(assert) = &asked.controls.assertion {
            let filter = Filter::resolve(schema, &assert.filter);
            assertion::require(schema, rights, entry, &filter)?;
        }
        let mut out = Vec::new();
        let subject = SeenOwned {
            schema,
            entry,
            rights,
            needed: Rights::SEARCH,
        };
        if rights.entry().allows(Rights::READ) && asked.filter.test(schema, &subject).is_true() {
            shown.write_owned(&mut out, asked.id, entry, schema, rights);
        }
        let count = u32::from(!out.is_empty());
        let (Some(mut arranged), _leave) = self.arranged(order) else {
            return Ok(State::Ready(out, count, End::plain(LdapResult::success())));
        };
        if count > 0 {
            arranged.push(schema, entry, rights, out);
        }
        Ok(arranged.finish(None))
    }

    /// What puts entries in order that are in no store, if they are to be, and what is given back when they are.
    fn arranged(&self, order: Order) -> (Option<Arranged>, Sorting) {
        let arranged = match order.sorting {
            Sorting::Asked { .. } => Some(Arranged::new(
                order.keys,
                order.view,
                self.sort_limits.bytes_max,
            )),
            Sorting::None | Sorting::Not(_) => None,
        };
        (arranged, order.sorting)
    }
}

impl Asked<'_, '_> {
    /// What cookies of this search are known by; nothing to compute where there are none.
    fn hash(&self, session: &Session, legs: Vec<Dn>) -> SearchHash {
        if self.controls.paged.is_none() && self.controls.vlv.is_none() {
            return SearchHash::default();
        }
        let filter = self.request.filter.to_string();
        let how = [
            self.request.scope.number(),
            self.request.deref.number(),
            u8::from(self.controls.manage_dsa_it),
            self.controls
                .subentries
                .map_or(2, |control| u8::from(control.visible)),
        ];
        let order = self.controls.sort.as_ref().map(|sort| sort.encode());
        let legs = legs.iter().map(|base| base.normal().as_bytes());
        let parts = [
            session.name().as_bytes(),
            self.base.normal().as_bytes(),
            filter.as_bytes(),
            how.as_slice(),
            order.as_deref().unwrap_or_default(),
        ];
        search_hash(parts.into_iter().chain(legs))
    }
}

fn no_such_value() -> LdapResult {
    refuse(
        ResultCode::InvalidAttributeSyntax,
        "VLV: the value asserted is none of the first sort key's",
    )
}

/// The right to search from a base; who may not even know of it is told that it is not there.
pub(super) fn require_search(base: &EntryRights<'_>) -> Answer {
    let rights = base.entry();
    if rights.allows(Rights::SEARCH) {
        return Ok(());
    }
    Err(LdapResult::new(if rights.allows(Rights::DISCLOSE) {
        ResultCode::InsufficientAccessRights
    } else {
        ResultCode::NoSuchObject
    }))
}
