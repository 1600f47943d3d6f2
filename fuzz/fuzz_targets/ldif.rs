//! LDIF: read to its end, whatever is wrong with it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fulgurite_torture::fuzz::ldif(bytes));
