//! Settings of the programs: one typed model filled from TOML, environment and flags.

#![forbid(unsafe_code)]
