//! Reading, in any kind of transaction.

use alloc::vec::Vec;
use core::cmp::Ordering;

use fulgurite_format::{DatabaseFlags, LeafNode, Pgno, TreeRecord, layout};

use super::trees;
use crate::boxed_error::BoxedError;
use crate::cursor::{Cursor, CursorPosition, Move, PositionedCursor, Record};
use crate::opened::{Database, Handle, Multimap};
use crate::range::{self, Gap, KeyRange, PrefixEnd, Records, Values};
use crate::space::PageView;
use crate::tree::{self, Pages, Tree};
use crate::{Error, value};

/// Statistics of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Size of a page in bytes.
    pub page_size: usize,
    /// Levels of the tree; 0 if it is empty.
    pub depth: u16,
    /// Pages with keys and children.
    pub branch_pages: u64,
    /// Pages with keys and values.
    pub leaf_pages: u64,
    /// Pages of values too large for a leaf.
    pub overflow_pages: u64,
    /// Records.
    pub entries: u64,
}

impl Stat {
    pub(crate) fn of(record: &TreeRecord, page_size: usize) -> Stat {
        debug_assert!(page_size.is_power_of_two());
        Stat {
            page_size,
            depth: record.depth,
            branch_pages: record.branch_pages,
            leaf_pages: record.leaf_pages,
            overflow_pages: record.overflow_pages,
            entries: record.entries,
        }
    }
}

/// The parts of a snapshot; keeps the trait below to this crate's types.
#[expect(
    private_interfaces,
    private_bounds,
    reason = "only this crate can name, and so call, these"
)]
pub trait Sealed {
    #[doc(hidden)]
    fn environment(&self) -> &Handle;
    #[doc(hidden)]
    fn pages(&self) -> PageView<'_>;
    #[doc(hidden)]
    fn tree(&self, database: Database) -> Result<Tree, BoxedError>;
    /// The tree, also of a write transaction that has failed: its properties hold nevertheless.
    #[doc(hidden)]
    fn tree_even_if_failed(&self, database: Database) -> Result<Tree, BoxedError>;
    /// Works on a tree without copying it; the work must not ask for trees itself.
    #[doc(hidden)]
    fn with_tree<T>(
        &self,
        database: Database,
        work: impl FnOnce(&Tree) -> Result<T, BoxedError>,
    ) -> Result<T, BoxedError>;
}

/// The value of a key, the first if it has several.
#[inline]
pub(super) fn get<'t>(
    pages: PageView<'t>,
    tree: &Tree,
    key: &[u8],
) -> Result<Option<&'t [u8]>, BoxedError> {
    match tree::find(pages, tree, key)? {
        Some((leaf, node)) => value_of(pages, tree, leaf, &node).map(Some),
        None => Ok(None),
    }
}

/// The value of an entry, the first if it has several.
#[inline]
pub(super) fn value_of<'t>(
    pages: PageView<'t>,
    tree: &Tree,
    leaf: Pgno,
    node: &LeafNode<'t>,
) -> Result<&'t [u8], BoxedError> {
    debug_assert!(!node.key.is_empty(), "entries of leaves have keys");
    if tree.has_duplicates() {
        return value::first_value(pages, tree, leaf, node);
    }
    value::value_of(pages, leaf, node)
}

/// Reading from a transaction: a [`crate::ReadTxn`]'s snapshot, or a [`crate::WriteTxn`]'s own
/// state.
///
/// Keys and values are lent from the map; they live as long as the borrow of the transaction.
pub trait Snapshot: Sealed {
    /// Opens a database by name; `None` is the unnamed main one.
    /// # Errors
    /// [`Error::NoDatabase`], [`Error::WrongKind`], [`Error::DatabasesFull`], [`Error::Corrupted`].
    fn open_database(&self, name: Option<&str>) -> Result<Database, Error> {
        match name {
            None => self
                .tree(Database::MAIN)
                .map(|_| Database::MAIN)
                .map_err(Error::from),
            Some(name) => self.open_named(name.as_bytes()),
        }
    }

    /// Opens a database by a name that need not be text.
    /// # Errors
    /// As [`Snapshot::open_database`]; [`Error::NameLength`] for an empty name.
    fn open_named(&self, name: &[u8]) -> Result<Database, Error> {
        let names = self.environment().names();
        if let Some(database) = names.known(name) {
            return self.tree(database).map(|_| database).map_err(Error::from);
        }
        if name.is_empty() {
            let max = layout::key_max(self.pages().page_size());
            return Err(Error::NameLength { len: 0, max });
        }
        debug_assert!(!name.is_empty(), "a named database has a name");
        // A handle lasts as long as the environment, so a name without a database gets none.
        trees::named(self.pages(), &self.tree(Database::MAIN)?, name)?;
        names.intern(name).map_err(Error::from)
    }

