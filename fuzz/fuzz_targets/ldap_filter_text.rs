//! Text of a filter: parsed, and, if valid, printed and parsed again.
#![no_main]

use fulgurite_ldap::FilterBuf;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(filter) = FilterBuf::parse(text) {
        assert_eq!(FilterBuf::parse(&filter.to_string()).as_ref(), Ok(&filter));
        assert_eq!(
            FilterBuf::from_encoded(filter.encoded().to_vec()).as_ref(),
            Ok(&filter)
        );
    }
});
