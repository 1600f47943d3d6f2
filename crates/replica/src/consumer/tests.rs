//! Exchanges as slapd was recorded to make them.
