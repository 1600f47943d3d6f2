//! Any bytes as a data file, written to as the first octets say; a sound file stays sound.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fulgurite_torture::fuzz::open_write(bytes));
