//! The calls of a run that fail, their errors, and the calls made.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fulgurite::seam::{Call, Injector, Site, Verdict};

use super::errnos;
use super::shadow::Shadow;

/// One failure: the call with this number, counted from 1, gets this verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    /// The number of the call.
    pub(super) number: u64,
    /// The outcome of the call.
    pub(super) verdict: Verdict,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            Verdict::Fail(errno) => write!(f, "{}={}", self.number, errnos::name(errno)),
            Verdict::Short(len) => write!(f, "{}=short{len}", self.number),
            Verdict::Go => write!(f, "{}=go", self.number),
        }
    }
}

/// A fault that has happened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fired {
    pub(super) site: Site,
    pub(super) verdict: Verdict,
}

impl Fired {
    /// Returns true if the caller must not notice: it waits signals out and completes parts.
    pub(super) fn is_harmless(&self) -> bool {
        matches!(
            self.verdict,
            Verdict::Short(_) | Verdict::Go | Verdict::Fail(errnos::EINTR)
        )
    }
}

/// A call that was made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made {
    pub(super) site: Site,
    pub(super) len: usize,
}

/// Decides about the calls of a run.
#[derive(Debug, Default)]
pub(super) struct Plan {
    state: Mutex<State>,
    shadow: Option<Arc<Shadow>>,
    /// A mapping that stays would take the one place where a fixed map can be.
    unmaps: bool,
}

#[derive(Debug, Default)]
struct State {
    paused: u32,
    made: Vec<Made>,
    faults: Vec<Fault>,
    fired: Vec<Fired>,
}

impl Plan {
    /// A plan of these faults; if the history `unmaps` for sure, giving back mappings never fails.
    pub(super) fn new(faults: &[Fault], shadow: Option<Arc<Shadow>>, unmaps: bool) -> Plan {
        let state = State {
            faults: faults.to_vec(),
            ..State::default()
        };
        Plan {
            state: Mutex::new(state),
            shadow,
            unmaps,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something that no fault hits, and that is not counted.
    pub(super) fn paused<T>(&self, work: impl FnOnce() -> T) -> T {
        self.state().paused += 1;
        let result = work();
        self.state().paused -= 1;
        result
    }

    /// The calls so far.
    pub(super) fn made(&self) -> Vec<Made> {
        self.state().made.clone()
    }

    /// Octets of memory that the notes of this run take.
    pub(super) fn held_octets(&self) -> usize {
        let state = self.state();
        let made = state.made.capacity() * size_of::<Made>();
        let fired = state.fired.capacity() * size_of::<Fired>();
        let shadow = self
            .shadow
            .as_ref()
            .map_or(0, |shadow| shadow.held_octets());
        made + fired + shadow
    }

    /// How many faults have happened.
    pub(super) fn fired_count(&self) -> usize {
        self.state().fired.len()
    }

    /// The faults that have happened since there were `since`.
    pub(super) fn fired(&self, since: usize) -> Vec<Fired> {
        self.state().fired.get(since..).unwrap_or_default().to_vec()
    }
}

impl Injector for Plan {
    fn verdict(&self, site: Site, len: usize) -> Verdict {
        let mut state = self.state();
        let mut verdict = Verdict::Go;
        if state.paused == 0 {
            state.made.push(Made { site, len });
            let number = state.made.len() as u64;
            let planned = state.faults.iter().find(|fault| fault.number == number);
            let is_spared = self.unmaps && site.call == Call::Unmap;
            if let Some(fault) = planned.filter(|_| !is_spared) {
                verdict = fault.verdict;
                state.fired.push(Fired { site, verdict });
            }
        }
        if let Some(shadow) = &self.shadow {
            shadow.decide(site, verdict);
        }
        verdict
    }
}
