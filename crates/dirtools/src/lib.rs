//! Offline tools of the directory: load, export, generate.
//!
//! [`generate`](fn@generate) writes a directory of invented people, the same on every machine for the same seed.

#![forbid(unsafe_code)]

mod generate;

pub use generate::{GenerateError, GenerateOptions, generate};
