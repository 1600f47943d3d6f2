//! A small LDAP client for tests, benchmarks and demonstrations.

#![forbid(unsafe_code)]
