//! The records of a range.

use core::iter::FusedIterator;

use fulgurite_format::{Page, Pgno};

use super::Values;
use super::bounds::Gap;
use super::entries::Entries;
use crate::boxed_error::BoxedError;
use crate::cursor::Record;
use crate::space::PageView;
use crate::tree::Tree;
use crate::{Error, value};

/// The records of a range in their order, from both ends; see [`crate::Snapshot::range`] and
/// [`crate::Snapshot::prefix`]. A key with several values comes with each of them.
///
/// After an error, which says that the file is damaged, there are no more.
///
/// ```
/// # use fulgurite::{Environment, KeyOrder, Snapshot};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let environment = Environment::options().open(directory.path())?;
/// # let mut txn = environment.write()?;
/// let rivers = txn.create_database("rivers", KeyOrder::Lexical)?;
/// for river in ["aller", "elbe", "ems", "oder", "rhine"] {
///     txn.put(rivers, river.as_bytes(), b"")?;
/// }
/// for record in txn.range(rivers, "b".."o")? {
///     let (key, _) = record?;
///     assert!(key == b"elbe" || key == b"ems");
/// }
/// let backwards: Result<Vec<_>, _> = txn.prefix(rivers, b"e")?.keys().rev().collect();
/// assert_eq!(backwards?, [&b"ems"[..], b"elbe"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Records<'t> {
    entries: Entries<'t>,
    has_duplicates: bool,
    /// The keys whose values are being taken, at either end.
    ends: [Option<PartialKey<'t>>; 2],
}

/// The indexes of [`Records::ends`].
const FRONT: usize = 0;
const BACK: usize = 1;

/// A key with the values that are still to be taken.
#[derive(Debug, Clone)]
struct PartialKey<'t> {
    key: &'t [u8],
    values: Values<'t>,
}

/// The keys of a range, each once, from both ends; see [`Records::keys`]. It does not read values.
#[derive(Debug, Clone)]
pub struct Keys<'t>(Entries<'t>);

/// The keys of a range, each with its first value, from both ends; see [`Records::first_values`].
#[derive(Debug, Clone)]
pub struct FirstValues<'t>(Entries<'t>);

impl<'t> Records<'t> {
    pub(crate) fn between(
        pages: PageView<'t>,
        tree: Tree,
        low: Gap<'_>,
        high: Gap<'_>,
    ) -> Result<Records<'t>, BoxedError> {
        Ok(Records {
            entries: Entries::between(pages, tree, low, high)?,
            has_duplicates: tree.has_duplicates(),
            ends: [None, None],
        })
    }

    /// Returns the keys of the records, each once, without those whose records were taken.
    #[must_use]
    pub fn keys(self) -> Keys<'t> {
        Keys(self.entries)
    }

    /// Returns the keys with their first values, without those whose records were taken.
    #[must_use]
    pub fn first_values(self) -> FirstValues<'t> {
        FirstValues(self.entries)
    }

    /// Returns the next record in a direction if it takes more than a look into the leaf.
    #[inline(never)]
    fn next_by_entry<const FORWARD: bool>(&mut self) -> Option<Result<Record<'t>, BoxedError>> {
        if self.has_duplicates {
            return self.next_of_several::<FORWARD>();
        }
        let pages = self.entries.pages();
        self.entries
            .step::<FORWARD, _>(|leaf, page, index| only_record(pages, leaf, page, index))
    }

    fn next_of_several<const FORWARD: bool>(&mut self) -> Option<Result<Record<'t>, BoxedError>> {
        let (near, far) = if FORWARD {
            (FRONT, BACK)
        } else {
            (BACK, FRONT)
        };
        loop {
            match PartialKey::next::<FORWARD>(&mut self.ends[near]) {
                Some(Err(error)) => return self.failed(error.into()),
                Some(record) => return Some(record),
                None => {}
            }
            let done = self.ends[near].take();
            let done = done.map_or(0, |key| key.values.leaves_passed());
            if let Err(error) = self.entries.add_leaves(done) {
                return self.failed(error.into());
            }
            let (pages, tree) = (self.entries.pages(), *self.entries.tree());
            let entry = self.entries.step::<FORWARD, _>(|leaf, page, index| {
                PartialKey::of(pages, &tree, leaf, page, index)
            });
            match entry {
                Some(Ok(key)) => self.ends[near] = Some(key),
                Some(Err(error)) => return self.failed(error.into()),
                // Both ends have met: the other end may still have values of its key.
                None => return PartialKey::next::<FORWARD>(&mut self.ends[far]),
            }
        }
    }

    #[cold]
    fn failed(&mut self, error: Error) -> Option<Result<Record<'t>, BoxedError>> {
        self.ends = [None, None];
        self.entries.finish();
        Some(Err(error.into()))
    }
}

