//! Near misses: which known word a mistyped one was meant to be.

/// The word of `known` nearest to `typed`, when it is near enough to be the same word mistyped.
pub(crate) fn nearest<'k>(typed: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let allowed = match typed.chars().count() {
        0..=3 => 1,
        4..=7 => 2,
        _ => 3,
    };
    known
        .map(|word| (distance(&typed.to_ascii_lowercase(), word), word))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Edits (insert, delete, replace, swap of neighbours) from one word to the other.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let mut best = (last[j] + usize::from(a != b))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        assert_eq!(distance("suffix", "suffix"), 0);
        assert_eq!(distance("sufix", "suffix"), 1);
        assert_eq!(distance("listne", "listen"), 1);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn offers_only_what_is_near() {
        let known = ["suffix", "listen", "limits.size"];
        assert_eq!(nearest("sufix", known.into_iter()), Some("suffix"));
        assert_eq!(nearest("Listen", known.into_iter()), Some("listen"));
        assert_eq!(nearest("tls_certificate", known.into_iter()), None);
    }
}
