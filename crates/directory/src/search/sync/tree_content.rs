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
use sha2::{Digest as _, Sha256};

use super::cookie::{CookieForm, RequestCookie};
use super::entries::state_control;
use super::log_content::LogSearch;
use super::run::{SyncProgress, done};
use crate::core::change_signal::WaitingSearch;
use crate::core::entry_identity::parse_uuid;
use crate::core::foundation::Core;
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
    pub(crate) fn begin<'e>(
        core: &Core,
        search: &LogSearch<'_>,
        entries: impl Iterator<Item = &'e Entry>,
        request: &SyncRequest<'_>,
    ) -> TreeAnswer {
        // It is of the configuration of `core`, so that a change before this call is not lost.
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
            let entry_uuid = uuid.unwrap_or_else(|| uuid_of(entry.dn.normal()));
            let csn = first(core.types.entry_csn.attribute).and_then(PackedCsn::parse);
            // Among several providers, the entry at the top has the state.
            let state = core.types.context_csn.iter();
            let state = state.flat_map(|types| entry.values(types.attribute));
            let state = state.filter_map(|csn| PackedCsn::parse(csn));
            csn.into_iter().chain(state).for_each(|csn| {
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
            return TreeAnswer::Done(CompleteOutput {
                encoded: out,
                entries: sent,
                end: done(Some(&cookie), false),
            });
        };
        let phase = PhaseEnd {
            cookie: Some(&cookie),
            refresh_done: true,
        };
        encode::sync_info(&mut out, search.id, &SyncInfo::RefreshPresent(phase));
        TreeAnswer::Waits(Box::new(TreeContent {
            before: out,
            sent,
            waiting,
        }))
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

/// Returns an identity of an entry that has none: always the same one for a name (RFC 9562, version
/// 8). Files that slapadd has made may lack it.
fn uuid_of(name: &str) -> [u8; 16] {
    let mut uuid = [0; 16];
    for (byte, hashed) in uuid.iter_mut().zip(Sha256::digest(name.as_bytes())) {
        *byte = hashed;
    }
    uuid[6] = uuid[6] & 0x0f | 0x80;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}
