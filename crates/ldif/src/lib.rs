//! LDIF records, streamed both ways (RFC 2849).

#![forbid(unsafe_code)]
