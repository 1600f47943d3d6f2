//! Read transactions: a pinned snapshot.

use core::cell::RefCell;
use core::mem;
use core::ops::Range;

use fulgurite_format::{LexicalKey, Meta, Page, Pgno, Txnid};
use fulgurite_os::any_map_is_lost;

use super::Snapshot;
use super::previous;
use super::snapshot::{self, Sealed};
use super::snapshot_cache::{CachedTrees, SnapshotKey};
use super::trees;
use crate::boxed_error::BoxedError;
use crate::cursor::{CursorPosition, FastStep, Record};
use crate::opened::Handle;
use crate::opened::{Database, Window};
use crate::reader::{EndMark, ReaderSlotCache, Slot, SlotTable};
use crate::space::PageView;
use crate::tree::{self, Tree};
use crate::{CustomOrder, Error, KeyOrder};

/// How often a reader tries to catch a meta page that writers keep replacing under it.
const ATTEMPTS: usize = 1000;

/// A read transaction: the environment as one commit left it, for as long as this value lives.
///
/// A read transaction never waits for writers, nor they for it. But its pages are not reused, so a
/// file that is being changed grows while it lives. It may move between threads. Methods for
/// reading are those of [`Snapshot`].
///
/// Keep one per thread and [`ReadTxn::refresh`] it: that costs two atomic stores and no allocation.
#[derive(Debug)]
pub struct ReadTxn<'env> {
    core: ReaderState<'env>,
    trees: RefCell<CachedTrees>,
    /// Pins nothing; the trees are those of the snapshot it had, or none.
    is_reset: bool,
    /// How often orders of the program's own had been set when the trees were loaded.
    orders_set: u64,
}

/// A read transaction that pins nothing but keeps its slot, ready to begin again.
#[derive(Debug)]
pub struct ParkedReader<'env> {
    txn: ReadTxn<'env>,
}

#[derive(Debug)]
struct ReaderState<'env> {
    environment: &'env Handle,
    slot: Option<Slot>,
    /// The last slot with its words. If threads keep their slots, it is probably still free.
    slot_cache: Option<ReaderSlotCache<'env>>,
    /// The map as it was when the snapshot was pinned.
    window: Window<'env>,
    last: Pgno,
    txnid: Txnid,
    /// The mark that stops the transaction: it was reset, or a writer has asked it to end.
    mark: EndMark<'env>,
}

impl ReaderState<'_> {
    /// The snapshot is pinned from now on.
    fn begin_reading(&mut self) {
        self.mark = match self.slot_cache {
            Some(slot_cache) => {
                slot_cache.stamp(slot_cache.stamp_of_now(), self.txnid);
                slot_cache.end_mark()
            }
            None => EndMark::never(),
        };
    }

    /// It has this slot from now on.
    fn set_slot(&mut self, slot: Option<Slot>) {
        debug_assert!(self.slot.is_none(), "a reader has one slot");
        self.slot = slot;
        self.slot_cache = slot_cache_of(self.environment, slot);
    }

    /// Pins the newest snapshot in the slot that it had, and tells whether that is the one it had.
    /// Where it is not the slot may be taken all the same.
    #[inline(always)]
    fn repin(&mut self) -> bool {
        let Some(slot_cache) = self.slot_cache else {
            return false;
        };
        if self.slot.is_none() {
            if !self.environment.takes_again(slot_cache) {
                return false;
            }
            self.slot = Some(slot_cache.slot());
        }
        debug_assert!(self.slot.is_some(), "only a slot of this reader is pinned");
        let stamp = slot_cache.stamp_of_now();
        if slot_cache.pin() != self.txnid {
            return false;
        }
        slot_cache.stamp(stamp, self.txnid);
        self.mark = slot_cache.end_mark();
        true
    }

    /// Pins nothing any more.
    #[inline]
    fn release_snapshot(&mut self) {
        self.mark = EndMark::always();
        if !self.environment.idle_readers_keep_slots() {
            self.give_back();
        } else if let (Some(_), Some(slot_cache)) = (self.slot, self.slot_cache) {
            slot_cache.unpin();
        }
    }

    #[inline(always)]
    fn give_back(&mut self) {
        self.mark = EndMark::always();
        // In a forked child the slot is the parent's. After a failed meta write it is still ours to
        // give back.
        if let (Some(slot), Some(slot_cache)) = (self.slot.take(), self.slot_cache)
            && self.environment.is_of_this_process()
            && slot_cache.give_back()
            && let Some(lock) = self.environment.lock()
        {
            lock.free(slot);
        }
    }
}