impl<'t> PartialKey<'t> {
    fn of(
        pages: PageView<'t>,
        tree: &Tree,
        leaf: Pgno,
        page: &Page<'t>,
        index: usize,
    ) -> Result<PartialKey<'t>, BoxedError> {
        let node = page.leaf(index).map_err(Error::at(leaf))?;
        Ok(PartialKey {
            key: node.key,
            values: Values::of(pages, tree, leaf, &node)?,
        })
    }

    /// Takes the next value in a direction.
    fn next<const FORWARD: bool>(
        key: &mut Option<PartialKey<'t>>,
    ) -> Option<Result<Record<'t>, BoxedError>> {
        let PartialKey { key, values } = key.as_mut()?;
        let value = if FORWARD {
            values.next()?
        } else {
            values.next_back()?
        };
        Some(value.map(|value| (*key, value)).map_err(BoxedError::from))
    }
}

/// The record of a leaf entry that has one value.
#[inline(always)]
fn only_record<'t>(
    pages: PageView<'t>,
    leaf: Pgno,
    page: &Page<'t>,
    index: usize,
) -> Result<Record<'t>, BoxedError> {
    let node = page.leaf(index).map_err(Error::at(leaf))?;
    Ok((node.key, value::value_of(pages, leaf, &node)?))
}

/// The record of a leaf entry's first value.
#[inline]
fn first_record<'t>(
    pages: PageView<'t>,
    tree: &Tree,
    leaf: Pgno,
    page: &Page<'t>,
    index: usize,
) -> Result<Record<'t>, BoxedError> {
    if !tree.has_duplicates() {
        return only_record(pages, leaf, page, index);
    }
    let node = page.leaf(index).map_err(Error::at(leaf))?;
    Ok((node.key, value::first_value(pages, tree, leaf, &node)?))
}

impl<'t> Iterator for Records<'t> {
    type Item = Result<Record<'t>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if !self.has_duplicates
            && let Some(record) = self.entries.next_in_leaf()
        {
            return Some(Ok(record));
        }
        self.next_by_entry::<true>()
            .map(|found| found.map_err(Error::from))
    }
}

impl DoubleEndedIterator for Records<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        if !self.has_duplicates
            && let Some(record) = self.entries.next_back_in_leaf()
        {
            return Some(Ok(record));
        }
        self.next_by_entry::<false>()
            .map(|found| found.map_err(Error::from))
    }
}

impl FusedIterator for Records<'_> {}

impl<'t> Iterator for Keys<'t> {
    type Item = Result<&'t [u8], Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0
            .next(|leaf, page, index| page.key(index).map_err(Error::at(leaf)))
            .map(|found| found.map_err(Error::from))
    }
}

impl DoubleEndedIterator for Keys<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0
            .next_back(|leaf, page, index| page.key(index).map_err(Error::at(leaf)))
            .map(|found| found.map_err(Error::from))
    }
}

impl FusedIterator for Keys<'_> {}

impl<'t> Iterator for FirstValues<'t> {
    type Item = Result<Record<'t>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (pages, tree) = (self.0.pages(), *self.0.tree());
        self.0
            .next(|leaf, page, index| first_record(pages, &tree, leaf, page, index))
            .map(|found| found.map_err(Error::from))
    }
}

impl DoubleEndedIterator for FirstValues<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let (pages, tree) = (self.0.pages(), *self.0.tree());
        self.0
            .next_back(|leaf, page, index| first_record(pages, &tree, leaf, page, index))
            .map(|found| found.map_err(Error::from))
    }
}

impl FusedIterator for FirstValues<'_> {}
