//! Tree pages as the writer changes them: private copies, whose nodes were checked when the copy was made.

use std::marker::PhantomData;

use crate::bytes::put;
use crate::{Format, Malformed, NodeFlags, Page, PageKind, Pgno};

/// What a new node holds behind its key.
#[derive(Debug, Clone, Copy)]
pub enum NodeValue<'a> {
    /// A child page; in branches only.
    Child(Pgno),
    /// Octets in the page, with the flags that say what they are.
    Data(&'a [u8], NodeFlags),
    /// Room for so many octets, zeroed, to be filled by the caller.
    Reserved(usize),
    /// A value of `len` octets in the overflow run that begins at `first`.
    Overflow {
        /// First page of the run.
        first: Pgno,
        /// Length of the value in octets.
        len: u32,
    },
}

impl NodeValue<'_> {
    /// Octets in the page.
    fn data_len(&self) -> usize {
        match self {
            NodeValue::Child(_) => 0,
            NodeValue::Data(data, _) => data.len(),
            NodeValue::Reserved(len) => *len,
            NodeValue::Overflow { .. } => 8,
        }
    }

    /// Octets a node with this value and a key of `key_len` octets takes in a page, without its offset.
    #[must_use]
    pub fn node_len<F: Format>(&self, key_len: usize) -> usize {
        let len = F::NODE_HEADER_LEN + key_len + self.data_len();
        len + len % 2
    }
}

/// A branch or leaf page that may be changed.
#[derive(Debug)]
pub struct PageMut<'a, F> {
    bytes: &'a mut [u8],
    pgno: Pgno,
    kind: PageKind,
    format: PhantomData<F>,
}

impl<'a, F: Format> PageMut<'a, F> {
    /// Makes an empty page.
    #[must_use]
    pub fn initialise(bytes: &'a mut [u8], pgno: Pgno, kind: PageKind) -> PageMut<'a, F> {
        bytes.fill(0);
        let upper = bytes.len() as u16;
        let done = put(bytes, 0, &pgno.0.to_le_bytes())
            .and_then(|()| put(bytes, F::FLAGS_AT, &kind.flag().to_le_bytes()))
            .and_then(|()| put(bytes, F::LOWER_AT, &(F::HEADER_LEN as u16).to_le_bytes()))
            .and_then(|()| put(bytes, F::UPPER_AT, &upper.to_le_bytes()));
        debug_assert!(done.is_some(), "a page is larger than its header");
        PageMut {
            bytes,
            pgno,
            kind,
            format: PhantomData,
        }
    }

    /// Checks the header of a page that is about to be changed.
    /// # Errors
    /// As [`Page::parse`].
    pub fn parse(
        bytes: &'a mut [u8],
        pgno: Pgno,
        kind: PageKind,
    ) -> Result<PageMut<'a, F>, Malformed> {
        Page::<F>::parse(bytes, pgno, kind)?;
        Ok(PageMut {
            bytes,
            pgno,
            kind,
            format: PhantomData,
        })
    }

    /// Gives a fresh copy its own number and wipes marks that mean something in memory only.
    pub fn renumber(bytes: &mut [u8], pgno: Pgno, kind: PageKind) {
        let done = put(bytes, 0, &pgno.0.to_le_bytes())
            .and_then(|()| put(bytes, 8, &[0; 2]))
            .and_then(|()| put(bytes, F::FLAGS_AT, &kind.flag().to_le_bytes()));
        debug_assert!(done.is_some(), "a page is larger than its header");
    }

