//! The trees of a transaction, by database handle: loaded from the main tree when first used.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use fulgurite_format::{DatabaseFlags, Meta, NodeFlags, Pgno, TREE_RECORD_LEN, TreeRecord};

use crate::Error;
use crate::boxed_error::BoxedError;
use crate::opened::{Database, DatabaseNames};
use crate::space::free_tree;
use crate::tree::{self, Pages, Path, Tree};

/// The state of one database in a transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenTree {
    pub(super) tree: Tree,
    /// The record in the main tree is to be rewritten at commit.
    pub(super) changed: bool,
}

/// The trees a transaction has used so far. The main tree is always there, unless a refresh failed.
/// It is outside the list of the others, so that beginning a transaction allocates nothing.
#[derive(Debug, Default, Clone)]
pub(super) struct Trees {
    main: Option<OpenTree>,
    /// The free list as the snapshot has it, to look at.
    free: Option<OpenTree>,
    /// The named ones, in the order of their handles.
    named: Vec<Option<OpenTree>>,
    /// The number of the first handle that this environment gives.
    first: u64,
    /// The hint to the record stored last; only writers have one.
    insert_hint: Option<Box<InsertHint>>,
    /// How often in a row that hint was of no use.
    misses: u32,
    /// The root of the main tree when the innermost nested transaction began, if there is one.
    level_root: Option<Pgno>,
    /// Databases that the nested transaction loaded as its surroundings would have.
    loaded: Vec<(Database, Tree)>,
}

/// Number of named databases for whose trees room is made at once.
const NAMED_ROOM: usize = 8;

/// After this number of consecutive misses, the writer tries the insert hint only every
/// `MISSES_MAX`th put.
const MISSES_MAX: u32 = 16;

/// The hint to a record, to be tried first when the next one is stored: often it is a neighbour.
#[derive(Debug, Clone)]
pub(super) struct InsertHint {
    /// `None` once the tree was changed otherwise.
    database: Option<Database>,
    pub(super) path: Path,
    /// True if it is known to lead to the last leaf.
    pub(super) is_last: bool,
}

impl Trees {
    /// Restarts with another snapshot's main tree, keeping the memory.
    pub(super) fn reset(&mut self, meta: &Meta, names: &DatabaseNames) {
        debug_assert!(meta.last.0 >= 1, "the meta pages are in use");
        let unchanged = |tree| {
            Some(OpenTree {
                tree,
                changed: false,
            })
        };
        self.clear_hint();
        self.level_root = None;
        self.loaded.clear();
        self.named.clear();
        self.first = names.first();
        self.main = unchanged(names.tree_of(Database::MAIN, meta.main));
        self.free = unchanged(free_tree(meta.free));
    }

    /// Makes the trees those of the snapshot that was just committed.
    pub(super) fn settle(&mut self, meta: &Meta) {
        self.clear_hint();
        for open in self.named.iter_mut().flatten().chain(&mut self.main) {
            open.changed = false;
        }
        debug_assert!(self.are_unchanged(), "the commit stored all trees");
        self.free = Some(OpenTree {
            tree: free_tree(meta.free),
            changed: false,
        });
    }

    /// Saves the trees when a nested transaction begins.
    pub(super) fn begin_level(&mut self) -> Trees {
        // The nested transaction changes other pages than those of the hint.
        self.clear_hint();
        debug_assert!(self.free.is_some(), "the free list can be looked at");
        let surroundings = self.clone();
        debug_assert!(self.main.is_some(), "a transaction has a main tree");
        self.level_root = self.main.map(|main| main.tree.record.root);
        self.loaded.clear();
        surroundings
    }

    /// Makes the changes of a nested transaction part of its surroundings.
    pub(super) fn commit_level(&mut self, surroundings: Trees) {
        debug_assert!(surroundings.main.is_some(), "a transaction has a main tree");
        self.level_root = surroundings.level_root;
        self.loaded = surroundings.loaded;
    }

    /// Restores the surroundings of a nested transaction. It keeps the trees that it loaded from an
    /// unchanged main tree.
    pub(super) fn abort_level(&mut self, surroundings: Trees) {
        debug_assert!(surroundings.main.is_some(), "a transaction has a main tree");
        let loaded = core::mem::replace(self, surroundings).loaded;
        self.clear_hint();
        for (database, tree) in loaded {
            if self.get(database).is_none() {
                self.set_loaded(database, tree);
            }
        }
    }

    /// Notes a database that was loaded.
    pub(super) fn set_loaded(&mut self, database: Database, tree: Tree) {
        debug_assert!(tree.record.root.is_none() == (tree.record.depth == 0));
        if database == Database::MAIN {
            // It is there already.
            return;
        }
        let open = OpenTree {
            tree,
            changed: false,
        };
        self.set(database, Some(open));
        let root = self.main.map(|main| main.tree.record.root);
        if self.level_root.is_some() && self.level_root == root {
            self.loaded.push((database, tree));
        }
    }

