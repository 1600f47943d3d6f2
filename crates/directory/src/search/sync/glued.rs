//! A synchronisation with a database and those glued below it. Each has a log of its changes.
//!
//! ```text
//!   refresh:  part 1, part 2, ...  --> one end, with the state of all
//!   persist:  each part up to its newest change --> newcookie with the state of all
//! ```
//!
//! The consumer has one number for each server. So the state of all is not simply the greatest of
//! each. An older change may not be there yet in another part.

use fulgurite_ldap::control::{PhaseEnd, SyncInfo, SyncRequest};
use fulgurite_ldap::{LdapResult, MessageId, encode};
use fulgurite_store::{CsnVector, PackedCsn};

use super::cookie::{CookieForm, RequestCookie};
use super::run::{SyncProgress, SyncRun, done};
use super::start::{SyncStart, newer_consumer};
use crate::core::change_signal::WaitingSearch;
use crate::core::database::Database;
use crate::core::foundation::{Core, SharedCsn};
use crate::search::run::Quantum;

/// The part of the content in one database.
pub(crate) struct GluedPart<'d> {
    run: Box<SyncRun<'d>>,
    kind: PartKind,
}

/// The facts about a database that decide when its changes are complete.
#[derive(Clone, Copy, Debug, Default)]
struct PartKind {
    /// True if the database is copied from another server.
    is_copy: bool,
    is_multi_provider: bool,
}

impl<'d> GluedPart<'d> {
    pub(crate) fn new(database: &Database, run: Box<SyncRun<'d>>) -> GluedPart<'d> {
        let kind = PartKind {
            is_copy: !database.consumers().is_empty(),
            is_multi_provider: database.is_multi_provider(),
        };
        GluedPart { run, kind }
    }
}

impl PartKind {
    /// Returns true if changes of a server may come later than those that other parts have.
    fn waits_for(self, server: u16, own: u16) -> bool {
        // Servers without a number share it.
        let is_own = server == own && (own != 0 || self.is_multi_provider);
        self.is_copy && !is_own
    }
}

/// A synchronisation whose parts are being planned.
pub(crate) struct GluedStart<'d> {
    id: MessageId,
    form: CookieForm,
    /// The state of the consumer.
    told: CsnVector,
    /// A number of this server. All of its changes up to there are stored.
    settled: Option<PackedCsn>,
    is_multi_provider: bool,
    parts: Vec<GluedPart<'d>>,
}

impl<'d> GluedStart<'d> {
    pub(crate) fn new(
        core: &Core,
        top: &Database,
        id: MessageId,
        request: &SyncRequest<'_>,
    ) -> GluedStart<'d> {
        let cookie = RequestCookie::parse(request.cookie);
        GluedStart {
            id,
            form: CookieForm {
                rid: cookie.rid,
                server: core.csn.server(),
                is_peer: false,
            },
            told: cookie.vector,
            settled: core.csn.settled(),
            is_multi_provider: top.is_multi_provider(),
            parts: Vec::new(),
        }
    }

    /// Fails for a consumer that knows more than all parts.
    pub(crate) fn require_older<'s>(
        &self,
        planned: impl Iterator<Item = &'s SyncStart>,
    ) -> Result<(), LdapResult> {
        let mut all = CsnVector::default();
        planned.for_each(|start| all.raise_all(start.vector()));
        let own = self.form.server;
        let is_newer = |held: PackedCsn| {
            (!self.is_multi_provider || held.server() == own)
                && self.told.of(held.server()).is_some_and(|csn| csn > held)
        };
        match all.iter().any(is_newer) {
            true => Err(newer_consumer()),
            false => Ok(()),
        }
    }

    pub(crate) fn push(&mut self, part: GluedPart<'d>) {
        self.parts.push(part);
    }
}