/// The words of a slot.
#[inline]
fn slot_cache_of(environment: &Handle, slot: Option<Slot>) -> Option<ReaderSlotCache<'_>> {
    environment.lock()?.slot_cache(slot?)
}

/// Returns true if these trees are all that the transaction needs of this snapshot, if it is the
/// newest.
#[inline]
fn knows_trees(environment: &Handle, txnid: Txnid, trees: &CachedTrees, orders_set: u64) -> bool {
    txnid.0 > 0
        && !trees.is_empty()
        && orders_set == environment.names().orders_set()
        && !environment.reads_previous()
}

impl Drop for ReadTxn<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        self.core.give_back();
        mem::take(self.trees.get_mut()).keep(SnapshotKey {
            environment: self.core.environment.id(),
            txnid: self.core.txnid,
            last: self.core.last,
            orders_set: self.orders_set,
        });
    }
}

impl<'env> ReadTxn<'env> {
    #[inline]
    pub(crate) fn begin(environment: &'env Handle) -> Result<ReadTxn<'env>, BoxedError> {
        if !environment.is_usable() {
            environment.check_usable()?;
        }
        let trees = CachedTrees::take(environment.id());
        let known = trees.key();
        let slot = environment.take_slot()?;
        let slot_cache = slot_cache_of(environment, slot);
        // The value is built in one place: the processor would wait for words that were written
        // singly and then moved.
        if let Some(slot_cache) = slot_cache
            && knows_trees(environment, known.txnid, &trees, known.orders_set)
        {
            let stamp = slot_cache.stamp_of_now();
            if slot_cache.pin() == known.txnid && environment.is_usable() {
                slot_cache.stamp(stamp, known.txnid);
                return Ok(ReadTxn {
                    core: ReaderState {
                        environment,
                        slot,
                        slot_cache: Some(slot_cache),
                        window: environment.mapping().window(known.last),
                        last: known.last,
                        txnid: known.txnid,
                        mark: slot_cache.end_mark(),
                    },
                    trees: RefCell::new(trees),
                    is_reset: false,
                    orders_set: known.orders_set,
                });
            }
        }
        Self::begin_from_meta(environment, slot, trees)
    }

    /// Begins by reading the meta page.
    #[inline(never)]
    fn begin_from_meta(
        environment: &'env Handle,
        slot: Option<Slot>,
        trees: CachedTrees,
    ) -> Result<ReadTxn<'env>, BoxedError> {
        debug_assert!(slot.is_none() || environment.lock().is_some());
        let known = trees.key();
        let mut txn = ReadTxn {
            core: ReaderState {
                environment,
                slot: None,
                slot_cache: None,
                window: environment.mapping().empty_window(),
                last: known.last,
                txnid: known.txnid,
                mark: EndMark::always(),
            },
            trees: RefCell::new(trees),
            is_reset: false,
            orders_set: known.orders_set,
        };
        txn.core.set_slot(slot);
        txn.pin()?;
        // A slot in a lock file that was cut off pins nothing.
        environment.check_usable()?;
        Ok(txn)
    }

    /// The id of the snapshot: the transaction whose commit it shows.
    #[must_use]
    pub fn id(&self) -> Txnid {
        self.core.txnid
    }

    /// Releases the snapshot and takes the newest.
    /// # Errors
    /// As [`crate::Environment::read`]; the transaction then shows nothing
    /// ([`Error::TransactionFailed`]) until refreshed with success.
    pub fn refresh(&mut self) -> Result<(), Error> {
        if self.is_reset
            && self.knows_trees()
            && self.core.environment.is_usable()
            && self.core.repin()
        {
            // Nothing of the file was read, nor looked for in the lock file.
            self.is_reset = false;
            return Ok(());
        }
        self.refresh_slowly().map_err(Error::from)
    }

    #[cold]
    #[inline(never)]
    fn refresh_slowly(&mut self) -> Result<(), BoxedError> {
        if self.is_newest() {
            self.core.begin_reading();
            return Ok(());
        }
        if let Err(error) = self.core.environment.check_usable() {
            if self.is_reset {
                // The slot may have been taken again already.
                self.core.release_snapshot();
            }
            return Err(error);
        }
        if self.core.slot.is_none() {
            let last = self.core.slot_cache.map(ReaderSlotCache::slot);
            let slot = self.core.environment.take_slot_again(last)?;
            self.core.set_slot(slot);
        }
        if self.knows_trees() && self.core.repin() {
            self.is_reset = false;
            return Ok(());
        }
        // The old snapshot may be gone from here on: without a main tree nothing can be read.
        self.trees.get_mut().get_mut().clear();
        self.core.mark = EndMark::always();
        let pinned = self
            .pin()
            .and_then(|()| self.core.environment.check_usable());
        self.is_reset = pinned.is_err();
        if pinned.is_err() {
            self.core.release_snapshot();
        }
        pinned
    }

