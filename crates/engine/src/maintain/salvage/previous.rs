//! The previous snapshot as a source for the holes of the newest.

use fulgurite_format::{DEPTH_MAX, NodeFlags, TREE_RECORD_LEN, TreeRecord};

use super::page_check::DamagedTree;
use super::report::SalvageError;
use super::source_stage::Stage;
use super::state::{DamagePolicy, Salvage};
use crate::maintain::image::layout::{Entries, Header};
use crate::maintain::image::order::RecordedOrder;
use crate::maintain::walk::TreeRole;

impl Salvage<'_, '_> {
    /// Fills each hole with the records of the previous snapshot in its range.
    pub(super) fn fill_from_previous(&mut self) -> Result<(), SalvageError> {
        let Some(previous) = self.previous else {
            return Ok(());
        };
        self.stage = Stage::Previous;
        self.last = self.last.max(previous.last);
        for number in 0..self.holes.len() {
            let Some(hole) = self.holes.get(number) else {
                continue;
            };
            let (tree, filter) = (hole.tree.clone(), hole.filter());
            if tree.order == RecordedOrder::Unknown {
                continue;
            }
            let name = hole.report.database.clone();
            let record = match &name {
                None => Some(previous.main),
                Some(name) => self.find_database(&previous.main, name),
            };
            let Some(record) = record.filter(|record| record.flags == tree.flags) else {
                continue;
            };
            let role = match name {
                None => TreeRole::Main,
                Some(_) => TreeRole::Named,
            };
            let older = DamagedTree::database(tree.database, role, record, true);
            self.holes.set_current(Some(number));
            self.filter = Some(filter);
            let done = self.tree(&older, previous.pgno, DamagePolicy::Skip);
            self.filter = None;
            self.holes.set_current(None);
            done?;
        }
        if self.budget == 0 {
            let note = "the previous snapshot was not searched to the end: it leads to its pages too often";
            self.totals.note(note.to_owned());
        }
        Ok(())
    }

    /// Returns the record of a named database in the previous snapshot.
    fn find_database(&mut self, main: &TreeRecord, name: &[u8]) -> Option<TreeRecord> {
        let order = RecordedOrder::of_keys(main.flags);
        let mut pgno = main.root.0;
        for _ in 0..DEPTH_MAX {
            if !self.in_range(pgno) {
                return None;
            }
            let step = self.with_page(pgno, |_, bytes| {
                let header = Header::parse(bytes).filter(|header| header.pgno == pgno)?;
                let entries = Entries::parse(bytes, &header).ok()?;
                if header.is_branch() {
                    let below = (1..entries.len())
                        .filter_map(|index| entries.get(index))
                        .take_while(|item| !order.ascends(name, item.key))
                        .last();
                    let child = below.or_else(|| entries.get(0))?.child;
                    return Some(Err(child));
                }
                let item = entries
                    .iter()
                    .find(|item| item.key == name && item.flags == NodeFlags::SUB_TREE)
                    .filter(|item| item.data.len() == TREE_RECORD_LEN)?;
                TreeRecord::read(item.data).map(Ok)
            });
            match step.ok()?? {
                Ok(record) => return Some(record),
                Err(child) => pgno = child,
            }
        }
        None
    }
}
