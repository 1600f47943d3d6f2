//! Optional features of a database.

pub(crate) mod glue;
pub(crate) mod sssvlv;
