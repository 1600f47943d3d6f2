//! Arguments of C functions as types: each wraps a pointer and says what may be done with it.
//!
//! The pointers come from [`Argument::from_c`] alone. Its caller vouches that they are null or
//! valid for the call, as the lifetime `'c` says. Values behind them are copied in and out, so two
//! arguments may be the same pointer.

use core::ffi::{CStr, c_char, c_void};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::slice;

use crate::codes::{Code, Outcome};
use crate::ffi::caller::Caller;
use crate::slab::{Handle, Slot};
use crate::types::{MDB_assert_func, MDB_env, MDB_val};

/// Longest value in bytes: 2^32-1.
const LEN_MAX: usize = u32::MAX as usize;

/// A type that an argument of C becomes.
pub(crate) trait Argument<Raw> {
    /// Wraps an argument.
    ///
    /// # Safety
    /// A pointer that is no handle is null, or points to a value of its type for the whole call. A
    /// text ends with a NUL. No other thread uses the same transaction or cursor during the call.
    unsafe fn from_c(raw: Raw) -> Self;
}

impl<T> Argument<T> for T {
    #[inline(always)]
    unsafe fn from_c(raw: T) -> T {
        raw
    }
}

/// A handle as C passes it: any pointer, checked by its slab before it is followed.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct CHandle<H>(*mut H);

impl<H> Argument<*mut H> for CHandle<H> {
    #[inline(always)]
    unsafe fn from_c(raw: *mut H) -> CHandle<H> {
        CHandle(raw)
    }
}

impl<H> Clone for CHandle<H> {
    #[inline(always)]
    fn clone(&self) -> CHandle<H> {
        *self
    }
}

impl<H> Copy for CHandle<H> {}

impl<H> CHandle<H> {
    /// Returns true for NULL.
    #[inline(always)]
    pub(crate) const fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl<H> Caller for CHandle<H>
where
    *mut H: Caller,
{
    fn assert_function(self) -> Option<(*mut MDB_env, MDB_assert_func)> {
        self.0.assert_function()
    }
}

impl<H: Handle> CHandle<H> {
    /// Returns the slot of the handle.
    /// # Errors
    /// EINVAL for a pointer that is no handle of this kind, and for a closed environment or cursor.
    /// BAD_TXN for a transaction that has ended. PANIC for a handle that a forked child inherited.
    #[inline(always)]
    pub(crate) fn find(self) -> Outcome<Slot<H>> {
        H::slab().find(self.0)
    }

    /// Returns the slot of the handle if it is in the first region.
    #[inline(always)]
    pub(crate) fn find_hot(self) -> Option<Slot<H>> {
        H::slab().find_hot(self.0)
    }

    /// Returns the slot of the handle, and true if a fork inherited it.
    /// # Errors
    /// As [`CHandle::find`], but not for inherited handles.
    pub(crate) fn find_inherited(self) -> Outcome<(Slot<H>, bool)> {
        H::slab().find_inherited(self.0)
    }
}

/// A key or a value: it may be read, and pointed elsewhere.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Val<'c>(*mut MDB_val, PhantomData<&'c MDB_val>);

impl Argument<*mut MDB_val> for Val<'_> {
    #[inline(always)]
    unsafe fn from_c(raw: *mut MDB_val) -> Self {
        Val(raw, PhantomData)
    }
}

impl<'c> Val<'c> {
    /// Returns true for NULL.
    #[inline(always)]
    pub(crate) const fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the pointer, for comparison functions.
    #[inline(always)]
    pub(crate) const fn as_ptr(self) -> *const MDB_val {
        self.0
    }