    /// Releases the snapshot in place; the id remains available. Until [`ReadTxn::renew`] reading
    /// is [`Error::TransactionFailed`]. The slot is kept, but with [`crate::SlotPolicy::PerThread`]
    /// it is the thread's, which may use it for another transaction meanwhile. Doing it twice is as
    /// doing it once.
    #[inline]
    pub fn reset(&mut self) {
        self.is_reset = true;
        debug_assert!(self.is_reset);
        self.core.release_snapshot();
    }

    /// As [`ReadTxn::reset`], and gives the slot back under any policy. The memory stays for
    /// [`ReadTxn::renew`].
    #[inline]
    pub fn release(&mut self) {
        self.is_reset = true;
        self.core.give_back();
    }

    /// Begins again after [`ReadTxn::reset`], on the newest snapshot; else as [`ReadTxn::refresh`].
    /// # Errors
    /// As [`crate::Environment::read`].
    pub fn renew(&mut self) -> Result<(), Error> {
        self.refresh()
    }

    /// Sets the program's own order of a database's keys, or none. See [`crate::KeyOrder::Custom`].
    pub fn set_key_order(&mut self, database: Database, order: Option<CustomOrder>) {
        let names = self.core.environment.names();
        names.set_key_order(database, order);
        self.trees.get_mut().get_mut().reorder(database, names);
    }

    /// Sets the program's own order of the values of a key, or none. See
    /// [`crate::KeyOrder::Custom`].
    pub fn set_value_order(&mut self, database: Database, order: Option<CustomOrder>) {
        let names = self.core.environment.names();
        names.set_value_order(database, order);
        self.trees.get_mut().get_mut().reorder(database, names);
    }

    /// Returns true if the transaction was reset, or an error left it without a snapshot.
    #[must_use]
    pub fn is_reset(&self) -> bool {
        self.is_reset
    }

