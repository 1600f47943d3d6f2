//! Optional features of a database.

pub(crate) mod sssvlv;
