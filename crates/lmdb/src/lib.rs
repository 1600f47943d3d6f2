//! `liblmdb.so`: the engine behind the C interface that programs use today.
