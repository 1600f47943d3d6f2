//! A value together with the place where somebody wrote it.

use std::ops::Deref;

use crate::Origin;

/// A value and where it was written. Dereferences to the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// What was said.
    pub value: T,
    /// Where.
    pub origin: Origin,
}

impl<T> Sourced<T> {
    /// A value from a place.
    pub fn new(value: T, origin: Origin) -> Self {
        Self { value, origin }
    }

    /// A value that nobody wrote.
    pub fn by_default(value: T) -> Self {
        Self::new(value, Origin::Default)
    }

    /// Whether nobody wrote it.
    pub fn is_default(&self) -> bool {
        self.origin == Origin::Default
    }
}

impl<T> Deref for Sourced<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
