//! Misuse that the types rule out, each next to the right form.
//!
//! This module is text only. Its examples are compiled: the compiler must refuse each of them for
//! the stated reason.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! use fulgurite::{Database, Environment, Snapshot};
//!
//! let environment = Environment::options().open(directory.path())?;
//! let mut txn = environment.write()?;
//! txn.put(Database::MAIN, b"key", b"value")?;
//! let value = txn.get(Database::MAIN, b"key")?.map(<[u8]>::to_vec); // a copy: it may be kept
//! txn.put(Database::MAIN, b"key", b"other")?;
//! txn.commit()?;
//! assert_eq!(value.as_deref(), Some(&b"value"[..]));
//!
//! let txn = environment.read()?;
//! std::thread::scope(|scope| {
//!     scope.spawn(move || assert!(txn.get(Database::MAIN, b"key").is_ok())); // a reader may move
//! });
//! # Ok(())
//! # }
//! ```
//!
//! # A transaction that has ended
//!
//! ```compile_fail,E0382
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let mut txn = environment.write()?;
//! txn.commit()?;
//! txn.put(Database::MAIN, b"key", b"value")?; // committed: it is no more
//! # Ok(())
//! # }
//! ```
//!
//! ```compile_fail,E0382
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let txn = environment.write()?;
//! txn.abort();
//! txn.commit()?; // ended twice
//! # Ok(())
//! # }
//! ```
//!
//! ```compile_fail,E0382
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let txn = environment.read()?;
//! let parked = txn.park();
//! txn.get(Database::MAIN, b"key")?; // parked: it shows nothing
//! # drop(parked);
//! # Ok(())
//! # }
//! ```
//!
//! # What outlives what it lives in
//!
//! ```compile_fail,E0505
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: Environment) -> Result<(), Error> {
//! let txn = environment.read()?;
//! drop(environment); // closed under its transaction
//! txn.get(Database::MAIN, b"key")?;
//! # Ok(())
//! # }
//! ```
//!
//! ```compile_fail,E0505
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let txn = environment.read()?;
//! let mut cursor = txn.cursor(Database::MAIN)?;
//! drop(txn); // ended under its cursor
//! cursor.first()?;
//! # Ok(())
//! # }
//! ```
//!
//! ```compile_fail,E0505
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let txn = environment.read()?;
//! let value = txn.get(Database::MAIN, b"key")?;
//! drop(txn); // ended under a value that it lent
//! println!("{value:?}");
//! # Ok(())
//! # }
//! ```
//!
//! ```compile_fail,E0505
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let txn = environment.read()?;
//! let records = txn.range(Database::MAIN, ..)?;
//! drop(txn); // ended under an iterator
//! println!("{}", records.count());
//! # Ok(())
//! # }
//! ```
//!
//! # What is lent until the next change
//!
//! ```compile_fail,E0502
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let mut txn = environment.write()?;
//! let value = txn.get(Database::MAIN, b"key")?;
//! txn.put(Database::MAIN, b"key", b"other")?; // its page may go
//! println!("{value:?}");
//! # Ok(())
//! # }
//! ```
//!
//! ```compile_fail,E0502
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let mut txn = environment.write()?;
//! let mut cursor = txn.cursor(Database::MAIN)?;
//! txn.delete(Database::MAIN, b"key")?; // under a cursor that does not follow: `cursor_mut` does
//! cursor.first()?;
//! # Ok(())
//! # }
//! ```
//!
//! ```compile_fail,E0502
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let mut txn = environment.read()?;
//! let value = txn.get(Database::MAIN, b"key")?;
//! txn.refresh()?; // another snapshot
//! println!("{value:?}");
//! # Ok(())
//! # }
//! ```
//!
//! # Writing by who only reads
//!
//! ```compile_fail,E0599
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let txn = environment.read()?;
//! txn.put(Database::MAIN, b"key", b"value")?;
//! # Ok(())
//! # }
//! ```
//!
//! # A parent beside its child
//!
//! ```compile_fail,E0502
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let mut txn = environment.write()?;
//! let child = txn.nested()?;
//! txn.get(Database::MAIN, b"key")?; // on loan to its child
//! child.commit()?;
//! # Ok(())
//! # }
//! ```
//!
//! ```compile_fail,E0505
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let mut txn = environment.write()?;
//! let mut child = txn.nested()?;
//! txn.abort(); // on loan to its child
//! child.put(Database::MAIN, b"key", b"value")?;
//! # Ok(())
//! # }
//! ```
//!
//! # The wrong thread
//!
//! ```compile_fail,E0277
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &'static Environment) -> Result<(), Error> {
//! let txn = environment.write()?;
//! std::thread::spawn(move || txn.commit()); // it belongs to the thread that began it
//! # Ok(())
//! # }
//! ```
//!
//! ```compile_fail,E0277
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let txn = environment.write()?;
//! std::thread::scope(|scope| {
//!     scope.spawn(|| txn.get(Database::MAIN, b"key").is_ok()); // nor is it shared
//! });
//! # Ok(())
//! # }
//! ```
//!
//! ```compile_fail,E0277
//! # use fulgurite::{Database, Environment, Error, Snapshot};
//! # fn f(environment: &Environment) -> Result<(), Error> {
//! let txn = environment.read()?;
//! std::thread::scope(|scope| {
//!     scope.spawn(|| txn.get(Database::MAIN, b"key").is_ok()); // a reader moves, but is not shared
//! });
//! # Ok(())
//! # }
//! ```
//!
//! # What is left to errors
//!
//! Some misuse is an error at run time. A [`crate::Database`] of another environment is
//! [`crate::Error::ForeignDatabase`], a [`crate::CursorId`] of another transaction
//! [`crate::Error::CursorClosed`]. A second writer of a thread is [`crate::Error::WriterBusy`], the
//! use of an environment in a forked child [`crate::Error::Forked`].
