//! Results for people: tables in Markdown, one page of HTML with plots, and the figures themselves as JSON.

mod counts;
mod html;
mod markdown;
mod plots;

pub(crate) use counts::{check_counts, show_counts};

use std::path::Path;

use crate::contender::CONTENDERS;
use crate::results::{Results, Row};
use crate::workload::{Tier, Workload};

/// Writes tables, figures and the page into a folder, named after the half, and prints the tables.
pub(crate) fn write(results: &Results, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let file = |extension: &str| folder.join(format!("{}.{extension}", results.stem));
    let tables = markdown::tables(results);
    std::fs::write(file("md"), &tables)?;
    std::fs::write(file("json"), serde_json::to_string_pretty(results)?)?;
    std::fs::write(file("html"), html::page(results, &tables)?)?;
    println!("{tables}");
    Ok(())
}

/// One line for each workload as it ends.
pub(crate) fn progress(row: &Row, reference: &str, ours: &[String]) {
    let mut line = format!("{:24}", row.name);
    for played in &row.played {
        if let Some(time) = row.time(&played.contender) {
            line += &format!(" {}={}", played.contender, markdown::time(time.median));
        }
    }
    for ours in ours {
        if let Some(ratio) = row.ratio(ours, reference) {
            line += &format!(" [{ours} {:.2}x]", ratio.median);
        }
    }
    eprintln!("{line}");
    for fault in &row.faults {
        eprintln!("    {fault}");
    }
}

/// Names of all workloads and contenders.
pub(crate) fn list(workloads: &[Workload]) {
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
    for contender in CONTENDERS {
        println!("{:24} {}", contender.name, contender.title);
    }
}
