//! Creating a store, and opening one that exists.

mod create;
mod environment;
mod existing;
mod settle;
mod suffixes;

#[cfg(test)]
mod tests;
