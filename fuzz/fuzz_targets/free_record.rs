//! Any bytes as a record of the free list, and as the start of an overflow run.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fulgurite_torture::fuzz::free_record(bytes));
