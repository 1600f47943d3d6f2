//! A filter and what the schema makes of it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fulgurite_torture::fuzz::schema_filter(bytes));
