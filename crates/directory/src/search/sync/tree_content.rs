//! The provider of generated entries: the configuration. They are few, and there is no log of them.
//!
//! ```text
//!   request --> all entries, each as a whole --> mode 1: done
//!                                            --> mode 3: waits; another configuration ends it (52)
//! ```
//!
//! The consumer drops what it has besides. After a change it asks again, and gets all entries.

use fulgurite_ldap::control::{EntryState, PhaseEnd, SyncInfo, SyncMode, SyncRequest, SyncState};
use fulgurite_ldap::{LdapResult, ResultCode, encode};
use fulgurite_schema::Entry;
use fulgurite_store::{CsnVector, PackedCsn};

use super::cookie::{CookieForm, RequestCookie};
use super::entries::state_control;
use super::log_content::LogSearch;
use super::run::{SyncProgress, done};
use crate::core::change_signal::WaitingSearch;
use crate::core::entry_identity::parse_uuid;
use crate::core::foundation::Core;
use crate::core::result::{OpResult, refuse};
use crate::rights::facts::UnstoredFacts;
use crate::search::output::{CompleteOutput, SearchEnd};

/// A search that waits for another configuration.
pub(crate) struct TreeContent {
    /// The entries, until they are written.
    before: Vec<u8>,
    pub(crate) sent: u32,
    waiting: WaitingSearch,
}

/// The answer to a request.
pub(crate) enum TreeAnswer {
    /// The refresh is all.
    Done(CompleteOutput),
    Waits(Box<TreeContent>),
}

impl TreeContent {
    /// Answers a request with the entries of a tree.
    ///
    /// # Errors
    /// unwillingToPerform for entries without a UUID: the configuration is no directory.
    pub(crate) fn begin<'e>(
        core: &Core,
        search: &LogSearch<'_>,
        entries: impl Iterator<Item = &'e Entry>,
        request: &SyncRequest<'_>,
    ) -> OpResult<TreeAnswer> {
        // Before the entries are read, so that no change gets lost.
        let persists = request.mode == SyncMode::RefreshAndPersist;
        let waiting = persists.then(|| core.changes.register());
        let (mut out, mut sent, mut vector) = (Vec::new(), 0, CsnVector::default());
        for entry in entries {
            let facts = UnstoredFacts::unstored(core, Some(entry));
            let rights = search.decisions.at(entry.dn.normal(), &facts);
            if !search.admits(core, entry, rights) {
                continue;
            }
            let first = |attribute| entry.values(attribute).first().map(Vec::as_slice);
            let uuid = first(core.types.entry_uuid.attribute).and_then(parse_uuid);
            let Some(entry_uuid) = uuid else {
                let text = "the entries have no UUID: use a configuration directory";
                return Err(refuse(ResultCode::UnwillingToPerform, text));
            };
            let csn = first(core.types.entry_csn.attribute).and_then(PackedCsn::parse);
            csn.into_iter().for_each(|csn| {
                vector.raise(csn);
            });
            let state = SyncState {
                state: EntryState::Add,
                entry_uuid,
                cookie: None,
            };
            let value = state.encode();
            let target = (&mut out, search.id);
            let controls = &[state_control(&value)];
            let projection = &search.projection;
            projection.write_unstored_with(target, entry, &core.schema, rights, controls);
            sent += 1;
        }
        let form = CookieForm {
            rid: RequestCookie::parse(request.cookie).rid,
            server: core.csn.server(),
            is_peer: false,
        };
        let cookie = form.vector(&vector);
        let Some(waiting) = waiting else {
            return Ok(TreeAnswer::Done(CompleteOutput {
                encoded: out,
                entries: sent,
                end: done(Some(&cookie), false),
            }));
        };
        let phase = PhaseEnd {
            cookie: Some(&cookie),
            refresh_done: true,
        };
        encode::sync_info(&mut out, search.id, &SyncInfo::RefreshPresent(phase));
        Ok(TreeAnswer::Waits(Box::new(TreeContent {
            before: out,
            sent,
            waiting,
        })))
    }

    /// Writes the entries once, and waits for another configuration.
    pub(crate) fn advance(&mut self, out: &mut Vec<u8>) -> SyncProgress {
        out.append(&mut self.before);
        if self.waiting.is_outdated() {
            let result = LdapResult::new(ResultCode::Unavailable);
            return SyncProgress::End(SearchEnd::plain(result));
        }
        SyncProgress::Waiting
    }
}
