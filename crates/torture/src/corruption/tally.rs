//! Counts of the results of mutations.

use std::fmt;

use fulgurite_testkit::Ended;

use crate::tally::Tally;

/// The result of one mutation in one library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// No call complained.
    Clean,
    /// The file was not opened.
    Refused,
    /// It was opened, and some call gave an error.
    Errors,
    /// It was sound before the walk wrote into it, all went well, and it is not sound now.
    Spoilt,
    /// The process died.
    Crash(Ended),
    /// The process used more time than any walk of such a file can take.
    Hang,
}

impl Fate {
    /// Returns true if no library may end like this.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        matches!(self, Fate::Crash(_) | Fate::Hang | Fate::Spoilt)
    }
}

/// The counts of one library.
#[derive(Debug, Clone, Default)]
pub struct SubjectTally {
    /// Mutations by result.
    pub fates: Tally<Fate>,
    /// Calls made, as far as the walks lived to report.
    pub calls: u64,
    /// The slowest walk that ended: milliseconds of processor time, and its number.
    pub slowest: (u64, u64),
}

impl SubjectTally {
    /// Processes that died.
    #[must_use]
    pub fn crashed(&self) -> u64 {
        self.fates.sum(|fate| matches!(fate, Fate::Crash(_)))
    }

    /// Returns true if no mutation had a forbidden result.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.fates.sum(|fate| fate.is_failure()) == 0
    }
}

impl fmt::Display for SubjectTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tried = self.fates.total();
        let per = |count: u64| count as f64 * 10_000.0 / tried.max(1) as f64;
        write!(
            f,
            "{tried} mutations, per 10,000: {:.1} crashes, {:.1} hangs, {:.1} spoilt, {:.1} refused, {:.1} errors, {:.1} clean",
            per(self.crashed()),
            per(self.fates.of(&Fate::Hang)),
            per(self.fates.of(&Fate::Spoilt)),
            per(self.fates.of(&Fate::Refused)),
            per(self.fates.of(&Fate::Errors)),
            per(self.fates.of(&Fate::Clean)),
        )?;
        for (fate, count) in self.fates.iter() {
            if let Fate::Crash(how) = fate {
                write!(f, "; {how:?} {count}")?;
            }
        }
        write!(
            f,
            "; {} calls; the slowest walk took {} ms (number {})",
            self.calls, self.slowest.0, self.slowest.1
        )
    }
}
