//! The code that the programs share at the terminal.
//!
//! | module | serves |
//! | --- | --- |
//! | [`getopt`] | LMDB's and slapd's programs, whose options follow getopt(3) |
//! | [`dump_text`] | keys and values in dumps of LMDB and Berkeley DB |
//! | [`progress`] | long runs that show a bar |
//! | [`size`] | sizes and rates as text |

#![forbid(unsafe_code)]

pub mod dump_text;
pub mod getopt;
pub mod progress;
pub mod size;
