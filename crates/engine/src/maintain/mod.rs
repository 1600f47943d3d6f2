//! Maintenance of an environment as a whole: checking, salvaging, copying and shrinking it.
//!
//! ```text
//!   check      salvage      shrink      copy      reached_pages
//!     |           |            |          |            |
//!     '--> image <'            '-------> walk <--------'       page_set
//!     bytes of a file,          trees of a snapshot,           pages already met
//!     nothing is trusted        lent by the map
//! ```
//!
//! # Inner interface
//!
//! These modules sit above the rest of the engine. They use it as a program would: [`Environment`],
//! [`ReadTxn`] and [`WriteTxn`]. Beyond that they may use
//!
//! - `space::PageView` and `tree::Pages`, to read pages of a pinned snapshot;
//! - `tree`, `value` and the free-list calls of `WriteTxn::pages`, to move pages (`shrink` alone);
//! - `opened::Mapping`, to read the data file (`copy`) and to cut it off (`shrink`).
//!
//! The rest of the engine uses nothing from here. `check` and `salvage` use neither `space` nor
//! `tree`, because the code that wrote a file must not judge it.
//!
//! They offer the public modules [`check`] and [`salvage`], and methods of the public types:
//! [`Environment::copy_to_path`], [`Environment::compact_step`], [`ReadTxn::reached_pages`].

#[cfg(doc)]
use crate::{Environment, ReadTxn, WriteTxn};

#[cfg(feature = "std")]
pub mod check;
mod copy;
mod free_list;
#[cfg(feature = "std")]
mod image;
mod page_set;
mod reached_pages;
#[cfg(feature = "std")]
pub mod salvage;
mod shrink;
mod snapshot_meta;
mod walk;

pub use reached_pages::ReachedPages;
pub use shrink::{CompactReport, CompactStep, Compaction};
