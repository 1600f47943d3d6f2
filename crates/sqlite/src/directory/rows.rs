//! The values of the entries of a query, one after the other. One entry is held at a time.

use std::rc::Rc;

use fulgurite_store::{AttributeView, DnCache, EntryView, ValuesIter};
use self_cell::self_cell;

use super::failures;
use super::opened::ViewCell;
use super::query::{EntrySource, Query};
use crate::error::Result;

self_cell!(
    /// A scan together with its snapshot.
    pub(super) struct RowsCell {
        owner: Rc<ViewCell>,
        #[not_covariant]
        dependent: Rows,
    }
);

/// A position among the values.
pub(super) struct Rows<'v> {
    found: EntrySource<'v>,
    names: DnCache,
    /// The attributes of the current entry behind the current one, the last one first.
    attributes: Vec<AttributeView<'v>>,
    values: Option<ValuesIter<'v>>,
    current: Option<Current<'v>>,
    dn: String,
}

/// A row.
#[derive(Clone, Copy)]
pub(super) struct Current<'v> {
    pub(super) entry: EntryView<'v>,
    pub(super) attribute: AttributeView<'v>,
    pub(super) value: &'v [u8],
    /// The number of the value within its attribute.
    pub(super) number: usize,
}

impl RowsCell {
    /// Goes to the first row of a query.
    pub(super) fn begin(view: Rc<ViewCell>, query: &Query) -> Result<RowsCell> {
        let mut cell = RowsCell::try_new(view, |view| {
            Ok::<_, rusqlite::Error>(Rows {
                found: EntrySource::plan(view.borrow_dependent(), query)?,
                names: DnCache::new(),
                attributes: Vec::new(),
                values: None,
                current: None,
                dn: String::new(),
            })
        })?;
        cell.next()?;
        Ok(cell)
    }

    /// Goes to the next row.
    pub(super) fn next(&mut self) -> Result<()> {
        self.with_dependent_mut(|_, rows| rows.next())
    }

    /// Lends the current row, with the name of its entry; `None` behind the last one.
    pub(super) fn current<T>(&self, work: impl FnOnce(Option<(Current<'_>, &str)>) -> T) -> T {
        self.with_dependent(|_, rows| work(rows.current.map(|current| (current, &*rows.dn))))
    }
}

impl Rows<'_> {
    fn next(&mut self) -> Result<()> {
        loop {
            if let (Some(values), Some(current)) = (&mut self.values, &mut self.current)
                && let Some(value) = values.next()
            {
                (current.value, current.number) = (value, current.number + 1);
                return Ok(());
            }
            let Some(attribute) = self.attributes.pop() else {
                if !self.next_entry()? {
                    return Ok(());
                }
                continue;
            };
            let mut values = attribute.values.iter();
            if let (Some(value), Some(current)) = (values.next(), &mut self.current) {
                *current = Current {
                    entry: current.entry,
                    attribute,
                    value,
                    number: 0,
                };
                self.values = Some(values);
                return Ok(());
            }
        }
    }

    /// Goes to the next entry that has a wanted attribute. Returns false behind the last one.
    fn next_entry(&mut self) -> Result<bool> {
        (self.values, self.current) = (None, None);
        while let Some(entry) = self.found.next()? {
            let wanted = self.found.wanted.as_deref();
            let is_wanted = |attribute: &AttributeView<'_>| {
                !attribute.values.is_empty()
                    && wanted.is_none_or(|wanted| wanted.contains(&attribute.info.id))
            };
            self.attributes.clear();
            self.attributes.extend(entry.attributes().filter(is_wanted));
            self.attributes.reverse();
            let Some(first) = self.attributes.last() else {
                continue;
            };
            self.current = Some(Current {
                entry,
                attribute: *first,
                value: &[],
                number: 0,
            });
            self.dn.clear();
            entry
                .write_dn(&mut self.names, &mut self.dn)
                .map_err(failures::store)?;
            return Ok(true);
        }
        Ok(false)
    }
}
