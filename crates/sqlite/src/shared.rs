//! State that the modules of one connection share.

use std::ops::Deref;
use std::rc::Rc;

/// State of a connection, as each module of it gets it.
#[derive(Debug, Default)]
pub(crate) struct Shared<T>(Rc<T>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(Rc::clone(&self.0))
    }
}

// SAFETY: SQLite holds the mutex of a connection while it calls a module of it, and while it drops
// one. A program that switches this mutex off promises the same itself. So no two threads use the
// counters and cells at one time. The write transaction, which is bound to a thread, has its guard.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as for `Send`: one thread at a time is in a connection.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
