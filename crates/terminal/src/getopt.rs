//! Options as the C library's getopt(3) reads them.
//!
//! Letters come in clusters (`-qv`), and a value is attached (`-Tpasswd`) or follows. Operands may
//! stand between options. `--` ends the options. Scripts rely on these rules and on the error
//! texts.
//!
//! No argument crate reads options this way, so the parser is our own. `lexopt` drops the `=` of an
//! attached value (`-s=x`), and reads `--help` as a long option. Its error texts differ too.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// Reads options one by one, so that options before an error take effect.
#[derive(Debug)]
pub struct Getopt {
    words: VecDeque<OsString>,
    /// The letters that remain of the word being read.
    cluster: VecDeque<u8>,
    operands: Vec<OsString>,
    letters: &'static str,
}

/// An option on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedOption {
    /// Its letter.
    pub letter: char,
    /// Its value; empty for options without one.
    pub value: OsString,
}

/// All of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The options in their order.
    pub options: Vec<ParsedOption>,
    /// All other words in their order.
    pub operands: Vec<OsString>,
}

/// A word that getopt(3) refuses. The display replaces bytes that are no ASCII; see
/// [`OptionError::message`].
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum OptionError {
    /// The program has no such option.
    #[error("invalid option -- '{}'", char::from(*.0))]
    Unknown(u8),
    /// The command line ends before the option's value.
    #[error("option requires an argument -- '{}'", char::from(*.0))]
    NoValue(u8),
}

impl OptionError {
    /// Returns the text of the C library, with the letter as the byte that was given.
    #[must_use]
    pub fn message(self) -> Vec<u8> {
        let (text, letter): (&[u8], u8) = match self {
            OptionError::Unknown(letter) => (b"invalid option", letter),
            OptionError::NoValue(letter) => (b"option requires an argument", letter),
        };
        [text, b" -- '", &[letter], b"'"].concat()
    }
}

impl Getopt {
    /// Starts to read words. `letters` are the options; a colon after one means that it takes a
    /// value.
    pub fn new(words: impl IntoIterator<Item = OsString>, letters: &'static str) -> Getopt {
        Getopt {
            words: words.into_iter().collect(),
            cluster: VecDeque::new(),
            operands: Vec::new(),
            letters,
        }
    }

    /// Returns the next option, or `None` when only operands are left.
    /// # Errors
    /// [`OptionError`] for a word that getopt(3) refuses.
    pub fn next_option(&mut self) -> Result<Option<ParsedOption>, OptionError> {
        let Some(letter) = self.next_letter() else {
            return Ok(None);
        };
        let takes_value = self
            .takes_value(letter)
            .ok_or(OptionError::Unknown(letter))?;
        let value = if !takes_value {
            OsString::new()
        } else if self.cluster.is_empty() {
            let value = self.words.pop_front();
            value.ok_or(OptionError::NoValue(letter))?
        } else {
            OsString::from_vec(self.cluster.drain(..).collect())
        };
        Ok(Some(ParsedOption {
            letter: char::from(letter),
            value,
        }))
    }

    /// Returns the words that are no options. Call it after the last option.
    #[must_use]
    pub fn into_operands(self) -> Vec<OsString> {
        self.operands
    }

    fn next_letter(&mut self) -> Option<u8> {
        while self.cluster.is_empty() {
            let word = self.words.pop_front()?;
            match word.as_bytes() {
                b"--" => self.operands.extend(self.words.drain(..)),
                [b'-', letters @ ..] if !letters.is_empty() => self.cluster.extend(letters),
                _ => self.operands.push(word),
            }
        }
        self.cluster.pop_front()
    }

    /// Returns whether an option takes a value, or `None` if there is no such option.
    fn takes_value(&self, letter: u8) -> Option<bool> {
        let letters = self.letters.as_bytes();
        let at = letters
            .iter()
            .position(|option| *option == letter && letter != b':')?;
        Some(letters.get(at + 1) == Some(&b':'))
    }
}

/// Reads a whole command line.
/// # Errors
/// The first [`OptionError`].
pub fn parse(letters: &'static str, words: &[OsString]) -> Result<CommandLine, OptionError> {
    let mut getopt = Getopt::new(words.iter().cloned(), letters);
    let mut options = Vec::new();
    while let Some(option) = getopt.next_option()? {
        options.push(option);
    }
    Ok(CommandLine {
        options,
        operands: getopt.into_operands(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The options before the first error, and the operands or the error.
    struct Reading {
        options: Vec<(char, String)>,
        end: Result<Vec<OsString>, String>,
    }

    fn read(line: &str) -> Reading {
        let mut getopt = Getopt::new(line.split_whitespace().map(OsString::from), "Vefrs:");
        let mut options = Vec::new();
        let end = loop {
            match getopt.next_option() {
                Ok(Some(option)) => {
                    options.push((option.letter, option.value.into_string().expect("text")));
                }
                Ok(None) => break Ok(getopt.into_operands()),
                Err(error) => break Err(error.to_string()),
            }
        };
        Reading { options, end }
    }

    #[test]
    fn letters_come_in_clusters_and_between_operands() {
        let letters =
            |line: &str| -> String { read(line).options.iter().map(|(l, _)| l).collect() };
        assert_eq!(letters("-e -ff path -r"), "effr");
        assert_eq!(letters("-effr path"), "effr");
        assert_eq!(letters("-e -- -r"), "e");
        assert_eq!(
            read("-e -- -r - -").end,
            Ok(vec!["-r".into(), "-".into(), "-".into()])
        );
        assert_eq!(read("- -e a").end, Ok(vec!["-".into(), "a".into()]));
    }

    #[test]
    fn values_are_attached_or_follow() {
        for line in ["-es name p", "-esname p", "p -e -s name"] {
            let reading = read(line);
            assert_eq!(reading.options[1], ('s', "name".to_owned()), "{line}");
            assert_eq!(reading.end, Ok(vec!["p".into()]), "{line}");
        }
        assert_eq!(read("-s -- p").options, [('s', "--".to_owned())]);
        assert_eq!(read("-s=x").options, [('s', "=x".to_owned())]);
    }

    #[test]
    fn errors_have_the_texts_of_the_c_library() {
        assert_eq!(read("-ex p").end, Err("invalid option -- 'x'".to_owned()));
        assert_eq!(read("-e:").end, Err("invalid option -- ':'".to_owned()));
        assert_eq!(read("--help").end, Err("invalid option -- '-'".to_owned()));
        assert_eq!(
            read("p -s").end,
            Err("option requires an argument -- 's'".to_owned())
        );
        assert_eq!(read("-ex p").options, [('e', String::new())]);
        assert_eq!(
            OptionError::Unknown(0xff).message(),
            b"invalid option -- '\xff'"
        );
    }

    #[test]
    fn parse_returns_options_and_operands() {
        let words = ["-qv", "cn", "-d1", "-f", "-x", "-", "--", "-q"].map(OsString::from);
        let line = parse("cd:f:qv", &words).expect("options");
        let option = |letter, value: &str| ParsedOption {
            letter,
            value: value.into(),
        };
        let expected = [
            option('q', ""),
            option('v', ""),
            option('d', "1"),
            option('f', "-x"),
        ];
        assert_eq!(line.options, expected);
        assert_eq!(line.operands, ["cn", "-", "-q"]);
        assert_eq!(
            parse("f:q", &["-f".into()]),
            Err(OptionError::NoValue(b'f'))
        );
    }
}
