//! Models, fixtures and spawned peers for tests.

#![forbid(unsafe_code)]