    /// Opens a multimap: a database whose keys have several values. `None` is the unnamed main one.
    /// # Errors
    /// [`Error::NoDuplicates`] if its keys have one value each; as [`Snapshot::open_database`].
    fn open_multimap(&self, name: Option<&str>) -> Result<Multimap, Error> {
        self.multimap_of(self.open_database(name)?)
    }

    #[doc(hidden)]
    fn multimap_of(&self, database: Database) -> Result<Multimap, Error> {
        if self.tree(database)?.has_duplicates() {
            return Ok(Multimap { database });
        }
        Err(Error::NoDuplicates)
    }

    /// The flags of a database, as the file records them.
    /// # Errors
    /// As [`Snapshot::get`].
    fn flags(&self, database: Database) -> Result<DatabaseFlags, Error> {
        let flags = self.tree_even_if_failed(database)?.record.flags;
        Ok(DatabaseFlags(flags.0 & DatabaseFlags::PERSISTENT))
    }

    /// Compares two keys as a database orders them.
    /// # Errors
    /// As [`Snapshot::get`].
    fn compare_keys(&self, database: Database, a: &[u8], b: &[u8]) -> Result<Ordering, Error> {
        Ok(self.tree_even_if_failed(database)?.order.compare(a, b))
    }

    /// Compares two values of one key as a database orders them.
    /// # Errors
    /// As [`Snapshot::get`].
    fn compare_values(&self, database: Database, a: &[u8], b: &[u8]) -> Result<Ordering, Error> {
        Ok(self
            .tree_even_if_failed(database)?
            .value_order
            .compare(a, b))
    }

