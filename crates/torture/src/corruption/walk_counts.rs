//! The counts of a walk, and the errors that damage explains.

use fulgurite::Error;

/// The counts of a walk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WalkCounts {
    /// Calls made.
    pub calls: u64,
    /// Calls that gave an error that a sound file would not have given.
    pub errors: u64,
    /// The file could not be opened.
    pub refused: bool,
    /// It was sound, then it was written to without an error, and is not sound any more.
    pub spoilt: bool,
}

impl WalkCounts {
    /// Counts a call and its error; returns its value.
    pub(super) fn see<T>(&mut self, outcome: Result<T, Error>) -> Option<T> {
        self.calls += 1;
        match outcome {
            Ok(value) => Some(value),
            Err(error) => {
                self.errors += u64::from(!is_of_the_caller(&error));
                None
            }
        }
    }
}

/// Returns true for an error about the request, which a sound file could return too.
fn is_of_the_caller(error: &Error) -> bool {
    matches!(
        error,
        Error::KeyLength { .. }
            | Error::IntegerKey { .. }
            | Error::DuplicateLength { .. }
            | Error::FixedSize { .. }
            | Error::NoDuplicates
            | Error::HasDuplicates
            | Error::NoPrefixes
            | Error::CursorUnset
            | Error::WrongKind(_)
            | Error::NoDatabase(_)
            | Error::MainUnsuitable
            | Error::AppendOrder
            | Error::ReadOnly
            | Error::MapFull(_)
    )
}
