//! Any bytes as a tree page: everything that can be asked of it, then changes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fulgurite_torture::fuzz::page_views(bytes));
