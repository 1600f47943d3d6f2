//! Offline tools of the directory: LDIF in, LDIF out, LDIF from nothing.
//!
//! ```text
//!   files --> ldif::Reader --> schema --> Importer --> store: bulk load        load
//!   store: export --> ldif::Writer --> output                                  export
//!   seed --> invented people --> ldif::Writer --> output                       generate
//! ```
//!
//! They work on stores and streams; options, terminals and exit codes are the command line's. A load may extend a
//! store that a server has open: it takes the store's writer like any other update, and commits once.
//! [`generate`](fn@generate) writes the same directory on every machine for the same seed.

#![forbid(unsafe_code)]

mod export;
mod generate;
mod load;
mod progress;

pub use export::{ExportError, export};
pub use generate::{GenerateError, GenerateOptions, generate};
pub use load::{LoadFailure, LoadSettings, LoadSummary, load};
pub use progress::{Phase, Progress, TerminalBar};
