//! A set of ids, described: how to get at one chunk of it.

use crate::error::StoreError;
use crate::ids::EntryId;
use crate::idset::{Bits, IdSet, split};
use crate::index;
use crate::store::Databases;
use fulgurite::Snapshot;

/// A set of entries. It owns what it needs, so that plans outlive the view they were made on.
#[derive(Debug)]
pub(crate) enum Term {
    /// No entry.
    Nothing,
    /// Every entry.
    All,
    /// Some ids, ascending.
    Ids(Vec<EntryId>),
    /// Many ids in memory.
    Set(IdSet),
    /// A posting in the index, with the chunks it occupies as far as known.
    Posting {
        key: Vec<u8>,
        first: u32,
        last: Option<u32>,
    },
    /// In all of them.
    And(Vec<Term>),
    /// In one of them.
    Or(Vec<Term>),
    /// Every entry but these.
    Not(Box<Term>),
}

/// Where terms are evaluated.
pub(crate) struct Source<'a, T> {
    pub(crate) txn: &'a T,
    pub(crate) dbs: Databases,
    pub(crate) all_entries: &'a [u8],
}

impl Term {
    /// The number of the first chunk at or after `from` that may hold an id.
    pub(crate) fn next_chunk<T: Snapshot>(
        &self,
        source: &Source<'_, T>,
        from: u32,
    ) -> Result<Option<u32>, StoreError> {
        let stored = |key: &[u8], from| index::next_chunk(source.txn, source.dbs.index, key, from);
        match self {
            Term::Nothing => Ok(None),
            Term::All | Term::Not(_) => stored(source.all_entries, from),
            Term::Ids(ids) => Ok(ids
                .iter()
                .map(|id| split(*id).0)
                .find(|chunk| *chunk >= from)),
            Term::Set(set) => Ok(set.next_chunk(from)),
            Term::Posting { first, .. } if from <= *first => Ok(Some(*first)),
            Term::Posting {
                last: Some(last), ..
            } if from > *last => Ok(None),
            Term::Posting { key, .. } => stored(key, from),
            Term::And(terms) => next_common_chunk(terms, source, from),
            Term::Or(terms) => {
                let mut lowest = None;
                for term in terms {
                    let next = term.next_chunk(source, from)?;
                    lowest = lowest.into_iter().chain(next).min();
                }
                Ok(lowest)
            }
        }
    }

    /// Adds the ids of one chunk to `bits`.
    pub(crate) fn load<T: Snapshot>(
        &self,
        source: &Source<'_, T>,
        chunk: u32,
        bits: &mut Bits,
    ) -> Result<(), StoreError> {
        let stored = |key: &[u8], bits: &mut Bits| {
            index::load_chunk(source.txn, source.dbs.index, key, chunk, bits)
        };
        match self {
            Term::Nothing => {}
            Term::All => stored(source.all_entries, bits)?,
            Term::Ids(ids) => {
                let places = ids
                    .iter()
                    .map(|id| split(*id))
                    .filter(|(number, _)| *number == chunk);
                places.for_each(|(_, low)| {
                    bits.insert(low);
                });
            }
            Term::Set(set) => {
                if let Some(found) = set.chunk(chunk) {
                    bits.or(found);
                }
            }
            Term::Posting { key, .. } => stored(key, bits)?,
            Term::And(terms) => bits.or(&load_common(terms, source, chunk)?),
            Term::Or(terms) => terms
                .iter()
                .try_for_each(|term| term.load(source, chunk, bits))?,
            Term::Not(term) => {
                let (mut all, mut these) = (Bits::new(), Bits::new());
                stored(source.all_entries, &mut all)?;
                term.load(source, chunk, &mut these)?;
                all.and_not(&these);
                bits.or(&all);
            }
        }
        Ok(())
    }
}

/// Leaps from term to term until all have something in the same chunk.
fn next_common_chunk<T: Snapshot>(
    terms: &[Term],
    source: &Source<'_, T>,
    from: u32,
) -> Result<Option<u32>, StoreError> {
    let mut chunk = from;
    let mut agreed = 0;
    for term in terms.iter().cycle() {
        match term.next_chunk(source, chunk)? {
            None => return Ok(None),
            Some(next) if next == chunk => agreed += 1,
            Some(next) => (chunk, agreed) = (next, 1),
        }
        if agreed == terms.len() {
            return Ok(Some(chunk));
        }
    }
    Ok(None)
}

fn load_common<T: Snapshot>(
    terms: &[Term],
    source: &Source<'_, T>,
    chunk: u32,
) -> Result<Bits, StoreError> {
    let mut common = Bits::new();
    for (position, term) in terms.iter().enumerate() {
        if position == 0 {
            term.load(source, chunk, &mut common)?;
            continue;
        }
        if common.is_empty() {
            break;
        }
        let mut these = Bits::new();
        term.load(source, chunk, &mut these)?;
        common.and(&these);
    }
    Ok(common)
}
