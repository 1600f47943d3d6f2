//! The fill of an empty store by a session, see [`ContentFill`].
//!
//! It holds the writer of the store. So it never waits long for a change of the configuration,
//! which may wait for the same writer.

use std::thread;
use std::time::{Duration, Instant};

use fulgurite_directory::{ContentFill, ContentReport, FillStep};
use fulgurite_replica::{ContentChange, Trouble};

use super::session::Session;

/// The time that a change of the definitions may take before the fill is given up.
const DEFINITIONS_WAIT: Duration = Duration::from_secs(5);
/// The time between looks at it.
const LOOK_EVERY: Duration = Duration::from_millis(10);

impl<'l> Session<'l> {
    /// Begins to fill the store if these changes begin a refresh into an empty one.
    pub(super) fn begin_fill(&mut self, changes: &[ContentChange]) -> Result<(), Trouble> {
        let begins = matches!(changes.first(), Some(ContentChange::BeginRefresh));
        if !begins || self.fill.is_some() {
            return Ok(());
        }
        let source = self.source;
        let fill = source.newest().begin_fill(&self.task.store);
        self.fill = fill.map_err(|error| Trouble::Store(error.to_string()))?;
        Ok(())
    }

    /// Gives changes to a fill. Returns the report if that has ended it.
    pub(super) fn fill_with(
        &mut self,
        mut fill: ContentFill<'l>,
        changes: Vec<ContentChange>,
    ) -> Result<Option<ContentReport>, Trouble> {
        let taken = fill.take(&mut self.content, changes);
        match taken.map_err(|error| Trouble::Store(error.to_string()))? {
            FillStep::Continues => {
                self.fill = Some(fill);
                Ok(None)
            }
            FillStep::Ends(rest) => self.finish_fill(fill, rest).map(Some),
        }
    }

    /// Makes a fill durable, with the changes behind it.
    pub(super) fn finish_fill(
        &mut self,
        fill: ContentFill<'l>,
        rest: Vec<ContentChange>,
    ) -> Result<ContentReport, Trouble> {
        let source = self.source;
        let changed = || Trouble::Connection("the configuration has changed".to_owned());
        let begun = Instant::now();
        // A change of the definitions looks for entries that use them, and must see these.
        let (directory, definitions) = loop {
            match source.newest_for_changes_at_once() {
                Some(held) => break held,
                None if begun.elapsed() >= DEFINITIONS_WAIT => return Err(changed()),
                None => thread::sleep(LOOK_EVERY),
            }
        };
        if self.is_outdated() {
            return Err(changed());
        }
        let report = match fill.is_empty() {
            true => {
                drop(fill);
                directory.apply_content(&self.task.store, &mut self.content, &rest)
            }
            false => fill.finish(&mut self.content, rest),
        };
        drop(definitions);
        report.map_err(|error| Trouble::Store(error.to_string()))
    }
}
