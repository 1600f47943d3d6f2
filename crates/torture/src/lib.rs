//! Attacks that a store must survive, made on purpose and counted: power loss, failing system
//! calls, damaged files.
//!
//! ```text
//!   power_loss        a recorded history; every state a disk could hold after a cut; each must open as a promised snapshot
//!   fault_injection   every system call of a history fails, one by one and in pairs; nothing committed may be lost
//!   corruption        mutated files, walked and written to in child processes, by our library and by the real one
//!   wire              damaged LDAP messages for decoders and servers
//!   fuzz              what takes bytes from outside, given any bytes: libFuzzer's targets, and their seeds
//! ```
//!
//! The first three share their options (`options`) and their counts (`tally`). Each has a short
//! run in this crate's tests and a long one in the `torture` program. Every run prints its seed and
//! its attempts; a failure says how to repeat it. Nothing but tests depends on this crate.

#![forbid(unsafe_code)]

pub mod corruption;
pub mod fault_injection;
pub mod fuzz;
pub mod options;
pub mod power_loss;
pub mod tally;
pub mod wire;
