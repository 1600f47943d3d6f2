//! Online compaction: moves pages from the end of the file to free pages before them, and cuts the
//! file off. Readers and writers go on meanwhile, those with the original library too.
//!
//! ```text
//!   plan       live pages + some room = the mark
//!   move       small write transactions copy pages after the mark to free pages before it
//!              |..live..free..live..free..|mark|..live..free..|last
//!   settle     wait until no snapshot and no meta page refers to the old positions
//!   lower      a commit with a lower last page, and no free pages after it
//!   cut off    once that is durable and no reader is older, the file gets shorter
//! ```
//!
//! Copy on write does all of it. A move rewrites the path to the page, as any change does, but
//! takes only free pages before the mark. So other processes meet two new facts only: a last page
//! that is lower than before, and a shorter file. Both were tested with the original library. Its
//! writers read the last page from the meta page at each start, and extend the file when they
//! write. Its readers access reachable pages only.
//!
//! A process that *stores* through a map ([`crate::OpenOptions::write_map`]) would store beyond the
//! end of the file and be killed. So if another process may have such a map, the file keeps its
//! length and its tail becomes a hole.
//!
//! Overflow runs stay where they are if there are too few consecutive free pages. So does
//! everything that long readers pin.

mod compaction;
mod cut;
mod mover;
mod moving;
mod plan;
mod resumable_walk;

pub use compaction::{CompactReport, CompactStep, Compaction};

use crate::{Environment, Error};
use compaction::Stage;

impl Environment {
    /// Does a bounded part of a compaction: at most one write transaction, which waits for its turn
    /// as any other.
    ///
    /// A step reads at most 16,384 leaves without blocking writers. As the writer it reads at most
    /// 1,024 leaves and moves about 256 pages. It also reads and rewrites up to eight mebibytes of
    /// the free list; the first step counts all of it. A step that cuts the file off first waits
    /// until everything is durable, whatever the durability of the environment. The file never gets
    /// shorter than a snapshot that a reader pins.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], and the errors of [`Environment::read`], [`Environment::write`] and
    /// [`crate::WriteTxn::commit`]. [`Error::Corrupted`] for a damaged page. The environment is as
    /// after any failed transaction.
    pub fn compact_step(&self, compaction: &mut Compaction) -> Result<CompactStep, Error> {
        if self.handle().is_read_only() {
            return Err(Error::ReadOnly);
        }
        let step = match compaction.stage.clone() {
            Stage::Plan => compaction.plan(self),
            Stage::Move { mark, position } => compaction.advance(self, mark, position),
            Stage::Settle => compaction.settle(self),
            Stage::Lower => compaction.lower(self),
            Stage::CutOff => compaction.cut_off(self),
            Stage::Punch(id, at) => compaction.punch(self, id, at),
            Stage::Done => Ok(CompactStep::Done),
        };
        compaction.report.bytes_after = self.handle().mapping().refresh_len()?;
        step.map_err(Error::from)
    }
}
