//! LDAP messages, filters, controls, URLs and DN text (RFC 4511, 4514-4516).

#![forbid(unsafe_code)]
