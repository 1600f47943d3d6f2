//! Words and runs of the model checker.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fulgurite_os::Word;
use loom::sync::atomic::{AtomicU32, AtomicU64, fence};

/// A word of the checker.
///
/// The checker knows no sequentially consistent accesses, only such fences. A store of that kind is
/// therefore followed by a fence, as compilers do it for x86. A load of that kind is an acquiring
/// one. The protocol needs no more: in each thread, a store is visible before a later load.
///
/// The checker tries other orders of two accesses to a word if one is a store. But it remembers
/// only the last access. So a load followed by a store hides earlier loads of other threads. So a
/// store to a neighbouring word precedes every access. No thread loads that word: it orders
/// nothing, but makes all accesses count.
#[derive(Debug)]
pub(super) struct Checked<A> {
    word: A,
    touched: AtomicU32,
    /// An exchange is a relaxed store, a releasing store is a relaxed one.
    pub(super) is_weak: bool,
}

impl<A> Checked<A> {
    fn new(word: A, is_weak: bool) -> Checked<A> {
        Checked {
            word,
            touched: AtomicU32::new(0),
            is_weak,
        }
    }

    fn touch(&self) -> &A {
        self.touched.store(0, Ordering::Relaxed);
        &self.word
    }
}

/// An order without sequential consistency, and whether a fence makes up for that.
fn split(order: Ordering, otherwise: Ordering) -> (Ordering, bool) {
    match order {
        Ordering::SeqCst => (otherwise, true),
        order => (order, false),
    }
}

macro_rules! checked {
    ($($atomic:ty: $value:ty),*) => {$(
        impl Word<$value> for Checked<$atomic> {
            fn load(&self, order: Ordering) -> $value {
                self.touch().load(split(order, Ordering::Acquire).0)
            }

            fn store(&self, value: $value, order: Ordering) {
                if self.is_weak {
                    return self.touch().store(value, Ordering::Relaxed);
                }
                let (order, fenced) = split(order, Ordering::Release);
                self.touch().store(value, order);
                if fenced {
                    fence(Ordering::SeqCst);
                }
            }

            fn swap(&self, value: $value, order: Ordering) -> $value {
                if self.is_weak {
                    self.touch().store(value, Ordering::Relaxed);
                    return value;
                }
                let (order, fenced) = split(order, Ordering::AcqRel);
                let before = self.touch().swap(value, order);
                if fenced {
                    fence(Ordering::SeqCst);
                }
                before
            }

            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                if self.is_weak {
                    // Looked at, then stored: what comes between is lost.
                    let found = self.touch().load(Ordering::Relaxed);
                    if found != current {
                        return Err(found);
                    }
                    self.touch().store(new, Ordering::Relaxed);
                    return Ok(found);
                }
                self.touch().compare_exchange(current, new, success, failure)
            }
        }
    )*};
}

checked!(AtomicU32: u32, AtomicU64: u64);

pub(super) type Word32 = Checked<AtomicU32>;
pub(super) type Word64 = Checked<AtomicU64>;

pub(super) fn word32(value: u32) -> Word32 {
    Checked::new(AtomicU32::new(value), false)
}

pub(super) fn word64(value: u64) -> Word64 {
    Checked::new(AtomicU64::new(value), false)
}

/// Number of interruptions of threads that need not wait, in the short form. With
/// `FULGURITE_TEST_LONG` there is no bound on them, but each model ends after two minutes.
const INTERRUPTIONS: usize = 2;
const LONG: Duration = Duration::from_secs(120);

/// Tries a model in all orders, and returns in how many.
fn explore(model: impl Fn() + Send + Sync + 'static) -> (usize, std::thread::Result<()>) {
    let tried = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&tried);
    let mut builder = loom::model::Builder::new();
    let is_long = std::env::var_os("FULGURITE_TEST_LONG").is_some();
    builder.preemption_bound = (!is_long).then_some(INTERRUPTIONS);
    builder.max_duration = is_long.then_some(LONG);
    builder.max_branches = 10_000;
    let result = catch_unwind(AssertUnwindSafe(|| {
        builder.check(move || {
            counter.fetch_add(1, Ordering::Relaxed);
            model();
        });
    }));
    (tried.load(Ordering::Relaxed), result)
}

/// Tries a model in all orders; none may fail.
#[track_caller]
pub(super) fn holds(name: &str, model: impl Fn() + Send + Sync + 'static) {
    let (tried, result) = explore(model);
    println!("{name}: holds in {tried} interleavings");
    if let Err(fault) = result {
        panic!("{name}, interleaving {tried}: {}", text_of(&*fault));
    }
    assert!(tried > 1, "{name}: nothing was interleaved");
}

/// Tries a weakened model; one of the orders must fail, with one of these texts.
#[track_caller]
pub(super) fn fails(name: &str, texts: &[&str], model: impl Fn() + Send + Sync + 'static) {
    let (tried, result) = explore(model);
    let Err(fault) = result else {
        panic!("{name}: not found in {tried} interleavings");
    };
    let found = text_of(&*fault);
    println!("{name}: found in interleaving {tried}: {found}");
    assert!(
        texts.iter().any(|text| found.contains(text)),
        "{name}: found something else: {found}"
    );
}

fn text_of(fault: &(dyn std::any::Any + Send)) -> String {
    let text = fault.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| fault.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}
