//! Offline tools of the directory: load, export, generate.

#![forbid(unsafe_code)]
