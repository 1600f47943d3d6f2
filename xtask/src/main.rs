//! Checks and chores of the workspace.
#![forbid(unsafe_code)]

fn main() {}
