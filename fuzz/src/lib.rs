//! The macro that makes a fuzz target of a function of `fulgurite_torture::fuzz`.

#![forbid(unsafe_code)]

pub use fulgurite_torture::fuzz;
pub use libfuzzer_sys;

/// Makes a fuzz target of a body, by its name.
#[macro_export]
macro_rules! target {
    ($body:ident) => {
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::fuzz::$body(bytes));
    };
}
