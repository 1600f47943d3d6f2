//! The state of one check, shared by the walks over its trees.

use fulgurite_format::TreeRecord;

use super::CheckOptions;
use super::page_claims::PageClaims;
use super::report::{DatabaseLabel, Fault, Reporter, TreeCounts};
use crate::maintain::image::layout::Tiling;
use crate::maintain::image::order::RecordedOrder;
use crate::maintain::image::pages::Pages;
use crate::maintain::walk::TreeRole;

/// Memory that is reused for the next check.
#[derive(Debug, Default)]
pub(super) struct CheckBuffers {
    pub(super) claims: PageClaims,
    pub(super) tiling: Tiling,
    page_buffers: Vec<Vec<u8>>,
}

impl CheckBuffers {
    pub(super) fn take_buffer(&mut self) -> Vec<u8> {
        self.page_buffers.pop().unwrap_or_default()
    }

    pub(super) fn give_buffer(&mut self, buffer: Vec<u8>) {
        self.page_buffers.push(buffer);
    }
}

/// The state of one check.
pub(super) struct CheckState<'c> {
    pub(super) pages: Pages<'c>,
    pub(super) buffers: &'c mut CheckBuffers,
    pub(super) options: &'c CheckOptions,
    pub(super) txnid: u64,
    pub(super) reporter: Reporter,
    /// True while the snapshot before the newest is checked.
    pub(super) in_previous: bool,
    pub(super) progress: &'c mut dyn FnMut(u64, u64),
}

/// A tree in progress.
pub(super) struct TreeCheck<'a> {
    pub(super) record: &'a TreeRecord,
    pub(super) role: TreeRole,
    pub(super) label: DatabaseLabel<'a>,
    pub(super) order: RecordedOrder,
    pub(super) duplicates_order: RecordedOrder,
    pub(super) counts: TreeCounts,
}

/// The result of claiming a page.
pub(super) enum PageClaim {
    Fresh,
    /// A page of the newest snapshot too, which was checked there.
    Shared,
    /// The page is not one of this snapshot, or a second place refers to it. It was reported.
    Refused,
}

impl CheckState<'_> {
    /// Returns true if the order of keys is checked. The free list always has the same order.
    pub(super) fn checks_order_of(&self, name: DatabaseLabel<'_>) -> bool {
        match name {
            DatabaseLabel::File | DatabaseLabel::FreeList | DatabaseLabel::Duplicates(_) => true,
            DatabaseLabel::Main => self.options.checks_order_of("main"),
            DatabaseLabel::Named(name) => {
                self.options.checks_order_of(&String::from_utf8_lossy(name))
            }
        }
    }

    /// Claims a page for a tree or an overflow run.
    pub(super) fn claim(&mut self, pgno: u64, database: DatabaseLabel<'_>) -> PageClaim {
        let claims = &mut self.buffers.claims;
        if !claims.in_range(pgno) {
            let last = claims.last();
            self.reporter
                .find(database, pgno, Fault::PageOutOfRange { last });
            return PageClaim::Refused;
        }
        if self.in_previous && claims.is_used(pgno) {
            return PageClaim::Shared;
        }
        let fresh = match self.in_previous {
            true => claims.previous.add(pgno),
            false => claims.claim(pgno),
        };
        if !fresh {
            self.reporter.find(database, pgno, Fault::UsedTwice);
            return PageClaim::Refused;
        }
        self.report_progress();
        PageClaim::Fresh
    }

    /// Claims a page that the free list names.
    pub(super) fn claim_free(&mut self, pgno: u64) {
        let claims = &mut self.buffers.claims;
        if !claims.in_range(pgno) {
            let last = claims.last();
            self.reporter.find(
                DatabaseLabel::FreeList,
                pgno,
                Fault::PageOutOfRange { last },
            );
        } else if !claims.claim_free(pgno) {
            self.reporter
                .find(DatabaseLabel::FreeList, pgno, Fault::UsedTwice);
        } else {
            self.report_progress();
        }
    }

    fn report_progress(&mut self) {
        let claims = &self.buffers.claims;
        if claims.claimed().is_multiple_of(4096) {
            (self.progress)(claims.claimed(), claims.last().saturating_sub(1));
        }
    }
}
