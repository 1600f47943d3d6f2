//! The write transaction.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::MutexGuard;

use fulgurite_format::{Format, Malformed, Meta, NodeFlags, PageKind, TreeRecord, Txnid, V09};
use fulgurite_os::{LockOutcome, thread_word};

use super::nested::Level;
use super::snapshot::Sealed;
use super::trees::{self, OpenTree, Trees};
use super::{Snapshot, commit};
use crate::cursor::WriteCursor;
use crate::env::Database;
use crate::reader::{LockFile, broken};
use crate::space::{PageView, WriterPages, free_tree};
use crate::tree::{self, Pages, Path, Tree};
use crate::{Environment, Error, KeyOrder, value};

/// The write transaction of an environment: there is one at a time, over all threads and processes.
///
/// Nothing is visible to others before [`WriteTxn::commit`]; dropping it undoes everything. It belongs to the thread
/// that began it. Reading from it, with the methods of [`Snapshot`], shows its own changes.
#[derive(Debug)]
pub struct WriteTxn<'env> {
    pub(super) environment: &'env Environment,
    pub(super) base: Meta,
    pub(crate) pages: WriterPages<'env>,
    pub(super) trees: RefCell<Trees>,
    pub(super) failed: bool,
    /// What surrounds the nested transactions that are open.
    pub(super) levels: Vec<Level>,
    lock: WriterLock<'env>,
}

/// The right to write, held: the writer mutex of the lock file, or without locking that of this process.
#[derive(Debug)]
struct WriterLock<'env> {
    environment: &'env Environment,
    lock: Option<&'env LockFile>,
    #[expect(dead_code, reason = "held for its drop")]
    local: Option<MutexGuard<'env, ()>>,
    /// The mutex belongs to a thread.
    thread: PhantomData<*const ()>,
}

impl Drop for WriterLock<'_> {
    fn drop(&mut self) {
        self.environment.set_writer(None);
        if let Some(lock) = self.lock {
            lock.writer_mutex().unlock();
        }
    }
}

