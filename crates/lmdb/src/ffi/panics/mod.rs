//! Faults of this library. With the standard library a panic becomes a code. Without it the process
//! ends, as with LMDB. Both call the program's function of mdb_env_set_assert.

#[cfg(not(feature = "std"))]
mod abort;
#[cfg(feature = "std")]
mod unwind;

#[cfg(not(feature = "std"))]
pub(crate) use abort::{guarded, note_assert, note_panics};
#[cfg(feature = "std")]
pub(crate) use unwind::{guarded, note_assert, note_panics};
