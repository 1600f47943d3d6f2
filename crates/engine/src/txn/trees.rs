//! The trees of a transaction, by database handle: loaded from the main tree when first used.

use fulgurite_format::{DatabaseFlags, NodeFlags, Pgno, TREE_RECORD_LEN, TreeRecord};

use crate::env::{Database, DatabaseNames};
use crate::tree::{self, Pages, Tree};
use crate::{Error, KeyOrder};

/// What a transaction knows of one database.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenTree {
    pub(super) tree: Tree,
    /// The record in the main tree is to be rewritten at commit.
    pub(super) changed: bool,
}

/// The trees a transaction has used so far; the main tree is always there.
#[derive(Debug, Default)]
pub(super) struct Trees {
    open: Vec<Option<OpenTree>>,
}

impl Trees {
    /// Begins anew with another snapshot's main tree, keeping the memory.
    pub(super) fn reset(&mut self, main: TreeRecord) {
        self.open.clear();
        self.open.push(Some(OpenTree {
            tree: tree_of(main),
            changed: false,
        }));
    }

    /// Forgets everything: without a main tree nothing can be read.
    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    pub(super) fn get(&self, database: Database) -> Option<&OpenTree> {
        self.open.get(database.index)?.as_ref()
    }

    pub(super) fn set(&mut self, database: Database, open: Option<OpenTree>) {
        if self.open.len() <= database.index {
            self.open.resize(database.index + 1, None);
        }
        if let Some(slot) = self.open.get_mut(database.index) {
            *slot = open;
        }
    }

    /// Handles of the named databases that were changed.
    pub(super) fn changed(&self) -> Vec<Database> {
        (1..self.open.len())
            .map(|index| Database { index })
            .filter(|database| self.get(*database).is_some_and(|open| open.changed))
            .collect()
    }
}

/// Finds a named database in the main tree.
pub(super) fn load<'p, P: Pages<'p>>(
    pages: P,
    main: &Tree,
    names: &DatabaseNames,
    database: Database,
) -> Result<OpenTree, Error> {
    let name = names.name(database);
    let missing = || Error::NoDatabase(name.to_owned());
    if database == Database::MAIN {
        return Err(missing());
    }
    if !holds_databases(main) {
        return Err(missing());
    }
    let (leaf, node) = tree::find(pages, main, name.as_bytes())?.ok_or_else(missing)?;
    if node.flags.0 != NodeFlags::SUB_TREE {
        return Err(Error::WrongKind(name.to_owned()));
    }
    let record = (node.data.len() == TREE_RECORD_LEN)
        .then(|| TreeRecord::read(node.data))
        .flatten();
    let what = fulgurite_format::Malformed::TreeRecord;
    let record = record.ok_or(Error::Corrupted { page: leaf, what })?;
    check(record, pages.last(), leaf)?;
    check_duplicates(record.flags, name)?;
    Ok(OpenTree {
        tree: tree_of(record),
        changed: false,
    })
}

/// Whether named databases can live in this main tree.
pub(super) fn holds_databases(main: &Tree) -> bool {
    main.record.flags.0 & (DatabaseFlags::DUP_SORT | DatabaseFlags::INTEGER_KEY) == 0
}

/// Refuses trees with duplicates.
pub(super) fn check_duplicates(flags: DatabaseFlags, name: &str) -> Result<(), Error> {
    if flags.has(DatabaseFlags::DUP_SORT) {
        return Err(Error::Duplicates(
            if name.is_empty() { "(main)" } else { name }.to_owned(),
        ));
    }
    Ok(())
}

fn tree_of(record: TreeRecord) -> Tree {
    Tree {
        record,
        order: KeyOrder::from_flags(record.flags),
    }
}

fn check(record: TreeRecord, last: Pgno, leaf: Pgno) -> Result<(), Error> {
    let unknown = record.flags.0 & !DatabaseFlags::PERSISTENT != 0;
    if unknown {
        return Err(Error::Corrupted {
            page: leaf,
            what: fulgurite_format::Malformed::TreeRecord,
        });
    }
    record.check(last).map_err(Error::at(leaf))
}
