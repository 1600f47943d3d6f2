//! Any bytes as a data file: opened, walked from both ends, written to.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fulgurite_torture::fuzz::open_and_scan(bytes));
