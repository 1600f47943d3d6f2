//! What `mdb_stat`, `mdb_copy`, `mdb_dump`, `mdb_load` and `mdb_drop` share.

#![forbid(unsafe_code)]
