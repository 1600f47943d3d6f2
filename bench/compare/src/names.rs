//! The names that the command line knows, each with its title.

use crate::directory;
use crate::engines::ENGINES;
use crate::founding::PARTS;
use crate::memcache;
use crate::workload::{Tier, Workload};

/// Prints the names of all workloads, rows, parts, engines and servers.
pub(crate) fn print(workloads: &[Workload]) {
    for workload in workloads {
        let full = if workload.tier == Tier::Full {
            ", full runs only"
        } else {
            ""
        };
        println!(
            "{:24} {}: {}{full}",
            workload.name,
            workload.part.title(),
            workload.title
        );
    }
    println!();
    for (name, about) in directory::rows() {
        println!("{name:24} directory: {about}");
    }
    for (name, about) in memcache::ROWS {
        println!("{name:24} {about}, founding tables only");
    }
    println!();
    for part in PARTS {
        println!("{part:24} part of the founding tables");
    }
    println!();
    for engine in ENGINES {
        println!("{:24} {}", engine.name, engine.title);
    }
    println!();
    for (name, title) in directory::servers() {
        println!("{name:24} server: {title}");
    }
}
