//! The long runs, from the command line.

#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Parser;
use fulgurite_torture::{damage, faults, fuzz, power};

/// Does to a store what it must survive, and counts.
#[derive(Debug, Parser)]
enum Ordeal {
    /// Every state a disk could hold after a power loss
    Power(power::Options),
    /// Every system call fails
    Faults(faults::Options),
    /// Mutated files, walked and written to
    Damage(damage::Options),
    /// Writes the inputs that fuzzing begins with
    Seeds {
        /// Where: a folder per target is made in it
        directory: PathBuf,
    },
}

fn main() -> anyhow::Result<()> {
    match Ordeal::parse() {
        Ordeal::Power(options) => power::run(&options),
        Ordeal::Faults(options) => faults::run(&options),
        Ordeal::Damage(options) => damage::run(&options),
        Ordeal::Seeds { directory } => Ok(fuzz::write_seeds(&directory)?),
    }
}
