//! The values behind handles, and their life: environments, transactions, cursors and database
//! handles.
//!
//! ```text
//!   close                          ends transactions and environments
//!   cursor                         the value behind a cursor; the cursors of a transaction
//!   transaction                    the value behind a transaction
//!   order                          comparison functions of the program
//!   environment                    the value behind an environment
//!   state   databases   txn_pool   the life of a transaction; database handles; ended transactions for reuse
//!   handle_set   sorted_map        a set of database handles; a small map
//! ```

pub(crate) mod close;
pub(crate) mod cursor;
pub(crate) mod databases;
pub(crate) mod environment;
mod handle_set;
pub(crate) mod order;
mod sorted_map;
pub(crate) mod state;
pub(crate) mod transaction;
mod txn_pool;