    /// Reads length and address.
    /// # Errors
    /// EINVAL for NULL.
    #[inline(always)]
    pub(crate) fn read(self) -> Outcome<CBytes<'c>> {
        In(self.0, PhantomData).read()
    }

    /// Returns the bytes.
    /// # Errors
    /// EINVAL for NULL; BAD_VALSIZE for more bytes than a value can have.
    #[inline(always)]
    pub(crate) fn bytes(self) -> Outcome<&'c [u8]> {
        self.read()?.bytes()
    }

    /// Returns the bytes of a key.
    /// # Errors
    /// As [`Val::bytes`]; BAD_VALSIZE for an empty key.
    #[inline(always)]
    pub(crate) fn key(self) -> Outcome<&'c [u8]> {
        let key = self.bytes()?;
        if key.is_empty() {
            return Err(Code::BAD_LENGTH);
        }
        Ok(key)
    }

    /// Points the value to these bytes, unless it is NULL.
    #[inline(always)]
    pub(crate) fn point(self, bytes: &[u8]) {
        self.set(val(bytes));
    }

    /// Sets length and address, unless the value is NULL.
    #[inline(always)]
    pub(crate) fn set(self, value: MDB_val) {
        Out(self.0, PhantomData).store_if_wanted(value);
    }

    /// Returns the two values of a put with MDB_MULTIPLE.
    ///
    /// # Safety
    /// It is not NULL, and points to an array of two.
    pub(crate) unsafe fn fixed_items(self) -> FixedItems<'c> {
        // SAFETY: the caller passes an array of two, which is the program's for the whole call.
        FixedItems(unsafe { &mut *self.0.cast::<[MDB_val; 2]>() })
    }
}

/// Length and address of a key or value as the program passed them, unchecked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CBytes<'c>(MDB_val, PhantomData<&'c [u8]>);

impl<'c> CBytes<'c> {
    /// Returns the length in bytes.
    #[inline(always)]
    pub(crate) const fn len(self) -> usize {
        self.0.mv_size
    }

    /// Returns the bytes.
    /// # Errors
    /// EINVAL without an address; BAD_VALSIZE for more bytes than a value can have.
    #[inline(always)]
    pub(crate) fn bytes(self) -> Outcome<&'c [u8]> {
        let MDB_val { mv_size, mv_data } = self.0;
        if mv_size == 0 {
            return Ok(&[]);
        }
        if mv_size > LEN_MAX {
            return Err(Code::BAD_LENGTH);
        }
        if mv_data.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        // SAFETY: the program passed this length with this address, which is not null. A slice can
        // have that length.
        Ok(unsafe { slice::from_raw_parts(mv_data.cast(), mv_size) })
    }
}

/// The two values of a put with MDB_MULTIPLE: length and address of the items, and their number.
#[derive(Debug)]
pub(crate) struct FixedItems<'c>(&'c mut [MDB_val; 2]);

impl<'c> FixedItems<'c> {
    /// Returns the length of an item in bytes, and the number of items. Sets the number to 0.
    pub(crate) const fn take(&mut self) -> (usize, usize) {
        (
            self.0[0].mv_size,
            core::mem::replace(&mut self.0[1].mv_size, 0),
        )
    }

    /// Returns the bytes of `count` items.
    /// # Errors
    /// EINVAL without an address; BAD_VALSIZE for more bytes than a value can have.
    pub(crate) fn bytes(&self, count: usize) -> Outcome<&'c [u8]> {
        let first = self.0[0];
        let all = MDB_val {
            mv_size: first.mv_size.checked_mul(count).ok_or(Code::BAD_LENGTH)?,
            mv_data: first.mv_data,
        };
        CBytes(all, PhantomData).bytes()
    }

    /// Sets the number of stored items, and the address of the rest.
    pub(crate) fn report(&mut self, stored: usize, rest: Option<&[u8]>) {
        self.0[1].mv_size = stored;
        if let Some(rest) = rest {
            self.0[0].mv_data = rest.as_ptr().cast_mut().cast();
        }
    }
}

/// A value that C passes by reference; NULL if it passes none.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct In<'c, T>(*const T, PhantomData<&'c T>);

impl<T> Argument<*const T> for In<'_, T> {
    #[inline(always)]
    unsafe fn from_c(raw: *const T) -> Self {
        In(raw, PhantomData)
    }
}

impl<T> Clone for In<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<'_, T> {}

impl<'c, T> In<'c, T> {
    /// Returns the value; `None` for NULL.
    #[inline(always)]
    pub(crate) fn get(self) -> Option<&'c T> {
        // SAFETY: null, or valid during the call, as `from_c` requires.
        unsafe { self.0.as_ref() }
    }

    /// Returns the pointer, for comparison functions.
    pub(crate) const fn as_ptr(self) -> *const T {
        self.0
    }
}

