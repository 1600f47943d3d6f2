//! Making, emptying and removing databases.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use fulgurite_format::{DatabaseFlags, Malformed, NodeFlags, TREE_RECORD_LEN, TreeRecord, layout};

use super::commit;
use super::snapshot::Sealed;
use super::trees::{self, OpenTree};
use super::write::WriteTxn;
use crate::boxed_error::BoxedError;
use crate::cursor::{CursorPosition, DeletedRecord};
use crate::opened::Database;
use crate::tree::{self, Pages, Path, Tree};
use crate::{Error, KeyOrder, value};

impl WriteTxn<'_> {
    /// Opens a named database, creating it if there is none.
    /// # Errors
    /// [`Error::OrderMismatch`] if it exists with another order. [`Error::WrongKind`] if a plain
    /// record of the main database has the name. [`Error::MainUnsuitable`], [`Error::NameLength`],
    /// [`Error::DatabasesFull`].
    pub fn create_database(&mut self, name: &str, order: KeyOrder) -> Result<Database, Error> {
        let database = self.create_named(name.as_bytes(), order.flags())?;
        if let KeyOrder::Custom(order) = order {
            self.set_key_order(database, Some(order));
        }
        let found = self.tree(database)?;
        if found.order != order || found.has_duplicates() {
            return Err(Error::OrderMismatch {
                name: name.to_owned(),
                found: found.order,
            });
        }
        Ok(database)
    }

    /// Opens a named database, creating it with these flags if there is none. One that exists keeps
    /// those it has: ask [`crate::Snapshot::flags`].
    /// # Errors
    /// As [`WriteTxn::create_database`]; [`Error::Flags`] for flags that no database can have, such
    /// as those about duplicates without [`DatabaseFlags::DUP_SORT`].
    pub fn create_named(&mut self, name: &[u8], flags: DatabaseFlags) -> Result<Database, Error> {
        self.check_alive()?;
        let max = layout::key_max(self.page_size());
        if name.is_empty() || name.len() > max {
            return Err(Error::NameLength {
                len: name.len(),
                max,
            });
        }
        let database = self.environment().names().intern(name)?;
        match self.tree(database) {
            Ok(_) => Ok(database),
            Err(failed) if failed.is_no_database() => {
                self.create(database, flags).map_err(Error::from)
            }
            Err(failed) => Err(failed.into()),
        }
    }

    /// Adds flags to those of the main database.
    /// # Errors
    /// [`Error::Flags`] for flags that no database can have.
    pub fn add_main_flags(&mut self, flags: DatabaseFlags) -> Result<(), Error> {
        self.check_alive()?;
        let mut main = self.main()?;
        if flags.0 & !DatabaseFlags::PERSISTENT != 0 {
            return Err(Error::Flags);
        }
        if main.record.flags.has(flags.0) {
            return Ok(());
        }
        main.record.flags.0 |= flags.0;
        let tree = self
            .environment()
            .names()
            .tree_of(Database::MAIN, main.record);
        self.set_tree(Database::MAIN, tree);
        Ok(())
    }

    /// Sets the program's own order of a database's keys, or none. See [`KeyOrder::Custom`].
    pub fn set_key_order(&mut self, database: Database, order: Option<crate::CustomOrder>) {
        let names = self.environment.names();
        names.set_key_order(database, order);
        self.trees.get_mut().reorder(database, names);
    }

    /// Sets the program's own order of the values of a key, or none. See [`KeyOrder::Custom`].
    pub fn set_value_order(&mut self, database: Database, order: Option<crate::CustomOrder>) {
        let names = self.environment.names();
        names.set_value_order(database, order);
        self.trees.get_mut().reorder(database, names);
    }

    fn create(&mut self, database: Database, flags: DatabaseFlags) -> Result<Database, BoxedError> {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        debug_assert!(
            database != Database::MAIN,
            "the main database is always there"
        );
        let about_values =
            DatabaseFlags::DUP_FIXED | DatabaseFlags::INTEGER_DUP | DatabaseFlags::REVERSE_DUP;
        let unknown = flags.0 & !DatabaseFlags::PERSISTENT != 0;
        if unknown || (!flags.has(DatabaseFlags::DUP_SORT) && flags.0 & about_values != 0) {
            return Err(Error::Flags.into());
        }
        if !trees::holds_databases(&self.main()?) {
            return Err(Error::MainUnsuitable.into());
        }
        let record = TreeRecord::empty(flags);
        self.pages.will_store();
        self.save_other_positions(Database::MAIN)?;
        self.guarded(|txn| {
            txn.pages.spill_if_full()?;
            commit::store_record(txn, database, &record)
        })?;
        let tree = self.environment().names().tree_of(database, record);
        let open = OpenTree {
            tree,
            changed: false,
        };
        self.trees.get_mut().set(database, Some(open));
        Ok(database)
    }

    /// Removes all records of a database; the database stays. Of the main one it removes the named
    /// databases too.
    /// # Errors
    /// Any ends the transaction.
    pub fn clear_database(&mut self, database: Database) -> Result<(), Error> {
        self.check_alive()?;
        if database == Database::FREE_LIST {
            return Err(Error::ReadOnly);
        }
        let tree = self.tree(database)?;
        self.guarded(|txn| {
            if database == Database::MAIN {
                txn.clear_named()?;
            }
            let mut tree = if database == Database::MAIN {
                txn.main()?
            } else {
                tree
            };
            value::clear(&mut txn.pages, &mut tree)?;
            txn.set_tree(database, tree);
            Ok(())
        })?;
        let all = (database == Database::MAIN).then_some(None);
        self.cursors.reset_cleared(all.unwrap_or(Some(database)));
        Ok(())
    }

    /// Removes a named database with all its records. Its handle is without a database from then
    /// on.
    /// # Errors
    /// [`Error::WrongKind`] for the main database; any other ends the transaction.
    pub fn drop_database(&mut self, database: Database) -> Result<(), Error> {
        if database == Database::MAIN {
            return Err(Error::WrongKind("(main)".to_owned()));
        }
        self.clear_database(database)?;
        self.save_other_positions(Database::MAIN)?;
        let name = self.environment().names().name(database).to_vec();
        debug_assert!(!name.is_empty(), "a named database has a name");
        let mut path = Path::new();
        self.guarded(|txn| {
            let mut main = txn.main()?;
            if tree::seek(txn.pages(), &main, &name, &mut path)? {
                tree::touch_path(&mut txn.pages, &mut main, &mut path)?;
                tree::remove(&mut txn.pages, &mut main, &mut path)?;
            }
            txn.set_tree(Database::MAIN, main);
            txn.trees.get_mut().set(database, None);
            Ok(())
        })?;
        self.leave_name(&name, path).map_err(Error::from)
    }

    /// Moves cursors off the record of a database that is no more.
    fn leave_name(&mut self, name: &[u8], mut path: Path) -> Result<(), BoxedError> {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        debug_assert!(!name.is_empty(), "a named database has a name");
        if !self.has_cursors() {
            return Ok(());
        }
        let main = self.main()?;
        tree::seek(self.pages(), &main, name, &mut path)?;
        let mut place = CursorPosition::new(Database::MAIN);
        place.stand_on_path(self.pages(), &main, path)?;
        place.mark_deleted(true);
        let gone = DeletedRecord {
            key: name,
            value: None,
        };
        self.move_other_cursors(&gone, &place)
    }

    /// Gives up the pages of all named databases; their records stay.
    fn clear_named(&mut self) -> Result<(), BoxedError> {
        debug_assert!(self.failed, "a guarded change is under way");
        // Their trees in memory are newer than their records.
        for database in self.trees.get_mut().changed() {
            if let Some(record) = self
                .trees
                .get_mut()
                .get(database)
                .map(|open| open.tree.record)
            {
                commit::store_record(self, database, &record)?;
            }
        }
        self.trees.get_mut().forget_named();
        let main = self.main()?;
        for record in self.named_records(&main)? {
            let mut tree = Tree::plain(record, KeyOrder::Lexical);
            value::clear(&mut self.pages, &mut tree)?;
        }
        Ok(())
    }

    /// The records of all named databases.
    fn named_records(&self, main: &Tree) -> Result<Vec<TreeRecord>, BoxedError> {
        debug_assert!(self.lock.is_some(), "the right to write is held");
        let mut found = Vec::new();
        if !trees::holds_databases(main) {
            return Ok(found);
        }
        let last = self.pages().last();
        let mut path = Path::new();
        let mut more = tree::first(self.pages(), main, &mut path)?;
        let mut leaves = 0;
        while more {
            let Some(leaf) = path.leaf() else { break };
            let node = self.pages().leaf_node(leaf)?;
            if node.flags.0 == NodeFlags::SUB_TREE {
                let record = (node.data.len() == TREE_RECORD_LEN)
                    .then(|| TreeRecord::read(node.data))
                    .flatten()
                    .ok_or_else(|| Error::at(leaf.pgno)(Malformed::TreeRecord))?;
                record.check(last).map_err(Error::at(leaf.pgno))?;
                found.push(record);
            }
            let moved = tree::next(self.pages(), main, &mut path)?;
            leaves += u64::from(moved == tree::LeafStep::Across);
            if leaves > last.0 {
                return Err(Error::at(leaf.pgno)(Malformed::Cycle));
            }
            more = moved != tree::LeafStep::AtEnd;
        }
        Ok(found)
    }
}
