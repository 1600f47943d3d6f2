//! The parts of the standard library that the engine uses and that `core` and `alloc` lack.
//!
//! ```text
//!   feature std     the standard library's own types
//!   without         `light`: small types of the same names, on the C library and the kernel
//!
//!   io  path  sync  thread  time  environment
//! ```
//!
//! Programs in Rust have the feature. `liblmdb.so` does without: the standard library brings a
//! printer of backtraces, which is larger than the engine's read path.

mod environment;
// Tests have the standard library, and try these types too.
#[cfg(any(test, not(feature = "std")))]
#[doc(hidden)]
pub mod light;

pub use environment::{path_bytes, path_from_bytes, variable};
#[cfg(not(feature = "std"))]
pub use light::{io, path, sync, thread, time};
#[cfg(feature = "std")]
pub use std::{io, path, sync, thread, time};

/// Defines values of which each thread has its own, as the macro of the standard library does.
#[cfg(feature = "std")]
pub use std::thread_local;

#[cfg(not(feature = "std"))]
pub use crate::light_thread_local as thread_local;
