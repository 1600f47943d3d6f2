//! Free pages that readers hold back, and the writer's decision before the file grows because of
//! them.

use fulgurite_format::{FreeRecord, Malformed, Meta, Pgno, Txnid};

use super::view::PageView;
use super::writer_pages::{WriterPages, free_tree};
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::opened::Window;
use crate::reader::{EndMark, GrowthDecision, LockFile, ReaderPolicy};
use crate::tree::{self, Pages as _, PagesMut as _, Path, Tree};

/// After that many fresh pages a writer consults the policy for readers again.
const CONSULT_PAGES: u64 = 256;

impl WriterPages<'_> {
    /// Returns true, before the file grows, if the writer should look again for free pages. A
    /// reader that held them back has ended.
    /// # Errors
    /// [`Error::HeldByReader`] if the policy refuses growth; errors of the free list.
    pub(super) fn consult_policy(&mut self) -> Result<bool, BoxedError> {
        let recently = self
            .consulted_at
            .is_some_and(|last| self.last.0 < last.0 + CONSULT_PAGES);
        if recently {
            return Ok(false);
        }
        let environment = self.environment;
        let (Some(policy), Some(table)) = (environment.reader_policy(), environment.lock()) else {
            self.consulted_at = Some(self.last);
            return Ok(false);
        };
        let decision = self.consult(&policy, table)?;
        if decision == GrowthDecision::Grow {
            self.consulted_at = Some(self.last);
        }
        // While the free list is being saved nothing more can be taken from it.
        Ok(decision == GrowthDecision::LookAgain && !self.saving)
    }

    /// Returns true, before the free list is saved, if there are more pages to take. A reader that
    /// held them back has ended. Nothing is refused here: the few may be enough.
    pub(super) fn ask_readers(&mut self) -> Result<bool, BoxedError> {
        let environment = self.environment;
        let (Some(policy), Some(table)) = (environment.reader_policy(), environment.lock()) else {
            return Ok(false);
        };
        Ok(self.consult(&policy.without_refusal(), table)? == GrowthDecision::LookAgain)
    }

    fn consult(
        &mut self,
        policy: &ReaderPolicy,
        table: &LockFile,
    ) -> Result<GrowthDecision, BoxedError> {
        let known = self.oldest;
        let oldest = self.look_for_readers()?;
        if known.is_some_and(|known| oldest > known) {
            return Ok(GrowthDecision::LookAgain);
        }
        let committed = Txnid(self.txnid().0 - 1);
        let view = self.view();
        let held = |stop_at| held_page_count(view, &self.free, oldest, committed, stop_at);
        if oldest >= committed || held(1)? == 0 {
            // No reader holds pages back.
            return Ok(GrowthDecision::Grow);
        }
        let governor = self.environment.governor();
        let decision = governor.consult(policy, table, oldest, || held(u64::MAX))?;
        if decision == GrowthDecision::LookAgain {
            self.look_for_readers()?;
        }
        Ok(decision)
    }
}

/// Counts pages of the free-list records from transaction `from` on, before `to`. It stops counting
/// at `stop_at`. Costs a look at each record.
pub(crate) fn held_page_count(
    view: PageView<'_>,
    free: &Tree,
    from: Txnid,
    to: Txnid,
    stop_at: u64,
) -> Result<u64, BoxedError> {
    debug_assert!(from <= to);
    let mut sum = 0u64;
    each_record(view, free, from, &mut |id, pages| {
        if id >= to || sum >= stop_at {
            return false;
        }
        sum = sum.saturating_add(pages);
        true
    })?;
    Ok(sum)
}

/// Counts the pages that the writer after snapshot `meta` may use from the free list, up to
/// `stop_at`. The pages that the snapshot's own transaction freed are not among them.
pub(crate) fn count_free(window: Window<'_>, meta: &Meta, stop_at: u64) -> Result<u64, BoxedError> {
    let view = PageView::of_snapshot(window, meta.last, EndMark::never());
    let free = free_tree(meta.free);
    held_page_count(view, &free, Txnid(0), meta.txnid, stop_at)
}

/// Shows the free-list records from transaction `from` on, with the numbers of their pages, as long
/// as `visit` wants.
pub(crate) fn each_record(
    view: PageView<'_>,
    free: &Tree,
    from: Txnid,
    visit: &mut dyn FnMut(Txnid, u64) -> bool,
) -> Result<(), BoxedError> {
    debug_assert!(matches!(free.order, crate::KeyOrder::Integer));
    let mut path = Path::new();
    tree::seek(view, free, &from.0.to_ne_bytes(), &mut path)?;
    let mut last = None;
    while tree::settle(view, free, &mut path)? {
        let Some(leaf) = path.leaf() else { break };
        let node = view.leaf_node(leaf)?;
        let key =
            <[u8; 8]>::try_from(node.key).map_err(|_| bad_key(leaf.pgno, leaf.index, node.key))?;
        let id = u64::from_ne_bytes(key);
        if last.is_some_and(|last| id <= last) {
            // Keys that do not ascend lead in circles.
            return Err(Error::at(leaf.pgno)(Malformed::Cycle));
        }
        last = Some(id);
        let list = crate::value::value_of(view, leaf.pgno, &node)?;
        let count = FreeRecord::count_in(list).map_err(Error::at(leaf.pgno))?;
        if !visit(Txnid(id), count) {
            break;
        }
        let Some(step) = path.leaf_mut() else { break };
        step.index += 1;
    }
    Ok(())
}

fn bad_key(page: Pgno, index: usize, key: &[u8]) -> Error {
    Error::Corrupted {
        page,
        what: Malformed::KeyLength {
            index,
            len: key.len(),
        },
    }
}
