//! The `fulgurite` program.
#![forbid(unsafe_code)]

fn main() {}
