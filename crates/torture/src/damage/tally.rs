//! Counts of the results of mutations.

use std::collections::BTreeMap;
use std::fmt;

use fulgurite_testkit::Ended;

/// The result of one mutation in one library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
pub struct Tally {
    /// Mutations tried.
    pub tried: u64,
    /// Of them: nobody complained.
    pub clean: u64,
    /// Refused at opening.
    pub refused: u64,
    /// Errors after opening.
    pub errors: u64,
    /// Sound files made unsound.
    pub spoilt: u64,
    /// Dead processes, by what killed them.
    pub crashes: BTreeMap<String, u64>,
    /// Endless walks.
    pub hangs: u64,
    /// Calls made, as far as the walks lived to tell.
    pub calls: u64,
    /// The slowest walk that ended: milliseconds of processor time, and its number.
    pub slowest: (u64, u64),
}

impl Tally {
    /// Counts one.
    pub fn add(&mut self, fate: Fate) {
        self.tried += 1;
        match fate {
            Fate::Clean => self.clean += 1,
            Fate::Refused => self.refused += 1,
            Fate::Errors => self.errors += 1,
            Fate::Spoilt => self.spoilt += 1,
            Fate::Crash(how) => *self.crashes.entry(format!("{how:?}")).or_default() += 1,
            Fate::Hang => self.hangs += 1,
        }
    }

    /// Adds what another one counted.
    pub fn merge(&mut self, other: &Tally) {
        self.tried += other.tried;
        self.clean += other.clean;
        self.refused += other.refused;
        self.errors += other.errors;
        self.spoilt += other.spoilt;
        self.hangs += other.hangs;
        self.calls += other.calls;
        self.slowest = self.slowest.max(other.slowest);
        for (how, count) in &other.crashes {
            *self.crashes.entry(how.clone()).or_default() += count;
        }
    }

    /// Processes that died.
    #[must_use]
    pub fn crashed(&self) -> u64 {
        self.crashes.values().sum()
    }

    /// Returns true if no mutation had a forbidden result.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.crashed() + self.hangs + self.spoilt == 0
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per = |count: u64| count as f64 * 10_000.0 / self.tried.max(1) as f64;
        write!(
            f,
            "{} mutations, per 10,000: {:.1} crashes, {:.1} hangs, {:.1} spoilt, {:.1} refused, {:.1} errors, {:.1} clean",
            self.tried,
            per(self.crashed()),
            per(self.hangs),
            per(self.spoilt),
            per(self.refused),
            per(self.errors),
            per(self.clean),
        )?;
        for (how, count) in &self.crashes {
            write!(f, "; {how} {count}")?;
        }
        write!(
            f,
            "; {} calls; the slowest walk took {} ms (number {})",
            self.calls, self.slowest.0, self.slowest.1
        )
    }
}
