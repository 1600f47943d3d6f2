//! Cookies of paged searches, as they come back from clients.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fulgurite_torture::fuzz::cookies(bytes));
