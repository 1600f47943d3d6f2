//! The results of a run: stored as JSON, displayed as tables and plots.

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::measure::{Middle, Outcome};
use crate::shared::Shared;
use crate::workload::Figure;

/// A file of what was measured.
#[derive(Debug, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "one to a file")]
pub(crate) enum Piece {
    Run(Results),
    Limits(Limits),
    Shared(Vec<Shared>),
    /// The founding tables with today's figures, as `founding` writes them.
    Tables(serde_json::Value),
    /// A part of the founding tables, without its runs.
    Part(serde_json::Value),
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
    /// Figures of single rows that are not there.
    #[serde(default)]
    pub(crate) gaps: Vec<Gap>,
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
    /// Directories of the second data set.
    Staff,
    /// Directories next to the servers of the founding papers.
    Founding,
}

/// How many times as fast as the reference, or as small, one of ours has to be at a workload.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Wanted {
    pub(crate) workload: String,
    pub(crate) ours: String,
    pub(crate) asked: f64,
    pub(crate) hoped: Option<f64>,
}

/// An engine that took part.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Present {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) version: String,
    /// Code and constants of its shared library, in bytes; none for what is compiled in.
    pub(crate) code_bytes: Option<u64>,
    /// Its settings, chosen for speed.
    #[serde(default)]
    pub(crate) tuning: String,
}

/// One that did not, and why.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Missing {
    pub(crate) title: String,
    pub(crate) why: String,
}

/// A row without the figure of one engine, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gap {
    pub(crate) row: String,
    pub(crate) engine: String,
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
    /// Our plan of a search, in the words of `fulgurite explain`.
    #[serde(default)]
    pub(crate) plan: Option<String>,
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

    /// Notes what an engine did with a row in a round.
    pub(crate) fn note(
        &mut self,
        (row, engine, round): (&str, &str, u64),
        outcome: anyhow::Result<Outcome>,
    ) {
        let Some(row) = self.rows.iter_mut().find(|one| one.name == row) else {
            return;
        };
        match outcome {
            Ok(outcome) => match row.played.iter_mut().find(|one| one.engine == engine) {
                Some(played) => played.rounds.push((round, outcome)),
                None => row.played.push(Played {
                    engine: engine.to_owned(),
                    rounds: vec![(round, outcome)],
                }),
            },
            Err(error) => row
                .faults
                .push(format!("{engine}, round {}: {error:#}", round + 1)),
        }
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

/// The figures of one engine over all rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// The distance from the smallest to the largest figure, as a part of the median.
    pub(crate) fn part(self) -> f64 {
        (self.max - self.min) / self.median
    }

    /// Returns true if the figures move by more than a ratio claims: the ratio 1.2 claims 0.2.
    pub(crate) fn exceeds(self, ratio: f64) -> bool {
        let faster = if ratio < 1.0 { 1.0 / ratio } else { ratio };
        self.part() > faster - 1.0
    }
}

impl Row {
    pub(crate) fn of(&self, engine: &str) -> Option<&Played> {
        self.played
            .iter()
            .find(|played| played.engine == engine && !played.rounds.is_empty())
    }

    /// Nanoseconds of an operation, of the clock or of processors, or bytes: whatever counts here.
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

    /// The smallest, the median and the largest figure of one engine.
    pub(crate) fn spread(&self, engine: &str) -> Option<Spread> {
        let rounds = &self.of(engine)?.rounds;
        let amounts = rounds.iter().map(|(_, one)| self.amount(one));
        Some(Spread {
            min: amounts.clone().fold(f64::INFINITY, f64::min),
            median: self.median(engine)?.median,
            max: amounts.fold(0.0, f64::max),
        })
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

/// An outcome of ten operations, for tests.
#[cfg(test)]
pub(crate) fn outcome_of(cpu_ns: u64) -> Outcome {
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

#[cfg(test)]
impl Row {
    /// A row that nobody has played yet, for tests.
    pub(crate) fn empty(name: &str) -> Row {
        Row {
            name: name.to_owned(),
            title: String::new(),
            part: String::new(),
            records: 1,
            threads: 1,
            figure: Figure::Cpu,
            writes: true,
            faults: Vec::new(),
            played: Vec::new(),
            plan: None,
        }
    }

    /// Adds the rounds of an engine.
    pub(crate) fn with(mut self, engine: &str, rounds: &[(u64, u64)]) -> Row {
        let rounds = rounds.iter().map(|&(round, cpu)| (round, outcome_of(cpu)));
        self.played.push(Played {
            engine: engine.to_owned(),
            rounds: rounds.collect(),
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarters_lie_between_numbers() {
        let middle = Middle::of(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((middle.low, middle.median, middle.high), (1.75, 2.5, 3.25));
        assert_eq!(Middle::of(vec![7.0]).unwrap().high, 7.0);
        assert!(Middle::of(Vec::new()).is_none());
    }

    #[test]
    fn ratios_are_made_of_the_same_rounds() {
        let row = Row::empty("get")
            .with("ours", &[(0, 10), (1, 10), (2, 1000)])
            .with("theirs", &[(0, 20), (1, 30), (3, 1)]);
        let ratio = row.ratio("ours", "theirs").unwrap();
        assert_eq!((ratio.low, ratio.median, ratio.high), (2.25, 2.5, 2.75));
        assert_eq!(
            row.file_ratio("ours", "theirs").unwrap().median,
            (0.5 + 1.0 / 3.0) / 2.0
        );
        assert_eq!(row.median("ours").unwrap().median, 1.0);
        let spread = row.spread("theirs").unwrap();
        assert_eq!((spread.min, spread.median, spread.max), (0.1, 2.0, 3.0));
    }

    #[test]
    fn a_spread_larger_than_the_claim_is_seen() {
        let spread = Spread {
            min: 90.0,
            median: 100.0,
            max: 120.0,
        };
        assert!((spread.part() - 0.3).abs() < 1e-9);
        assert!(spread.exceeds(1.25) && !spread.exceeds(1.35));
        // A claim of being slower is one too.
        assert!(spread.exceeds(0.8) && !spread.exceeds(0.7));
    }
}
