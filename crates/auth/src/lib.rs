//! Password storage schemes and their verification.

#![forbid(unsafe_code)]
