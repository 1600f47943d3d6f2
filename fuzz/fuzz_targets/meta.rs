//! Any bytes as a meta page, and as the record of a tree.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fulgurite_torture::fuzz::meta(bytes));