impl<'env> WriterLock<'env> {
    /// Waits for the mutex; if its last holder died, puts the lock file right first.
    fn take(environment: &'env Environment) -> Result<WriterLock<'env>, Error> {
        if environment.writer() == Some(thread_word()) {
            return Err(Error::WriterBusy);
        }
        let held = |lock, local| WriterLock {
            environment,
            lock,
            local,
            thread: PhantomData,
        };
        let Some(lock) = environment.lock() else {
            let held = held(None, Some(environment.local_writer_mutex()));
            environment.set_writer(Some(thread_word()));
            return Ok(held);
        };
        let outcome = lock.writer_mutex().lock().map_err(broken)?;
        let predecessor = environment.writer();
        let held = held(Some(lock), None);
        environment.set_writer(Some(thread_word()));
        if outcome == LockOutcome::OwnerDied {
            if predecessor.is_some() {
                // A thread of this process ended with its transaction alive: what else it left behind is unknown.
                environment.mark_failed();
                return Err(Error::EnvironmentFailed);
            }
            // It may have died between writing its meta page and publishing the id, or before either.
            let meta = environment.mapping().newest_meta()?;
            lock.store_last_txnid(meta.txnid);
            lock.clear_stale()?;
            lock.writer_mutex()
                .mark_consistent()
                .map_err(|_| Error::LockBroken)?;
        }
        Ok(held)
    }
}

impl<'env> WriteTxn<'env> {
    pub(crate) fn begin(environment: &'env Environment) -> Result<WriteTxn<'env>, Error> {
        if environment.is_read_only() {
            return Err(Error::ReadOnly);
        }
        environment.check_usable()?;
        let lock = WriterLock::take(environment)?;
        environment.check_usable()?;
        let base = newest(environment)?;
        environment.adopt_map_size(&base)?;
        if environment.has_writable_map() {
            // The original cuts the file to its own map size when it opens it with a writable map.
            environment.mapping().refresh_len()?;
        }
        // Ids behind this one are the marks of idle readers.
        let id = base
            .txnid
            .0
            .checked_add(1)
            .filter(|id| *id < u64::MAX - 1)
            .ok_or(Error::TxnidsExhausted)?;
        let oldest = environment.oldest_reader(Txnid(id))?;
        let pages = WriterPages::new(
            environment,
            base.last,
            Txnid(id),
            free_tree(base.free),
            oldest,
        );
        let mut trees = Trees::default();
        trees.reset(base.main);
        Ok(WriteTxn {
            environment,
            base,
            pages,
            trees: RefCell::new(trees),
            failed: false,
            levels: Vec::new(),
            lock,
        })
    }

    /// The id this transaction's commit will have.
    #[must_use]
    pub fn id(&self) -> Txnid {
        self.pages.txnid()
    }

    /// Opens a named database, creating it if there is none.
    /// # Errors
    /// [`Error::OrderMismatch`] if it exists with another order; [`Error::WrongKind`] if a plain record of the main
    /// database has the name; [`Error::MainUnsuitable`], [`Error::NameLength`], [`Error::DatabasesFull`].
    pub fn create_database(&mut self, name: &str, order: KeyOrder) -> Result<Database, Error> {
        self.check_alive()?;
        let max = V09::key_max(self.environment.mapping().page_size());
        if name.is_empty() || name.len() > max {
            return Err(Error::NameLength {
                len: name.len(),
                max,
            });
        }
        let database = self.environment.names().intern(name)?;
        match self.tree(database) {
            Ok(tree) if tree.order == order => Ok(database),
            Ok(tree) => Err(Error::OrderMismatch {
                name: name.to_owned(),
                found: tree.order,
            }),
            Err(Error::NoDatabase(_)) => self.create(database, order),
            Err(error) => Err(error),
        }
    }

    fn create(&mut self, database: Database, order: KeyOrder) -> Result<Database, Error> {
        if !trees::holds_databases(&self.main()?) {
            return Err(Error::MainUnsuitable);
        }
        let tree = Tree {
            record: TreeRecord::empty(order.flags()),
            order,
        };
        self.guarded(|txn| {
            txn.pages.spill_if_full()?;
            commit::store_record(txn, database, &tree.record)
        })?;
        self.trees.get_mut().set(
            database,
            Some(OpenTree {
                tree,
                changed: false,
            }),
        );
        Ok(database)
    }

    /// Stores a value under a key, in place of any it had.
    /// # Errors
    /// [`Error::KeyLength`], [`Error::IntegerKey`], [`Error::ValueLength`], [`Error::WrongKind`] change nothing; any
    /// other error ends the transaction.
    pub fn put(&mut self, database: Database, key: &[u8], value: &[u8]) -> Result<(), Error> {
        let (tree, mut path, exact) = self.place_of(database, key, value.len())?;
        self.store(database, tree, &mut path, exact, key, value)
    }

    /// Stores a value under a key that has none; `false` if it has one, which stays.
    /// # Errors
    /// As [`WriteTxn::put`].
    pub fn insert(&mut self, database: Database, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        let (tree, mut path, exact) = self.place_of(database, key, value.len())?;
        if exact {
            return Ok(false);
        }
        self.store(database, tree, &mut path, false, key, value)?;
        Ok(true)
    }

    /// Stores a value under a key greater than all others. Fills pages to the brim: the way to load sorted data.
    /// # Errors
    /// [`Error::AppendOrder`] changes nothing; otherwise as [`WriteTxn::put`].
    pub fn append(&mut self, database: Database, key: &[u8], value: &[u8]) -> Result<(), Error> {
        let tree = self.checked_tree(database, key, value.len())?;
        let mut path = Path::new();
        if tree::last(self.pages(), &tree, &mut path)?
            && let Some(leaf) = path.leaf_mut()
        {
            let (pgno, index) = (leaf.pgno, leaf.index);
            leaf.index += 1;
            let last = tree_page_key(self.pages(), pgno, index)?;
            check_same_size(&tree, last, key)?;
            if tree.order.compare(key, last).is_le() {
                return Err(Error::AppendOrder);
            }
        }
        self.store(database, tree, &mut path, false, key, value)
    }

    /// Gives a key room for a value of `len` octets, in place of any it had, and lends it for filling. What is not
    /// filled is undefined.
    /// # Errors
    /// As [`WriteTxn::put`].
    pub fn reserve(
        &mut self,
        database: Database,
        key: &[u8],
        len: usize,
    ) -> Result<&mut [u8], Error> {
        let (mut tree, mut path, exact) = self.place_of(database, key, len)?;
        self.failed = true;
        self.pages.spill_if_full()?;
        let room = value::place_value(&mut self.pages, &mut tree, &mut path, exact, key, len)?;
        self.trees.get_mut().change(database, tree);
        self.failed = false;
        Ok(room)
    }

    /// Removes a key and its value; `false` if there is none.
    /// # Errors
    /// [`Error::WrongKind`] if it names a database, see [`WriteTxn::drop_database`]; any other ends the transaction.
    pub fn delete(&mut self, database: Database, key: &[u8]) -> Result<bool, Error> {
        self.check_alive()?;
        let tree = self.tree(database)?;
        let mut path = Path::new();
        if key.is_empty() || !tree::seek(self.pages(), &tree, key, &mut path)? {
            return Ok(false);
        }
        self.remove_at(database, &mut path)?;
        Ok(true)
    }

    /// Removes all records of a database; the database stays.
    /// # Errors
    /// [`Error::WrongKind`] for a main database that holds named ones; any other ends the transaction.
    pub fn clear_database(&mut self, database: Database) -> Result<(), Error> {
        self.check_alive()?;
        let tree = self.tree(database)?;
        if database == Database::MAIN
            && let Some(name) = self.first_named(&tree)?
        {
            return Err(Error::WrongKind(name));
        }
        self.guarded(|txn| {
            let mut tree = tree;
            tree::clear(&mut txn.pages, &mut tree)?;
            txn.set_tree(database, tree);
            Ok(())
        })
    }

    /// Removes a named database with all its records. Its handle is without a database from then on.
    /// # Errors
    /// [`Error::WrongKind`] for the main database; any other ends the transaction.
    pub fn drop_database(&mut self, database: Database) -> Result<(), Error> {
        if database == Database::MAIN {
            return Err(Error::WrongKind("(main)".to_owned()));
        }
        self.clear_database(database)?;
        self.guarded(|txn| {
            let mut main = txn.main()?;
            let mut path = Path::new();
            let name = txn.environment.names().name(database);
            if tree::seek(txn.pages(), &main, name.as_bytes(), &mut path)? {
                tree::touch_path(&mut txn.pages, &mut main, &mut path)?;
                tree::remove(&mut txn.pages, &mut main, &mut path)?;
            }
            txn.set_tree(Database::MAIN, main);
            txn.trees.get_mut().set(database, None);
            Ok(())
        })
    }

    /// A cursor that can change what it stands on.
    /// # Errors
    /// As [`Snapshot::cursor`].
    pub fn cursor_mut(&mut self, database: Database) -> Result<WriteCursor<'_, 'env>, Error> {
        self.check_alive()?;
        self.tree(database)?;
        Ok(WriteCursor::new(self, database))
    }

    /// Makes all changes visible at once, and durable as the environment was asked to. A transaction that changed
    /// nothing writes nothing. Nested transactions begun by [`WriteTxn::begin_nested`] are committed first.
    /// # Errors
    /// The system's, a full disk among them: nothing is committed then. [`Error::EnvironmentFailed`] follows if it is
    /// unknown whether it was.
    pub fn commit(mut self) -> Result<(), Error> {
        self.check_alive()?;
        self.commit_down_to(0)?;
        let result = commit::commit(&mut self);
        drop(self.lock);
        result
    }

    /// Undoes everything, as dropping does.
    pub fn abort(self) {
        drop(self);
    }

    /// Removes the record a path of this database leads to.
    pub(crate) fn remove_at(&mut self, database: Database, path: &mut Path) -> Result<(), Error> {
        let tree = self.tree(database)?;
        let Some(leaf) = path.leaf() else {
            return Ok(());
        };
        let run = {
            let view = self.pages();
            let node = view.leaf_node(leaf)?;
            if node.flags.0 == NodeFlags::SUB_TREE {
                return Err(Error::WrongKind(
                    String::from_utf8_lossy(node.key).into_owned(),
                ));
            }
            node.overflow()
                .map(|_| value::run_of(view, leaf.pgno, &node))
                .transpose()?
        };
        self.guarded(|txn| {
            let mut tree = tree;
            txn.pages.spill_if_full()?;
            tree::touch_path(&mut txn.pages, &mut tree, path)?;
            value::release_value(&mut txn.pages, &mut tree.record, run)?;
            tree::remove(&mut txn.pages, &mut tree, path)?;
            txn.set_tree(database, tree);
            Ok(())
        })
    }

    /// Checks a key and a value's length, and finds the key's place.
    fn place_of(
        &mut self,
        database: Database,
        key: &[u8],
        len: usize,
    ) -> Result<(Tree, Path, bool), Error> {
        let tree = self.checked_tree(database, key, len)?;
        let mut path = Path::new();
        let exact = tree::seek(self.pages(), &tree, key, &mut path)?;
        let Some(leaf) = path.leaf() else {
            return Ok((tree, path, exact));
        };
        // Only the main tree holds records that describe databases.
        if exact && database == Database::MAIN {
            let node = self.pages().leaf_node(leaf)?;
            if node.flags.0 == NodeFlags::SUB_TREE {
                return Err(Error::WrongKind(
                    String::from_utf8_lossy(node.key).into_owned(),
                ));
            }
        }
        if !exact && tree.order == KeyOrder::Integer {
            let near = tree_page_key(self.pages(), leaf.pgno, leaf.index.saturating_sub(1))?;
            check_same_size(&tree, near, key)?;
        }
        Ok((tree, path, exact))
    }

    fn checked_tree(&mut self, database: Database, key: &[u8], len: usize) -> Result<Tree, Error> {
        self.check_alive()?;
        let tree = self.tree(database)?;
        let max = V09::key_max(self.environment.mapping().page_size());
        if key.is_empty() || key.len() > max {
            return Err(Error::KeyLength {
                len: key.len(),
                max,
            });
        }
        if u32::try_from(len).is_err() {
            return Err(Error::ValueLength(len));
        }
        tree.order.check_key(key)?;
        Ok(tree)
    }

    fn store(
        &mut self,
        database: Database,
        mut tree: Tree,
        path: &mut Path,
        exact: bool,
        key: &[u8],
        value: &[u8],
    ) -> Result<(), Error> {
        self.failed = true;
        self.pages.spill_if_full()?;
        value::store_value(&mut self.pages, &mut tree, path, exact, key, value)?;
        self.trees.get_mut().change(database, tree);
        self.failed = false;
        Ok(())
    }

    pub(super) fn set_tree(&mut self, database: Database, tree: Tree) {
        self.trees.get_mut().change(database, tree);
    }

    pub(super) fn main(&self) -> Result<Tree, Error> {
        self.trees
            .borrow()
            .get(Database::MAIN)
            .map(|open| open.tree)
            .ok_or(Error::TransactionFailed)
    }

    /// The name of a named database in the main tree, if it holds any.
    fn first_named(&self, main: &Tree) -> Result<Option<String>, Error> {
        let mut path = Path::new();
        let mut more = tree::first(self.pages(), main, &mut path)?;
        let mut leaves = 0;
        while more {
            let Some(leaf) = path.leaf() else { break };
            let node = self.pages().leaf_node(leaf)?;
            if node.flags.0 == NodeFlags::SUB_TREE {
                return Ok(Some(String::from_utf8_lossy(node.key).into_owned()));
            }
            let moved = tree::next(self.pages(), main, &mut path)?;
            leaves += u64::from(moved == tree::Moved::Across);
            if leaves > self.pages.last.0 {
                return Err(Error::at(leaf.pgno)(Malformed::Cycle));
            }
            more = moved != tree::Moved::AtEnd;
        }
        Ok(None)
    }

    /// Runs a change; an error in it ends the transaction.
    pub(super) fn guarded<T>(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.failed = true;
        let result = change(self);
        self.failed = result.as_ref().is_err_and(|error| !error.is_harmless());
        result
    }

    #[cold]
    #[inline(never)]
    fn load_tree(&self, database: Database) -> Result<Tree, Error> {
        let names = self.environment.names();
        trees::load(self.pages(), &self.trees, names, database)
    }

    #[inline]
    pub(super) fn check_alive(&self) -> Result<(), Error> {
        self.environment.check_usable()?;
        if self.failed {
            Err(Error::TransactionFailed)
        } else {
            Ok(())
        }
    }
}

/// The snapshot a writer continues: that of the last committed transaction.
fn newest(environment: &Environment) -> Result<Meta, Error> {
    let mapping = environment.mapping();
    match environment.lock() {
        None => mapping.newest_meta(),
        Some(lock) => mapping.meta_of(lock.last_txnid())?.ok_or(Error::LockBroken),
    }
}

/// All integer keys of a database have one size.
fn check_same_size(tree: &Tree, present: &[u8], key: &[u8]) -> Result<(), Error> {
    if tree.order != KeyOrder::Integer || present.len() == key.len() {
        return Ok(());
    }
    Err(Error::IntegerKey {
        len: key.len(),
        wanted: if present.len() == 4 {
            "4 octets"
        } else {
            "8 octets"
        },
    })
}

fn tree_page_key(
    view: PageView<'_>,
    pgno: fulgurite_format::Pgno,
    index: usize,
) -> Result<&[u8], Error> {
    view.tree_page(pgno, PageKind::Leaf)?
        .key(index)
        .map_err(Error::at(pgno))
}

#[expect(
    private_interfaces,
    reason = "only this crate can name, and so call, these"
)]
impl Sealed for WriteTxn<'_> {
    fn environment(&self) -> &Environment {
        self.environment
    }

    #[inline]
    fn pages(&self) -> PageView<'_> {
        tree::PagesMut::view(&self.pages)
    }

    #[inline]
    fn tree(&self, database: Database) -> Result<Tree, Error> {
        if self.failed {
            return Err(Error::TransactionFailed);
        }
        let known = self.trees.borrow().plain(database);
        match known {
            Some(tree) => Ok(tree),
            None => self.load_tree(database),
        }
    }
}

impl Snapshot for WriteTxn<'_> {}
