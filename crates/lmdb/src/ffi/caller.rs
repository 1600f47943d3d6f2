//! Handles through which C calls, and the function that learns of internal errors.

use crate::types::{MDB_assert_func, MDB_env};

/// The handle through which C called: its environment receives internal errors.
pub(crate) trait Caller {
    /// Returns the environment, and the function set for it with mdb_env_set_assert.
    fn assert_function(self) -> Option<(*mut MDB_env, MDB_assert_func)>;
}

/// For calls without an environment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoCaller;

impl Caller for NoCaller {
    fn assert_function(self) -> Option<(*mut MDB_env, MDB_assert_func)> {
        None
    }
}
