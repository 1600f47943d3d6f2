//! Syntaxes, matching rules, attribute types, object classes; resolved DNs, filters, entries (RFC 4512, 4517-4519).

#![forbid(unsafe_code)]
