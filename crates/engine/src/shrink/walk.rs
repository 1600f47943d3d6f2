//! A walk over all trees of the environment that looks for pages behind a mark, and can be left and taken up again.
//!
//! It goes by the places of entries and never compares keys: a database's order may be a program's own, which the file does
//! not tell. Where it stopped is remembered as entries too. When others have changed the trees meanwhile it goes on nearby;
//! what it misses that way is found by the next walk.

use fulgurite_format::{
    DatabaseFlags, Malformed, NodeFlags, PageKind, Pgno, TREE_RECORD_LEN, TreeRecord,
};

use crate::space::{PageView, free_tree};
use crate::tree::{self, Pages, Path, Step, Tree};
use crate::visit::{SUB_DATABASE, duplicate_leaf};
use crate::{Error, KeyOrder, value};

/// Where the walk begins, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Root {
    #[default]
    FreeList,
    Main,
    End,
}

/// A place to take a walk up again: the root, and the entries taken in each of the trees, outermost first.
#[derive(Debug, Clone, Default)]
pub(super) struct Position {
    root: Root,
    turns: Vec<Vec<usize>>,
}

/// What the leaves of a tree may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    FreeList,
    Main,
    Named,
    Duplicates,
}

/// A tree on the way, and how far the walk is in it.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) tree: Tree,
    pub(super) path: Path,
    role: Role,
}

/// The records of the two trees that a snapshot begins with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Roots {
    pub(super) free: TreeRecord,
    pub(super) main: TreeRecord,
}

/// A walk. Each tree of duplicates stands on one of a named database or of the main tree, which names stand on.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) root: Root,
    pub(super) frames: Vec<Frame>,
}

/// What was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// A tree page on the way lies behind the mark.
    Page,
    /// The overflow run of the entry at hand does.
    Run { first: Pgno, count: u64 },
    /// As many leaves were looked at as was allowed.
    Enough,
    /// There is nothing more.
    End,
}

impl Walk {
    /// Takes a walk up.
    pub(super) fn resume(
        view: PageView<'_>,
        roots: Roots,
        position: &Position,
    ) -> Result<Walk, Error> {
        let mut walk = Walk {
            root: position.root,
            frames: Vec::new(),
        };
        let mut turns = position.turns.iter().map(Vec::as_slice);
        walk.enter_root(view, roots, turns.next().unwrap_or_default())?;
        for turns in turns {
            let Some((record, role)) = walk.referred(view)? else {
                break;
            };
            if !walk.enter(view, record, role, turns)? {
                break;
            }
        }
        Ok(walk)
    }

    /// Where the walk is.
    pub(super) fn position(&self) -> Position {
        let turns = |frame: &Frame| {
            let steps = (0..frame.path.len()).filter_map(|level| frame.path.step(level));
            steps.map(|step| step.index).collect()
        };
        Position {
            root: self.root,
            turns: self.frames.iter().map(turns).collect(),
        }
    }

