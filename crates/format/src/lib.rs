//! Layout of data and lock files as checked views over bytes.

#![forbid(unsafe_code)]
