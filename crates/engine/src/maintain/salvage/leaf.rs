//! The records of a leaf: values, runs, duplicates, named databases, and records of the free list.

use fulgurite_format::{NodeFlags, PageFlags, TREE_RECORD_LEN, TreeRecord, overflow_pages};

use super::holes::{LostRange, MissingPart};
use super::page_check::DamagedTree;
use super::report::SalvageError;
use super::source_stage::Stage;
use super::state::{DamagePolicy, Salvage};
use super::writer::PutOutcome;
use crate::maintain::image::layout::{Entries, HEADER, Header, Item, u64_at};
use crate::maintain::image::order::KeyBounds;
use crate::maintain::image::records::{
    check_named_record, check_value_tree_record, sub_page_entries,
};
use crate::maintain::walk::TreeRole;
use crate::maintain::walk::VALUE_TREE;

impl Salvage<'_, '_> {
    /// Stores these entries of a leaf.
    pub(super) fn leaf(
        &mut self,
        tree: &DamagedTree,
        pgno: u64,
        entries: &Entries<'_>,
        indexes: impl IntoIterator<Item = usize>,
    ) -> Result<(), SalvageError> {
        let unwanted = self.unwanted;
        for item in indexes.into_iter().filter_map(|index| entries.get(index)) {
            self.last_key.clear();
            self.last_key.extend_from_slice(item.key);
            match tree.role {
                TreeRole::FreeList => self.free_record(&item),
                TreeRole::Duplicates => self.value(tree, item.key)?,
                TreeRole::Main | TreeRole::Named if self.is_wanted(tree, item.key) => {
                    self.item(tree, pgno, &item)?;
                }
                TreeRole::Main | TreeRole::Named => self.unwanted += 1,
            }
        }
        if self.stage == Stage::Previous && self.unwanted == unwanted {
            self.previous_used.add(pgno);
        }
        Ok(())
    }

