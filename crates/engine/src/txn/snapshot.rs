//! Reading, in whatever kind of transaction.

use fulgurite_format::TreeRecord;

use crate::cursor::Cursor;
use crate::env::Database;
use crate::space::PageView;
use crate::tree::{self, Tree};
use crate::{Environment, Error, value};

/// Statistics of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Size of a page in octets.
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
    fn of(record: &TreeRecord, page_size: usize) -> Stat {
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

/// What a snapshot is made of; keeps the trait below to this crate's types.
#[expect(
    private_interfaces,
    reason = "only this crate can name, and so call, these"
)]
pub trait Sealed {
    #[doc(hidden)]
    fn environment(&self) -> &Environment;
    #[doc(hidden)]
    fn pages(&self) -> PageView<'_>;
    #[doc(hidden)]
    fn tree(&self, database: Database) -> Result<Tree, Error>;
}

/// Reading from a transaction: a [`crate::ReadTxn`]'s snapshot, or a [`crate::WriteTxn`]'s own state.
///
/// Keys and values are lent from the map; they live as long as the borrow of the transaction.
pub trait Snapshot: Sealed {
    /// Opens a database by name; `None` is the unnamed main one.
    /// # Errors
    /// [`Error::NoDatabase`], [`Error::WrongKind`], [`Error::Duplicates`], [`Error::DatabasesFull`],
    /// [`Error::Corrupted`].
    fn open_database(&self, name: Option<&str>) -> Result<Database, Error> {
        let database = match name {
            None => Database::MAIN,
            Some(name) => self.environment().names().intern(name)?,
        };
        self.tree(database)?;
        Ok(database)
    }

    /// The value of a key. Touches one page per level and allocates nothing.
    /// # Errors
    /// [`Error::NoDatabase`], [`Error::Corrupted`], [`Error::BeyondEnd`].
    #[inline]
    fn get<'t>(&'t self, database: Database, key: &[u8]) -> Result<Option<&'t [u8]>, Error> {
        let tree = self.tree(database)?;
        let pages = self.pages();
        match tree::find(pages, &tree, key)? {
            Some((leaf, node)) => value::value_of(pages, leaf, &node).map(Some),
            None => Ok(None),
        }
    }

    /// A cursor over a database, standing nowhere yet.
    /// # Errors
    /// As [`Snapshot::get`].
    fn cursor(&self, database: Database) -> Result<Cursor<'_>, Error> {
        Ok(Cursor::new(self.pages(), self.tree(database)?))
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
