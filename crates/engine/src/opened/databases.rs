//! Handles of databases: small numbers that represent names.

use alloc::boxed::Box;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use fulgurite_os::platform::sync::{Mutex, OnceLock, PoisonError};

use fulgurite_format::TreeRecord;

use super::name_map::NameMap;
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::order::{CustomOrder, KeyOrder};
use crate::tree::Tree;

/// A handle of a database, for any transaction of the environment it was opened in.
///
/// It means a name. A snapshot without a database of that name answers [`Error::NoDatabase`]. A
/// transaction of another [`crate::Environment`], even on the same files, answers
/// [`Error::ForeignDatabase`]. Only the two handles below are the same everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Database {
    /// No two environments of a process share a number, see [`DatabaseNames::new`].
    pub(crate) number: u64,
}

impl Database {
    /// The unnamed database, which every environment has.
    pub const MAIN: Database = Database { number: 0 };
    /// The list of free pages, for reading only. Keys are transaction ids of 8 bytes. Values are a
    /// count and that number of page numbers, descending, 8 bytes each.
    pub const FREE_LIST: Database = Database { number: u64::MAX };
}

/// A database whose keys have several values, each once and in order: a set of pairs of key and
/// value.
///
/// A handle, as [`Database`] is, with set operations as methods. All methods of transactions take
/// its [`Multimap::database`] as well. [`crate::Snapshot::range`] iterates over pairs,
/// [`crate::Snapshot::get`] finds a key's first value. [`crate::WriteTxn::put`] is
/// [`Multimap::insert`], and [`crate::WriteTxn::delete`] is [`Multimap::remove_all`].
///
/// ```
/// use fulgurite::{Environment, KeyOrder, Snapshot, ValueKind};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path();
/// let environment = Environment::options().open(path)?;
/// let mut txn = environment.write()?;
/// let ports = ValueKind::Fixed(KeyOrder::Integer);
/// let open = txn.create_multimap("open ports", KeyOrder::Lexical, ports)?;
///
/// for port in [443u32, 22, 80] {
///     assert!(open.insert(&mut txn, b"web", &port.to_ne_bytes())?);
/// }
/// assert!(!open.insert(&mut txn, b"web", &80u32.to_ne_bytes())?, "it was there");
/// open.insert(&mut txn, b"mail", &25u32.to_ne_bytes())?;
/// assert!(open.remove(&mut txn, b"web", &22u32.to_ne_bytes())?);
/// txn.commit()?;
///
/// let txn = environment.read()?;
/// let open = txn.open_multimap(Some("open ports"))?;
/// assert_eq!(open.count(&txn, b"web")?, 2);
/// assert!(open.contains(&txn, b"mail", &25u32.to_ne_bytes())?);
/// let greatest = open.values(&txn, b"web")?.next_back().expect("two ports")?;
/// assert_eq!(greatest, 443u32.to_ne_bytes());
/// for pair in txn.range(open.database(), "m"..)? {
///     let (host, port) = pair?;
///     println!("{}: {}", host.escape_ascii(), u32::from_ne_bytes(port.try_into()?));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Multimap {
    pub(crate) database: Database,
}

impl From<Multimap> for Database {
    fn from(multimap: Multimap) -> Database {
        multimap.database
    }
}

impl Multimap {
    /// The database, for the methods of transactions.
    #[must_use]
    pub const fn database(self) -> Database {
        self.database
    }
}

/// The process's knowledge of a database that the file does not record.
#[derive(Debug)]
struct Entry {
    name: Box<[u8]>,
    /// True if one of the orders is set: they are rare, and asking for them takes a lock.
    is_custom: AtomicBool,
    orders: Mutex<Orders>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Orders {
    keys: Option<CustomOrder>,
    values: Option<CustomOrder>,
}

impl Entry {
    fn new(name: &[u8]) -> Entry {
        Entry {
            name: name.into(),
            is_custom: AtomicBool::new(false),
            orders: Mutex::default(),
        }
    }
}

/// Each environment has that many numbers for handles, as a power of two.
const HANDLE_BITS: u32 = 32;

/// Entries in the first chunk; each further one has twice as many as that before it.
const FIRST_CHUNK: usize = 16;

/// The names behind handles. Names are only ever added, in chunks that never move: reading takes no
/// lock.
#[derive(Debug)]
pub(crate) struct DatabaseNames {
    chunks: [OnceLock<Box<[OnceLock<Entry>]>>; 32],
    handles: Mutex<NameMap>,
    databases_max: usize,
    /// The number of the first handle.
    first: u64,
    /// How often an order was set.
    orders_set: AtomicU64,
}

impl DatabaseNames {
    /// Creates the names of the environment with this number, unique in the process. Each
    /// environment has its own handles.
    pub(crate) fn new(environment: u64, databases_max: usize) -> DatabaseNames {
        let names = DatabaseNames {
            chunks: [const { OnceLock::new() }; 32],
            handles: Mutex::default(),
            databases_max,
            first: (environment << HANDLE_BITS) + 1,
            orders_set: AtomicU64::new(0),
        };
        // Handle 0 is the main database, which has no name.
        names.fill(0, b"");
        names
    }

