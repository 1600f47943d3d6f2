//! What a thread that serves requests keeps from one to the next.

use fulgurite_access::Likeness;
use fulgurite_store::{Store, StoreError, View};

use crate::rights::projection::AttributeRights;
use crate::rights::selection::Selection;

/// Views of so many stores: more than most servers have.
const VIEWS_MAX: usize = 8;

/// Verdicts of so many kinds of searches: clients ask for the same few lists of attributes.
const VERDICTS_MAX: usize = 4;

/// Places among the readers of stores, at rest between operations: they pin nothing, and what was read to find the
/// way in a state of a store is known as long as that is the newest. Each thread has its own.
#[derive(Debug, Default)]
pub struct Snapshots<'d> {
    #[allow(
        clippy::vec_box,
        reason = "operations take them out and give them back as they are"
    )]
    views: Vec<Box<View<'d>>>,
    attribute_rights: Vec<CachedRights<'d>>,
}

/// Which attributes of a store are shown to whom that asks for what. Numbers of attributes never change in a store.
#[derive(Debug)]
struct CachedRights<'d> {
    store: &'d Store,
    likeness: Likeness<'d>,
    selection: Selection,
    attribute_rights: AttributeRights,
}

impl CachedRights<'_> {
    fn are_of(&self, store: &Store, likeness: Likeness<'_>, selection: &Selection) -> bool {
        std::ptr::eq(self.store, store) && self.likeness == likeness && self.selection == *selection
    }
}

impl<'d> Snapshots<'d> {
    /// A view of the newest state of a store.
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

    /// Takes back a view that an operation has no more use for.
    pub(crate) fn give(&mut self, mut view: Box<View<'d>>) {
        view.reset();
        if self.views.len() >= VIEWS_MAX {
            // The one not asked for longest: of a store that has gone out of use, perhaps.
            self.views.remove(0);
        }
        self.views.push(view);
    }

    /// What searches before found out about the attributes of a store, with the same rights and the same selection.
    pub(crate) fn take_attribute_rights(
        &mut self,
        store: &Store,
        likeness: Option<Likeness<'d>>,
        selection: &Selection,
    ) -> AttributeRights {
        let at = likeness.and_then(|likeness| {
            let is_it = |kept: &CachedRights<'_>| kept.are_of(store, likeness, selection);
            self.attribute_rights.iter().rposition(is_it)
        });
        at.map_or_else(AttributeRights::default, |at| {
            self.attribute_rights.remove(at).attribute_rights
        })
    }

    /// Keeps what a search has found out.
    pub(crate) fn give_attribute_rights(
        &mut self,
        store: &'d Store,
        likeness: Option<Likeness<'d>>,
        selection: Selection,
        attribute_rights: AttributeRights,
    ) {
        let Some(likeness) = likeness else {
            return;
        };
        // Searches of one kind that ran beside each other all have some.
        self.attribute_rights
            .retain(|kept| !kept.are_of(store, likeness, &selection));
        if self.attribute_rights.len() >= VERDICTS_MAX {
            self.attribute_rights.remove(0);
        }
        self.attribute_rights.push(CachedRights {
            store,
            likeness,
            selection,
            attribute_rights,
        });
    }
}
