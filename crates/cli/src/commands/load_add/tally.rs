//! Counts of a run, shown while it goes on and at its end.

use std::time::Instant;

use fulgurite_directory_tools::{LoadBar, Phase, Progress};

/// Refusals that are reported one by one.
const REFUSALS_SHOWN: u64 = 20;

/// Counts of a run.
pub(super) struct Tally {
    pub(super) added: u64,
    /// Entries that were there already.
    pub(super) known: u64,
    refused: u64,
    /// Bytes of input read.
    pub(super) bytes: u64,
    bytes_total: Option<u64>,
    /// True if the input has operational attributes.
    pub(super) has_left_out: bool,
    /// Passwords of the input that are no hashes.
    pub(super) passwords_in_clear: u64,
    bar: Option<LoadBar>,
    begun: Instant,
}

impl Tally {
    pub(super) fn new(quiet: bool, bytes_total: Option<u64>) -> Tally {
        Tally {
            added: 0,
            known: 0,
            refused: 0,
            bytes: 0,
            bytes_total,
            has_left_out: false,
            passwords_in_clear: 0,
            bar: (!quiet).then(LoadBar::new),
            begun: Instant::now(),
        }
    }

    /// Counts a refusal, and reports the first ones.
    pub(super) fn refuse(&mut self, text: &str) {
        self.refused += 1;
        if self.refused <= REFUSALS_SHOWN {
            eprintln!("fulgurite: {text}");
        }
    }

    /// Shows how far the run is.
    pub(super) fn show(&mut self) {
        if let Some(bar) = &mut self.bar {
            bar.update(Progress {
                phase: Phase::Reading,
                entries: self.added + self.known,
                bytes: self.bytes,
                bytes_total: self.bytes_total,
            });
        }
    }

    /// Reports the end, and returns the number of refusals.
    pub(super) fn finish(&mut self, quiet: bool) -> u64 {
        if let Some(bar) = &mut self.bar {
            bar.finish();
        }
        if self.has_left_out {
            eprintln!("operational attributes are left out: the server makes its own");
        }
        if self.passwords_in_clear > 0 {
            eprintln!(
                "passwords in clear: {}; the server keeps them so unless its policy hashes them",
                self.passwords_in_clear
            );
        }
        if !quiet {
            let seconds = self.begun.elapsed().as_secs_f64();
            let mut text = format!("{} entries added in {seconds:.1} s", self.added);
            if self.known > 0 {
                text.push_str(&format!(", {} were there already", self.known));
            }
            if self.refused > 0 {
                text.push_str(&format!(", {} refused", self.refused));
            }
            eprintln!("{text}");
        }
        self.refused
    }
}
