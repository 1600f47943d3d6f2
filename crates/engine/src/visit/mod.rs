//! All pages that a snapshot reaches: what has to be kept so that the snapshot is kept.
//!
//! ```text
//!   meta ----> free-list tree ----> overflow runs of its records
//!      '-----> main tree ----> overflow runs of values
//!                   |-----> named trees ----> the same again
//!                   '-----> trees of duplicates
//! ```
//!
//! The walk goes down from the snapshot's two records with a list of pages still to be seen, not by recursion. Each page is
//! entered once: a page that is reached twice is damage, and so no file can lead in circles. It costs a look at every
//! page in use but those inside overflow runs, and memory of one bit per page in use.

mod page_set;

use fulgurite_format::{
    DatabaseFlags, META_PAGES, Malformed, Meta, NodeFlags, PageKind, Pgno, TREE_RECORD_LEN,
    TreeRecord, Txnid,
};

use crate::env::Database;
use crate::space::PageView;
use crate::tree::Pages;
use crate::txn::Sealed as _;
use crate::{Error, ReadTxn, value};
use page_set::PageSet;

/// The pages that a snapshot reaches, from page 2 on: those of its trees, its overflow runs and its free list's tree. Free
/// pages are not among them.
#[derive(Debug)]
pub struct ReachedPages<'t> {
    pages: PageView<'t>,
    set: PageSet,
}

impl<'t> ReachedPages<'t> {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.set.len()
    }

    /// Whether there are none: all databases and the free list are empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a page is among them.
    #[must_use]
    pub fn contains(&self, pgno: Pgno) -> bool {
        self.set.contains(pgno)
    }

    /// The pages in ascending order, each with its octets in the map. The later pages of an overflow run have no header.
    ///
    /// An item is [`Error::BeyondEnd`] if the file ends before the page does, and [`Error::ReaderEnded`] once a writer has
    /// asked the reader to end: what was read before is to be thrown away then, unless [`ReadTxn::check_readable`] says
    /// afterwards that all is well.
    pub fn iter(&self) -> impl Iterator<Item = Result<(Pgno, &'t [u8]), Error>> {
        let pages = self.pages;
        self.set.iter().map(move |pgno| {
            pages.check_readable()?;
            Ok((pgno, pages.page(pgno)?))
        })
    }
}

impl ReadTxn<'_> {
    /// Finds all pages that the snapshot reaches. Reads each page in use but those inside overflow runs; takes one bit of
    /// memory per page in use.
    /// # Errors
    /// [`Error::Corrupted`] for a page that is not what it should be, or that is reached twice; [`Error::BeyondEnd`];
    /// [`Error::TransactionFailed`] when the transaction is reset.
    pub fn reached_pages(&self) -> Result<ReachedPages<'_>, Error> {
        let mut walk = Walk {
            pages: self.pages(),
            reached: PageSet::default(),
            waiting: Vec::new(),
        };
        let at = Pgno(self.id().0 % META_PAGES);
        walk.enter(self.tree(Database::FREE_LIST)?.record, Role::Single, at)?;
        walk.enter(self.tree(Database::MAIN)?.record, Role::Main, at)?;
        while let Some(next) = walk.waiting.pop() {
            walk.page(next)?;
        }
        Ok(ReachedPages {
            pages: walk.pages,
            set: walk.reached,
        })
    }

    /// The two meta pages of a file that holds this snapshot and no other: the one it was committed with, and as the one
    /// before it the same again with an id that is lower by one. Each has the length of a page.
    /// # Errors
    /// [`Error::Corrupted`] for a damaged meta page; [`Error::TransactionFailed`] when the transaction is reset.
    pub fn meta_pages(&self) -> Result<[Vec<u8>; 2], Error> {
        let meta = self.meta()?;
        let mut pages = [Vec::new(), Vec::new()];
        for (page, pgno) in pages.iter_mut().zip(0..) {
            let before = u64::from(pgno != meta.txnid.0 % META_PAGES);
            let says = Meta {
                txnid: Txnid(meta.txnid.0.saturating_sub(before)),
                ..meta
            };
            *page = says.to_page(Pgno(pgno));
        }
        Ok(pages)
    }

    /// The last page that belongs to the snapshot, free pages included.
    #[must_use]
    pub fn last_page(&self) -> Pgno {
        self.pages().last()
    }

    /// What the snapshot's meta page said when it was pinned.
    pub(crate) fn meta(&self) -> Result<Meta, Error> {
        // The page may be that of a younger transaction by now: the map's size is then possibly larger, which does no
        // harm.
        let mapping = self.environment().mapping();
        let page = mapping.read_meta(self.id().0 % META_PAGES)?;
        Ok(Meta {
            free: self.tree(Database::FREE_LIST)?.record,
            main: self.tree(Database::MAIN)?.record,
            last: self.pages().last(),
            txnid: self.id(),
            ..page
        })
    }
}

