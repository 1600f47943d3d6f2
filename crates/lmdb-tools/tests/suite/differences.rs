//! The differences between our tools and Debian's 0.9.24, with their reasons.

use std::path::Path;

use fulgurite_testkit::{Ended, Octets, unhex};

use crate::tools::{Side, output};

/// One difference on purpose.
struct Difference {
    /// Empty for all of them.
    tool: &'static str,
    /// Why our tool differs.
    reason: &'static str,
    /// Turns the original's outcome into the expected one. Returns true if it changed anything.
    adjust: fn(&Call<'_>, &mut Octets) -> bool,
}

/// The command line of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) tool: &'a str,
    pub(crate) words: &'a [&'a str],
    pub(crate) dir: &'a Path,
    pub(crate) input: &'a [u8],
}

impl Call<'_> {
    /// Returns true if the option with this letter was given, alone or in a cluster.
    fn has(&self, letter: char) -> bool {
        let mut options = self.words.iter().filter_map(|word| word.strip_prefix('-'));
        options.any(|letters| letters.contains(letter))
    }
}

const DIFFERENCES: &[Difference] = &[
    Difference {
        tool: "",
        reason: "ours are another program of a later version",
        adjust: |_, outcome| {
            let version = concat!("LMDB 0.9.36: (Fulgurite ", env!("CARGO_PKG_VERSION"), ")");
            replace(&mut outcome.stdout, "LMDB 0.9.24: (July 24, 2019)", version)
        },
    },
    Difference {
        tool: "mdb_dump",
        reason: "with -p backslashes are doubled, as in 0.9.36; what 0.9.24 writes does not load as it was",
        adjust: |call, outcome| {
            let changes = call.has('p') && outcome.stdout.contains(&b'\\');
            if changes {
                // The words of the other format are not ambiguous.
                let words: Vec<String> = call.words.iter().map(|word| without_p(word)).collect();
                let words: Vec<&str> = words
                    .iter()
                    .map(String::as_str)
                    .filter(|word| *word != "-")
                    .collect();
                let dump = output(Side::Theirs, call.tool, &words, call.dir, b"");
                outcome.stdout = printed(&dump);
            }
            changes
        },
    },
    Difference {
        tool: "mdb_stat",
        reason: "the reader table alone is no failure; the original ends with the result of its output function",
        adjust: |call, outcome| {
            let changes =
                call.has('r') && outcome.stderr.is_empty() && outcome.ended == Ended::Exit(1);
            if changes {
                outcome.ended = Ended::Exit(0);
            }
            changes
        },
    },
    Difference {
        tool: "mdb_load",
        reason: "0.9.36 has the options -a and -Q",
        adjust: |_, outcome| {
            replace(
                &mut outcome.stderr,
                "[-V] [-f input] [-n] [-s name] [-N] [-T] dbpath",
                "[-V] [-a] [-f input] [-n] [-s name] [-N] [-Q] [-T] dbpath",
            )
        },
    },
    Difference {
        tool: "mdb_load",
        reason: "0.9.36 names the function that opens a database mdb_dbi_open",
        adjust: |_, outcome| {
            replace(
                &mut outcome.stderr,
                "mdb_open failed",
                "mdb_dbi_open failed",
            )
        },
    },
    Difference {
        tool: "mdb_load",
        reason: "a key that cannot be read is a failure, as in 0.9.36; 0.9.24 ends with success and half a database",
        adjust: |_, outcome| {
            let complains = outcome.stderr.ends_with(b"unexpected end of input\n");
            let changes = complains && outcome.ended == Ended::Exit(0);
            if changes {
                outcome.ended = Ended::Exit(1);
            }
            changes
        },
    },
    Difference {
        tool: "mdb_load",
        reason: "a complaint about a header line is one line; the original repeats the line's end",
        adjust: |_, outcome| {
            let doubled =
                outcome.stderr.ends_with(b"\n\n") && contains(&outcome.stderr, "unsupported ");
            if doubled {
                outcome.stderr.pop();
            }
            doubled
        },
    },
    Difference {
        tool: "mdb_load",
        reason: "a line without `=` is never taken for a keyword; the original remembers an earlier line's `=`",
        adjust: |call, outcome| {
            let blank = contains(call.input, "DATA=END\n\nVERSION")
                || contains(call.input, "DATA=END\nnonsense\n");
            let changes = blank && outcome.ended == Ended::Exit(0);
            if changes {
                let line = call.input.split(|byte| *byte == b'\n');
                let line = line
                    .take_while(|line| !line.is_empty() && line != b"nonsense")
                    .count()
                    + 1;
                outcome.stderr = format!("mdb_load: line {line}: unexpected format\n").into_bytes();
                outcome.ended = Ended::Exit(1);
            }
            changes
        },
    },
];

/// Returns the expected outcome of our tool for the original's `outcome`, and the reasons for any
/// difference.
pub(crate) fn applied(call: Call<'_>, mut outcome: Octets) -> (Octets, Vec<&'static str>) {
    let mut reasons = Vec::new();
    for difference in DIFFERENCES {
        let concerned = difference.tool.is_empty() || difference.tool == call.tool;
        if concerned && (difference.adjust)(&call, &mut outcome) {
            reasons.push(difference.reason);
        }
    }
    (outcome, reasons)
}

/// Removes the letter for printable output from an option word.
fn without_p(word: &str) -> String {
    match word.strip_prefix('-') {
        Some(letters) => format!("-{}", letters.replace('p', "")),
        None => word.to_owned(),
    }
}

/// Turns a dump in hexadecimal digits into one in printable bytes.
fn printed(dump: &[u8]) -> Vec<u8> {
    let mut out = String::new();
    for line in String::from_utf8_lossy(dump).lines() {
        match line.strip_prefix(' ') {
            None if line == "format=bytevalue" => out += "format=print",
            None => out += line,
            Some(digits) => {
                out.push(' ');
                let octets = if digits.is_empty() {
                    Vec::new()
                } else {
                    unhex(digits)
                };
                for octet in octets {
                    match octet {
                        b'\\' => out += "\\\\",
                        b' '..=b'~' => out.push(char::from(octet)),
                        _ => out += &format!("\\{octet:02x}"),
                    }
                }
            }
        }
        out.push('\n');
    }
    out.into_bytes()
}

fn contains(octets: &[u8], text: &str) -> bool {
    octets
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

fn replace(octets: &mut Vec<u8>, from: &str, to: &str) -> bool {
    let changes = contains(octets, from);
    if changes {
        *octets = String::from_utf8_lossy(octets)
            .replace(from, to)
            .into_bytes();
    }
    changes
}
