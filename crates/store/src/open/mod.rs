//! Creating a store, and opening one that exists.

mod create;
mod environment;
mod existing;
mod suffixes;

#[cfg(test)]
mod tests;