    /// Moves a cursor to a neighbour within the current page, at the lowest cost. Returns `None`,
    /// and leaves the cursor unmoved, if it cannot. [`ReadTxn::fast_step`] may then do it.
    #[must_use]
    #[inline(always)]
    pub fn fast_step_within<'t>(
        &'t self,
        place: &mut CursorPosition,
        stride: FastStep,
    ) -> Option<Record<'t>> {
        if self.core.mark.is_set() {
            return None;
        }
        place.fast_step_within(self.core.window, stride)
    }

    /// Moves a cursor to a neighbour in the current page or the adjacent one, at low cost. Returns
    /// `None`, and leaves the cursor unmoved, if it cannot. [`Snapshot::step`] then does it, or
    /// reports why not.
    #[must_use]
    pub fn fast_step<'t>(
        &'t self,
        place: &mut CursorPosition,
        stride: FastStep,
    ) -> Option<Record<'t>> {
        if self.core.mark.is_set() {
            return None;
        }
        place.fast_step(self.core.window, stride)
    }

    /// Moves a cursor to the first record whose key is not smaller, or `exactly` this key's, at low
    /// cost. Returns `None` if it cannot, or if there is no such record. [`Snapshot::step`] then
    /// does it, or reports that. In either case the cursor leaves its old position.
    #[must_use]
    #[inline]
    pub fn fast_seek<'t>(
        &'t self,
        place: &mut CursorPosition,
        key: &[u8],
        exactly: bool,
    ) -> Option<Record<'t>> {
        if self.core.mark.is_set() || any_map_is_lost() {
            return None;
        }
        let trees = self.trees.try_borrow().ok()?;
        let open = trees.get(place.database())?;
        place.fast_seek(self.core.window, &open.tree, key, exactly)
    }

    /// As [`ReadTxn::fast_seek`], to this value of this key, where the key has many.
    #[must_use]
    #[inline]
    pub fn fast_seek_pair<'t>(
        &'t self,
        place: &mut CursorPosition,
        key: &[u8],
        value: &[u8],
    ) -> Option<Record<'t>> {
        if self.core.mark.is_set() || any_map_is_lost() {
            return None;
        }
        let trees = self.trees.try_borrow().ok()?;
        let open = trees.get(place.database())?;
        place.fast_seek_pair(self.core.window, &open.tree, key, value)
    }

    /// As [`ReadTxn::fast_step`], for [`crate::Move::Block`], among several values of a key.
    #[must_use]
    #[inline(always)]
    pub fn fast_block<'t>(&'t self, place: &mut CursorPosition) -> Option<Record<'t>> {
        if self.core.mark.is_set() {
            return None;
        }
        place.fast_block(self.core.window)
    }

    /// As [`ReadTxn::fast_step`], for [`crate::Move::NextBlock`].
    #[must_use]
    #[inline(always)]
    pub fn fast_next_block<'t>(&'t self, place: &mut CursorPosition) -> Option<Record<'t>> {
        if self.core.mark.is_set() {
            return None;
        }
        place.fast_next_block(self.core.window)
    }

    /// Returns true if the cursor is surely on its key's last value in that direction. A step among
    /// the key's values then leads nowhere. If it is unknown, [`Snapshot::step`] finds out.
    #[must_use]
    pub fn is_at_last_value(&self, place: &CursorPosition, forwards: bool) -> bool {
        !self.core.mark.is_set() && place.is_at_last_value(self.core.window, forwards)
    }

    /// As [`ReadTxn::is_at_last_value`] forwards, and values of the database have one size. So
    /// there is no block behind the current one.
    #[must_use]
    pub fn is_at_last_block(&self, place: &CursorPosition) -> bool {
        !self.core.mark.is_set() && place.is_at_last_block(self.core.window)
    }

    /// Releases the snapshot and returns a reader that can begin again; as [`ReadTxn::reset`], but
    /// in the type.
    #[must_use]
    pub fn park(mut self) -> ParkedReader<'env> {
        self.reset();
        ParkedReader { txn: self }
    }

    /// Returns true if the snapshot is pinned and nothing was committed since.
    fn is_newest(&self) -> bool {
        let (Some(slot), Some(lock)) = (self.core.slot, self.core.environment.lock()) else {
            return false;
        };
        let pinned = !self.is_reset() && lock.pinned(slot) == self.core.txnid;
        pinned
            && lock.last_txnid() == self.core.txnid
            && self.core.environment.check_usable().is_ok()
    }

    /// The tree of a database that was used before.
    #[inline]
    fn known(&self, database: Database) -> Option<Tree> {
        Some(self.trees.try_borrow().ok()?.get(database)?.tree)
    }

    /// Returns true if the trees are those of its current or last snapshot. If that is the newest,
    /// nothing else of it must be read.
    #[inline]
    fn knows_trees(&mut self) -> bool {
        knows_trees(
            self.core.environment,
            self.core.txnid,
            self.trees.get_mut(),
            self.orders_set,
        )
    }

    fn pin(&mut self) -> Result<(), BoxedError> {
        debug_assert!(self.core.slot.is_some() || self.core.slot_cache.is_none());
        let meta = self.pinned_meta()?;
        self.core.environment.adopt_map_size(&meta)?;
        debug_assert!(meta.last.0 >= 1, "the meta pages are in use");
        self.core.window = self.core.environment.mapping().window(meta.last);
        self.core.last = meta.last;
        self.core.txnid = meta.txnid;
        let names = self.core.environment.names();
        self.orders_set = names.orders_set();
        self.trees.get_mut().get_mut().reset(&meta, names);
        self.core.begin_reading();
        Ok(())
    }

    fn pinned_meta(&self) -> Result<Meta, BoxedError> {
        let mapping = self.core.environment.mapping();
        let (Some(slot), Some(lock)) = (self.core.slot, self.core.environment.lock()) else {
            return self.core.environment.unlocked_meta();
        };
        if self.core.environment.reads_previous() {
            return previous::pin(self.core.environment, lock, slot);
        }
        for _ in 0..ATTEMPTS {
            let id = lock.pin(slot);
            if id.0 == 0 && self.core.environment.is_read_only() {
                // The first opener of all may be a reader that could not publish the id.
                let meta = mapping.newest_meta()?;
                lock.pin_at(slot, meta.txnid);
                return Ok(meta);
            }
            if let Some(meta) = lock.read_settled(id, || mapping.meta_of(id))? {
                return Ok(meta);
            }
        }
        // No process commits that fast: the lock file does not belong to this data file.
        mapping.newest_meta()?;
        Err(Error::LockBroken.into())
    }
}

