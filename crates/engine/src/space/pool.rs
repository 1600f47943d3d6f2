//! Free pages at hand, kept in order so that runs can be found.

use fulgurite_format::Pgno;

/// Free pages, taken from the lowest number up.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    /// Descending, so that the lowest is cheap to take.
    pages: Vec<Pgno>,
    /// No run of this length or longer is in the pool; known from the last search.
    no_run_of: Option<u64>,
}

impl Pool {
    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }

    /// The pages, descending.
    pub(crate) fn pages(&self) -> &[Pgno] {
        &self.pages
    }

    /// Adds pages; `false` if one of them is there already.
    pub(crate) fn add(&mut self, more: impl Iterator<Item = Pgno>) -> bool {
        self.pages.extend(more);
        self.pages.sort_unstable_by(|a, b| b.cmp(a));
        self.no_run_of = None;
        self.pages
            .windows(2)
            .all(|pair| matches!(pair, [a, b] if a != b))
    }

    /// Takes `count` consecutive pages, if there are such.
    pub(crate) fn take(&mut self, count: u64) -> Option<Pgno> {
        if count == 1 {
            return self.pages.pop();
        }
        if self.no_run_of.is_some_and(|known| count >= known) {
            return None;
        }
        let width = usize::try_from(count).ok()?;
        let found = self
            .pages
            .windows(width)
            .rposition(|run| match (run.first(), run.last()) {
                (Some(high), Some(low)) => high.0 - low.0 == count - 1,
                _ => false,
            });
        let Some(start) = found else {
            self.no_run_of = Some(count);
            return None;
        };
        self.pages.drain(start..start + width).next_back()
    }
}
