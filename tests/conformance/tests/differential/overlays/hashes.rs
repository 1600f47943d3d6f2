//! The passwords of the histories, also behind hashes. Each server hashes with another salt.

/// Passwords that requests set and guess.
pub(crate) const PASSWORDS: [&str; 7] = [
    "secret",
    "secret2",
    "abc",
    "quite long",
    "Secret",
    "fifth5",
    "sixth66",
];
/// A second value next to a password.
pub(crate) const SECOND: &str = "second";
/// A hash as the new password. Nobody knows its password.
pub(crate) const HASHED: &str = "{SSHA}8tA6SM4lDZMRTTMMbNVgQ3qR+Uk+Wxyz";

/// Returns a stored password, or the scheme of its hash and the password behind it.
pub(crate) fn named(stored: &[u8]) -> String {
    let text = stored.escape_ascii().to_string();
    let scheme = text.split_once('}').map(|(scheme, _)| scheme);
    let Some(scheme) = scheme.filter(|scheme| scheme.starts_with('{')) else {
        return text;
    };
    let is_behind = |word: &&str| fulgurite_auth::verify(stored, word.as_bytes()).unwrap_or(false);
    let mut words = PASSWORDS.into_iter().chain([SECOND, HASHED]);
    let password = words.find(is_behind);
    password.map_or(text.clone(), |password| format!("{scheme}}} of {password}"))
}

/// Returns a value of `pwdHistory` with the name of its password. The length of a hash is left out,
/// because it depends on the salt.
pub(crate) fn kept(value: &[u8]) -> String {
    let text = || value.escape_ascii().to_string();
    let parts: Vec<&[u8]> = value.splitn(4, |byte| *byte == b'#').collect();
    let [time, oid, _, stored] = parts[..] else {
        return text();
    };
    if !stored.starts_with(b"{") {
        return text();
    }
    let (time, oid) = (time.escape_ascii(), oid.escape_ascii());
    format!("{time}#{oid}#{}", named(stored))
}

/// Returns true if a named password is this one, or a hash of it.
pub(crate) fn is_of(named: &str, password: &str) -> bool {
    named == password
        || named
            .split_once("} of ")
            .is_some_and(|(_, of)| of == password)
}

#[test]
fn hashes_are_named_by_their_passwords() {
    // Of "secret".
    let hash = "{SSHA}gVK8WC9YyFT1gMsQHTGCgT3sSv5zYWx0";
    assert_eq!(named(hash.as_bytes()), "{SSHA} of secret");
    assert_eq!(named(HASHED.as_bytes()), HASHED);
    assert_eq!(named(b"secret"), "secret");
    assert_eq!(named(b"{x"), "{x");
    let value = format!("20261122192732Z#1.3#38#{hash}");
    assert_eq!(
        kept(value.as_bytes()),
        "20261122192732Z#1.3#{SSHA} of secret"
    );
    assert_eq!(
        kept(b"20261122192732Z#1.3#3#abc"),
        "20261122192732Z#1.3#3#abc"
    );
    assert!(is_of("{SSHA} of abc", "abc") && is_of("abc", "abc") && !is_of("abcd", "abc"));
}
