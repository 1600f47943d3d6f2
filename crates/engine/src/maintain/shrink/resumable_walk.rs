//! A walk over all trees of an environment that looks for pages after a mark. It can stop and
//! continue later.
//!
//! It stores entry indexes and never compares keys: a database may have an order that the file does
//! not record. If others have changed the trees meanwhile, it continues nearby. The next walk finds
//! what it misses that way.
//!
//! It does not use the visitor of [`crate::maintain::walk`]. A visitor cannot be suspended, and it
//! does not lend the paths that the mover changes.

use alloc::vec::Vec;
use fulgurite_format::{DatabaseFlags, Malformed, NodeFlags, PageKind, Pgno, TreeRecord};

use crate::boxed_error::BoxedError;
use crate::maintain::walk::{TreeRole, has_reference, referenced_tree};
use crate::space::{PageView, free_tree};
use crate::tree::{self, Pages, Path, Step, Tree};
use crate::{Error, KeyOrder, value};

/// The tree in which a walk is, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum RootTree {
    #[default]
    FreeList,
    Main,
    End,
}

/// A position to continue at: the root tree, and the entry indexes in each of the trees, outermost
/// first.
#[derive(Debug, Clone, Default)]
pub(super) struct WalkPosition {
    root: RootTree,
    indexes: Vec<Vec<usize>>,
}

/// A tree on the path, and the position in it.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) tree: Tree,
    pub(super) path: Path,
    role: TreeRole,
}

/// The records of the two trees of a snapshot.
#[derive(Debug, Clone, Copy)]
pub(super) struct RootRecords {
    pub(super) free: TreeRecord,
    pub(super) main: TreeRecord,
}

/// A walk. A tree of duplicates follows a named tree or the main tree, and a named tree follows the
/// main tree.
#[derive(Debug)]
pub(super) struct ResumableWalk {
    pub(super) root: RootTree,
    pub(super) frames: Vec<Frame>,
}

/// The reason why a walk paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WalkEvent {
    /// A tree page on the path is after the mark.
    Page,
    /// The overflow run of the current entry is after the mark.
    Run { first: Pgno, count: u64 },
    /// The walk has read as many leaves as it may.
    LeafLimit,
    /// The walk is at the end.
    End,
}

impl ResumableWalk {
    /// Continues a walk.
    pub(super) fn resume(
        view: PageView<'_>,
        roots: RootRecords,
        position: &WalkPosition,
    ) -> Result<ResumableWalk, BoxedError> {
        let mut walk = ResumableWalk {
            root: position.root,
            frames: Vec::new(),
        };
        let mut indexes = position.indexes.iter().map(Vec::as_slice);
        walk.enter_root(view, roots, indexes.next().unwrap_or_default())?;
        for indexes in indexes {
            let Some((record, role)) = walk.referred(view)? else {
                break;
            };
            if !walk.enter(view, record, role, indexes)? {
                break;
            }
        }
        Ok(walk)
    }

    /// Returns the position of the walk.
    pub(super) fn position(&self) -> WalkPosition {
        let indexes = |frame: &Frame| {
            let steps = (0..frame.path.len()).filter_map(|level| frame.path.step(level));
            steps.map(|step| step.index).collect()
        };
        WalkPosition {
            root: self.root,
            indexes: self.frames.iter().map(indexes).collect(),
        }
    }

    /// Goes to the next page or run after `mark`. It reads at most `leaves` leaves and subtracts
    /// those it reads.
    ///
    /// It finds the same one again unless that was moved or stepped over.
    pub(super) fn find(
        &mut self,
        view: PageView<'_>,
        roots: RootRecords,
        mark: Pgno,
        leaves: &mut u64,
    ) -> Result<WalkEvent, BoxedError> {
        loop {
            let Some(frame) = self.frames.last_mut() else {
                self.root = match self.root {
                    RootTree::FreeList => RootTree::Main,
                    _ => RootTree::End,
                };
                if self.root == RootTree::End {
                    return Ok(WalkEvent::End);
                }
                self.enter_root(view, roots, &[])?;
                continue;
            };
            if frame.reaches_behind(mark) {
                return Ok(WalkEvent::Page);
            }
            let met = frame.next_reference(view)?;
            match met {
                Some(NodeFlags::OVERFLOW) => {
                    let leaf = tree::leaf_of(&frame.path, &frame.tree)?;
                    let node = view.leaf_node(leaf)?;
                    let (first, count) = value::run_of(view, leaf.pgno, &node)?;
                    if first.0 + (count - 1) > mark.0 {
                        return Ok(WalkEvent::Run { first, count });
                    }
                    self.step_over();
                }
                Some(_) => {
                    if *leaves == 0 {
                        return Ok(WalkEvent::LeafLimit);
                    }
                    *leaves -= 1;
                    let entered = match self.referred(view)? {
                        Some((record, role)) => self.enter(view, record, role, &[])?,
                        None => false,
                    };
                    if !entered {
                        self.step_over();
                    }
                }
                None => {
                    if *leaves == 0 {
                        return Ok(WalkEvent::LeafLimit);
                    }
                    *leaves -= 1;
                    if !tree::next_leaf(view, &frame.tree, &mut frame.path)? {
                        self.frames.pop();
                        self.step_over();
                    }
                }
            }
        }
    }

