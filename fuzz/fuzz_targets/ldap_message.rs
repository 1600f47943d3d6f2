//! Octets as a server and a client receive them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fulgurite_torture::fuzz::ldap_message(bytes));
