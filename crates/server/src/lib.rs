//! Listeners, connections, sessions and dispatch of the LDAP server.

#![forbid(unsafe_code)]