    /// The value of a key; the first, if it has several. Touches one page per level and allocates
    /// nothing.
    /// # Errors
    /// [`Error::NoDatabase`], [`Error::Corrupted`], [`Error::BeyondEnd`].
    #[inline]
    fn get<'t>(&'t self, database: Database, key: &[u8]) -> Result<Option<&'t [u8]>, Error> {
        let pages = self.pages();
        self.with_tree(database, |tree| get(pages, tree, key))
            .map_err(Error::from)
    }

    /// Moves a cursor whose position outlives the transaction; cheaper than
    /// [`PositionedCursor::go`] of [`Snapshot::at_position`].
    /// # Errors
    /// As [`crate::Cursor::go`].
    #[inline]
    fn step<'t>(
        &'t self,
        place: &mut CursorPosition,
        step: Move<'_>,
    ) -> Result<Option<Record<'t>>, Error> {
        let pages = self.pages();
        self.with_tree(place.database(), |tree| {
            place.resume(pages, tree)?;
            place.go(pages, tree, step)
        })
        .map_err(Error::from)
    }

    /// The values of many keys, as [`Snapshot::get`] finds them, in the order of the keys. `values`
    /// is emptied first; its memory is used again.
    ///
    /// The engine searches for sixteen keys in step, so that waits for memory overlap. The gain
    /// grows with the database, compared with the processor's caches. In a database that fits the
    /// caches it costs as much as single calls of [`Snapshot::get`].
    /// # Errors
    /// As [`Snapshot::get`], the first met: they are about the file, not about single keys.
    /// `values` is empty then.
    fn get_many<'t, K: AsRef<[u8]>>(
        &'t self,
        database: Database,
        keys: &[K],
        values: &mut Vec<Option<&'t [u8]>>,
    ) -> Result<(), Error> {
        values.clear();
        let found = range::get_many(self.pages(), &self.tree(database)?, keys, values);
        debug_assert!(
            found.is_err() || values.len() == keys.len(),
            "each key has its answer"
        );
        if found.is_err() {
            values.clear();
        }
        found.map_err(Error::from)
    }

    /// The records whose keys are in a range, from both ends. Finds the ends with one search each,
    /// or both with one search for a short range. It compares no keys after that.
    /// # Errors
    /// As [`Snapshot::get`].
    fn range(&self, database: Database, range: impl KeyRange) -> Result<Records<'_>, Error> {
        let (low, high) = (Gap::low(range.low()), Gap::high(range.high()));
        Records::between(self.pages(), self.tree(database)?, low, high).map_err(Error::from)
    }

    /// The records whose keys begin with these bytes: all, if there are none.
    /// [`crate::KeyOrder::Reverse`] compares keys from their last byte: there it finds the keys
    /// that *end* with these bytes.
    /// # Errors
    /// [`Error::NoPrefixes`] with [`crate::KeyOrder::Integer`] and [`crate::KeyOrder::Custom`],
    /// whose order does not group such keys. [`Error::KeyLength`] for a prefix longer than a key.
    /// As [`Snapshot::get`].
    fn prefix(&self, database: Database, prefix: &[u8]) -> Result<Records<'_>, Error> {
        let tree = self.tree(database)?;
        let end = PrefixEnd::prefix(tree.order, prefix)?;
        let low = if prefix.is_empty() {
            Gap::Edge
        } else {
            Gap::Before(prefix)
        };
        Records::between(self.pages(), tree, low, end.gap()).map_err(Error::from)
    }

    /// The values of one key, from both ends; none if there is no such key.
    /// # Errors
    /// As [`Snapshot::get`].
    fn values(&self, database: Database, key: &[u8]) -> Result<Values<'_>, Error> {
        let tree = self.tree(database)?;
        let pages = self.pages();
        match tree::find(pages, &tree, key)? {
            Some((leaf, node)) => Values::of(pages, &tree, leaf, &node).map_err(Error::from),
            None => Ok(Values::none()),
        }
    }

    /// How many records have their keys in a range, exactly; a key counts with each of its values.
    ///
    /// Costs a look at each leaf inside the range, or outside it if those are fewer. Without
    /// duplicates that is a look at its header alone. The whole database costs nothing.
    /// # Errors
    /// As [`Snapshot::get`].
    fn count_range(&self, database: Database, range: impl KeyRange) -> Result<u64, Error> {
        let (low, high) = (Gap::low(range.low()), Gap::high(range.high()));
        range::count(self.pages(), self.tree(database)?, low, high).map_err(Error::from)
    }

    /// Estimates how many records have their keys in a range, for choosing between plans.
    ///
    /// Costs two searches and at most eight more pages per level on either side, however large the
    /// range. It is exact for a range within few leaves (ten or fewer, under one branch), and for
    /// the whole database. Beyond, unseen subtrees count as average ones. If records have similar
    /// sizes, the error is below a fifth of the range, mostly below a tenth. It is smaller for
    /// larger ranges. If they do not, only the number of records bounds the error: a key may have
    /// half of all values.
    /// # Errors
    /// As [`Snapshot::get`].
    fn estimate_range(&self, database: Database, range: impl KeyRange) -> Result<u64, Error> {
        let (low, high) = (Gap::low(range.low()), Gap::high(range.high()));
        range::estimate(self.pages(), &self.tree(database)?, low, high).map_err(Error::from)
    }

    /// A cursor over a database, standing nowhere yet.
    /// # Errors
    /// As [`Snapshot::get`].
    fn cursor(&self, database: Database) -> Result<Cursor<'_>, Error> {
        let place = CursorPosition::new(database);
        Ok(Cursor::new(self.pages(), self.tree(database)?, place))
    }

    /// Notes the record at a cursor position, to find it again in another snapshot. Call it before
    /// this snapshot ends.
    /// # Errors
    /// As [`Snapshot::get`].
    fn save_position(&self, place: &mut CursorPosition) -> Result<(), Error> {
        let tree = self.tree(place.database())?;
        place
            .save_position(self.pages(), &tree)
            .map_err(Error::from)
    }

    /// A cursor at a place that outlives the transaction. A position that was used in another
    /// snapshot and not saved there ([`Snapshot::save_position`]) must be [`CursorPosition::reset`]
    /// first. It may be anywhere.
    /// # Errors
    /// As [`Snapshot::get`].
    #[inline]
    fn at_position<'t, 'p>(
        &'t self,
        place: &'p mut CursorPosition,
    ) -> Result<PositionedCursor<'t, 'p>, Error> {
        let tree = self.tree(place.database())?;
        place.resume(self.pages(), &tree)?;
        Ok(PositionedCursor::new(self.pages(), tree, place))
    }

    /// Statistics of a database.
    /// # Errors
    /// As [`Snapshot::get`].
    fn stat(&self, database: Database) -> Result<Stat, Error> {
        Ok(Stat::of(
            &self.tree(database)?.record,
            self.environment().mapping().page_size(),
        ))
    }
}