    /// The page as it is now.
    /// # Errors
    /// As [`Page::parse`]; impossible after a successful change.
    pub fn view(&self) -> Result<Page<'_, F>, Malformed> {
        Page::parse(self.bytes, self.pgno, self.kind)
    }

    /// Inserts an entry at `index`; `false`, with nothing changed, if the page has no room for it.
    /// # Errors
    /// [`Malformed::Node`] when `index` lies behind the last entry.
    pub fn insert(
        &mut self,
        index: usize,
        key: &[u8],
        value: NodeValue<'_>,
    ) -> Result<bool, Malformed> {
        let len = value.node_len::<F>(key.len());
        let Some(at) = self.open(index, len)? else {
            return Ok(false);
        };
        let mut header = [0; 8];
        let (first, flags) = match value {
            NodeValue::Child(pgno) => {
                header.copy_from_slice(&pgno.0.to_le_bytes());
                (None, None)
            }
            NodeValue::Data(data, flags) => (Some(data.len() as u32), Some(flags.0)),
            NodeValue::Reserved(len) => (Some(len as u32), Some(0)),
            NodeValue::Overflow { len, .. } => (Some(len), Some(NodeFlags::OVERFLOW)),
        };
        if let (Some(len), Some(flags)) = (first, flags) {
            let _ = put(&mut header, 0, &len.to_le_bytes());
            let _ = put(&mut header, 4, &flags.to_le_bytes());
        }
        let _ = put(&mut header, 6, &(key.len() as u16).to_le_bytes());
        let data_at = at + F::NODE_HEADER_LEN + key.len();
        let done = put(self.bytes, at, &header)
            .and_then(|()| put(self.bytes, at + F::NODE_HEADER_LEN, key))
            .and_then(|()| match value {
                NodeValue::Child(_) => Some(()),
                NodeValue::Data(data, _) => put(self.bytes, data_at, data),
                NodeValue::Reserved(len) => self
                    .bytes
                    .get_mut(data_at..data_at + len)
                    .map(|room| room.fill(0)),
                NodeValue::Overflow { first, .. } => {
                    put(self.bytes, data_at, &first.0.to_le_bytes())
                }
            });
        done.map(|()| true).ok_or(Malformed::Node(index))
    }

    /// Inserts a whole node, as [`Page::node_bytes`] lends it; `false` if there is no room.
    /// # Errors
    /// [`Malformed::Node`] when `index` lies behind the last entry.
    pub fn insert_node(&mut self, index: usize, node: &[u8]) -> Result<bool, Malformed> {
        let Some(at) = self.open(index, node.len())? else {
            return Ok(false);
        };
        put(self.bytes, at, node)
            .map(|()| true)
            .ok_or(Malformed::Node(index))
    }

    /// Removes entry `index` and closes the gap.
    /// # Errors
    /// [`Malformed::Node`] and what else a damaged node gives.
    pub fn remove(&mut self, index: usize) -> Result<(), Malformed> {
        let page = self.view()?;
        let (at, len, count, upper) = (
            page.offset(index)?,
            page.node_bytes(index)?.len(),
            page.len(),
            page.upper(),
        );
        self.bytes.copy_within(upper..at, upper + len);
        let mut to = F::HEADER_LEN;
        for entry in 0..count {
            let stored = self.stored(F::HEADER_LEN + 2 * entry)?;
            if entry == index {
                continue;
            }
            let moved = if F::to_page_offset(stored) < at {
                stored + len as u16
            } else {
                stored
            };
            self.store(to, moved)?;
            to += 2;
        }
        self.store(F::LOWER_AT, to as u16)?;
        self.store(F::UPPER_AT, (upper + len) as u16)
    }

    /// Points entry `index` of a branch to another child.
    /// # Errors
    /// [`Malformed::Node`].
    pub fn set_child(&mut self, index: usize, child: Pgno) -> Result<(), Malformed> {
        let at = self.view()?.offset(index)?;
        let octets = child.0.to_le_bytes();
        put(self.bytes, at, octets.get(..6).unwrap_or(&octets)).ok_or(Malformed::Node(index))
    }

    /// The data of leaf entry `index`, for changing in place.
    /// # Errors
    /// As [`Page::leaf`].
    pub fn into_data(self, index: usize) -> Result<&'a mut [u8], Malformed> {
        let page = self.view()?;
        let node = page.leaf(index)?;
        let at = page.offset(index)? + F::NODE_HEADER_LEN + node.key.len();
        let len = node.data.len();
        self.bytes
            .get_mut(at..at + len)
            .ok_or(Malformed::Node(index))
    }

    /// Makes room for a node of `len` octets and its offset at `index`; the node's place, or `None` without room.
    fn open(&mut self, index: usize, len: usize) -> Result<Option<usize>, Malformed> {
        let page = self.view()?;
        let (count, upper) = (page.len(), page.upper());
        if index > count {
            return Err(Malformed::Node(index));
        }
        if len + 2 > page.free_space() {
            return Ok(None);
        }
        let at = upper - len;
        let lower = F::HEADER_LEN + 2 * count;
        let slot = F::HEADER_LEN + 2 * index;
        self.bytes.copy_within(slot..lower, slot + 2);
        self.store(slot, at as u16)?;
        self.store(F::LOWER_AT, (lower + 2) as u16)?;
        self.store(F::UPPER_AT, at as u16)?;
        Ok(Some(at))
    }

    fn stored(&self, at: usize) -> Result<u16, Malformed> {
        crate::bytes::u16_at(self.bytes, at).ok_or(Malformed::Truncated)
    }

    fn store(&mut self, at: usize, value: u16) -> Result<(), Malformed> {
        put(self.bytes, at, &value.to_le_bytes()).ok_or(Malformed::Truncated)
    }
}
