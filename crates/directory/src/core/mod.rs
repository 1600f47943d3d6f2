//! What every operation needs: time, numbers, sessions, settings and databases.

pub(crate) mod clock;
pub(crate) mod connection;
pub(crate) mod csn;
pub(crate) mod database;
pub(crate) mod index_advice;
pub(crate) mod limits;
pub(crate) mod result;
pub(crate) mod session;
pub(crate) mod well_known_types;
