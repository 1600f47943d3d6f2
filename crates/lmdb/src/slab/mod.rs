//! Where handles live: memory that is never unmapped, so that any pointer from C can be checked
//! safely.
//!
//! ```text
//!   slab    region 0 (hot)           region 1                       ...        each has twice the slots of the last
//!           +------+------+---       +------+------+------+---
//!   slot    | value ........................ | good | owner | turn |
//!                                               '-- the one address in the slot that is the handle now; or 0
//! ```
//!
//! A handle is an address within its slot. Each use of the slot takes another address, until none
//! is left. So one comparison tells the handle of today from all handles that ended there before. A
//! slot without unused addresses waits behind [`Handle::WAITING_SLOTS`] others, and then begins
//! anew. The slab recognises a foreign pointer by its address and does not follow it.
//!
//! A handle that ended long ago is not recognised once its very address is in use again.

mod fork;
mod handles;
mod regions;
#[cfg(test)]
mod tests;

pub(crate) use handles::{Handle, Retired, Slab, Slot};
