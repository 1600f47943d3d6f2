//! Databases with several values to a key, as a type of their own.

use fulgurite_format::DatabaseFlags;

use crate::env::Database;
use crate::range::Values;
use crate::tree;
use crate::txn::Sealed;
use crate::value;
use crate::{Error, KeyOrder, Put, PutFlags, Snapshot, WriteTxn};

/// What the values of a multimap are like. Each is kept once for a key, in their order; it has 1 to 511 octets, for the
/// original sorts values as it does keys ("sorted duplicates").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Values of any length, in this order.
    Any(KeyOrder),
    /// Values of one length, in this order; they stand packed in the file, without anything between them. With
    /// [`KeyOrder::Integer`] they are unsigned integers of 4 or 8 octets in the machine's byte order.
    ///
    /// The length is that of the first value of a key; another one for the same key is [`Error::FixedSize`].
    Fixed(KeyOrder),
}

impl ValueKind {
    fn order(self) -> KeyOrder {
        match self {
            ValueKind::Any(order) | ValueKind::Fixed(order) => order,
        }
    }

    fn flags(self) -> u16 {
        let order = match self.order() {
            KeyOrder::Lexical | KeyOrder::Custom(_) => 0,
            KeyOrder::Reverse => DatabaseFlags::REVERSE_DUP,
            KeyOrder::Integer => DatabaseFlags::INTEGER_DUP,
        };
        let fixed = match self {
            ValueKind::Any(_) => 0,
            ValueKind::Fixed(_) => DatabaseFlags::DUP_FIXED,
        };
        DatabaseFlags::DUP_SORT | order | fixed
    }
}

/// A database whose keys have several values, each once and in order: a set of pairs of key and value.
///
/// A handle, as [`Database`] is, with names for changes that say what they do to such a set. All methods of
/// transactions take its [`Multimap::database`] as well: [`Snapshot::range`] goes over pairs, [`Snapshot::get`] finds a
/// key's first value, [`WriteTxn::put`] is [`Multimap::insert`], and [`WriteTxn::delete`] is [`Multimap::remove_all`].
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
    database: Database,
}

impl From<Multimap> for Database {
    fn from(multimap: Multimap) -> Database {
        multimap.database
    }
}

impl Multimap {
    /// The handle of a database that is known to have several values to a key.
    pub(crate) fn of(
        txn: &(impl Snapshot + ?Sized),
        database: Database,
    ) -> Result<Multimap, Error> {
        if txn.tree(database)?.has_duplicates() {
            Ok(Multimap { database })
        } else {
            Err(Error::NoDuplicates)
        }
    }

    /// The database, for the methods of transactions.
    #[must_use]
    pub const fn database(self) -> Database {
        self.database
    }

    /// Adds a value to those of a key; `false` if the key has it already.
    /// # Errors
    /// As [`WriteTxn::put`]; [`Error::DuplicateLength`], [`Error::FixedSize`] for a value the multimap cannot take.
    pub fn insert(self, txn: &mut WriteTxn<'_>, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        let put = txn.put_with(self.database, key, value, PutFlags::NO_DUP_DATA)?;
        Ok(put == Put::Stored)
    }

    /// Removes a value from those of a key; `false` if the key does not have it. A key without values is gone.
    /// # Errors
    /// As [`WriteTxn::delete`].
    pub fn remove(self, txn: &mut WriteTxn<'_>, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        txn.delete_pair(self.database, key, value)
    }

    /// Removes a key with all its values; returns how many they were.
    /// # Errors
    /// As [`WriteTxn::delete`].
    pub fn remove_all(self, txn: &mut WriteTxn<'_>, key: &[u8]) -> Result<u64, Error> {
        let count = self.count(txn, key)?;
        txn.delete(self.database, key)?;
        Ok(count)
    }

    /// The values of a key in their order, from both ends; none if there is no such key. As [`Snapshot::values`].
    /// # Errors
    /// As [`Snapshot::get`].
    pub fn values<'t>(self, txn: &'t impl Snapshot, key: &[u8]) -> Result<Values<'t>, Error> {
        txn.values(self.database, key)
    }

    /// How many values a key has. Costs what [`Snapshot::get`] costs, however many they are.
    /// # Errors
    /// As [`Snapshot::get`].
    pub fn count(self, txn: &impl Snapshot, key: &[u8]) -> Result<u64, Error> {
        let (tree, pages) = (txn.tree(self.database)?, txn.pages());
        match tree::find(pages, &tree, key)? {
            Some((leaf, node)) => value::count_of(pages, &tree, leaf, &node),
            None => Ok(0),
        }
    }

    /// Whether a key has this value.
    /// # Errors
    /// As [`Snapshot::get`].
    pub fn contains(self, txn: &impl Snapshot, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        let (tree, pages) = (txn.tree(self.database)?, txn.pages());
        let mut path = tree::Path::new();
        match tree::seek(pages, &tree, key, &mut path)?.then(|| path.leaf()) {
            Some(Some(leaf)) => Ok(value::seek_value(pages, &tree, leaf, value)?.1),
            _ => Ok(false),
        }
    }
}

impl WriteTxn<'_> {
    /// Opens a named multimap, creating it if there is none.
    /// # Errors
    /// [`Error::OrderMismatch`] and [`Error::ValueMismatch`] if it exists with other keys or values,
    /// [`Error::NoDuplicates`] if its keys have one value each; otherwise as [`WriteTxn::create_database`].
    pub fn create_multimap(
        &mut self,
        name: &str,
        keys: KeyOrder,
        values: ValueKind,
    ) -> Result<Multimap, Error> {
        let flags = DatabaseFlags(keys.flags().0 | values.flags());
        let database = self.create_named(name.as_bytes(), flags)?;
        if let KeyOrder::Custom(order) = keys {
            self.set_key_order(database, Some(order));
        }
        if let KeyOrder::Custom(order) = values.order() {
            self.set_value_order(database, Some(order));
        }
        let multimap = Multimap::of(self, database)?;
        let found = self.tree(database)?;
        if found.order != keys {
            return Err(Error::OrderMismatch {
                name: name.to_owned(),
                found: found.order,
            });
        }
        let found = if found.has_fixed_values() {
            ValueKind::Fixed(found.value_order)
        } else {
            ValueKind::Any(found.value_order)
        };
        if found != values {
            return Err(Error::ValueMismatch {
                name: name.to_owned(),
                found,
            });
        }
        Ok(multimap)
    }
}
