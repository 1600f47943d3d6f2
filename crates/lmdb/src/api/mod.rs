//! The functions of the C interface.
//!
//! Each file declares functions with their types and texts for `lmdb.h`, and then defines what they
//! do. `pub` items are the interface, and have the names of C.

mod compare;
mod cursor;
mod cursor_get;
mod cursor_put;
mod dbi;
mod env;
#[cfg(feature = "extras")]
mod extra;
mod get_put;
#[cfg(feature = "extras")]
mod long_readers;
mod midl;
mod reader;
mod settings;
mod stat;
mod txn;
mod version;

pub use compare::*;
pub use cursor::*;
pub use cursor_get::*;
pub use cursor_put::*;
pub use dbi::*;
pub use env::*;
#[cfg(feature = "extras")]
pub use extra::*;
pub use get_put::*;
#[cfg(feature = "extras")]
pub use long_readers::*;
pub use midl::*;
pub use reader::*;
pub use settings::*;
pub use stat::*;
pub use txn::*;
pub use version::*;
