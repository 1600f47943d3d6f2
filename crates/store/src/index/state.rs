//! The indexes of a store as stored: which are complete, and which are being built or removed.
//!
//! ```text
//!   generation   "7"                                   grows with every change of what follows
//!   indexes      "mail:eq,sub <rule> <rule>" a line    complete: writers write them, searches read them;
//!                                                      a rule, or "-", for each kind that has rules
//!   work         "mail sub fill 4711" a line           under way, one line for each kind of an attribute
//!
//!   requested --> clear --> fill (from entry 1 on) --> complete --> drop --> removed
//!              not written    written, not read         both      not written
//! ```
//!
//! Each snapshot has its own state, so a search never reads an index that its snapshot contains in
//! part.

use super::config::IndexSpec;
use super::resolved::ResolvedSpec;
use crate::error::{Damage, OpenError, StoreError};
use fulgurite::{Database, Snapshot, WriteTxn};
use fulgurite_policy::{IndexKind, IndexKinds};
use fulgurite_schema::Schema;

const KEY_INDEXES: &[u8] = b"indexes";
const KEY_WORK: &[u8] = b"index-work";
const KEY_GENERATION: &[u8] = b"index-generation";

/// The stage of the work on an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexStage {
    /// The remains of a former index are deleted before the index is built.
    Clear,
    /// Entries are added to the index, in order of their ids.
    Fill,
    /// The index is given up, and its keys are deleted.
    Drop,
}

impl IndexStage {
    const ALL: [(IndexStage, &'static str); 3] = [
        (IndexStage::Clear, "clear"),
        (IndexStage::Fill, "fill"),
        (IndexStage::Drop, "drop"),
    ];

    fn word(self) -> &'static str {
        let mut all = IndexStage::ALL.iter();
        all.find(|(stage, _)| *stage == self)
            .map_or("", |(_, word)| word)
    }
}

/// A kind of index of an attribute that is being built or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkItem {
    pub(crate) attribute: String,
    pub(crate) kind: IndexKind,
    pub(crate) stage: IndexStage,
    /// The first entry that is not in the index yet.
    pub(crate) position: u64,
}

/// A complete index as stored, with the rules whose normal forms are in its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompleteIndex {
    pub(crate) spec: IndexSpec,
    /// The line, rules included.
    line: String,
}

/// The state of all indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexState {
    pub(crate) generation: u64,
    pub(crate) complete: Vec<CompleteIndex>,
    pub(crate) work: Vec<WorkItem>,
}

