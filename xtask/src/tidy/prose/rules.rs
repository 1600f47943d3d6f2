//! Rules for one sentence.

/// Words of a sentence at most.
const WORDS_MAX: usize = 20;

/// Colons and semicolons of a sentence at most.
const COLONS_MAX: usize = 1;

/// Words that no statement begins with.
const OPENINGS: [&str; 8] = [
    "What", "Whatever", "Who", "Whoever", "Whose", "Which", "That", "Whether",
];

/// Phrases with a plainer form. They are in lower case, and match whole words.
const BANNED: [&str; 13] = [
    "is told",
    "are told",
    "is said",
    "are said",
    "stands",
    "lies",
    "so many",
    "at hand",
    "of its own",
    "of their own",
    "beside",
    "apart",
    "somebody",
];

/// Returns a description of each rule that the sentence breaks.
pub(super) fn check(sentence: &str) -> Vec<String> {
    let bare = without_code(sentence);
    let mut faults = Vec::new();
    let words = bare.split_whitespace().filter(|word| is_word(word)).count();
    if words > WORDS_MAX {
        faults.push(format!("{words} words, {WORDS_MAX} at most"));
    }
    let colons = bare
        .split_whitespace()
        .filter(|word| word.ends_with([':', ';']))
        .count();
    if colons > COLONS_MAX {
        faults.push(format!(
            "{colons} colons or semicolons, {COLONS_MAX} at most"
        ));
    }
    faults.extend(opening(&bare));
    let lower = format!(" {} ", spaced(&bare).to_lowercase());
    for phrase in BANNED {
        if lower.contains(&format!(" {phrase} ")) {
            faults.push(format!("\"{phrase}\" has a plainer form"));
        }
    }
    faults
}

/// Returns a description of a forbidden first word.
pub(super) fn opening(sentence: &str) -> Option<String> {
    let first = sentence.split_whitespace().next().unwrap_or_default();
    let is_forbidden = OPENINGS.contains(&first) && !sentence.ends_with('?');
    is_forbidden.then(|| format!("do not open with \"{first}\""))
}

/// Replaces each code span by one word, each link by its text, and drops a leading marker.
fn without_code(sentence: &str) -> String {
    let sentence = sentence.strip_prefix("SAFETY: ").unwrap_or(sentence);
    let mut text = String::with_capacity(sentence.len());
    for (index, part) in sentence.split('`').enumerate() {
        text.push_str(if index % 2 == 0 { part } else { "code" });
    }
    while let Some(start) = text.find("](") {
        let Some(length) = text[start..].find(')') else {
            break;
        };
        text.replace_range(start..=start + length, "");
    }
    text
}

/// Returns the text with all punctuation turned into spaces.
fn spaced(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|letter: char| !letter.is_alphanumeric() && letter != '-')
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// Returns true if the token has a letter; figures, dashes and arrows have none.
fn is_word(token: &str) -> bool {
    token.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_words_pass_and_one_more_does_not() {
        let words = |count: usize| "word ".repeat(count);
        assert!(check(&words(20)).is_empty());
        assert_eq!(check(&words(21)).len(), 1);
        assert!(check(&format!("{}`a b c d`", words(19))).is_empty());
        assert!(check(&format!("{}[a](b c d)", words(19))).is_empty());
    }

    #[test]
    fn openings_are_refused_in_statements_only() {
        assert_eq!(check("What is asked for is prefetched.").len(), 1);
        assert!(check("What is a page?").is_empty());
        assert!(check("Whatsoever").is_empty());
    }

    #[test]
    fn banned_phrases_are_whole_words() {
        assert_eq!(check("The page lies beside it.").len(), 2);
        assert!(check("The page applies besides.").is_empty());
        assert!(check("The flag `beside` is read.").is_empty());
    }

    #[test]
    fn one_colon_passes() {
        assert!(check("Two kinds: leaf and branch.").is_empty());
        assert_eq!(check("Two kinds: leaf; branch.").len(), 1);
        assert!(check("SAFETY: the map outlives it: see above.").is_empty());
        assert!(check("Calls std::mem and a:b.").is_empty());
    }
}
