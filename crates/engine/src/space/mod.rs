//! The writer's pages: those it may take, those it has freed, and its private copies. Also the view
//! of pages that readers and the writer share.
//!
//! ```text
//!   allocate:  loose (private, given back)  ->  pool (from the free list)  ->  behind the last page
//!   release:   private page -> loose        page of the base snapshot -> freed, listed under this transaction
//! ```

mod allocate;
mod dirty_pages;
mod free_records;
mod held_pages;
mod levels;
mod outer;
mod page_order;
mod pool;
mod reclaimed_records;
mod save;
mod shrink;
mod view;
mod writer_pages;

pub use page_order::sort_numbers;

pub(crate) use held_pages::{count_free, each_record};
pub(crate) use save::save_free_list;
pub(crate) use shrink::refer_to;
pub(crate) use view::PageView;
pub(crate) use writer_pages::{WriterPages, free_tree};
