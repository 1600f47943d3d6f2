//! The long runs, from the command line.

#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Parser;
use fulgurite_torture::{corruption, fault_injection, fuzz, power_loss};

/// Does to a store what it must survive, and counts.
#[derive(Debug, Parser)]
enum Torture {
    /// Every state a disk could hold after a power loss
    PowerLoss(power_loss::Options),
    /// Every system call fails
    FaultInjection(fault_injection::Options),
    /// Mutated files, walked and written to
    Corruption(corruption::Options),
    /// Writes the inputs that fuzzing begins with
    Seeds {
        /// The folder that gets a folder for each target
        directory: PathBuf,
    },
}

fn main() -> anyhow::Result<()> {
    match Torture::parse() {
        Torture::PowerLoss(options) => power_loss::run(&options),
        Torture::FaultInjection(options) => fault_injection::run(&options),
        Torture::Corruption(options) => corruption::run(&options),
        Torture::Seeds { directory } => Ok(fuzz::write_seeds(&directory)?),
    }
}
