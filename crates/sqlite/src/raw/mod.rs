//! `fulgurite_raw`: the records of any environment as rows of key and value.

mod arguments;
mod column;
mod cursor;
mod form;
mod records;

pub(crate) use records::RawTable;
