//! The pieces of a report, as they are in a folder.

use std::path::Path;

use anyhow::{Context as _, ensure};

use crate::limits::Limits;
use crate::results::{Piece, Results};
use crate::shared::Shared;

/// All results of a folder.
#[derive(Debug, Default)]
pub(crate) struct Everything {
    pub(crate) runs: Vec<Results>,
    pub(crate) limits: Option<Limits>,
    pub(crate) shared: Vec<Shared>,
}

/// Returns the runs in display order: the engine's first, then directories, the one with most
/// targets first.
pub(super) fn read(folder: &Path) -> anyhow::Result<Everything> {
    let mut everything = Everything::default();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        let piece = serde_json::from_str(&text)
            .with_context(|| format!("{} is not of this bench", path.display()))?;
        match piece {
            Piece::Run(results) => everything.runs.push(results),
            Piece::Limits(limits) => everything.limits = Some(limits),
            Piece::Shared(lines) => everything.shared = lines,
            // Their page is Markdown already.
            Piece::Tables(_) | Piece::Part(_) => {}
        }
    }
    ensure!(
        !everything.runs.is_empty(),
        "there are no figures in {}",
        folder.display()
    );
    everything.runs.sort_by_key(|run| {
        let is_main = run.people == crate::targets::PEOPLE;
        (run.half as u8, !is_main, run.people)
    });
    Ok(everything)
}
