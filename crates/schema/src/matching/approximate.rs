//! Approximate matching (`~=`; RFC 4511, section 4.5.1.7.6): words that sound alike, in the same order.
//!
//! The sound of a word is its metaphone (Lawrence Philips, 1990): consonants as they are spoken in English, vowels only
//! where a word begins with one, neighbours of the same sound once. Words of other alphabets sound like themselves.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Words to be found, as they sound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApproximateAssertion {
    words: Vec<String>,
}

impl ApproximateAssertion {
    /// Takes an assertion apart. A text without words matches nothing.
    #[must_use]
    pub fn new(assertion: &[u8]) -> ApproximateAssertion {
        ApproximateAssertion {
            words: sounds(assertion),
        }
    }

    /// Whether a value has all the words in this order, others between them allowed.
    #[must_use]
    pub fn matches(&self, value: &[u8]) -> bool {
        let mut wanted = self.words.iter();
        let Some(mut next) = wanted.next() else {
            return false;
        };
        for word in sounds(value) {
            if word == *next {
                match wanted.next() {
                    Some(word) => next = word,
                    None => return true,
                }
            }
        }
        false
    }

    /// The words as they sound, in order: what an index of sounds is asked for.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }
}

/// The words of a text as they sound.
fn sounds(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    text.split_whitespace().filter_map(sound).collect()
}

/// The sound of what a word begins with, up to the first character that is neither letter nor digit.
fn sound(word: &str) -> Option<String> {
    let plain: String = word
        .nfkd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .take_while(|c| c.is_alphanumeric())
        .collect();
    if plain.is_empty() {
        return None;
    }
    if !plain.bytes().all(|b| b.is_ascii_alphabetic()) {
        return Some(plain);
    }
    let code = Metaphone::new(plain.as_bytes()).code();
    // A word of silent letters sounds like itself.
    Some(if code.is_empty() { plain } else { code })
}

/// The letters of one word, in lower case.
struct Metaphone<'w> {
    letters: &'w [u8],
    code: String,
}

impl<'w> Metaphone<'w> {
    fn new(letters: &'w [u8]) -> Metaphone<'w> {
        let silent_start = matches!(
            letters,
            [b'a', b'e', ..] | [b'g' | b'k' | b'p', b'n', ..] | [b'w', b'r', ..]
        );
        Metaphone {
            letters: if silent_start { &letters[1..] } else { letters },
            code: String::new(),
        }
    }

    fn code(mut self) -> String {
        let mut at = 0;
        while at < self.letters.len() {
            at += self.letter(at);
        }
        self.code
    }

    /// The letter `offset` places from `at`; 0 beyond the word.
    fn look(&self, at: usize, offset: isize) -> u8 {
        at.checked_add_signed(offset)
            .and_then(|at| self.letters.get(at))
            .copied()
            .unwrap_or(0)
    }

    fn push(&mut self, sound: char) {
        if !self.code.ends_with(sound) {
            self.code.push(sound);
        }
    }

    /// Adds the sound of a letter; answers how many letters it took.
    fn letter(&mut self, at: usize) -> usize {
        let (before, this, next) = (self.look(at, -1), self.look(at, 0), self.look(at, 1));
        let after = self.look(at, 2);
        let front = |b: u8| matches!(b, b'e' | b'i' | b'y');
        let vowel = |b: u8| matches!(b, b'a' | b'e' | b'i' | b'o' | b'u');
        if this == before && this != b'c' {
            return 1;
        }
        match this {
            b'a' | b'e' | b'i' | b'o' | b'u' if at == 0 => self.push(char::from(this - 32)),
            b'b' if !(before == b'm' && next == 0) => self.push('B'),
            b'c' => return self.c(before, next, after),
            b'd' if next == b'g' && front(after) => {
                self.push('J');
                return 2;
            }
            b'd' => self.push('T'),
            b'g' if next == b'h' && (after == 0 || vowel(after)) => self.push('K'),
            b'g' if next == b'h' || (next == b'n' && after == 0) => {}
            b'g' if front(next) && before != b'g' => self.push('J'),
            b'g' => self.push('K'),
            b'h' if vowel(next) && !matches!(before, b'c' | b'g' | b'p' | b's' | b't') => {
                self.push('H');
            }
            b'k' if before != b'c' => self.push('K'),
            b'p' if next == b'h' => {
                self.push('F');
                return 2;
            }
            b'q' => self.push('K'),
            b's' if next == b'h' || (next == b'i' && matches!(after, b'o' | b'a')) => {
                self.push('X');
            }
            b't' if next == b'i' && matches!(after, b'o' | b'a') => self.push('X'),
            b't' if next == b'h' => {
                self.push('0');
                return 2;
            }
            b't' if next == b'c' && after == b'h' => {}
            b'v' => self.push('F'),
            b'w' if at == 0 && next == b'h' => {
                self.push('W');
                return 2;
            }
            b'w' | b'y' if vowel(next) => self.push(char::from(this - 32)),
            b'x' if at == 0 => self.push('S'),
            b'x' => {
                self.push('K');
                self.push('S');
            }
            b'z' => self.push('S'),
            b'f' | b'j' | b'l' | b'm' | b'n' | b'p' | b'r' | b's' | b't' => {
                self.push(char::from(this - 32));
            }
            _ => {}
        }
        1
    }

    fn c(&mut self, before: u8, next: u8, after: u8) -> usize {
        match next {
            b'i' if after == b'a' => self.push('X'),
            b'e' | b'i' | b'y' if before == b's' => {}
            b'e' | b'i' | b'y' => self.push('S'),
            // As in school and chris.
            b'h' if before == b's' || after == b'r' => {
                self.push('K');
                return 2;
            }
            b'h' => {
                self.push('X');
                return 2;
            }
            _ => self.push('K'),
        }
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(a: &str, b: &str) -> bool {
        ApproximateAssertion::new(a.as_bytes()).matches(b.as_bytes())
    }

    #[test]
    fn words_that_sound_alike() {
        for group in [
            &["jensen", "jenson", "johnson", "Johnsen", "Jansen"][..],
            &["smith", "smyth", "Smithe"],
            &["mayer", "meyer"],
            &["bjorn", "Bjoern", "Björn"],
            &["catherine", "Katherine", "Kathryn"],
            &["filip", "Philip", "phillip"],
            &["knight", "night"],
            &["right", "wright"],
            &["xavier", "zavier"],
            &["chris", "kris"],
            &["john", "jon", "juan"],
            &["cell", "sell"],
            &["nation", "nashun"],
            &["Иван", "иван"],
        ] {
            for a in group {
                for b in group {
                    assert!(alike(a, b), "{a} {b}");
                }
            }
        }
        for (a, b) in [
            ("smith", "schmidt"),
            ("jensen", "jens"),
            ("mayer", "maier"),
            ("иван", "петр"),
            ("-", "-"),
            ("", ""),
            ("", "x"),
        ] {
            assert!(!alike(a, b), "{a} {b}");
        }
    }

    #[test]
    fn words_are_found_in_order() {
        for value in [
            "Barbara Jensen",
            "barbara J Jensen",
            "Barbara  Jensen and sons",
        ] {
            assert!(alike("barbra jenson", value), "{value}");
        }
        for value in ["Jensen Barbara", "Barbara", "Babs Jensen", ""] {
            assert!(!alike("barbara jensen", value), "{value}");
        }
        assert!(alike("b jensen", "B. Jensen") && alike("bjensen", "bjensen@mailgw.example.com"));
    }
}
