//! Embedded transactional key/value store on one memory map, with LMDB's files.

pub mod check;
