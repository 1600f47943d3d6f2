//! The parts of a run as files next to the page. A page can be filled part by part from them.
//!
//! ```text
//!   founding-part-PART.json    circumstances, missing contenders, faults, instructions
//!   founding-RUN.json          the figures of each run of a part, a piece of the report too
//! ```
//!
//! A part that is run again replaces its files.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::directory::Price;
use crate::report;
use crate::results::{Missing, Piece, Results};

/// A part that was run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// Of its file's name.
    pub(crate) stem: String,
    /// The divisor of all sizes.
    pub(crate) scale: u64,
    /// The time that it took.
    pub(crate) seconds: u64,
    /// Lines about machine, versions and command.
    pub(crate) circumstances: Vec<(String, String)>,
    /// Names of its runs.
    pub(crate) runs: Vec<String>,
    /// Instructions of questions, by server.
    pub(crate) prices: Vec<(String, Price)>,
    /// Contenders and tools that are not there.
    pub(crate) missing: Vec<Missing>,
    /// Wrong answers, and steps that failed.
    pub(crate) faults: Vec<String>,
    /// The runs themselves; each has its own file.
    #[serde(skip)]
    pub(crate) results: Vec<Results>,
}

impl Part {
    pub(crate) fn new(name: &str, scale: u64, circumstances: &[(String, String)]) -> Part {
        Part {
            name: name.to_owned(),
            stem: format!("founding-part-{name}"),
            scale,
            circumstances: circumstances.to_vec(),
            ..Part::default()
        }
    }

    /// Returns a line about the part, by its name.
    pub(crate) fn circumstance(&self, name: &str) -> &str {
        let mut lines = self.circumstances.iter();
        lines
            .find(|(one, _)| one == name)
            .map_or("unknown", |(_, text)| text)
    }

    /// Returns the results of a run.
    pub(crate) fn run(&self, name: &str) -> Option<&Results> {
        let mut runs = self.runs.iter().zip(&self.results);
        runs.find(|(one, _)| *one == name).map(|(_, run)| run)
    }

    /// Writes what is no run. The runs are written as they end.
    pub(crate) fn store(&self, folder: &Path) -> anyhow::Result<()> {
        let piece = Piece::Part(serde_json::to_value(self)?);
        report::store_piece(&piece, folder)?;
        Ok(())
    }

    /// Removes its files.
    pub(crate) fn remove(&self, folder: &Path) {
        for stem in self
            .runs
            .iter()
            .map(|run| stem(run))
            .chain([self.stem.clone()])
        {
            for extension in ["json", "md"] {
                // A part without runs has no such file.
                let _ = fs::remove_file(folder.join(format!("{stem}.{extension}")));
            }
        }
    }

    fn read(folder: &Path, file: &Path) -> anyhow::Result<Part> {
        let Piece::Part(value) = read_piece(file)? else {
            anyhow::bail!("{} is no part of the founding tables", file.display());
        };
        let mut part: Part = serde_json::from_value(value)?;
        for run in &part.runs {
            let file = folder.join(format!("{}.json", stem(run)));
            let Piece::Run(results) = read_piece(&file)? else {
                anyhow::bail!("{} is no run", file.display());
            };
            part.results.push(results);
        }
        Ok(part)
    }
}

/// Returns the name of a run's files.
pub(crate) fn stem(run: &str) -> String {
    format!("founding-{run}")
}

/// Reads the parts of an earlier run, in the order of their names here.
/// # Errors
/// Fails if a file is missing, or is not of this bench.
pub(crate) fn read(folder: &Path, names: &[&str]) -> anyhow::Result<Vec<Part>> {
    let files = names
        .iter()
        .map(|name| folder.join(format!("founding-part-{name}.json")));
    files
        .filter(|file| file.exists())
        .map(|file| Part::read(folder, &file))
        .collect()
}

fn read_piece(file: &Path) -> anyhow::Result<Piece> {
    let read = || anyhow::Ok(serde_json::from_str(&fs::read_to_string(file)?)?);
    read().with_context(|| format!("cannot read {}; remove it to go on", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Row;

    #[test]
    fn parts_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let circumstances = [("day".to_owned(), "today".to_owned())];
        let mut part = Part::new("people", 3, &circumstances);
        let run = Results {
            stem: stem("people"),
            rows: vec![Row::empty("uid-16").with("hdb", &[(0, 10)])],
            ..Results::default()
        };
        report::store_piece(&Piece::Run(run), folder.path()).expect("a run");
        part.runs.push("people".to_owned());
        part.faults.push("a fault".to_owned());
        part.store(folder.path()).expect("a part");

        let names = ["engine", "people"];
        let read_again = read(folder.path(), &names).expect("parts");
        let [again] = read_again.as_slice() else {
            panic!("{read_again:?}");
        };
        assert_eq!((again.scale, again.circumstance("day")), (3, "today"));
        assert_eq!(again.faults, ["a fault"]);
        let row = again.run("people").and_then(|run| run.rows.first());
        assert_eq!(
            row.and_then(|row| row.median("hdb")).map(|one| one.median),
            Some(1.0)
        );

        part.remove(folder.path());
        assert!(read(folder.path(), &names).expect("no parts").is_empty());
        let left = fs::read_dir(folder.path()).expect("the folder").count();
        assert_eq!(left, 0);
    }
}