impl<'c> In<'c, MDB_val> {
    /// Reads length and address.
    /// # Errors
    /// EINVAL for NULL.
    #[inline(always)]
    pub(crate) fn read(self) -> Outcome<CBytes<'c>> {
        let value = self.get().ok_or(Code::INVALID_ARGUMENT)?;
        Ok(CBytes(*value, PhantomData))
    }

    /// Returns the bytes.
    /// # Errors
    /// EINVAL for NULL; BAD_VALSIZE for more bytes than a value can have.
    #[inline(always)]
    pub(crate) fn bytes(self) -> Outcome<&'c [u8]> {
        self.read()?.bytes()
    }

    /// Returns length and address of each value of an array; `None` for NULL.
    ///
    /// # Safety
    /// The array has `count` values, and no array of them exceeds the address space.
    pub(crate) unsafe fn values(
        self,
        count: usize,
    ) -> Option<impl Iterator<Item = CBytes<'c>> + use<'c>> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: not null, and the caller knows that the array has that length.
        let values = unsafe { slice::from_raw_parts(self.0, count) };
        Some(values.iter().map(|value| CBytes(*value, PhantomData)))
    }
}

/// Where C wants a result; NULL if it wants none.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Out<'c, T>(*mut T, PhantomData<&'c mut T>);

impl<T> Argument<*mut T> for Out<'_, T> {
    #[inline(always)]
    unsafe fn from_c(raw: *mut T) -> Self {
        Out(raw, PhantomData)
    }
}

impl<T> Clone for Out<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<'_, T> {}

impl<'c, T> Out<'c, T> {
    /// Fails for NULL.
    /// # Errors
    /// EINVAL.
    #[inline(always)]
    pub(crate) const fn check(self) -> Outcome {
        if self.0.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        Ok(())
    }

    /// Stores a result.
    /// # Errors
    /// EINVAL for NULL.
    #[inline(always)]
    pub(crate) fn store(self, value: T) -> Outcome {
        self.check()?;
        self.store_if_wanted(value);
        Ok(())
    }

    /// Stores a result, unless C wants none.
    #[inline(always)]
    pub(crate) fn store_if_wanted(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null, so it is valid during the call, as `from_c` requires.
            unsafe { self.0.write(value) };
        }
    }

    /// Returns the room for an array of results; none for NULL.
    ///
    /// # Safety
    /// The array has room for `count` results, and no other argument points into it.
    pub(crate) unsafe fn array(self, count: usize) -> &'c mut [MaybeUninit<T>] {
        if self.0.is_null() {
            return &mut [];
        }
        // SAFETY: not null, and the caller knows that there is room for as many. Nothing is read
        // from it.
        unsafe { slice::from_raw_parts_mut(self.0.cast(), count) }
    }
}

/// A text of C; NULL if there is none.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Text<'c>(*const c_char, PhantomData<&'c CStr>);

impl Argument<*const c_char> for Text<'_> {
    unsafe fn from_c(raw: *const c_char) -> Self {
        Text(raw, PhantomData)
    }
}

impl<'c> Text<'c> {
    /// Returns the text; `None` for NULL.
    pub(crate) fn get(self) -> Option<&'c CStr> {
        // SAFETY: not null, so it ends with a NUL and is valid during the call, as `from_c`
        // requires.
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) })
    }
}

/// Returns a value that points to these bytes.
#[inline(always)]
pub(crate) fn val(bytes: &[u8]) -> MDB_val {
    MDB_val {
        mv_size: bytes.len(),
        mv_data: bytes.as_ptr().cast_mut().cast::<c_void>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_and_address_are_checked_before_bytes_are_read() {
        let bytes = |mv_size, mv_data: *const u8| {
            let value = MDB_val {
                mv_size,
                mv_data: mv_data.cast_mut().cast(),
            };
            CBytes(value, PhantomData).bytes()
        };
        let null = std::ptr::null();
        assert_eq!(bytes(0, null), Ok(&[][..]));
        assert_eq!(bytes(1, null), Err(Code::INVALID_ARGUMENT));
        assert_eq!(bytes(1 << 32, null), Err(Code::BAD_LENGTH));
        assert_eq!(bytes(3, b"abc".as_ptr()), Ok(&b"abc"[..]));
        let nothing: In<'_, MDB_val> = In(null.cast(), PhantomData);
        assert_eq!(nothing.bytes(), Err(Code::INVALID_ARGUMENT));
    }

    #[test]
    fn an_empty_key_is_a_bad_length() {
        let mut empty = val(b"");
        assert_eq!(
            Val(&raw mut empty, PhantomData).key(),
            Err(Code::BAD_LENGTH)
        );
    }
}
