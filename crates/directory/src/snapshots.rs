//! What a thread that serves requests keeps from one to the next.

use fulgurite_store::{Store, StoreError, View};

/// Views of so many stores: more than most servers have.
const VIEWS_MAX: usize = 8;

/// Places among the readers of stores, at rest between operations: they pin nothing, and what was read to find the
/// way in a state of a store is known as long as that is the newest. Each thread has its own.
#[derive(Debug, Default)]
pub struct Snapshots<'d> {
    #[allow(
        clippy::vec_box,
        reason = "operations take them out and give them back as they are"
    )]
    views: Vec<Box<View<'d>>>,
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
        view.rest();
        if self.views.len() >= VIEWS_MAX {
            // The one not asked for longest: of a store that has gone out of use, perhaps.
            self.views.remove(0);
        }
        self.views.push(view);
    }
}
