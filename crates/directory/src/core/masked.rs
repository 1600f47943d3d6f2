//! Passwords, which logs of our form do not show.

use fulgurite_schema::Schema;

/// The text in place of a password.
pub(crate) const MASK: &str = "...";

/// The attributes whose values are passwords, or derived from them. They are of RFC 4519, RFC 3112,
/// password policies and the configuration.
const PASSWORDS: [&str; 4] = ["userPassword", "authPassword", "pwdHistory", "olcRootPW"];

/// Returns true if the values of an attribute are passwords, under any of its names and options. An
/// option may be unknown.
pub(crate) fn is_password(schema: &Schema, attribute: &[u8]) -> bool {
    let name = attribute.split(|&byte| byte == b';').next();
    let known = schema.describe(name.unwrap_or_default());
    known.is_ok_and(|known| is_password_name(&known.text(schema)))
}

/// Returns true for the name of such an attribute, as the schema writes it.
pub(crate) fn is_password_name(description: &str) -> bool {
    let name = description.split(';').next().unwrap_or_default();
    PASSWORDS.iter().any(|own| own.eq_ignore_ascii_case(name))
}
