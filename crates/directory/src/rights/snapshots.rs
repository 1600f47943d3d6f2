//! The cache of a worker thread: views of the stores, attribute rights, the parent of a name.

use fulgurite_access::RightsClass;
use fulgurite_schema::{Dn, Schema, SiblingNames};
use fulgurite_store::{Store, StoreError, View};

use crate::core::result::{self, OpResult};
use crate::rights::projection::AttributeRights;
use crate::rights::repeated_search::RepeatedSearch;
use crate::rights::selection::Selection;

/// The number of views kept. Most servers have fewer stores.
const VIEWS_MAX: usize = 8;

/// The number of attribute rights kept. Clients use few different selections.
const ATTRIBUTE_RIGHTS_MAX: usize = 4;

/// The number of searches kept for repetition. Each has about two kilobytes.
const REPEATED_MAX: usize = 8;

/// Views that pin nothing between operations. Each thread has its own.
///
/// A view remembers names that it read as long as its state is the newest.
#[derive(Debug, Default)]
pub struct Snapshots<'d> {
    #[allow(
        clippy::vec_box,
        reason = "operations take them out and give them back as they are"
    )]
    views: Vec<Box<View<'d>>>,
    attribute_rights: Vec<CachedRights<'d>>,
    names: Option<SiblingNames<'d>>,
    #[allow(
        clippy::vec_box,
        reason = "operations take them out and give them back as they are"
    )]
    repeated: Vec<Box<RepeatedSearch<'d>>>,
}

/// Attribute rights with their key: store, rights class and selection. A store never renumbers
/// attributes.
#[derive(Debug)]
struct CachedRights<'d> {
    store: &'d Store,
    rights_class: RightsClass<'d>,
    selection: Selection,
    attribute_rights: AttributeRights,
}

impl CachedRights<'_> {
    fn are_of(&self, store: &Store, rights_class: RightsClass<'_>, selection: &Selection) -> bool {
        std::ptr::eq(self.store, store)
            && self.rights_class == rights_class
            && self.selection == *selection
    }
}

impl<'d> Snapshots<'d> {
    /// Takes out a view of the newest state of a store.
    pub(crate) fn take(&mut self, store: &'d Store) -> Result<Box<View<'d>>, StoreError> {
        let kept = self.views.iter();
        let at = kept
            .rev()
            .position(|view| std::ptr::eq(view.store(), store));
        if let Some(at) = at {
            let mut view = self.views.remove(self.views.len() - 1 - at);
            if view.refresh().is_ok() {
                return Ok(view);
            }
        }
        Ok(Box::new(store.snapshot()?))
    }

    /// Puts a view back.
    pub(crate) fn give(&mut self, mut view: Box<View<'d>>) {
        view.reset();
        if self.views.len() >= VIEWS_MAX {
            // The view unused for longest may belong to a store that is closed.
            self.views.remove(0);
        }
        self.views.push(view);
    }

    /// Parses a name of a request. Names below the parent of the last one are parsed faster.
    pub(crate) fn dn(&mut self, schema: &'d Schema, text: &[u8]) -> OpResult<Dn> {
        let known = self.names.take_if(|names| names.are_of(schema));
        let mut names = known.unwrap_or_else(|| SiblingNames::new(schema));
        let dn = result::dn_by(text, |text| names.parse(text));
        self.names = Some(names);
        dn
    }

    /// Takes out the attribute rights of earlier searches with the same rights and selection.
    pub(crate) fn take_attribute_rights(
        &mut self,
        store: &Store,
        rights_class: Option<RightsClass<'d>>,
        selection: &Selection,
    ) -> AttributeRights {
        let at = rights_class.and_then(|rights_class| {
            let is_it = |kept: &CachedRights<'_>| kept.are_of(store, rights_class, selection);
            self.attribute_rights.iter().rposition(is_it)
        });
        at.map_or_else(AttributeRights::default, |at| {
            self.attribute_rights.remove(at).attribute_rights
        })
    }

    /// Puts attribute rights back.
    pub(crate) fn give_attribute_rights(
        &mut self,
        store: &'d Store,
        rights_class: Option<RightsClass<'d>>,
        selection: Selection,
        attribute_rights: AttributeRights,
    ) {
        let Some(rights_class) = rights_class else {
            return;
        };
        // Several searches with the same key may have run at the same time.
        self.attribute_rights
            .retain(|kept| !kept.are_of(store, rights_class, &selection));
        if self.attribute_rights.len() >= ATTRIBUTE_RIGHTS_MAX {
            self.attribute_rights.remove(0);
        }
        self.attribute_rights.push(CachedRights {
            store,
            rights_class,
            selection,
            attribute_rights,
        });
    }

    /// Returns true if a search of this kind is kept.
    pub(crate) fn has_repeated(&self, is_it: impl Fn(&RepeatedSearch<'d>) -> bool) -> bool {
        self.repeated.iter().any(|known| is_it(known))
    }

    /// Takes out the search that a request repeats.
    pub(crate) fn take_repeated(
        &mut self,
        is_it: impl Fn(&RepeatedSearch<'d>) -> bool,
    ) -> Option<Box<RepeatedSearch<'d>>> {
        let at = self.repeated.iter().rposition(|known| is_it(known))?;
        Some(self.repeated.swap_remove(at))
    }

    /// Puts a search back that was taken out.
    pub(crate) fn give_repeated(&mut self, search: Box<RepeatedSearch<'d>>) {
        if self.repeated.len() >= REPEATED_MAX {
            self.repeated.remove(0);
        }
        self.repeated.push(search);
    }

    /// Keeps a new search, in place of one with the same shape.
    pub(crate) fn keep_repeated(&mut self, search: Box<RepeatedSearch<'d>>) {
        self.repeated
            .retain(|known| !std::ptr::eq(known.core, search.core) || known.shape != search.shape);
        self.give_repeated(search);
    }
}
