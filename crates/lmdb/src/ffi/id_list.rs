//! Id lists and pair lists of C: arrays that state their own length.
//!
//! ```text
//!   id list     | room | len | id | id | ...       the pointer is to the word `len`
//!   pair list   | (len, -) | (id, pointer) | ...   the pointer is to the first pair; the program provides the memory
//! ```
//!
//! The pointers come from [`Argument::from_c`], or from [`IdList::resize`]. So they refer to a list
//! of this layout, and no other thread uses it during the call.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::size_of;
use core::{ptr, slice};

use crate::ffi::arguments::Argument;

/// An id with a pointer.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// The id; in the first pair of a list the number of the others.
    pub(crate) id: usize,
    /// The pointer.
    pub(crate) pointer: *mut c_void,
}

/// An id list that the program owns.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct IdList<'c>(*mut usize, PhantomData<&'c mut [usize]>);

impl Argument<*mut usize> for IdList<'_> {
    unsafe fn from_c(raw: *mut usize) -> Self {
        IdList(raw, PhantomData)
    }
}

impl<'c> IdList<'c> {
    /// The absent list.
    pub(crate) const NULL: IdList<'static> = IdList(ptr::null_mut(), PhantomData);

    /// Returns the pointer for C.
    pub(crate) const fn as_ptr(self) -> *mut usize {
        self.0
    }

    /// Returns a word of the list: -1 is the room, 0 the length.
    fn word(self, index: isize) -> usize {
        // SAFETY: a list has a word for its room, a word for its length, and as many ids.
        unsafe { *self.0.wrapping_offset(index) }
    }

    /// Sets a word of the list, which has the room for it.
    fn set_word(self, index: isize, word: usize) {
        // SAFETY: a list has a word for its room, a word for its length, and the room that it
        // states.
        unsafe { self.0.wrapping_offset(index).write(word) };
    }

    /// Returns the number of ids.
    pub(crate) fn len(self) -> usize {
        self.word(0)
    }

    /// Returns the number of ids that fit.
    pub(crate) fn room(self) -> usize {
        self.word(-1)
    }

    /// Returns the words of the list: the length, then the ids. The caller uses one such slice of a
    /// list at a time.
    pub(crate) fn words(self) -> &'c mut [usize] {
        // SAFETY: as many ids as the length states follow it. The program owns the list, and no
        // other thread uses it.
        unsafe { slice::from_raw_parts_mut(self.0, 1 + self.len()) }
    }

    /// Returns the ids of the list, as [`IdList::words`] does.
    pub(crate) fn ids(self) -> &'c mut [usize] {
        self.words().get_mut(1..).unwrap_or_default()
    }

    /// Appends `more` zeros, or as many as there is room for. Returns the words.
    pub(crate) fn grow(self, more: usize) -> &'c mut [usize] {
        let len = self.len();
        let more = more.min(self.room().saturating_sub(len));
        for index in len..len + more {
            self.set_word(1 + index as isize, 0);
        }
        self.set_word(0, len + more);
        self.words()
    }

    /// Gives a list, or an absent one, this room. The list may move; `None` without memory.
    pub(crate) fn resize(self, room: usize) -> Option<IdList<'c>> {
        let size = (room + 2) * size_of::<usize>();
        // SAFETY: NULL, or the memory of a list, which came from this function. The old pointer is
        // not used again.
        let base = unsafe { libc::realloc(self.base(), size) }.cast::<usize>();
        if base.is_null() {
            return None;
        }
        let list = IdList(base.wrapping_add(1), PhantomData);
        list.set_word(-1, room);
        if self.0.is_null() {
            list.set_word(0, 0);
        }
        Some(list)
    }

    /// Frees a list, or an absent one.
    pub(crate) fn free(self) {
        // SAFETY: NULL, or the memory of a list, which came from `resize`. The program uses the
        // list no more.
        unsafe { libc::free(self.base()) };
    }

    /// Returns where the memory begins; null for an absent list.
    const fn base(self) -> *mut c_void {
        if self.0.is_null() {
            ptr::null_mut()
        } else {
            self.0.wrapping_sub(1).cast()
        }
    }
}

/// A variable of the program that refers to an id list.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct IdListRef<'c>(*mut *mut usize, PhantomData<&'c mut usize>);

impl Argument<*mut *mut usize> for IdListRef<'_> {
    unsafe fn from_c(raw: *mut *mut usize) -> Self {
        IdListRef(raw, PhantomData)
    }
}

impl<'c> IdListRef<'c> {
    /// Returns the list.
    pub(crate) fn get(self) -> IdList<'c> {
        // SAFETY: the interface requires a pointer to a variable that holds a list.
        IdList(unsafe { *self.0 }, PhantomData)
    }

    /// Sets the list after it has moved.
    pub(crate) fn set(self, list: IdList<'c>) {
        // SAFETY: the interface requires a pointer to a variable that holds a list.
        unsafe { *self.0 = list.0 };
    }
}

/// A list of pairs, in memory of the program.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct PairList<'c>(*mut Pair, PhantomData<&'c mut [Pair]>);

impl Argument<*mut Pair> for PairList<'_> {
    unsafe fn from_c(raw: *mut Pair) -> Self {
        PairList(raw, PhantomData)
    }
}

impl<'c> PairList<'c> {
    /// Returns the first pair, which holds the length, and the others. The caller uses one such
    /// slice of a list at a time.
    pub(crate) fn pairs(self) -> &'c mut [Pair] {
        // SAFETY: the pointer is to the first pair of a list, which holds its length.
        let Pair { id: len, .. } = unsafe { *self.0 };
        // SAFETY: as many pairs as the length states follow the first. The program owns the list,
        // and no other thread uses it.
        unsafe { slice::from_raw_parts_mut(self.0, 1 + len) }
    }

    /// Appends a pair, for which there is room. Returns the pairs.
    pub(crate) fn push(self, pair: Pair) -> &'c mut [Pair] {
        let pairs = self.pairs();
        let (len, end) = (pairs.len(), self.0.wrapping_add(pairs.len()));
        if let Some(first) = pairs.first_mut() {
            first.id = len;
        }
        // SAFETY: the interface requires room for all pairs that a list may hold, and the caller
        // has checked that number.
        unsafe { end.write(pair) };
        self.pairs()
    }
}
