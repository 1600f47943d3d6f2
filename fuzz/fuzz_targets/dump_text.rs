//! Any text as a dump: loaded or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fulgurite_torture::fuzz::dump_text(bytes));