/// A running synchronisation.
pub(crate) struct GluedRun<'d> {
    start: GluedStart<'d>,
    csn: SharedCsn,
    /// Present if the search goes on after the refresh.
    waiting: Option<WaitingSearch>,
    /// The part whose turn it is.
    next: usize,
    /// True if a part has worked since the turn of the first one. Its predecessors may have changed
    /// meanwhile, and nobody wakes a search that does not wait.
    has_worked: bool,
    is_refreshed: bool,
    /// True if the refresh has told all deletions.
    deletes: bool,
    pub(crate) sent: u32,
    pub(crate) worked: usize,
}

impl<'d> GluedRun<'d> {
    pub(crate) fn new(core: &Core, start: GluedStart<'d>, persists: bool) -> GluedRun<'d> {
        GluedRun {
            start,
            csn: core.csn.clone(),
            waiting: persists.then(|| core.changes.register()),
            next: 0,
            has_worked: false,
            is_refreshed: false,
            deletes: true,
            sent: 0,
            worked: 0,
        }
    }

    /// Gives up the snapshots.
    pub(crate) fn park(&mut self) {
        self.start.parts.iter_mut().for_each(|part| part.run.park());
    }

    /// Works for one quantum.
    pub(crate) fn advance(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> SyncProgress {
        self.worked = 0;
        if self.is_refreshed {
            let waiting = self.waiting.as_ref();
            if waiting.is_some_and(WaitingSearch::is_outdated) {
                return SyncProgress::End(done(self.cookie().as_deref(), true));
            }
            if self.next == 0 {
                // The views that follow have all changes up to there.
                self.start.settled = self.csn.settled();
            }
        }
        while let Some(part) = self.start.parts.get_mut(self.next) {
            let is_done = !self.is_refreshed && part.run.refreshed().is_some();
            let progress = match is_done {
                true => SyncProgress::Waiting,
                false => part.run.advance(out, quantum),
            };
            self.worked += part.run.worked;
            self.has_worked |= part.run.worked > 0;
            self.sent = self.start.parts.iter().map(|part| part.run.sent).sum();
            match progress {
                SyncProgress::Waiting => self.next += 1,
                other => return other,
            }
            if self.worked > 0 {
                return SyncProgress::More;
            }
        }
        self.next = 0;
        let has_worked = std::mem::take(&mut self.has_worked);
        if !self.is_refreshed {
            return self.end_refresh(out);
        }
        self.tell(out);
        match has_worked {
            true => SyncProgress::More,
            false => SyncProgress::Waiting,
        }
    }

    fn end_refresh(&mut self, out: &mut Vec<u8>) -> SyncProgress {
        self.is_refreshed = true;
        let mut parts = self.start.parts.iter();
        self.deletes = parts.all(|part| part.run.refreshed() == Some(true));
        if let Some(reached) = self.reached() {
            self.start.told.raise_all(&reached);
        }
        let cookie = self.cookie();
        let cookie = cookie.as_deref();
        if self.waiting.is_none() {
            return SyncProgress::End(done(cookie, self.deletes));
        }
        let end = PhaseEnd {
            cookie,
            refresh_done: true,
        };
        let info = match self.deletes {
            true => SyncInfo::RefreshDelete(end),
            false => SyncInfo::RefreshPresent(end),
        };
        encode::sync_info(out, self.start.id, &info);
        SyncProgress::More
    }

    /// Tells the consumer the state of all parts, if it has changed.
    fn tell(&mut self, out: &mut Vec<u8>) {
        let Some(reached) = self.reached() else {
            return;
        };
        let told = &mut self.start.told;
        if told.covers_all(&reached) {
            return;
        }
        told.raise_all(&reached);
        for part in &mut self.start.parts {
            part.run.has_told(&self.start.told);
        }
        if let Some(cookie) = self.cookie() {
            encode::sync_info(out, self.start.id, &SyncInfo::NewCookie(&cookie));
        }
    }

    fn cookie(&self) -> Option<Vec<u8>> {
        let told = &self.start.told;
        (!told.is_empty()).then(|| self.start.form.vector(told))
    }

    /// Returns the state of all parts; `None` while a copy has no state.
    fn reached(&self) -> Option<CsnVector> {
        let parts = self.start.parts.iter();
        let parts: Vec<(&CsnVector, PartKind)> = parts
            .filter_map(|part| Some((part.run.reached()?, part.kind)))
            .collect();
        common_state(&parts, self.start.form.server, self.start.settled)
    }
}

/// Returns the state up to which each part has all changes. `None` while a copy has no state.
///
/// A copy may still get changes of a server that another part has already. So a number counts only
/// if each copy has reached it. Of this server, all changes up to `settled` are stored.
fn common_state(
    parts: &[(&CsnVector, PartKind)],
    own: u16,
    settled: Option<PackedCsn>,
) -> Option<CsnVector> {
    if parts
        .iter()
        .any(|(reached, kind)| kind.is_copy && reached.is_empty())
    {
        return None;
    }
    let mut greatest = CsnVector::default();
    parts
        .iter()
        .for_each(|(reached, _)| greatest.raise_all(reached));
    let common = greatest.iter().filter_map(|csn| {
        let server = csn.server();
        let waiting = parts
            .iter()
            .filter(|(_, kind)| kind.waits_for(server, own))
            .map(|(reached, _)| reached.of(server));
        // A copy without a number of that server makes the least one `None`.
        let reached = waiting.min().unwrap_or(Some(csn))?;
        match (server == own, settled) {
            (true, settled) => settled.map(|settled| settled.min(reached)),
            (false, _) => Some(reached),
        }
    });
    Some(common.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u16 = 1;
    const ORIGINAL: PartKind = PartKind {
        is_copy: false,
        is_multi_provider: false,
    };
    const COPY: PartKind = PartKind {
        is_copy: true,
        is_multi_provider: false,
    };

    fn csn(second: u8, server: u16) -> PackedCsn {
        let text = format!("202601311200{second:02}.000000Z#000000#{server:03x}#000000");
        PackedCsn::parse(text.as_bytes()).unwrap()
    }

    fn vector(numbers: &[(u8, u16)]) -> CsnVector {
        numbers
            .iter()
            .map(|(second, server)| csn(*second, *server))
            .collect()
    }

    fn common(parts: &[(&[(u8, u16)], PartKind)], settled: u8) -> Option<CsnVector> {
        let vectors: Vec<CsnVector> = parts.iter().map(|(numbers, _)| vector(numbers)).collect();
        let parts: Vec<_> = vectors
            .iter()
            .zip(parts)
            .map(|(vector, (_, kind))| (vector, *kind))
            .collect();
        common_state(&parts, OWN, Some(csn(settled, OWN)))
    }

    #[test]
    fn own_changes_count_up_to_those_under_way() {
        let parts: [(&[(u8, u16)], PartKind); 2] =
            [(&[(5, OWN)], ORIGINAL), (&[(9, OWN)], ORIGINAL)];
        assert_eq!(common(&parts, 20), Some(vector(&[(9, OWN)])));
        // The first part may store a change of second 7 later.
        assert_eq!(common(&parts, 6), Some(vector(&[(6, OWN)])));
    }

    #[test]
    fn changes_of_others_count_once_all_copies_have_them() {
        let parts: [(&[(u8, u16)], PartKind); 3] = [
            (&[(9, OWN)], ORIGINAL),
            (&[(4, 2)], COPY),
            (&[(8, 2), (8, 3)], COPY),
        ];
        assert_eq!(common(&parts, 20), Some(vector(&[(9, OWN), (4, 2)])));
        let parts: [(&[(u8, u16)], PartKind); 2] = [(&[(9, OWN)], ORIGINAL), (&[], COPY)];
        assert_eq!(common(&parts, 20), None);
    }
}
