//! Approximate matching (`~=`, RFC 4511, section 4.5.1.7.6): words that sound alike, in the same
//! order.
//!
//! The sound of a word is its metaphone (Lawrence Philips, 1990). Consonants count as they are
//! spoken in English, and vowels only where a word begins with one. Neighbours of the same sound
//! count once. Words of other alphabets sound like themselves.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::form::{Form, Test};
use super::invalid::InvalidValue;

/// directoryStringApproxMatch: `~=` as a rule that clients name.
pub(super) static DIRECTORY_STRING_SOUNDS: Form = Form {
    equality: Test::Normal(has_words_in_order),
    ..Form::new(|_, value| {
        if value.is_empty() || std::str::from_utf8(value).is_err() {
            return Err(InvalidValue);
        }
        Ok(joined_sounds(value))
    })
};

/// IA5StringApproxMatch.
pub(super) static IA5_STRING_SOUNDS: Form = Form {
    equality: Test::Normal(has_words_in_order),
    ..Form::new(|_, value| {
        if !value.is_ascii() {
            return Err(InvalidValue);
        }
        Ok(joined_sounds(value))
    })
};

/// Words to be found, as they sound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApproximateAssertion {
    words: Vec<String>,
}

impl ApproximateAssertion {
    /// Splits an assertion into words. A text without words matches nothing.
    #[must_use]
    pub fn new(assertion: &[u8]) -> ApproximateAssertion {
        ApproximateAssertion {
            words: sounds(assertion),
        }
    }

    /// Returns true if a value has all the words in this order, others between them allowed.
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

    /// Returns the words as they sound, in order: what an index of sounds is asked for.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }
}

/// Returns the sounds of all words, separated by spaces, which no sound contains.
fn joined_sounds(text: &[u8]) -> Cow<'static, [u8]> {
    Cow::Owned(sounds(text).join(" ").into_bytes())
}

/// Tests that the sounds of a value include those of the assertion, in this order.
fn has_words_in_order(value: &[u8], assertion: &[u8]) -> bool {
    let mut sounds = value.split(|b| *b == b' ');
    !assertion.is_empty()
        && assertion
            .split(|b| *b == b' ')
            .all(|wanted| sounds.any(|sound| sound == wanted))
}

/// Returns the words of a text as they sound.
fn sounds(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    text.split_whitespace().filter_map(sound).collect()
}

/// Returns the sound of what a word begins with, up to the first character that is neither letter
/// nor digit.
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

    /// Returns the letter `offset` places from `at`; 0 beyond the word.
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
    #[test]
    fn rules_named_by_clients_match_as_the_approximate_filter_does() {
        let schema = crate::Schema::standard();
        let find = |name| crate::MatchingRule::find(name).unwrap();
        let (text, ia5) = (
            find("directoryStringApproxMatch"),
            find("IA5StringApproxMatch"),
        );
        for (assertion, value) in [
            ("barbra jenson", "Barbara J Jensen"),
            ("barbara jensen", "Jensen Barbara"),
            ("jon", "John"),
            ("-", "-"),
            ("x", ""),
            ("smith smith", "smith"),
        ] {
            for rule in [text, ia5] {
                let Ok(normal) = rule.normalise_assertion(&*schema, assertion.as_bytes()) else {
                    panic!("{assertion}")
                };
                let matches = rule.matches(&*schema, &normal, value.as_bytes());
                assert_eq!(
                    matches.is_true(),
                    alike(assertion, value),
                    "{assertion} {value}"
                );
            }
        }
        let umlaut = "Björn".as_bytes();
        assert!(
            text.normalise(&*schema, umlaut).is_ok() && ia5.normalise(&*schema, umlaut).is_err()
        );
        assert!(text.normalise(&*schema, b"").is_err() && ia5.normalise(&*schema, b"").is_ok());
    }

    #[test]
    fn rules_named_by_clients_apply_to_their_syntax_alone() {
        use crate::{Attribute, Dn, Entry, EntrySubject, Filter, Schema};
        let schema = Schema::standard();
        let mut entry = Entry::new(Dn::parse(&schema, "cn=x").unwrap());
        for (name, value) in [("cn", "Barbara Jensen"), ("mail", "bjensen@x"), ("c", "DE")] {
            entry.attributes.push(Attribute {
                description: schema.describe(name.as_bytes()).unwrap(),
                values: vec![value.as_bytes().to_vec()],
            });
        }
        let subject = EntrySubject {
            schema: &schema,
            entry: &entry,
        };
        let test = |text: &str| {
            let text = fulgurite_ldap::FilterBuf::parse(text).unwrap();
            Filter::resolve(&schema, &text.filter()).test(&schema, &subject)
        };
        use crate::Truth::{False, True, Undefined};
        assert_eq!(test("(cn:directoryStringApproxMatch:=jenson)"), True);
        assert_eq!(test("(cn:1.3.6.1.4.1.4203.666.4.4:=johnson)"), True);
        assert_eq!(test("(cn:directoryStringApproxMatch:=smith)"), False);
        assert_eq!(test("(cn:IA5StringApproxMatch:=jensen)"), Undefined);
        assert_eq!(test("(mail:IA5StringApproxMatch:=bjenson)"), True);
        assert_eq!(test("(c:directoryStringApproxMatch:=de)"), Undefined);
        assert_eq!(test("(:directoryStringApproxMatch:=jenson)"), True);
        let published = schema.published_matching_rules().collect::<String>();
        assert!(!published.contains("ApproxMatch"));
    }
}
