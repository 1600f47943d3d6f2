//! Truth values in directives of overlays.

/// Reads a truth value in slapd's spellings. Without a text, it is true.
pub(in crate::features) fn parse(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "" | "true" | "on" | "yes" => Some(true),
        "false" | "off" | "no" => Some(false),
        _ => None,
    }
}
