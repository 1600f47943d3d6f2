//! Text of an LDAP URL: parsed, and, if valid, printed and parsed again.
#![no_main]

use fulgurite_ldap::LdapUrl;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(url) = LdapUrl::parse(text) {
        assert_eq!(LdapUrl::parse(&url.to_string()), Ok(url));
    }
});
