//! Orphans: pages in no tree and no run that are not free. Below a damaged branch they are its
//! leaves, and their keys show their place.

use fulgurite_format::{DatabaseFlags, NodeFlags, PageFlags, TreeRecord};

use super::holes::{HoleState, MissingPart};
use super::leaf::free_pages;
use super::page_check::{self, DamagedTree};
use super::report::SalvageError;
use super::source_stage::Stage;
use super::state::Salvage;
use crate::maintain::image::layout::{Entries, Header, Item, Tiling};
use crate::maintain::image::order::{PagePosition, RecordedOrder};
use crate::maintain::image::records::{check_value_tree_record, sub_page_entries};
use crate::maintain::walk::TreeRole;
use crate::maintain::walk::VALUE_TREE;

/// A leaf that fits one hole.
struct Candidate {
    pgno: u64,
    hole: usize,
    first: Box<[u8]>,
    last: Box<[u8]>,
    entries: u64,
    names_databases: bool,
}

/// The holes to fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// Those of the main database. While it is incomplete, there may be unknown databases.
    Main,
    Others,
}

impl Salvage<'_, '_> {
    /// Gives orphans to the holes they fit, where there is no doubt.
    pub(super) fn attribute_orphans(&mut self) -> Result<(), SalvageError> {
        if !self.free_is_whole {
            self.free_leaves();
        }
        if !self.free_is_whole {
            self.totals.note(
                "a part of the free list is lost, so pages without an owner may be old versions: none was given to a \
                 database"
                    .to_owned(),
            );
            return Ok(());
        }
        self.stage = Stage::Orphans;
        self.attribute(Round::Main)?;
        if self.knows_all_databases() {
            self.attribute(Round::Others)?;
        }
        Ok(())
    }

    /// Looks for lost leaves of the free list. No other leaves look like them.
    fn free_leaves(&mut self) {
        let txnid = self.txnid;
        for pgno in self.orphans() {
            let found = self.with_page(pgno, |salvage, bytes| {
                let header = Header::parse(bytes).filter(|header| header.pgno == pgno)?;
                let entries = whole_leaf(salvage, bytes, &header)?;
                let is_free_list = entries.iter().all(|item| {
                    let key = item.key.try_into().map(u64::from_le_bytes);
                    let value =
                        item.flags == NodeFlags::OVERFLOW || free_pages(item.data).is_some();
                    key.is_ok_and(|key| key > 0 && key <= txnid) && value
                });
                is_free_list.then(|| {
                    salvage.claim(pgno);
                    for item in entries.iter() {
                        salvage.free_record(&item);
                    }
                })
            });
            // An unreadable page is no leaf of the free list.
            let _ = found;
        }
        self.free_is_whole = self.free_records == self.free_entries;
    }

    /// Returns true if every record of the main database was seen, and so every named database.
    fn knows_all_databases(&self) -> bool {
        self.holes.in_main().next().is_none() || self.main_entries == self.main_recorded
    }

    fn attribute(&mut self, round: Round) -> Result<(), SalvageError> {
        let wanted: Vec<usize> = self
            .holes
            .iter()
            .filter(|(_, hole)| {
                hole.missing != MissingPart::Value && hole.tree.order != RecordedOrder::Unknown
            })
            .filter(|(_, hole)| (hole.tree.role == TreeRole::Main) == (round == Round::Main))
            .map(|(number, _)| number)
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let mut candidates = Vec::new();
        for pgno in self.orphans() {
            let candidate = self.with_page(pgno, |salvage, bytes| {
                salvage.candidate(pgno, bytes, &wanted, round)
            });
            candidates.extend(candidate.ok().flatten());
        }
        if self.comparisons == 0 {
            let note = "there are too many holes and pages without an owner to compare them all";
            self.totals.note(note.to_owned());
            return Ok(());
        }
        let mut candidates = self.alone(candidates);
        if round == Round::Main {
            self.retain_those_of_main(&mut candidates);
        }
        for candidate in candidates {
            let Some(tree) = self.holes.get(candidate.hole).map(|hole| hole.tree.clone()) else {
                continue;
            };
            self.holes.set_current(Some(candidate.hole));
            self.orphan(&tree, candidate.pgno)?;
        }
        self.holes.set_current(None);
        Ok(())
    }

