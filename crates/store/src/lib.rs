//! Entries, names, indexes, id sets, query planning and bulk load over the engine.

#![forbid(unsafe_code)]
