//! Overlays in the words of slapd.conf.

use crate::toml_overlay::{self, WrittenOverlay};
use crate::{ConfigError, Layer, Origin, Sourced};

/// Makes an overlay with these lines.
pub(super) fn overlay<S: AsRef<str>>(name: &str, lines: &[S], origin: &Origin) -> WrittenOverlay {
    let sourced = |text: &str| Sourced::new(text.to_owned(), origin.clone());
    WrittenOverlay {
        name: sourced(name),
        lines: lines.iter().map(|line| sourced(line.as_ref())).collect(),
    }
}

/// Sets the overlays of the database.
pub(super) fn set_overlays(
    layer: &mut Layer,
    written: &[WrittenOverlay],
) -> Result<(), ConfigError> {
    let (overlays, notes) = toml_overlay::read(written)?;
    layer.first.overlays = overlays;
    layer.notes.extend(notes);
    Ok(())
}