    /// Drops leaves that could be those of a named database of which nothing else is left.
    fn retain_those_of_main(&self, candidates: &mut Vec<Candidate>) {
        let holds_no_databases = self.writer.main_has_duplicates();
        let found: u64 = candidates.iter().map(|candidate| candidate.entries).sum();
        // They complete the count in the database's record, or no lost leaf could have named a
        // database.
        let accounted = self.main_entries + found == self.main_recorded
            || self
                .holes
                .in_main()
                .all(|hole| hole.missing == MissingPart::Leaves);
        let plain = holds_no_databases || accounted && !self.writer.has_named();
        candidates.retain(|candidate| plain || candidate.names_databases);
    }

    fn orphan(&mut self, tree: &DamagedTree, pgno: u64) -> Result<(), SalvageError> {
        // An earlier orphan may have had it as a page of its values.
        if self.claimed.contains(pgno) {
            return Ok(());
        }
        let done = self.with_page(pgno, |salvage, bytes| {
            let Some(entries) =
                Header::parse(bytes).and_then(|header| whole_leaf(salvage, bytes, &header))
            else {
                return Ok(());
            };
            salvage.claim(pgno);
            salvage.leaf(tree, pgno, &entries, 0..entries.len())
        });
        done.unwrap_or(Ok(()))
    }

    /// Returns the leaf as a candidate if it fits exactly one hole.
    fn candidate(
        &mut self,
        pgno: u64,
        bytes: &[u8],
        wanted: &[usize],
        round: Round,
    ) -> Option<Candidate> {
        let header = Header::parse(bytes).filter(|header| header.pgno == pgno)?;
        let entries = whole_leaf(self, bytes, &header)?;
        let bare = is_bare(&entries);
        let (first, last) = (entries.get(0)?.key, entries.get(entries.len() - 1)?.key);
        let mut fitting = None;
        for number in wanted {
            self.comparisons = self.comparisons.checked_sub(1)?;
            let hole = self.holes.get(*number)?;
            let (bounds, order) = (hole.bounds(), hole.tree.order);
            if !bounds.admit(order, first) || !bounds.admit(order, last) {
                continue;
            }
            if !self.kind_fits(hole, &header, &entries, bare, round)
                || !fits(hole, pgno, bytes, &mut self.tiling)
            {
                continue;
            }
            if fitting.replace(*number).is_some() {
                return None;
            }
        }
        Some(Candidate {
            pgno,
            hole: fitting?,
            first: first.into(),
            last: last.into(),
            entries: entries.len() as u64,
            names_databases: names_databases(&entries),
        })
    }

    /// Returns true if a leaf fits the kind of the hole's tree, and no other tree could have lost
    /// it.
    fn kind_fits(
        &self,
        hole: &HoleState,
        header: &Header,
        entries: &Entries<'_>,
        bare: bool,
        round: Round,
    ) -> bool {
        if hole.tree.is_packed() != header.is_packed() {
            return false;
        }
        if hole.tree.key.is_some() {
            return header.is_packed() || bare;
        }
        // Leaves without values may hold the duplicates of a lost key.
        if bare && (hole.tree.has_duplicates() || self.writer.has_duplicates()) {
            return false;
        }
        round == Round::Main || !names_databases(entries)
    }

    /// Keeps the candidates that no other candidate of the same hole overlaps.
    fn alone(&self, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
        let order = |hole: usize| {
            self.holes
                .get(hole)
                .map_or(RecordedOrder::Lexical, |hole| hole.tree.order)
        };
        candidates.sort_by(|a, b| {
            (a.hole.cmp(&b.hole)).then_with(|| order(a.hole).compare(&a.first, &b.first))
        });
        let mut doubtful = vec![false; candidates.len()];
        // Of the candidates before this one, the one with the highest last key.
        let mut farthest: Option<usize> = None;
        for index in 0..candidates.len() {
            let this = &candidates[index];
            if let Some(before) = farthest.filter(|before| candidates[*before].hole == this.hole) {
                let order = order(this.hole);
                let reaches = &candidates[before].last;
                if !order.ascends(reaches, &this.first) {
                    (doubtful[before], doubtful[index]) = (true, true);
                }
                if order.ascends(&this.last, reaches) {
                    continue;
                }
            }
            farthest = Some(index);
        }
        let mut doubtful = doubtful.into_iter();
        candidates.retain(|_| doubtful.next() == Some(false));
        candidates
    }