    /// Returns true if the trees are those of the snapshot they were loaded from.
    #[inline]
    pub(super) fn are_unchanged(&self) -> bool {
        let is_unchanged = |open: &Option<OpenTree>| open.is_none_or(|open| !open.changed);
        is_unchanged(&self.main) && self.named.iter().all(is_unchanged)
    }

    /// Gives the trees that are loaded the orders that the program has set meanwhile.
    pub(super) fn reorder(&mut self, database: Database, names: &DatabaseNames) {
        if let Some(open) = self.get(database).copied() {
            let tree = names.tree_of(database, open.tree.record);
            self.set(database, Some(OpenTree { tree, ..open }));
        }
    }

    /// As [`Trees::reorder`], for all databases.
    pub(super) fn reorder_all(&mut self, names: &DatabaseNames) {
        self.reorder(Database::MAIN, names);
        for index in 0..self.named.len() {
            self.reorder(self.handle(index), names);
        }
    }

    /// Forgets the named databases.
    pub(super) fn forget_named(&mut self) {
        self.clear_hint();
        self.loaded.clear();
        self.named.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.main.is_none()
    }

    /// Forgets everything: without a main tree nothing can be read.
    pub(super) fn clear(&mut self) {
        self.clear_hint();
        self.named.clear();
        self.main = None;
    }

    #[inline]
    pub(super) fn get(&self, database: Database) -> Option<&OpenTree> {
        match self.named.get(self.index(database)) {
            Some(open) => open.as_ref(),
            None if database == Database::MAIN => self.main.as_ref(),
            None if database == Database::FREE_LIST => self.free.as_ref(),
            None => None,
        }
    }

    /// As [`Trees::get`], of a database that can be changed.
    #[inline]
    fn get_mut(&mut self, database: Database) -> Option<&mut OpenTree> {
        let index = self.index(database);
        match self.named.get_mut(index) {
            Some(open) => open.as_mut(),
            None if database == Database::MAIN => self.main.as_mut(),
            None => None,
        }
    }

    /// Where the tree of a named database is; for others somewhere behind them all.
    #[inline]
    fn index(&self, database: Database) -> usize {
        database.number.wrapping_sub(self.first) as usize
    }

    /// The handle of the named database at a place.
    fn handle(&self, index: usize) -> Database {
        debug_assert!(index < self.named.len(), "a handle is of a loaded tree");
        Database {
            number: self.first + index as u64,
        }
    }

    /// The tree of a database that was used before.
    #[inline]
    pub(super) fn known(&self, database: Database) -> Option<Tree> {
        Some(self.get(database)?.tree)
    }

    pub(super) fn set(&mut self, database: Database, open: Option<OpenTree>) {
        debug_assert!(
            database != Database::FREE_LIST,
            "only a commit changes the free list"
        );
        self.clear_hint();
        if database == Database::MAIN {
            self.main = open;
            return;
        }
        let index = self.index(database);
        if self.named.len() <= index {
            if self.named.capacity() == 0 {
                self.named.reserve_exact(NAMED_ROOM.max(index + 1));
            }
            self.named.resize(index + 1, None);
        }
        if let Some(slot) = self.named.get_mut(index) {
            *slot = open;
        }
    }

    /// Notes the new state of a tree that was changed.
    pub(super) fn change(&mut self, database: Database, tree: Tree) {
        debug_assert!(
            database != Database::FREE_LIST,
            "only a commit changes the free list"
        );
        let changed = Some(OpenTree {
            tree,
            changed: true,
        });
        self.set(database, changed);
    }

    /// As [`Trees::change`], of a tree that keeps its orders.
    #[inline(always)]
    pub(super) fn change_record(&mut self, database: Database, tree: &Tree) {
        self.clear_hint();
        match self.get_mut(database) {
            Some(open) => {
                debug_assert!(open.tree.order == tree.order, "the order stays");
                open.tree.record = tree.record;
                open.changed = true;
            }
            None => self.change(database, *tree),
        }
    }

    /// Returns true if the insert hint is to be tried or noted. After many misses that is seldom.
    #[inline]
    pub(super) const fn tries_hint(&self) -> bool {
        self.misses < MISSES_MAX || self.misses.is_multiple_of(MISSES_MAX)
    }

    /// Notes if the hint was of use.
    #[inline]
    pub(super) const fn note_hint_use(&mut self, is_hit: bool) {
        self.misses = if is_hit {
            0
        } else {
            self.misses.wrapping_add(1)
        };
    }

    /// Notes the new state of a tree in which a record was stored at the end of this path.
    #[inline(always)]
    pub(super) fn change_at(&mut self, database: Database, tree: &Tree, path: &Path) {
        debug_assert_eq!(path.len(), usize::from(tree.record.depth));
        debug_assert!(
            !path.is_empty(),
            "a record was stored at the end of the path"
        );
        if self.tries_hint() {
            self.change_and_hint(database, tree, path);
        } else {
            self.change_record(database, tree);
        }
    }

