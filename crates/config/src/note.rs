//! Messages about settings that need no correction.

use crate::Origin;

/// A message about a setting: a directive without effect, or a feature that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The place of the setting.
    pub origin: Origin,
    /// The message.
    pub text: String,
    /// The configuration asks for a feature that is missing.
    pub warning: bool,
}

impl Note {
    /// Returns a message about a setting that has no effect.
    pub(crate) fn new(origin: &Origin, text: String) -> Note {
        let origin = origin.clone();
        Note {
            origin,
            text,
            warning: false,
        }
    }

    /// Returns a message about a feature that is missing, or that the settings take away.
    #[must_use]
    pub fn warning(origin: &Origin, text: String) -> Note {
        Note {
            warning: true,
            ..Note::new(origin, text)
        }
    }
}