    /// The handle that a name has already.
    pub(crate) fn known(&self, name: &[u8]) -> Option<Database> {
        let handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        handles.get(name).map(|index| self.handle(index))
    }

    /// The handle for a name, a new one if it has none yet.
    pub(crate) fn intern(&self, name: &[u8]) -> Result<Database, BoxedError> {
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = handles.get(name) {
            return Ok(self.handle(index));
        }
        let index = handles.len() + 1;
        let is_too_many = index > self.databases_max || index as u64 >= 1 << HANDLE_BITS;
        if is_too_many || !self.fill(index, name) {
            return Err(Error::DatabasesFull(self.databases_max).into());
        }
        handles.insert(name, index);
        Ok(self.handle(index))
    }

    /// The number of the first handle; those that follow are named databases too.
    pub(crate) const fn first(&self) -> u64 {
        self.first
    }

    /// The handle of the name at a place, which is not 0.
    const fn handle(&self, index: usize) -> Database {
        Database {
            number: self.first + (index as u64 - 1),
        }
    }

    /// The name behind a handle; empty for the main database.
    pub(crate) fn name(&self, database: Database) -> &[u8] {
        self.entry(database).map_or(&[], |entry| &entry.name)
    }

    /// The tree that a record of this database describes, in the orders that the file or the
    /// program says.
    #[inline]
    pub(crate) fn tree_of(&self, database: Database, record: TreeRecord) -> Tree {
        let mut tree = Tree::plain(record, KeyOrder::from_flags(record.flags));
        tree.value_order = KeyOrder::of_values(record.flags);
        let custom = self
            .entry(database)
            .filter(|entry| entry.is_custom.load(Ordering::Acquire));
        if let Some(entry) = custom {
            let orders = *entry.orders.lock().unwrap_or_else(PoisonError::into_inner);
            tree.order = orders.keys.map_or(tree.order, KeyOrder::Custom);
            tree.value_order = orders.values.map_or(tree.value_order, KeyOrder::Custom);
        }
        tree
    }

    pub(crate) fn set_key_order(&self, database: Database, order: Option<CustomOrder>) {
        self.change_orders(database, |orders| orders.keys = order);
    }

    pub(crate) fn set_value_order(&self, database: Database, order: Option<CustomOrder>) {
        self.change_orders(database, |orders| orders.values = order);
    }

    fn change_orders(&self, database: Database, change: impl FnOnce(&mut Orders)) {
        let Some(entry) = self.entry(database) else {
            return;
        };
        let mut orders = entry.orders.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut orders);
        let is_custom = orders.keys.is_some() || orders.values.is_some();
        entry.is_custom.store(is_custom, Ordering::Release);
        self.orders_set.fetch_add(1, Ordering::Release);
    }

    /// How often an order was set: while it stays the same, trees that are loaded have the right
    /// ones.
    #[inline]
    pub(crate) fn orders_set(&self) -> u64 {
        self.orders_set.load(Ordering::Acquire)
    }

    fn entry(&self, database: Database) -> Option<&Entry> {
        let index = match database {
            Database::MAIN => 0,
            named => named.number.checked_sub(self.first)?.checked_add(1)?,
        };
        let (chunk, offset) = place(usize::try_from(index).ok()?)?;
        self.chunks.get(chunk)?.get()?.get(offset)?.get()
    }

    fn fill(&self, index: usize, name: &[u8]) -> bool {
        let Some((chunk, offset)) = place(index) else {
            return false;
        };
        let entries = self.chunks.get(chunk).map(|chunk_cell| {
            chunk_cell.get_or_init(|| {
                let len = FIRST_CHUNK << chunk;
                (0..len).map(|_| OnceLock::new()).collect()
            })
        });
        let slot = entries.and_then(|entries| entries.get(offset));
        slot.is_some_and(|slot| slot.set(Entry::new(name)).is_ok())
    }
}

/// Returns the chunk of an entry, and its index in the chunk.
fn place(index: usize) -> Option<(usize, usize)> {
    let ordinal = (index / FIRST_CHUNK).checked_add(1)?;
    let chunk = ordinal.ilog2() as usize;
    let before = FIRST_CHUNK.checked_mul((1 << chunk) - 1)?;
    Some((chunk, index - before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_stay_what_they_were() {
        let names = DatabaseNames::new(7, usize::MAX);
        let handles: Vec<Database> = (0..3000)
            .map(|i| names.intern(format!("n{i}").as_bytes()).unwrap())
            .collect();
        for (i, handle) in handles.iter().enumerate() {
            let name = format!("n{i}");
            assert_eq!(names.name(*handle), name.as_bytes());
            assert_eq!(names.intern(name.as_bytes()).unwrap(), *handle);
        }
        assert_eq!(names.name(Database::MAIN), b"");
        assert_eq!(names.name(Database::FREE_LIST), b"");
        // Nor are they anything elsewhere.
        for environment in [6, 8] {
            let others = DatabaseNames::new(environment, usize::MAX);
            others.intern(b"n0").unwrap();
            assert!(handles.iter().all(|handle| others.name(*handle).is_empty()));
        }
    }
}