/// What the leaves of a tree may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The free list: overflow runs.
    Single,
    /// The main tree: overflow runs, named trees, trees of duplicates.
    Main,
    /// A named tree: overflow runs, trees of duplicates.
    Named,
    /// A tree of duplicates: nothing.
    Duplicates,
}

/// A tree page still to be seen.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    pgno: Pgno,
    /// Levels from here down to the leaves, at least 1.
    levels: u16,
    role: Role,
    leaf: PageKind,
}

struct Walk<'p> {
    pages: PageView<'p>,
    reached: PageSet,
    waiting: Vec<Waiting>,
}

impl Walk<'_> {
    /// Adds the root of a tree whose record stands on page `at`.
    fn enter(&mut self, record: TreeRecord, role: Role, at: Pgno) -> Result<(), Error> {
        record.check(self.pages.last()).map_err(Error::at(at))?;
        if record.root.is_none() {
            return Ok(());
        }
        let leaf = match role {
            Role::Duplicates => duplicate_leaf(&record),
            _ => PageKind::Leaf,
        };
        self.waiting.push(Waiting {
            pgno: record.root,
            levels: record.depth,
            role,
            leaf,
        });
        Ok(())
    }

    /// Takes note of pages that belong together; page `at` refers to them.
    fn reach(&mut self, first: Pgno, count: u64, at: Pgno) -> Result<(), Error> {
        let end = first.0.checked_add(count);
        let inside = end.is_some_and(|end| end <= self.pages.last().0.saturating_add(1));
        if first < Pgno::FIRST_DATA || !inside {
            return Err(Error::at(at)(Malformed::PageOutOfRange(first)));
        }
        for number in first.0..first.0 + count {
            if !self.reached.insert(Pgno(number)) {
                return Err(Error::at(Pgno(number))(Malformed::Cycle));
            }
        }
        Ok(())
    }

    fn page(&mut self, at: Waiting) -> Result<(), Error> {
        self.pages.check_readable()?;
        self.reach(at.pgno, 1, at.pgno)?;
        if at.levels > 1 {
            return self.branch(at);
        }
        let page = self.pages.tree_page(at.pgno, at.leaf)?;
        if at.leaf != PageKind::Leaf || at.role == Role::Duplicates {
            return Ok(());
        }
        for index in 0..page.len() {
            let flags = page.node_flags(index).map_err(Error::at(at.pgno))?.0;
            if flags & (NodeFlags::OVERFLOW | NodeFlags::SUB_TREE) != 0 {
                self.referred(at, index, flags)?;
            }
        }
        Ok(())
    }

    fn branch(&mut self, at: Waiting) -> Result<(), Error> {
        let page = self.pages.tree_page(at.pgno, PageKind::Branch)?;
        for index in (0..page.len()).rev() {
            let pgno = page.child(index).map_err(Error::at(at.pgno))?;
            self.waiting.push(Waiting {
                pgno,
                levels: at.levels - 1,
                ..at
            });
        }
        Ok(())
    }

    /// Follows a leaf entry that refers to other pages.
    fn referred(&mut self, at: Waiting, index: usize, flags: u16) -> Result<(), Error> {
        let page = self.pages.tree_page(at.pgno, at.leaf)?;
        let node = page.leaf(index).map_err(Error::at(at.pgno))?;
        if flags == NodeFlags::OVERFLOW {
            let (first, count) = value::run_of(self.pages, at.pgno, &node)?;
            return self.reach(first, count, at.pgno);
        }
        let role = match (flags, at.role) {
            (NodeFlags::SUB_TREE, Role::Main) => Role::Named,
            (SUB_DATABASE, Role::Main | Role::Named) => Role::Duplicates,
            _ => return Err(Error::at(at.pgno)(Malformed::NodeFlags { index, flags })),
        };
        let record = TreeRecord::read(node.data).filter(|_| node.data.len() == TREE_RECORD_LEN);
        let record = record.ok_or_else(|| Error::at(at.pgno)(Malformed::TreeRecord))?;
        self.enter(record, role, at.pgno)
    }
}

/// A leaf entry whose duplicates have a tree of their own.
pub(crate) const SUB_DATABASE: u16 = NodeFlags::SUB_TREE | NodeFlags::DUPLICATES;

/// What the leaves of a tree of duplicates are.
pub(crate) fn duplicate_leaf(record: &TreeRecord) -> PageKind {
    match u16::try_from(record.pad) {
        Ok(len) if record.flags.has(DatabaseFlags::DUP_FIXED) => PageKind::Packed(len),
        _ => PageKind::Leaf,
    }
}
