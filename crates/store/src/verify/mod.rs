//! The whole check of a store: names, values, counts and indexes against the entries.

mod bind_state;
mod changes;
mod check;
mod counts;
mod expected;
mod names;
mod postings;
mod report;
mod values;

pub use check::verify;
pub use report::Report;
