//! The write transaction.

use alloc::vec::Vec;
use core::cell::{Ref, RefCell};
use core::marker::PhantomData;
use fulgurite_os::platform::sync::MutexGuard;

use fulgurite_format::{Meta, Txnid};
use fulgurite_os::{LockOutcome, thread_word};

use super::Snapshot;
use super::level::Level;
use super::snapshot::Sealed;
use super::trees::{self, Trees};
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::cursor::CursorTable;
use crate::opened::Database;
use crate::opened::Handle;
use crate::reader::{LockFile, SlotTable, broken};
use crate::space::{PageView, WriterPages, free_tree};
use crate::tree::{self, Tree};

/// The write transaction of an environment: there is one at a time, over all threads and processes.
///
/// Nothing is visible to others before [`WriteTxn::commit`]; dropping it undoes everything. It
/// belongs to the thread that began it. Reading from it, with the methods of [`Snapshot`], shows
/// its own changes.
#[derive(Debug)]
pub struct WriteTxn<'env> {
    pub(super) environment: &'env Handle,
    pub(super) base: Meta,
    pub(crate) pages: WriterPages<'env>,
    pub(super) trees: RefCell<Trees>,
    pub(super) failed: bool,
    /// The surroundings of the open nested transactions.
    pub(super) levels: Vec<Level>,
    pub(crate) cursors: CursorTable,
    /// How often orders of the program's own had been set when the trees were loaded.
    orders_set: u64,
    /// True if the trees are those of the snapshot that `base` describes.
    pub(super) has_trees: bool,
    /// True if it has ended without having done anything, so that it can begin again as it is.
    pub(super) is_as_begun: bool,
    /// The right to write; `None` between two transactions.
    pub(super) lock: Option<WriterLock<'env>>,
}

/// The right to write, held.
#[derive(Debug)]
pub(super) struct WriterLock<'env> {
    environment: &'env Handle,
    mutex: HeldMutex<'env>,
    /// The mutex belongs to a thread.
    thread: PhantomData<*const ()>,
}

/// The mutex that excludes other writers.
#[derive(Debug)]
enum HeldMutex<'env> {
    /// The writer mutex of the lock file.
    Shared(&'env LockFile),
    /// Without locking, that of this process.
    Local(#[expect(dead_code, reason = "held for its drop")] MutexGuard<'env, ()>),
}

impl Drop for WriterLock<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.environment.writer().clear();
        if let HeldMutex::Shared(lock) = self.mutex {
            lock.writer_mutex().unlock();
        }
    }
}

