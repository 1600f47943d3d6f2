//! Results for people: tables in Markdown, one page of HTML with plots, and the figures themselves
//! as JSON.

mod counts;
mod html;
mod machine;
mod markdown;
mod pieces;
mod plots;
mod summary;

pub(crate) use counts::{check_counts, show_counts, show_server_counts};

use std::fmt::Write as _;
use std::path::Path;

use crate::results::Piece;

/// Writes a piece's tables and figures into a folder, and prints the tables.
pub(crate) fn write_piece(piece: &Piece, folder: &Path) -> anyhow::Result<()> {
    println!("{}", store_piece(piece, folder)?);
    Ok(())
}

/// Writes a piece's tables and figures into a folder, and returns the tables.
pub(crate) fn store_piece(piece: &Piece, folder: &Path) -> anyhow::Result<String> {
    std::fs::create_dir_all(folder)?;
    let (stem, tables) = match piece {
        Piece::Run(results) => (results.stem.as_str(), markdown::tables(results)),
        Piece::Limits(limits) => ("limits", machine::limits(limits)),
        Piece::Shared(lines) => ("shared", machine::shared(lines)),
        // Their page is Markdown already.
        Piece::Tables(_) => ("founding-tables", String::new()),
        Piece::Part(part) => (part["stem"].as_str().unwrap_or("part"), String::new()),
    };
    if !tables.is_empty() {
        std::fs::write(folder.join(format!("{stem}.md")), &tables)?;
    }
    std::fs::write(
        folder.join(format!("{stem}.json")),
        serde_json::to_string_pretty(piece)?,
    )?;
    Ok(tables)
}

/// Makes one report of all pieces in a folder; or prints its first table alone.
pub(crate) fn whole(folder: &Path, summary_only: bool) -> anyhow::Result<()> {
    let everything = pieces::read(folder)?;
    let summary = summary::summary(&everything.runs);
    if summary_only {
        println!("{summary}");
        return Ok(());
    }
    let mut text = format!("# Asked and measured\n{summary}");
    if let Some(limits) = &everything.limits {
        text += &machine::limits(limits);
    }
    if !everything.shared.is_empty() {
        text += &machine::shared(&everything.shared);
    }
    for run in &everything.runs {
        let _ = write!(text, "\n{}", markdown::tables(run));
    }
    std::fs::write(folder.join("report.md"), &text)?;
    std::fs::write(
        folder.join("report.html"),
        html::page(&everything, &summary)?,
    )?;
    println!(
        "{summary}\nAll of it: {0}/report.md and {0}/report.html",
        folder.display()
    );
    Ok(())
}
