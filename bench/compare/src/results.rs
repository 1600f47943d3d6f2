//! The results of a run: stored as JSON, displayed as tables and plots.

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::measure::{Middle, Outcome};
use crate::shared::Shared;
use crate::workload::Figure;

/// A file of what was measured.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Piece {
    Run(Results),
    Limits(Limits),
    Shared(Vec<Shared>),
}

/// A run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) title: String,
    /// Of the names of files.
    pub(crate) stem: String,
    pub(crate) half: Half,
    /// The divisor of all sizes; above 1 the figures only test the bench itself.
    pub(crate) scale: u64,
    /// Of a directory; none of stores.
    pub(crate) people: u64,
    /// The engine that ours are compared with, and ours.
    pub(crate) reference: String,
    pub(crate) ours: Vec<String>,
    pub(crate) asked: Vec<Wanted>,
    /// How many times as large as the reference's our files may be.
    pub(crate) size_at_most: f64,
    /// Lines about machine, versions and command, to be shown as they are.
    pub(crate) circumstances: Vec<(String, String)>,
    pub(crate) engines: Vec<Present>,
    pub(crate) missing: Vec<Missing>,
    pub(crate) rows: Vec<Row>,
}

/// Of the project, which the run is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Half {
    #[default]
    Engine,
    Directory,
    /// Directories whose entries have many values.
    Wide,
}

/// How many times as fast as the reference, or as small, one of ours has to be at a workload.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Wanted {
    pub(crate) workload: String,
    pub(crate) ours: String,
    pub(crate) asked: f64,
    pub(crate) hoped: Option<f64>,
}

/// A engine that took part.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Present {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) version: String,
    /// Code and constants of its shared library, in octets; none for what is compiled in.
    pub(crate) code_bytes: Option<u64>,
}

/// One that did not, and why.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Missing {
    pub(crate) title: String,
    pub(crate) why: String,
}

/// A workload and what everybody did with it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) part: String,
    /// Of the record counts that curves are drawn over; threads, where they are the curve.
    pub(crate) records: u64,
    pub(crate) threads: u64,
    /// The compared quantity.
    pub(crate) figure: Figure,
    /// True if the size of the resulting file is of interest.
    pub(crate) writes: bool,
    /// Answers that were not the same as the others', and processes that failed.
    pub(crate) faults: Vec<String>,
    pub(crate) played: Vec<Played>,
}

/// One engine's rounds.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Played {
    pub(crate) engine: String,
    /// With their numbers, which are the same for those that took turns.
    pub(crate) rounds: Vec<(u64, Outcome)>,
}

impl Results {
    /// The special target of one of our engines at a workload.
    pub(crate) fn wanted(&self, workload: &str, ours: &str) -> Option<&Wanted> {
        self.asked
            .iter()
            .find(|line| line.workload == workload && line.ours == ours)
    }

    /// Names of sections, in the order of their first rows.
    pub(crate) fn parts(&self) -> Vec<&str> {
        let mut parts: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !parts.contains(&row.part.as_str()) {
                parts.push(&row.part);
            }
        }
        parts
    }

    pub(crate) fn title_of<'r>(&'r self, engine: &'r str) -> &'r str {
        let found = self.engines.iter().find(|one| one.name == engine);
        found.map_or(engine, |one| &one.title)
    }
}

impl Row {
    pub(crate) fn of(&self, engine: &str) -> Option<&Played> {
        self.played
            .iter()
            .find(|played| played.engine == engine && !played.rounds.is_empty())
    }

    /// Nanoseconds of an operation, of the clock or of processors, or octets: whatever counts here.
    pub(crate) fn amount(&self, outcome: &Outcome) -> f64 {
        let total = match self.figure {
            Figure::Wall => outcome.wall_ns,
            Figure::Cpu => outcome.cpu_ns,
            Figure::Bytes => outcome.file_bytes,
        };
        total as f64 / outcome.operations.max(1) as f64
    }

    pub(crate) fn median(&self, engine: &str) -> Option<Middle> {
        let played = self.of(engine)?;
        Middle::of(
            played
                .rounds
                .iter()
                .map(|(_, one)| self.amount(one))
                .collect(),
        )
    }

    /// How many times as fast as another one, or as small, round by round.
    pub(crate) fn ratio(&self, engine: &str, other: &str) -> Option<Middle> {
        self.compare(engine, other, |row, one| row.amount(one))
    }

    /// How many times as large as another one's files are ours, round by round.
    pub(crate) fn file_ratio(&self, engine: &str, other: &str) -> Option<Middle> {
        self.compare(other, engine, |_, one| one.file_bytes as f64)
    }

    fn compare(
        &self,
        engine: &str,
        other: &str,
        figure: impl Fn(&Row, &Outcome) -> f64,
    ) -> Option<Middle> {
        let (own, others) = (self.of(engine)?, self.of(other)?);
        let ratios = own.rounds.iter().filter_map(|(round, one)| {
            let (_, other) = others.rounds.iter().find(|(other, _)| other == round)?;
            Some(figure(self, other) / figure(self, one))
        });
        Middle::of(ratios.filter(|ratio| ratio.is_finite()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn outcome(cpu_ns: u64) -> Outcome {
        Outcome {
            operations: 10,
            wall_ns: 2 * cpu_ns,
            cpu_ns,
            digest: 0,
            latencies: None,
            beside: 0,
            file_bytes: cpu_ns,
            errors: 0,
            wrong: 0,
            version: String::new(),
        }
    }

    #[test]
    fn quarters_lie_between_numbers() {
        let middle = Middle::of(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((middle.low, middle.median, middle.high), (1.75, 2.5, 3.25));
        assert_eq!(Middle::of(vec![7.0]).unwrap().high, 7.0);
        assert!(Middle::of(Vec::new()).is_none());
    }

    #[test]
    fn ratios_are_made_of_the_same_rounds() {
        let played = |engine: &str, rounds: &[(u64, u64)]| Played {
            engine: engine.to_owned(),
            rounds: rounds
                .iter()
                .map(|&(round, cpu)| (round, outcome(cpu)))
                .collect(),
        };
        let row = Row {
            name: "get".to_owned(),
            title: String::new(),
            part: String::new(),
            records: 1,
            threads: 1,
            figure: Figure::Cpu,
            writes: true,
            faults: Vec::new(),
            played: vec![
                played("ours", &[(0, 10), (1, 10), (2, 1000)]),
                played("theirs", &[(0, 20), (1, 30), (3, 1)]),
            ],
        };
        let ratio = row.ratio("ours", "theirs").unwrap();
        assert_eq!((ratio.low, ratio.median, ratio.high), (2.25, 2.5, 2.75));
        assert_eq!(
            row.file_ratio("ours", "theirs").unwrap().median,
            (0.5 + 1.0 / 3.0) / 2.0
        );
        assert_eq!(row.median("ours").unwrap().median, 1.0);
    }
}