impl IndexState {
    /// Returns the state of a new store. Everything is complete, because there are no entries.
    pub(crate) fn of_new(resolved: &[ResolvedSpec<'_>]) -> IndexState {
        let complete = resolved.iter().map(CompleteIndex::of).collect();
        IndexState {
            generation: 1,
            complete,
            work: Vec::new(),
        }
    }

    /// Returns the number that changes with the rest of the state.
    pub(crate) fn generation_of(txn: &impl Snapshot, meta: Database) -> Result<u64, StoreError> {
        let text = text(txn, meta, KEY_GENERATION)?;
        Ok(text.parse().map_err(|_| Damage::Description)?)
    }

    pub(crate) fn read(txn: &impl Snapshot, meta: Database) -> Result<IndexState, StoreError> {
        let (complete, work) = (text(txn, meta, KEY_INDEXES)?, text(txn, meta, KEY_WORK)?);
        let complete = complete.lines().map(CompleteIndex::parse);
        let work = work.lines().map(WorkItem::parse);
        Ok(IndexState {
            generation: IndexState::generation_of(txn, meta)?,
            complete: complete.collect::<Option<_>>().ok_or(Damage::Description)?,
            work: work.collect::<Option<_>>().ok_or(Damage::Description)?,
        })
    }

    pub(crate) fn write(&self, txn: &mut WriteTxn<'_>, meta: Database) -> Result<(), StoreError> {
        let complete: Vec<&str> = self.complete.iter().map(|one| one.line.as_str()).collect();
        let work: Vec<String> = self.work.iter().map(WorkItem::line).collect();
        txn.put(meta, KEY_INDEXES, complete.join("\n").as_bytes())?;
        txn.put(meta, KEY_WORK, work.join("\n").as_bytes())?;
        txn.put(meta, KEY_GENERATION, self.generation.to_string().as_bytes())?;
        Ok(())
    }

    /// Stores only the progress of the work, which makes no new generation.
    pub(crate) fn write_positions(
        &self,
        txn: &mut WriteTxn<'_>,
        meta: Database,
    ) -> Result<(), StoreError> {
        let work: Vec<String> = self.work.iter().map(WorkItem::line).collect();
        Ok(txn.put(meta, KEY_WORK, work.join("\n").as_bytes())?)
    }

    /// Returns the complete kinds of an attribute.
    pub(crate) fn kinds_of(&self, attribute: &str) -> IndexKinds {
        let mut all = self.complete.iter();
        all.find(|one| one.spec.attribute == attribute)
            .map_or(IndexKinds::default(), |one| one.spec.kinds)
    }

    /// Records that a kind of index of an attribute is complete, or no longer complete.
    pub(crate) fn set_complete(
        &mut self,
        schema: &Schema,
        attribute: &str,
        kind: IndexKind,
        is_complete: bool,
    ) -> Result<(), OpenError> {
        let mut kinds = self.kinds_of(attribute);
        kinds.set(kind, is_complete);
        let spec = IndexSpec {
            attribute: attribute.to_owned(),
            kinds,
        };
        let changed = (kinds != IndexKinds::default())
            .then(|| {
                ResolvedSpec::resolve(schema, &spec).map(|resolved| CompleteIndex::of(&resolved))
            })
            .transpose()?;
        let at = (self.complete.iter()).position(|one| one.spec.attribute == attribute);
        match (at, changed) {
            (Some(at), Some(changed)) => self.complete.splice(at..=at, [changed]).for_each(drop),
            (Some(at), None) => drop(self.complete.remove(at)),
            (None, Some(changed)) => self.complete.push(changed),
            (None, None) => {}
        }
        Ok(())
    }

    /// Returns the complete indexes whose rules differ from the schema's. Their keys are useless.
    pub(crate) fn outdated(&self, schema: &Schema) -> Vec<IndexSpec> {
        let outdated = |one: &&CompleteIndex| {
            ResolvedSpec::resolve(schema, &one.spec)
                .is_ok_and(|resolved| rules_of(&resolved.recorded()) != rules_of(&one.line))
        };
        let complete = self.complete.iter().filter(outdated);
        complete.map(|one| one.spec.clone()).collect()
    }
}

/// Returns a line without the missing rules at its end. A line from before a kind existed lacks the
/// word of that kind.
fn rules_of(line: &str) -> &str {
    line.trim_end_matches(" -")
}

impl CompleteIndex {
    fn of(resolved: &ResolvedSpec<'_>) -> CompleteIndex {
        CompleteIndex {
            spec: IndexSpec {
                attribute: resolved.attribute.name().to_owned(),
                kinds: resolved.kinds,
            },
            line: resolved.recorded(),
        }
    }

    fn parse(line: &str) -> Option<CompleteIndex> {
        let spec = line.split(' ').next()?.parse().ok()?;
        Some(CompleteIndex {
            spec,
            line: line.to_owned(),
        })
    }
}

impl WorkItem {
    fn parse(line: &str) -> Option<WorkItem> {
        let mut words = line.split(' ');
        let (attribute, kind, stage) = (words.next()?, words.next()?, words.next()?);
        let mut stages = IndexStage::ALL.iter();
        Some(WorkItem {
            attribute: attribute.to_owned(),
            kind: IndexKind::named(kind)?,
            stage: stages.find(|(_, word)| *word == stage)?.0,
            position: words.next()?.parse().ok()?,
        })
    }

    fn line(&self) -> String {
        let WorkItem {
            attribute,
            kind,
            stage,
            position,
        } = self;
        format!("{attribute} {} {} {position}", kind.word(), stage.word())
    }
}

fn text(txn: &impl Snapshot, meta: Database, key: &[u8]) -> Result<String, StoreError> {
    let bytes = txn.get(meta, key)?.ok_or(Damage::Description)?;
    let text = std::str::from_utf8(bytes).map_err(|_| Damage::Description)?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_from_before_a_kind_existed_is_not_outdated() {
        let schema = Schema::standard();
        let outdated = |line: &str| {
            let state = IndexState {
                complete: vec![CompleteIndex::parse(line).unwrap()],
                ..IndexState::default()
            };
            !state.outdated(&schema).is_empty()
        };
        // The word of the kind `sub` is missing.
        assert!(!outdated("mail:eq caseIgnoreIA5Match"));
        assert!(!outdated("mail:eq caseIgnoreIA5Match -"));
        assert!(!outdated("mail:sub - caseIgnoreIA5SubstringsMatch"));
        assert!(outdated("mail:eq caseExactIA5Match -"));
        assert!(outdated("mail:eq,sub caseIgnoreIA5Match -"));
    }

    #[test]
    fn work_lines_are_parsed_and_printed() {
        let line = "mail sub fill 4711";
        let work = WorkItem::parse(line).unwrap();
        assert_eq!((work.line().as_str(), work.position), (line, 4711));
        for wrong in ["mail sub fill", "mail hash fill 1", "mail eq burn 1", ""] {
            assert_eq!(WorkItem::parse(wrong), None, "{wrong}");
        }
    }
}