    fn is_wanted(&self, tree: &DamagedTree, key: &[u8]) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.admits(tree.order, key))
    }

    fn item(&mut self, tree: &DamagedTree, pgno: u64, item: &Item<'_>) -> Result<(), SalvageError> {
        if tree.role == TreeRole::Main && self.stage != Stage::Previous {
            self.main_entries += 1;
        }
        let done = match item.flags {
            0 => {
                self.record(tree, item.key, item.data)?;
                Ok(())
            }
            NodeFlags::OVERFLOW => self.overflow(tree, item)?,
            NodeFlags::SUB_TREE => self.named(tree, pgno, item)?,
            NodeFlags::DUPLICATES => self.sub_page(tree, item)?,
            VALUE_TREE => self.sub_database(tree, pgno, item)?,
            flags => Err(format!("node flags {flags:#06x}")),
        };
        if let Err(reason) = done
            && self.stage != Stage::Previous
        {
            let name = self.writer.name(tree.database);
            let lost = LostRange {
                page: pgno,
                bounds: KeyBounds {
                    low: Some(item.key),
                    high: Some(item.key),
                },
                missing: MissingPart::Value,
                reason,
            };
            let before = self.holes.add(tree, name, lost);
            self.holes.set_current(before);
        }
        Ok(())
    }

    fn overflow(
        &mut self,
        tree: &DamagedTree,
        item: &Item<'_>,
    ) -> Result<Result<(), String>, SalvageError> {
        let first = u64_at(item.data, 0).unwrap_or_default();
        let value = match self.run(first, item.value_bytes as usize) {
            Ok(value) => value,
            Err(reason) => return Ok(Err(reason)),
        };
        self.record(tree, item.key, &value)?;
        Ok(Ok(()))
    }

    /// Returns the value in the run that begins at a page.
    pub(super) fn run(&mut self, first: u64, value_bytes: usize) -> Result<Vec<u8>, String> {
        if !self.in_range(first) {
            return Err(format!("its value is on page {first}, which there is not"));
        }
        let page_bytes = self.pages.page_bytes();
        let at = first * page_bytes as u64;
        let mut bytes = [0; HEADER];
        let header = self
            .pages
            .read(at, &mut bytes)
            .map_err(|fault| format!("its value, page {first}: {fault}"))
            .map(Header::parse)?
            .filter(|header| header.pgno == first && header.flags == PageFlags::OVERFLOW)
            .ok_or_else(|| format!("its value is on page {first}, which holds something else"))?;
        let run = u64::from(header.run_pages);
        let end = first + run;
        if run < overflow_pages(value_bytes, page_bytes)
            || end > self.last + 1
            || !self.pages.holds(first, run)
        {
            return Err(format!(
                "its value of {value_bytes} bytes has {run} pages from page {first} on"
            ));
        }
        let is_previous = self.stage == Stage::Previous;
        if !is_previous && (first..end).any(|pgno| self.claimed.contains(pgno)) {
            return Err(format!("its value on page {first} belongs elsewhere too"));
        }
        let mut value = vec![0; value_bytes];
        let lent = self
            .pages
            .read(at + HEADER as u64, &mut value)
            .map_err(|fault| format!("its value, page {first}: {fault}"))?;
        debug_assert_eq!(lent.len(), value_bytes, "a source lends what is asked for");
        for pgno in first..end {
            self.take(pgno);
        }
        Ok(value)
    }

    fn named(
        &mut self,
        tree: &DamagedTree,
        pgno: u64,
        item: &Item<'_>,
    ) -> Result<Result<(), String>, SalvageError> {
        let record = TreeRecord::read(item.data).filter(|_| item.data.len() == TREE_RECORD_LEN);
        let Some(record) = record else {
            return Ok(Err("its database record has another size".to_owned()));
        };
        if let Err(reason) = check_named_record(&record, &tree.record) {
            return Ok(Err(reason));
        }
        if self.writer.find(item.key).is_some() {
            return Ok(Ok(()));
        }
        let Some(database) = self.writer.named(item.key, &record)? else {
            return Ok(Err(
                "no database can have this name and these flags".to_owned()
            ));
        };
        let checks_order = self.writer.checks_order_of(database);
        let named = DamagedTree::database(database, TreeRole::Named, record, checks_order);
        let damage = match self.stage {
            Stage::Previous => DamagePolicy::Skip,
            Stage::Newest | Stage::Orphans => DamagePolicy::Hole,
        };
        // A named database is wanted as a whole, even if only a part of the main database is.
        let filter = self.filter.take();
        let done = self.tree(&named, pgno, damage);
        self.filter = filter;
        done.map(Ok)
    }

    fn sub_page(
        &mut self,
        tree: &DamagedTree,
        item: &Item<'_>,
    ) -> Result<Result<(), String>, SalvageError> {
        let entries = match sub_page_entries(item.data, tree.flags) {
            Ok(entries) => entries,
            Err(reason) => return Ok(Err(format!("its sub-page: {reason}"))),
        };
        if let Err(reason) = entries.check_nodes(&mut self.tiling) {
            return Ok(Err(format!("its sub-page: {reason}")));
        }
        let mut previous: Option<&[u8]> = None;
        for value in entries.iter() {
            let ascends =
                previous.is_none_or(|previous| tree.duplicates_order.ascends(previous, value.key));
            if !ascends || value.flags != 0 || !value.data.is_empty() {
                return Ok(Err("its sub-page is out of order".to_owned()));
            }
            previous = Some(value.key);
            self.record(tree, item.key, value.key)?;
        }
        Ok(Ok(()))
    }

    fn sub_database(
        &mut self,
        tree: &DamagedTree,
        pgno: u64,
        item: &Item<'_>,
    ) -> Result<Result<(), String>, SalvageError> {
        let record = TreeRecord::read(item.data).filter(|_| item.data.len() == TREE_RECORD_LEN);
        let Some(record) = record else {
            return Ok(Err("the record of its values has another size".to_owned()));
        };
        if let Err(reason) = check_value_tree_record(&record, &tree.record) {
            return Ok(Err(reason));
        }
        let damage = match self.stage {
            Stage::Previous => DamagePolicy::Skip,
            Stage::Newest | Stage::Orphans => DamagePolicy::Hole,
        };
        let values = tree.of_values(item.key, record);
        self.tree(&values, pgno, damage).map(Ok)
    }

    /// Stores a value of the key whose value tree `tree` is.
    fn value(&mut self, tree: &DamagedTree, value: &[u8]) -> Result<(), SalvageError> {
        match tree.key.clone() {
            Some(key) => self.record(tree, &key, value),
            None => Ok(()),
        }
    }

    fn record(&mut self, tree: &DamagedTree, key: &[u8], value: &[u8]) -> Result<(), SalvageError> {
        if let Some(filter) = &self.filter
            && !filter.admits_value(tree.duplicates_order, value)
        {
            self.unwanted += 1;
            return Ok(());
        }
        match self.writer.put(tree.database, self.stage, key, value)? {
            PutOutcome::Stored => self.holes.count(self.stage),
            PutOutcome::Present => {}
            PutOutcome::Refused => {
                self.totals.refused += 1;
                let name = match self.writer.name(tree.database) {
                    Some(name) => String::from_utf8_lossy(name).into_owned(),
                    None => "main".to_owned(),
                };
                self.lost.refused(&name, key, value)?;
            }
        }
        Ok(())
    }

    /// Adds the pages that a record of the free list names.
    pub(super) fn free_record(&mut self, item: &Item<'_>) {
        let value = match item.flags {
            0 => item.data.to_vec(),
            NodeFlags::OVERFLOW => {
                let first = u64_at(item.data, 0).unwrap_or_default();
                match self.run(first, item.value_bytes as usize) {
                    Ok(value) => value,
                    Err(_) => return,
                }
            }
            _ => return,
        };
        let Some(pages) = free_pages(&value) else {
            return;
        };
        for pgno in pages {
            if self.in_range(pgno) && !self.claimed.contains(pgno) {
                self.free.add(pgno);
            }
        }
        self.free_records += 1;
    }
}

/// Returns the pages in the value of a free-list record, if it is a valid one.
pub(super) fn free_pages(value: &[u8]) -> Option<impl Iterator<Item = u64>> {
    let (words, _) = value.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let count = words.clone().next()?;
    let listed = words.clone().skip(1).take(usize::try_from(count).ok()?);
    let mut above = u64::MAX;
    let descends = listed.clone().all(|pgno| {
        let descends = pgno < above && pgno > 1;
        above = pgno;
        descends
    });
    (descends && listed.clone().count() as u64 == count).then_some(listed)
}
