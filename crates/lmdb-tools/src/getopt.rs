//! Options as the C library's `getopt` reads them: letters in clusters, arguments attached or not, options also behind
//! operands, `--` before words that are no options.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::failure::Failure;

/// Reads options one by one, so that those before a mistake take effect.
#[derive(Debug)]
pub(crate) struct Getopt {
    words: VecDeque<OsString>,
    /// Letters of the word being read.
    cluster: VecDeque<u8>,
    operands: Vec<OsString>,
    /// The letters that are options, each followed by a colon if it takes an argument.
    letters: &'static str,
}

/// An option that was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) letter: char,
    /// Empty for options without.
    pub(crate) argument: OsString,
}

impl Getopt {
    pub(crate) fn new(words: impl IntoIterator<Item = OsString>, letters: &'static str) -> Getopt {
        Getopt {
            words: words.into_iter().collect(),
            cluster: VecDeque::new(),
            operands: Vec::new(),
            letters,
        }
    }

    /// The next option, or `None` when only operands are left.
    pub(crate) fn next(&mut self) -> Result<Option<Found>, Failure> {
        let Some(letter) = self.next_letter() else {
            return Ok(None);
        };
        let complain = |text: &str| {
            // The octet is named as it came, whatever it is.
            Failure::Usage(Some([text.as_bytes(), b" -- '", &[letter], b"'"].concat()))
        };
        let Some(takes_argument) = self.meaning(letter) else {
            return Err(complain("invalid option"));
        };
        let argument = if !takes_argument {
            OsString::new()
        } else if self.cluster.is_empty() {
            let argument = self.words.pop_front();
            argument.ok_or_else(|| complain("option requires an argument"))?
        } else {
            OsString::from_vec(self.cluster.drain(..).collect())
        };
        Ok(Some(Found {
            letter: char::from(letter),
            argument,
        }))
    }

    /// The one operand that most tools take.
    pub(crate) fn operand(self) -> Result<OsString, Failure> {
        let [operand] =
            <[OsString; 1]>::try_from(self.operands).map_err(|_| Failure::Usage(None))?;
        Ok(operand)
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

    /// Whether an option takes an argument; `None` if there is no such option.
    fn meaning(&self, letter: u8) -> Option<bool> {
        let letters = self.letters.as_bytes();
        let at = letters
            .iter()
            .position(|known| *known == letter && letter != b':')?;
        Some(letters.get(at + 1) == Some(&b':'))
    }
}

/// The name a program was called by, and the words it was given.
pub(crate) fn command_line() -> (OsString, Vec<OsString>) {
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_else(|| OsStr::new("mdb").to_owned());
    (program, words.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What reading a command line comes to: the options before the first mistake, and the operands or the mistake.
    struct Reading {
        found: Vec<(char, String)>,
        end: Result<Vec<OsString>, String>,
    }

    fn read(line: &str) -> Reading {
        let mut options = Getopt::new(line.split_whitespace().map(OsString::from), "Vefrs:");
        let mut found = Vec::new();
        let end = loop {
            match options.next() {
                Ok(Some(one)) => {
                    found.push((one.letter, one.argument.into_string().expect("text")))
                }
                Ok(None) => break Ok(options.operands),
                Err(Failure::Usage(text)) => {
                    break Err(String::from_utf8(text.unwrap_or_default()).expect("text"));
                }
                Err(other) => panic!("{other:?}"),
            }
        };
        Reading { found, end }
    }

    #[test]
    fn letters_come_in_clusters_and_anywhere() {
        let letters = |line: &str| -> String { read(line).found.iter().map(|(l, _)| l).collect() };
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
    fn arguments_are_attached_or_follow() {
        for line in ["-es name p", "-esname p", "p -e -s name"] {
            let reading = read(line);
            assert_eq!(reading.found[1], ('s', "name".to_owned()), "{line}");
            assert_eq!(reading.end, Ok(vec!["p".into()]), "{line}");
        }
        assert_eq!(read("-s -- p").found, [('s', "--".to_owned())]);
    }

    #[test]
    fn mistakes_are_told_as_the_c_library_does() {
        assert_eq!(read("-ex p").end, Err("invalid option -- 'x'".to_owned()));
        assert_eq!(read("-e:").end, Err("invalid option -- ':'".to_owned()));
        assert_eq!(read("--help").end, Err("invalid option -- '-'".to_owned()));
        assert_eq!(
            read("p -s").end,
            Err("option requires an argument -- 's'".to_owned())
        );
        assert_eq!(read("-ex p").found, [('e', String::new())]);
    }
}