impl<'env> WriterLock<'env> {
    /// Waits for the mutex; if its last holder died, puts the lock file right first.
    #[inline(never)]
    pub(super) fn take(environment: &'env Handle) -> Result<WriterLock<'env>, BoxedError> {
        let mut taken = None;
        Self::take_into(&mut taken, environment)?;
        taken.ok_or_else(|| Error::LockBroken.into())
    }

    /// As [`WriterLock::take`], into an empty slot of the caller. A returned value would be moved;
    /// the processor then waits for words that were just stored singly.
    #[inline(always)]
    fn take_into(
        place: &mut Option<WriterLock<'env>>,
        environment: &'env Handle,
    ) -> Result<(), BoxedError> {
        let thread = Self::waiting_thread(environment)?;
        match environment.lock() {
            Some(lock) => {
                let outcome = lock.writer_mutex().lock().map_err(broken)?;
                Self::hold_shared(place, environment, lock, thread, outcome)
            }
            None => {
                let local = environment.local_writer_mutex();
                Self::hold_local(place, environment, local, thread);
                Ok(())
            }
        }
    }

    /// As [`WriterLock::take`], but `None` if another process has it.
    fn try_take(environment: &'env Handle) -> Result<Option<WriterLock<'env>>, BoxedError> {
        let thread = Self::waiting_thread(environment)?;
        let mut taken = None;
        match environment.lock() {
            Some(lock) => {
                if let Some(outcome) = lock.writer_mutex().try_lock().map_err(broken)? {
                    Self::hold_shared(&mut taken, environment, lock, thread, outcome)?;
                }
            }
            None => {
                if let Some(local) = environment.try_local_writer_mutex() {
                    Self::hold_local(&mut taken, environment, local, thread);
                }
            }
        }
        Ok(taken)
    }

    /// The calling thread, which must not wait for itself.
    #[inline]
    fn waiting_thread(environment: &Handle) -> Result<u64, BoxedError> {
        let thread = thread_word();
        if environment.writer().is(thread) {
            return Err(Error::WriterBusy.into());
        }
        Ok(thread)
    }

    /// Notes that this thread has got the mutex of the lock file.
    #[inline(always)]
    fn hold_shared(
        place: &mut Option<WriterLock<'env>>,
        environment: &'env Handle,
        lock: &'env LockFile,
        thread: u64,
        outcome: LockOutcome,
    ) -> Result<(), BoxedError> {
        debug_assert!(thread != 0, "a thread has a word");
        debug_assert!(place.is_none(), "the right to write is taken once");
        let predecessor = environment.writer().set(thread);
        let empty = place.replace(WriterLock {
            environment,
            mutex: HeldMutex::Shared(lock),
            thread: PhantomData,
        });
        // There is nothing to drop, but the compiler does not know.
        core::mem::forget(empty);
        if outcome == LockOutcome::OwnerDied {
            return Self::repair(environment, lock, predecessor).inspect_err(|_| *place = None);
        }
        Ok(())
    }

    /// Notes that this thread has got the mutex of this process.
    #[cold]
    fn hold_local(
        place: &mut Option<WriterLock<'env>>,
        environment: &'env Handle,
        local: MutexGuard<'env, ()>,
        thread: u64,
    ) {
        debug_assert!(thread != 0, "a thread has a word");
        debug_assert!(place.is_none(), "the right to write is taken once");
        environment.writer().set(thread);
        *place = Some(WriterLock {
            environment,
            mutex: HeldMutex::Local(local),
            thread: PhantomData,
        });
    }

    /// Repairs the lock file after its mutex holder died; `predecessor` is set if that was a thread
    /// of this process.
    #[cold]
    #[inline(never)]
    fn repair(
        environment: &Handle,
        lock: &LockFile,
        predecessor: Option<u64>,
    ) -> Result<(), BoxedError> {
        debug_assert!(environment.writer().is_set(), "the mutex is held");
        if predecessor.is_some() {
            // A thread of this process ended with its transaction alive: the state it left is
            // unknown.
            environment.mark_failed();
            return Err(Error::EnvironmentFailed.into());
        }
        // It may have died between writing its meta page and publishing the id, or before either.
        // If a newer snapshot was abandoned and is still in the file, the published id is right.
        if !environment.abandons_newer() {
            let meta = environment.mapping().newest_meta()?;
            lock.store_last_txnid(meta.txnid);
        }
        // From here on all is well. Slots of dead readers are only in the way, and the next process
        // can clear them.
        lock.writer_mutex()
            .mark_consistent()
            .map_err(|_| Error::LockBroken)?;
        lock.clear_stale()?;
        Ok(())
    }
}

impl<'env> WriteTxn<'env> {
    pub(crate) fn begin(environment: &'env Handle) -> Result<WriteTxn<'env>, BoxedError> {
        let lock = Self::take_lock(environment)?;
        Self::begin_with(environment, lock)
    }

    /// As [`WriteTxn::begin`], but `None` if there is another one.
    pub(crate) fn try_begin(environment: &'env Handle) -> Result<Option<Self>, BoxedError> {
        Self::require_writable(environment)?;
        let Some(lock) = WriterLock::try_take(environment)? else {
            return Ok(None);
        };
        environment.check_writable()?;
        Self::begin_with(environment, lock).map(Some)
    }

    fn begin_with(
        environment: &'env Handle,
        lock: WriterLock<'env>,
    ) -> Result<WriteTxn<'env>, BoxedError> {
        let base = Self::find_base(environment)?;
        debug_assert!(base.last.0 >= 1, "the meta pages are in use");
        let free = free_tree(base.free);
        let pages = WriterPages::new(environment, base.last, Self::id_after(&base)?, free);
        debug_assert!(pages.txnid() > base.txnid);
        let mut trees = Trees::default();
        trees.reset(&base, environment.names());
        Ok(WriteTxn {
            environment,
            base,
            pages,
            trees: RefCell::new(trees),
            failed: false,
            levels: Vec::new(),
            cursors: CursorTable::default(),
            orders_set: environment.names().orders_set(),
            has_trees: true,
            is_as_begun: false,
            lock: Some(lock),
        })
    }

    /// Begins another write transaction in the memory of this one, which has ended by
    /// [`WriteTxn::release`] or [`WriteTxn::commit_and_release`]. Where no other thread or process
    /// has committed meanwhile hardly anything is read again.
    /// # Errors
    /// As [`crate::Environment::write`]; [`Error::WriterBusy`] if this one has not ended.
    #[inline(always)]
    pub fn renew(&mut self) -> Result<(), Error> {
        if self.lock.is_some() {
            return Err(Error::WriterBusy);
        }
        let environment = self.environment;
        debug_assert!(!environment.is_read_only(), "it has been written");
        if !environment.is_writable() {
            environment.check_writable()?;
        }
        WriterLock::take_into(&mut self.lock, environment)?;
        debug_assert!(self.lock.is_some(), "the right to write is held");
        // The id decides, because only the holder of the mutex commits.
        let is_known = self.has_trees
            && environment
                .lock()
                .is_some_and(|lock| lock.last_txnid() == self.base.txnid);
        if is_known
            && self.is_as_begun
            && self.orders_set == environment.names().orders_set()
            && self.pages.are_of(environment.mapping())
            && !environment.has_failed()
        {
            // This transaction has done nothing since, and no other has committed.
            self.failed = false;
            return Ok(());
        }
        self.renew_from(is_known).map_err(Error::from)
    }

    /// Begins again, with the writer lock held, from its own last snapshot if that is known to be
    /// the newest. Gives the lock back if that fails.
    #[inline(never)]
    fn renew_from(&mut self, is_known: bool) -> Result<(), BoxedError> {
        let renewed = self.follow_others(is_known);
        if renewed.is_err() {
            self.lock = None;
        }
        renewed
    }

    /// Takes over the newest snapshot, which may be its own last one.
    fn follow_others(&mut self, is_known: bool) -> Result<(), BoxedError> {
        debug_assert!(self.levels.is_empty(), "nested transactions have ended");
        debug_assert!(self.lock.is_some(), "the right to write is held");
        let environment = self.environment;
        environment.check_writable()?;
        self.is_as_begun = false;
        if is_known {
            Self::follow(environment, &self.base)?;
        } else {
            self.has_trees = false;
            self.base = Self::find_base(environment)?;
        }
        let id = Self::id_after(&self.base)?;
        let free = free_tree(self.base.free);
        self.pages.begin_again(self.base.last, id, free);
        let orders_set = environment.names().orders_set();
        if !is_known || self.orders_set != orders_set {
            self.trees.get_mut().reset(&self.base, environment.names());
            self.orders_set = orders_set;
            self.has_trees = true;
        }
        self.failed = false;
        Ok(())
    }

    fn take_lock(environment: &'env Handle) -> Result<WriterLock<'env>, BoxedError> {
        Self::require_writable(environment)?;
        let lock = WriterLock::take(environment)?;
        if !environment.is_writable() {
            environment.check_writable()?;
        }
        Ok(lock)
    }

    fn require_writable(environment: &Handle) -> Result<(), BoxedError> {
        if environment.is_read_only() {
            return Err(Error::ReadOnly.into());
        }
        if environment.is_writable() {
            return Ok(());
        }
        environment.check_writable()
    }

    /// The snapshot to begin from.
    fn find_base(environment: &Handle) -> Result<Meta, BoxedError> {
        let base = environment.committed_meta()?;
        environment.notice_newer(&base)?;
        Self::follow(environment, &base)?;
        Ok(base)
    }

    /// Follows other processes' changes to the size of the file and of the map.
    fn follow(environment: &Handle, base: &Meta) -> Result<(), BoxedError> {
        debug_assert!(base.last.0 >= 1, "the meta pages are in use");
        environment.adopt_map_size(base)?;
        environment.notice_last(base.last);
        if environment.has_writable_map() {
            // The original cuts the file to its own map size when it opens it with a writable map.
            environment.mapping().refresh_len()?;
        }
        Ok(())
    }

    /// The id of a transaction that begins from this snapshot.
    fn id_after(base: &Meta) -> Result<Txnid, BoxedError> {
        // Ids behind this one are the marks of idle readers.
        let id = base.txnid.0.checked_add(1);
        id.filter(|id| *id < u64::MAX - 1)
            .map(Txnid)
            .ok_or_else(|| Error::TxnidsExhausted.into())
    }

    /// The id this transaction's commit will have.
    #[must_use]
    pub fn id(&self) -> Txnid {
        self.pages.txnid()
    }

    /// Lets the transaction use the pages that are kept for deletions, although it stores
    /// something. Transactions that free more pages than they take call it first.
    pub fn use_reserve(&mut self) {
        self.pages.use_reserve();
    }

    /// Undoes everything, as dropping does.
    pub fn abort(self) {
        drop(self);
    }

    /// Undoes everything, as [`WriteTxn::abort`], and keeps the memory for another transaction: see
    /// [`WriteTxn::renew`]. Until then all that is asked of it is [`Error::TransactionFailed`]. A
    /// second call does nothing. With nested transactions open, the innermost counts as failed, and
    /// nothing else happens.
    #[inline]
    pub fn release(&mut self) {
        let is_idle = self.lock.is_some()
            && self.pages.are_as_begun()
            && self.cursors.has_none()
            && self.has_trees
            && self.trees.get_mut().are_unchanged();
        if is_idle {
            debug_assert!(self.levels.is_empty(), "a level leaves its traces");
            self.lock = None;
            self.is_as_begun = true;
            self.failed = true;
            return;
        }
        self.release_used();
    }

    /// As [`WriteTxn::release`], of one that has done something.
    #[inline(never)]
    fn release_used(&mut self) {
        debug_assert!(self.levels.is_empty() || self.lock.is_some());
        if !self.levels.is_empty() {
            self.failed = true;
            return;
        }
        let was_begun = self.lock.is_some();
        self.lock = None;
        if was_begun {
            self.has_trees = self.has_trees && self.trees.get_mut().are_unchanged();
            self.is_as_begun = self.pages.are_as_begun();
        }
        self.failed = true;
        debug_assert!(self.lock.is_none() && self.levels.is_empty());
        self.cursors.clear();
        if !(was_begun && self.is_as_begun) {
            self.pages.forget_all();
        }
    }

    pub(crate) fn set_tree(&mut self, database: Database, tree: Tree) {
        debug_assert!(
            database != Database::FREE_LIST,
            "only a commit changes the free list"
        );
        self.trees.get_mut().change(database, tree);
    }

    pub(crate) fn main(&self) -> Result<Tree, BoxedError> {
        match self.trees()?.get(Database::MAIN) {
            Some(open) => Ok(open.tree),
            None => Err(Error::TransactionFailed.into()),
        }
    }

    /// The trees. Nothing changes them while they are lent, so this does not fail.
    #[inline]
    fn trees(&self) -> Result<Ref<'_, Trees>, BoxedError> {
        match self.trees.try_borrow() {
            Ok(trees) => Ok(trees),
            Err(_) => Err(Error::TransactionFailed.into()),
        }
    }

    /// Runs a change. Any error in it ends the transaction, because it is unknown how far the
    /// change came. So the arguments of a call are checked before.
    pub(super) fn guarded<T>(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<T, BoxedError>,
    ) -> Result<T, BoxedError> {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        self.failed = true;
        let result = change(self);
        self.failed = result.is_err();
        result
    }

    #[cold]
    #[inline(never)]
    pub(super) fn load_tree(&self, database: Database) -> Result<Tree, BoxedError> {
        debug_assert!(
            self.lock.is_some(),
            "trees are read with the right to write"
        );
        let names = self.environment.names();
        let main = self.trees()?.known(Database::MAIN);
        let tree = trees::find(self.pages(), main, names, database)?;
        // Without a note it is loaded again.
        if let Ok(mut trees) = self.trees.try_borrow_mut() {
            trees.set_loaded(database, tree);
        }
        Ok(tree)
    }

    /// Marks the transaction as one that can only be aborted.
    pub fn mark_failed(&mut self) {
        self.failed = true;
    }

    /// Returns true if an earlier error left the transaction incomplete: it can only be aborted.
    #[must_use]
    pub const fn is_failed(&self) -> bool {
        self.failed
    }

    pub(super) fn page_size(&self) -> usize {
        self.environment.mapping().page_size()
    }

    /// Returns true if any cursor is open that may have to be kept in step.
    pub(super) fn has_cursors(&mut self) -> bool {
        !self.cursors.is_idle()
    }

    /// Saves the positions of a database's other cursors before its tree changes.
    #[inline]
    pub(super) fn save_other_positions(&mut self, database: Database) -> Result<(), BoxedError> {
        if self.cursors.is_idle() {
            return Ok(());
        }
        self.save_positions(database)
    }

    #[inline(never)]
    fn save_positions(&mut self, database: Database) -> Result<(), BoxedError> {
        let tree = self.tree(database)?;
        let pages = tree::PagesMut::view(&self.pages);
        self.cursors.save_positions(pages, &tree, database)
    }

    #[inline(always)]
    pub(super) fn check_alive(&self) -> Result<(), BoxedError> {
        self.environment.check_usable()?;
        if self.failed {
            Err(Error::TransactionFailed.into())
        } else {
            Ok(())
        }
    }
}

#[expect(
    private_interfaces,
    private_bounds,
    reason = "only this crate can name, and so call, these"
)]
impl Sealed for WriteTxn<'_> {
    fn environment(&self) -> &Handle {
        self.environment
    }

    #[inline]
    fn pages(&self) -> PageView<'_> {
        tree::PagesMut::view(&self.pages)
    }

    #[inline]
    fn tree(&self, database: Database) -> Result<Tree, BoxedError> {
        if self.failed {
            return Err(Error::TransactionFailed.into());
        }
        self.tree_even_if_failed(database)
    }

    fn tree_even_if_failed(&self, database: Database) -> Result<Tree, BoxedError> {
        if self.lock.is_none() {
            // Nothing keeps the pages from changing.
            return Err(Error::TransactionFailed.into());
        }
        let known = self.trees()?.known(database);
        match known {
            Some(tree) => Ok(tree),
            None => self.load_tree(database),
        }
    }

    #[inline]
    fn with_tree<T>(
        &self,
        database: Database,
        work: impl FnOnce(&Tree) -> Result<T, BoxedError>,
    ) -> Result<T, BoxedError> {
        if self.failed {
            return Err(Error::TransactionFailed.into());
        }
        if let Some(open) = self.trees()?.get(database) {
            return work(&open.tree);
        }
        work(&self.load_tree(database)?)
    }
}

impl Snapshot for WriteTxn<'_> {}