    /// Returns the pages that are neither in use nor free, as far as is known.
    pub(super) fn orphans(&self) -> Vec<u64> {
        let end = self.pages.file_pages().min(self.last.saturating_add(1));
        (2..end)
            .filter(|pgno| !self.claimed.contains(*pgno) && !self.free.contains(*pgno))
            .filter(|pgno| !self.previous_used.contains(*pgno))
            .collect()
    }

    /// Writes the remaining orphans into the file of lost pages.
    pub(super) fn write_lost_pages(&mut self) -> Result<(), SalvageError> {
        self.stage = Stage::Previous;
        for pgno in self.orphans() {
            let done = self.with_page(pgno, |salvage, bytes| salvage.write_lost_page(pgno, bytes));
            done.unwrap_or(Ok(()))?;
        }
        Ok(())
    }

    fn write_lost_page(&mut self, pgno: u64, bytes: &[u8]) -> Result<(), SalvageError> {
        let Some(header) = Header::parse(bytes) else {
            return Ok(());
        };
        let Some(entries) = whole_leaf(self, bytes, &header) else {
            return Ok(());
        };
        self.lost.page(pgno)?;
        for item in entries.iter() {
            let run;
            let value = match item.flags {
                NodeFlags::DUPLICATES => {
                    self.lose_sub_page(&item)?;
                    continue;
                }
                NodeFlags::OVERFLOW => {
                    let first = item.data.try_into().map_or(0, u64::from_le_bytes);
                    match self.run(first, item.value_bytes as usize) {
                        Ok(value) => {
                            run = value;
                            &run
                        }
                        Err(_) => continue,
                    }
                }
                _ => item.data,
            };
            self.lost.record(item.key, value)?;
        }
        Ok(())
    }
}

impl Salvage<'_, '_> {
    /// Lists the values of a key. It is unknown whether they are packed, so it tries both.
    fn lose_sub_page(&mut self, item: &Item<'_>) -> Result<(), SalvageError> {
        let fixed = DatabaseFlags(DatabaseFlags::DUP_FIXED);
        let entries = sub_page_entries(item.data, fixed)
            .or_else(|_| sub_page_entries(item.data, DatabaseFlags(0)));
        let Ok(entries) = entries else {
            return Ok(());
        };
        for value in entries.iter() {
            self.lost.record(item.key, value.key)?;
        }
        Ok(())
    }
}

/// Returns the entries of a leaf that is sound as a whole.
fn whole_leaf<'a>(
    salvage: &mut Salvage<'_, '_>,
    bytes: &'a [u8],
    header: &Header,
) -> Option<Entries<'a>> {
    let kind = header.flags & !(PageFlags::PACKED | PageFlags::DIRTY);
    if kind != PageFlags::LEAF {
        return None;
    }
    let entries = Entries::parse(bytes, header).ok()?;
    entries.check_nodes(&mut salvage.tiling).ok()?;
    (entries.len() > 0).then_some(entries)
}

fn names_databases(entries: &Entries<'_>) -> bool {
    entries.iter().any(|item| item.flags == NodeFlags::SUB_TREE)
}

/// Returns true if a leaf could hold duplicates, which have no values.
fn is_bare(entries: &Entries<'_>) -> bool {
    entries
        .iter()
        .all(|item| item.flags == 0 && item.data.is_empty())
}

/// Returns true if a leaf could be where the hole is.
fn fits(hole: &HoleState, pgno: u64, bytes: &[u8], tiling: &mut Tiling) -> bool {
    let tree = &hole.tree;
    let position = PagePosition {
        pgno,
        level: tree.record.depth,
        bounds: hole.bounds(),
    };
    let found = page_check::check_page(bytes, tree, position, tiling);
    let (None, Some(entries)) = (found.fault, found.entries) else {
        return false;
    };
    entries.iter().all(|item| match item.flags {
        NodeFlags::DUPLICATES => sub_page_entries(item.data, tree.flags).is_ok(),
        VALUE_TREE => TreeRecord::read(item.data)
            .is_some_and(|record| check_value_tree_record(&record, &tree.record).is_ok()),
        _ => true,
    })
}
