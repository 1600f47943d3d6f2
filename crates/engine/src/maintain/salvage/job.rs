//! One salvage from the choice of snapshots to the report.

use std::path::Path;

use fulgurite_os::File;

use super::holes::Holes;
use super::lost_pages::LostPagesFile;
use super::report::{Basis, SalvageError, SalvageReport, Totals};
use super::snapshots::{self, SnapshotChoice};
use super::source_stage::Stage;
use super::state::Salvage;
use super::writer::{self, RecordWriter};
use crate::maintain::check::{Access, CheckError, CheckOptions};
use crate::maintain::image::layout::Tiling;
use crate::maintain::image::meta::{Metas, Snapshot};
use crate::maintain::image::pages::Pages;
use crate::maintain::page_set::PageSet;

/// The most comparisons of pages without an owner with holes: some seconds of work.
const COMPARISONS_MAX: u64 = 200_000_000;

/// The input and output of a salvage.
pub(super) struct Job<'j> {
    pub(super) file: &'j File,
    pub(super) metas: &'j Metas,
    pub(super) path: &'j Path,
    pub(super) output: &'j Path,
    pub(super) options: &'j CheckOptions,
}

impl Job<'_> {
    pub(super) fn run(
        &self,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<SalvageReport, SalvageError> {
        let input = |error| SalvageError::Input(CheckError::read(self.path)(error));
        let SnapshotChoice {
            basis,
            page_bytes,
            newest,
            previous,
            notes,
        } = snapshots::choose(self.file, self.metas).map_err(input)?;
        let pages = Pages::new(self.file, page_bytes).map_err(input)?;
        let environment = writer::make(self.output, pages.file_pages() * page_bytes as u64)?;
        let last = newest.map_or(pages.file_pages().saturating_sub(1), |newest| newest.last);
        let mut salvage = Salvage {
            pages,
            last,
            claimed: PageSet::default(),
            free: PageSet::default(),
            free_is_whole: newest.is_some(),
            stage: Stage::Newest,
            budget: 8 * pages.file_pages() + 10_000,
            comparisons: COMPARISONS_MAX,
            last_key: Vec::new(),
            misplaced: Vec::new(),
            filter: None,
            previous_used: PageSet::default(),
            unwanted: 0,
            main_entries: 0,
            main_recorded: newest.map_or(0, |newest| newest.main.entries),
            free_records: 0,
            free_entries: newest.map_or(0, |newest| newest.free.entries),
            txnid: newest.map_or(u64::MAX, |newest| newest.txnid),
            tiling: Tiling::default(),
            buffers: Vec::new(),
            writer: RecordWriter::new(&environment, self.options)?,
            holes: Holes::default(),
            lost: LostPagesFile::new(self.output),
            totals: Totals::default(),
            previous,
            progress,
        };
        salvage.claimed.reset(pages.file_pages());
        salvage.free.reset(pages.file_pages());
        if let Some(newest) = newest {
            salvage.trees(&newest)?;
            salvage.attribute_orphans()?;
            salvage.fill_from_previous()?;
        }
        salvage.write_lost_pages()?;
        self.report(salvage, basis, newest, notes)
    }

    /// Ends the new environment and the file of lost pages, and makes the report.
    fn report(
        &self,
        mut salvage: Salvage<'_, '_>,
        basis: Basis,
        newest: Option<Snapshot>,
        notes: Vec<String>,
    ) -> Result<SalvageReport, SalvageError> {
        let page_bytes = salvage.pages.page_bytes();
        let (mut totals, lost) = (salvage.totals, salvage.lost.finish()?);
        totals.notes.extend(notes);
        let databases = salvage.writer.finish()?;
        Ok(SalvageReport {
            basis,
            txnid: newest.map(|newest| newest.txnid),
            page_bytes,
            access: Access::NoLockFile,
            output: self.output.to_owned(),
            databases,
            holes_total: salvage.holes.total(),
            holes: salvage.holes.into_reported(),
            pages_lost: totals.pages_lost,
            refused: totals.refused,
            lost_pages: lost.pages,
            lost_records: lost.records,
            lost_file: lost.path,
            notes: totals.notes,
        })
    }
}