    /// Steps over the current entry.
    pub(super) fn step_over(&mut self) {
        let leaf = self
            .frames
            .last_mut()
            .and_then(|frame| frame.path.leaf_mut());
        if let Some(leaf) = leaf {
            leaf.index += 1;
        }
    }

    /// Returns the number of pages on the path.
    pub(super) fn len(&self) -> usize {
        self.frames.iter().map(|frame| frame.path.len()).sum()
    }

    fn enter_root(
        &mut self,
        view: PageView<'_>,
        roots: RootRecords,
        indexes: &[usize],
    ) -> Result<(), BoxedError> {
        let (record, role) = match self.root {
            RootTree::FreeList => (roots.free, TreeRole::FreeList),
            RootTree::Main => (roots.main, TreeRole::Main),
            RootTree::End => return Ok(()),
        };
        self.enter(view, record, role, indexes).map(|_| ())
    }

    /// Enters a tree along `indexes`, as far as they fit. Returns false if the tree is empty.
    fn enter(
        &mut self,
        view: PageView<'_>,
        record: TreeRecord,
        role: TreeRole,
        indexes: &[usize],
    ) -> Result<bool, BoxedError> {
        if record.root.is_none() {
            return Ok(false);
        }
        // The order does not matter: nothing is compared.
        let mut tree = match role {
            TreeRole::FreeList => free_tree(record),
            _ => Tree::plain(record, KeyOrder::Lexical),
        };
        tree.leaf = role.leaf_kind(&record);
        let path = descend(view, &tree, indexes)?;
        self.frames.push(Frame { tree, path, role });
        Ok(true)
    }

    /// Returns the tree that the current entry refers to.
    fn referred(&self, view: PageView<'_>) -> Result<Option<(TreeRecord, TreeRole)>, BoxedError> {
        let Some(frame) = self.frames.last() else {
            return Ok(None);
        };
        let Some(at) = frame
            .path
            .leaf()
            .filter(|_| frame.tree.leaf == PageKind::Leaf)
        else {
            return Ok(None);
        };
        if at.index >= view.tree_page(at.pgno, PageKind::Leaf)?.len() {
            return Ok(None);
        }
        let node = view.leaf_node(at)?;
        if node.flags.0 & NodeFlags::SUB_TREE == 0 {
            return Ok(None);
        }
        let (record, role) = referenced_tree(frame.role, at.pgno, at.index, &node)?;
        record.check(view.last()).map_err(Error::at(at.pgno))?;
        Ok(Some((record, role)))
    }
}

impl Frame {
    fn reaches_behind(&self, mark: Pgno) -> bool {
        (0..self.path.len())
            .filter_map(|level| self.path.step(level))
            .any(|step| step.pgno > mark)
    }

    /// Goes to the next entry of the leaf that refers to other pages, the current one included.
    /// Returns its flags.
    fn next_reference(&mut self, view: PageView<'_>) -> Result<Option<u16>, BoxedError> {
        let plain = self.role == TreeRole::Named
            && self.tree.record.overflow_pages == 0
            && !self.tree.record.flags.has(DatabaseFlags::DUP_SORT);
        let Some(at) = self.path.leaf_mut() else {
            return Ok(None);
        };
        if plain || self.role == TreeRole::Duplicates || self.tree.leaf != PageKind::Leaf {
            return Ok(None);
        }
        let page = view.tree_page(at.pgno, PageKind::Leaf)?;
        for index in at.index..page.len() {
            let flags = page.node_flags(index).map_err(Error::at(at.pgno))?.0;
            if has_reference(flags) {
                at.index = index;
                return Ok(Some(flags));
            }
        }
        Ok(None)
    }
}

/// Returns the path from a root down along these indexes. Where there are fewer entries it takes
/// the last one, and the first ones below.
fn descend(view: PageView<'_>, tree: &Tree, indexes: &[usize]) -> Result<Path, BoxedError> {
    let mut path = Path::new();
    let mut pgno = tree.record.root;
    let mut indexes = if indexes.len() == usize::from(tree.record.depth) {
        indexes
    } else {
        &[]
    };
    loop {
        let kind = tree.kind_at(path.len());
        let page = view.tree_page(pgno, kind)?;
        let wanted = indexes.get(path.len()).copied().unwrap_or(0);
        if kind.is_leaf() {
            path.push(Step {
                pgno,
                index: wanted.min(page.len()),
            })?;
            return Ok(path);
        }
        let last = page
            .len()
            .checked_sub(1)
            .ok_or_else(|| Error::at(pgno)(Malformed::TooFewEntries(0)))?;
        let index = wanted.min(last);
        if index < wanted {
            indexes = &[];
        }
        path.push(Step { pgno, index })?;
        pgno = tree::child_at(view, &page, pgno, index)?;
    }
}