impl ReadTxn<'_> {
    /// Returns the error that the next operation would return, if any. Long operations ask now and
    /// then. Costs two loads.
    /// # Errors
    /// [`Error::ReaderEnded`] once a writer has asked the reader to end.
    /// [`Error::TransactionFailed`] after a reset. [`Error::MapLost`].
    #[inline]
    pub fn check_readable(&self) -> Result<(), Error> {
        if self.core.mark.is_set() || any_map_is_lost() {
            return self.readable_error().map_err(Error::from);
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn readable_error(&self) -> Result<(), BoxedError> {
        if self.is_reset() {
            return Err(Error::TransactionFailed.into());
        }
        self.core.environment.check_usable()?;
        self.core.mark.check()
    }

    /// As [`Snapshot::get`], if the leaf and the entries that may have the key are known.
    #[inline(never)]
    fn get_in_leaf<'t>(
        &'t self,
        tree: &Tree,
        key: &[u8],
        pgno: Pgno,
        leaf: Page<'t>,
        among: Range<usize>,
    ) -> Result<Option<&'t [u8]>, BoxedError> {
        match leaf.position_between(among.start, among.end, &LexicalKey::of(key)) {
            Some((index, true)) => {
                let node = leaf.leaf(index).map_err(Error::at(pgno))?;
                snapshot::value_of(self.pages(), tree, pgno, &node).map(Some)
            }
            Some((_, false)) => Ok(None),
            None => self.get_otherwise(tree, key),
        }
    }

    /// As [`Snapshot::get`], in any order.
    #[inline(never)]
    fn get_otherwise<'t>(
        &'t self,
        tree: &Tree,
        key: &[u8],
    ) -> Result<Option<&'t [u8]>, BoxedError> {
        let window = self.core.window;
        match tree::find_fast(|pgno| window.page(pgno), tree, key) {
            Some(Some(spot)) => {
                let (leaf, node) = spot.node()?;
                snapshot::value_of(self.pages(), tree, leaf, &node).map(Some)
            }
            Some(None) => Ok(None),
            None => snapshot::get(self.pages(), tree, key),
        }
    }

    #[cold]
    #[inline(never)]
    fn load_tree(&self, database: Database) -> Result<Tree, BoxedError> {
        let main = self.known(Database::MAIN);
        let names = self.environment().names();
        let tree = trees::find(self.pages(), main, names, database)?;
        // Without a note it is loaded again.
        if let Ok(mut trees) = self.trees.try_borrow_mut() {
            trees.get_mut().set_loaded(database, tree);
        }
        Ok(tree)
    }
}

impl<'env> ParkedReader<'env> {
    /// Begins again, on the newest snapshot.
    /// # Errors
    /// As [`crate::Environment::read`], without [`Error::ReadersFull`].
    pub fn resume(mut self) -> Result<ReadTxn<'env>, Error> {
        self.txn.refresh()?;
        Ok(self.txn)
    }
}

#[expect(
    private_interfaces,
    private_bounds,
    reason = "only this crate can name, and so call, these"
)]
impl Sealed for ReadTxn<'_> {
    fn environment(&self) -> &Handle {
        self.core.environment
    }

    #[inline]
    fn pages(&self) -> PageView<'_> {
        PageView::of_snapshot(self.core.window, self.core.last, self.core.mark)
    }

    #[inline]
    fn tree(&self, database: Database) -> Result<Tree, BoxedError> {
        self.check_readable()?;
        let known = self.known(database);
        match known {
            Some(tree) => Ok(tree),
            None => self.load_tree(database),
        }
    }

    fn tree_even_if_failed(&self, database: Database) -> Result<Tree, BoxedError> {
        self.tree(database)
    }

    #[inline]
    fn with_tree<T>(
        &self,
        database: Database,
        work: impl FnOnce(&Tree) -> Result<T, BoxedError>,
    ) -> Result<T, BoxedError> {
        self.check_readable()?;
        if let Ok(trees) = self.trees.try_borrow()
            && let Some(open) = trees.get(database)
        {
            return work(&open.tree);
        }
        work(&self.load_tree(database)?)
    }
}

impl Snapshot for ReadTxn<'_> {
    #[inline]
    fn get<'t>(&'t self, database: Database, key: &[u8]) -> Result<Option<&'t [u8]>, Error> {
        self.with_tree(database, |tree| {
            let window = self.core.window;
            if tree.order == KeyOrder::Lexical {
                let sought = LexicalKey::of(key);
                if let Some((pgno, leaf)) = tree::leaf_for(|pgno| window.page(pgno), tree, &sought)
                    && let Some((low, left)) = leaf.narrow(0, &sought)
                {
                    if left == 0 {
                        return Ok(None);
                    }
                    return match leaf.plain_record(low + left / 2) {
                        Some((found, value)) if sought.is(found) => Ok(Some(value)),
                        _ => self.get_in_leaf(tree, key, pgno, leaf, low..low + left),
                    };
                }
            }
            self.get_otherwise(tree, key)
        })
        .map_err(Error::from)
    }
}