    /// Goes on to the next page or run behind `mark`, looking at no more than `leaves` leaves, which are counted down.
    /// The same is found again unless it was moved, or was stepped over.
    pub(super) fn find(
        &mut self,
        view: PageView<'_>,
        roots: Roots,
        mark: Pgno,
        leaves: &mut u64,
    ) -> Result<Found, Error> {
        loop {
            let Some(frame) = self.frames.last_mut() else {
                self.root = match self.root {
                    Root::FreeList => Root::Main,
                    _ => Root::End,
                };
                if self.root == Root::End {
                    return Ok(Found::End);
                }
                self.enter_root(view, roots, &[])?;
                continue;
            };
            if frame.reaches_behind(mark) {
                return Ok(Found::Page);
            }
            let met = frame.next_reference(view)?;
            match met {
                Some(NodeFlags::OVERFLOW) => {
                    let leaf = tree::leaf_of(&frame.path, &frame.tree)?;
                    let node = view.leaf_node(leaf)?;
                    let (first, count) = value::run_of(view, leaf.pgno, &node)?;
                    if first.0 + (count - 1) > mark.0 {
                        return Ok(Found::Run { first, count });
                    }
                    self.step_over();
                }
                Some(_) => {
                    if *leaves == 0 {
                        return Ok(Found::Enough);
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
                        return Ok(Found::Enough);
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

    /// Goes on behind the entry at hand.
    pub(super) fn step_over(&mut self) {
        let leaf = self
            .frames
            .last_mut()
            .and_then(|frame| frame.path.leaf_mut());
        if let Some(leaf) = leaf {
            leaf.index += 1;
        }
    }

    /// How many pages are on the way.
    pub(super) fn len(&self) -> usize {
        self.frames.iter().map(|frame| frame.path.len()).sum()
    }

    fn enter_root(
        &mut self,
        view: PageView<'_>,
        roots: Roots,
        turns: &[usize],
    ) -> Result<(), Error> {
        let (record, role) = match self.root {
            Root::FreeList => (roots.free, Role::FreeList),
            Root::Main => (roots.main, Role::Main),
            Root::End => return Ok(()),
        };
        self.enter(view, record, role, turns).map(|_| ())
    }

    /// Enters a tree where `turns` lead, as far as they do; `false` if it is empty.
    fn enter(
        &mut self,
        view: PageView<'_>,
        record: TreeRecord,
        role: Role,
        turns: &[usize],
    ) -> Result<bool, Error> {
        if record.root.is_none() {
            return Ok(false);
        }
        // The order is not used: nothing is compared.
        let mut tree = match role {
            Role::FreeList => free_tree(record),
            _ => Tree::plain(record, KeyOrder::Lexical),
        };
        if role == Role::Duplicates {
            tree.leaf = duplicate_leaf(&record);
        }
        let path = descend(view, &tree, turns)?;
        self.frames.push(Frame { tree, path, role });
        Ok(true)
    }

    /// The tree that the entry at hand refers to.
    fn referred(&self, view: PageView<'_>) -> Result<Option<(TreeRecord, Role)>, Error> {
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
        let role = match (node.flags.0, frame.role) {
            (NodeFlags::SUB_TREE, Role::Main) => Role::Named,
            (SUB_DATABASE, Role::Main | Role::Named) => Role::Duplicates,
            (flags, _) if flags & NodeFlags::SUB_TREE == 0 => return Ok(None),
            (flags, _) => {
                let index = at.index;
                return Err(Error::at(at.pgno)(Malformed::NodeFlags { index, flags }));
            }
        };
        let malformed = || Error::at(at.pgno)(Malformed::TreeRecord);
        let record = TreeRecord::read(node.data).filter(|_| node.data.len() == TREE_RECORD_LEN);
        let record = record.ok_or_else(malformed)?;
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

    /// Goes on, within the leaf, to the entry at hand or the first one behind it that refers to other pages; returns its
    /// flags.
    fn next_reference(&mut self, view: PageView<'_>) -> Result<Option<u16>, Error> {
        let plain = self.role == Role::Named
            && self.tree.record.overflow_pages == 0
            && !self.tree.record.flags.has(DatabaseFlags::DUP_SORT);
        let Some(at) = self.path.leaf_mut() else {
            return Ok(None);
        };
        if plain || self.role == Role::Duplicates || self.tree.leaf != PageKind::Leaf {
            return Ok(None);
        }
        let page = view.tree_page(at.pgno, PageKind::Leaf)?;
        for index in at.index..page.len() {
            let flags = page.node_flags(index).map_err(Error::at(at.pgno))?.0;
            if flags & (NodeFlags::OVERFLOW | NodeFlags::SUB_TREE) != 0 {
                at.index = index;
                return Ok(Some(flags));
            }
        }
        Ok(None)
    }
}

/// The way from a root down that takes these entries, or the last one where there are fewer; then, and where nothing is
/// said, the first.
fn descend(view: PageView<'_>, tree: &Tree, turns: &[usize]) -> Result<Path, Error> {
    let mut path = Path::new();
    let mut pgno = tree.record.root;
    let mut turns = if turns.len() == usize::from(tree.record.depth) {
        turns
    } else {
        &[]
    };
    loop {
        let kind = tree.kind_at(path.len());
        let page = view.tree_page(pgno, kind)?;
        let wanted = turns.get(path.len()).copied().unwrap_or(0);
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
            turns = &[];
        }
        path.push(Step { pgno, index })?;
        pgno = tree::child_at(view, &page, pgno, index)?;
    }
}
