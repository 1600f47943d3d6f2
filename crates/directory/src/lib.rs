//! LDAP operations on a store, one module each.

#![forbid(unsafe_code)]
