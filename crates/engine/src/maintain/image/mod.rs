//! The bytes of a data file, read through a descriptor without trusting any of them.
//!
//! The checker and salvage judge files with these modules. With the engine, which writes the files,
//! they share only the constants of the format.

pub(super) mod layout;
pub(super) mod meta;
pub(super) mod order;
pub(super) mod pages;
pub(super) mod records;
pub(super) mod source;
