//! Text of a distinguished name: parsed, and, if valid, printed and parsed again.
#![no_main]

use fulgurite_ldap::dn;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(rdns) = dn::parse(text) {
        let mut again = String::new();
        dn::write(&mut again, &rdns);
        assert_eq!(dn::parse(&again), Ok(rdns));
    }
});
