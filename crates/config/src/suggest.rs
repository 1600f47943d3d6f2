//! Suggestions for mistyped words.

/// Returns the word of `known` that is nearest to `typed`, if it may be the same word mistyped.
pub(crate) fn nearest<'k>(typed: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let edits_max = match typed.chars().count() {
        0..=3 => 1,
        4..=7 => 2,
        _ => 3,
    };
    let typed = typed.to_ascii_lowercase();
    known
        .map(|word| (strsim::osa_distance(&typed, word), word))
        .filter(|(edits, _)| *edits <= edits_max)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_words_are_suggested() {
        let known = ["suffix", "listen", "limits.size"];
        assert_eq!(nearest("sufix", known.into_iter()), Some("suffix"));
        assert_eq!(nearest("Listen", known.into_iter()), Some("listen"));
        assert_eq!(
            nearest("lsiten", known.into_iter()),
            Some("listen"),
            "a swap"
        );
        assert_eq!(nearest("tls_certificate", known.into_iter()), None);
    }
}