    /// As [`Trees::change_at`], and makes the path the insert hint.
    #[inline(never)]
    fn change_and_hint(&mut self, database: Database, tree: &Tree, path: &Path) {
        let known = self.insert_hint(database);
        // An entry behind the last leaf is on a leaf that was made for it.
        let is_last = known.is_some_and(|hint| hint.is_last && path.cmp_leaves(&hint.path).is_ge());
        self.change_record(database, tree);
        let hint = self.insert_hint.get_or_insert_with(|| {
            Box::new(InsertHint {
                database: None,
                path: Path::new(),
                is_last: false,
            })
        });
        hint.database = Some(database);
        hint.path.clone_from(path);
        hint.is_last = is_last;
    }

    /// Returns the insert hint, if it is of this database and its tree is unchanged.
    pub(super) fn insert_hint(&mut self, database: Database) -> Option<&mut InsertHint> {
        let hint = self
            .insert_hint
            .as_deref_mut()
            .filter(|hint| hint.database == Some(database));
        debug_assert!(
            hint.as_ref().is_none_or(|hint| !hint.path.is_empty()),
            "the hint leads to a record"
        );
        hint
    }

    /// Returns true if there may be a hint that is known to lead to the last leaf.
    #[inline]
    pub(super) fn knows_last_leaf(&self, database: Database) -> bool {
        self.insert_hint
            .as_deref()
            .is_some_and(|hint| hint.is_last && hint.database == Some(database))
    }

    /// Returns the hint with its tree, if it is known to lead to the last leaf.
    #[inline]
    pub(super) fn last_leaf(
        &mut self,
        database: Database,
    ) -> Option<(&mut OpenTree, &mut InsertHint)> {
        let index = self.index(database);
        let hint = self
            .insert_hint
            .as_deref_mut()
            .filter(|hint| hint.is_last && hint.database == Some(database))?;
        let open = if database == Database::MAIN {
            self.main.as_mut()
        } else {
            self.named.get_mut(index)?.as_mut()
        };
        debug_assert!(!hint.path.is_empty(), "the hint leads to a record");
        Some((open?, hint))
    }

    /// Forgets that hint.
    #[inline]
    pub(super) fn clear_hint(&mut self) {
        if let Some(hint) = &mut self.insert_hint {
            hint.database = None;
        }
    }

    /// Handles of the named databases that were changed.
    pub(super) fn changed(&self) -> Vec<Database> {
        (0..self.named.len())
            .map(|index| self.handle(index))
            .filter(|database| self.get(*database).is_some_and(|open| open.changed))
            .collect()
    }
}

/// Finds a database in the main tree when the transaction uses it first.
pub(super) fn find<'p, P: Pages<'p>>(
    pages: P,
    main: Option<Tree>,
    names: &DatabaseNames,
    database: Database,
) -> Result<Tree, BoxedError> {
    let main = main.ok_or(Error::TransactionFailed)?;
    if database == Database::MAIN {
        return Ok(main);
    }
    let name = names.name(database);
    if name.is_empty() {
        return Err(match database {
            // Of a transaction that shows nothing.
            Database::FREE_LIST => Error::NoDatabase(String::new()).into(),
            _ => Error::ForeignDatabase.into(),
        });
    }
    Ok(names.tree_of(database, named(pages, &main, name)?))
}

/// The record of a named database.
pub(super) fn named<'p, P: Pages<'p>>(
    pages: P,
    main: &Tree,
    name: &[u8],
) -> Result<TreeRecord, BoxedError> {
    debug_assert!(!name.is_empty(), "a named database has a name");
    let missing = || Error::NoDatabase(String::from_utf8_lossy(name).into_owned());
    if !holds_databases(main) {
        return Err(missing().into());
    }
    let (leaf, node) = tree::find(pages, main, name)?.ok_or_else(missing)?;
    if node.flags.0 != NodeFlags::SUB_TREE {
        return Err(Error::WrongKind(String::from_utf8_lossy(name).into_owned()).into());
    }
    let record = (node.data.len() == TREE_RECORD_LEN)
        .then(|| TreeRecord::read(node.data))
        .flatten();
    let what = fulgurite_format::Malformed::TreeRecord;
    let record = record.ok_or(Error::Corrupted { page: leaf, what })?;
    check(record, pages.last(), leaf)?;
    Ok(record)
}

/// Returns true if named databases can live in this main tree.
pub(super) fn holds_databases(main: &Tree) -> bool {
    main.record.flags.0 & (DatabaseFlags::DUP_SORT | DatabaseFlags::INTEGER_KEY) == 0
}

fn check(record: TreeRecord, last: Pgno, leaf: Pgno) -> Result<(), BoxedError> {
    let unknown = record.flags.0 & !DatabaseFlags::PERSISTENT != 0;
    if unknown {
        return Err(Error::Corrupted {
            page: leaf,
            what: fulgurite_format::Malformed::TreeRecord,
        }
        .into());
    }
    record.check(last).map_err(Error::at(leaf))
}
