//! Random commands for our server and the real memcached, answers compared byte for byte.
//!
//! Numbers that differ by nature are masked: cas numbers, times, classes of slabs.

use std::path::{Path, PathBuf};
use std::process::Command;

use fulgurite_testkit::{Random, Scratch, quick_or_long, seed};

use crate::world::{Client, Running, Spawned, options};

/// Starts the real memcached.
fn start_real(folder: &Path) -> Spawned {
    let build = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../build/memcached")
        .join("root")
        .join("usr");
    let unpacked = build.join("bin/memcached");
    let program = match unpacked.exists() {
        true => unpacked,
        false => PathBuf::from("memcached"),
    };
    let socket = folder.join("real");
    let mut command = Command::new(program);
    let command = command
        .args(["-u", "root", "-m", "256", "-t", "1", "-s"])
        .arg(&socket)
        .env("LD_LIBRARY_PATH", build.join("lib/x86_64-linux-gnu"));
    Spawned::start(command, socket)
}

/// A command, and the key whose cas number takes the place of `@` in it, plus an offset.
struct Question {
    text: String,
    cas_of: Option<(String, i64)>,
}

struct Questions {
    random: Random,
}

impl Questions {
    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let word: &&'a str = self.random.pick::<&'a str>(words);
        word
    }

    fn key(&mut self) -> String {
        match self.random.below(60) {
            0 => "k".repeat(251),
            1 => "l".repeat(250),
            number => format!("k{}", number % 7),
        }
    }

    fn value(&mut self) -> String {
        match self.random.below(8) {
            0 => String::new(),
            1 => "x".repeat(self.random.below(3000)),
            2 => self
                .pick(&[
                    " 12",
                    "12 ",
                    "0012",
                    "12 a",
                    "-1",
                    "-0",
                    "abc",
                    " abc",
                    "\x0b-",
                    "5\x0b",
                    "-9223372036854775809",
                    "-18446744073709551616",
                ])
                .to_owned(),
            3 => "18446744073709551615".to_owned(),
            _ => self.random.below(2000).to_string(),
        }
    }

    fn expiry(&mut self) -> &'static str {
        self.pick(&[
            "0",
            "0",
            "0",
            "1000",
            "2000",
            "-1",
            "2592001",
            "4000000000",
            "x",
            "",
        ])
    }

    fn next(&mut self) -> Question {
        let mut cas_of = None;
        let text = match self.random.below(100) {
            0..25 => self.storage(&mut cas_of),
            25..35 => self.retrieval(),
            35..50 => self.change(),
            50..65 => self.meta_set(&mut cas_of),
            65..80 => self.meta("mg", &mut cas_of),
            80..87 => self.meta("md", &mut cas_of),
            87..94 => self.meta("ma", &mut cas_of),
            94..96 => format!("me {}\r\n", self.key()),
            _ => self.other(),
        };
        Question { text, cas_of }
    }

    fn cas(&mut self, key: &str, cas_of: &mut Option<(String, i64)>) -> &'static str {
        let offset = [0, 0, 0, -1, 1, 1000][self.random.below(6)];
        *cas_of = Some((key.to_owned(), offset));
        self.pick(&["@", "@", "@", "@", "x"])
    }

    fn storage(&mut self, cas_of: &mut Option<(String, i64)>) -> String {
        let name = self.pick(&["set", "set", "add", "replace", "append", "prepend", "cas"]);
        let (key, value, expiry) = (self.key(), self.value(), self.expiry());
        let flags = self.pick(&["0", "0", "7", "4294967295", "4294967296", "x", "-1"]);
        let cas = match name {
            "cas" => format!(" {}", self.cas(&key, cas_of)),
            _ => String::new(),
        };
        let end = self.pick(&["", "", "", "", "", " noreply", " x", " x y"]);
        let length = match self.random.below(30) {
            // memcached reads the number of a value of blanks only from stale memory behind it.
            0 if !value.is_empty() => value.len() + 2,
            1 => value.len().saturating_sub(1),
            _ => value.len(),
        };
        let extra = if length > value.len() {
            "\r\n\r\n"
        } else {
            "\r\n"
        };
        format!("{name} {key} {flags} {expiry} {length}{cas}{end}\r\n{value}{extra}")
    }

    fn retrieval(&mut self) -> String {
        let name = self.pick(&[
            "get", "gets", "gat 0", "gat 1000", "gats 0", "gat x", "gat -1",
        ]);
        let keys: Vec<String> = (0..self.random.below(5))
            .map(|_| format!("k{}", self.random.below(7)))
            .collect();
        format!("{name} {}\r\n", keys.join(self.pick(&[" ", "  "])))
    }

    fn change(&mut self) -> String {
        let key = self.key();
        let number = self.pick(&[
            "1",
            "10",
            "0",
            "18446744073709551615",
            "x",
            "-1",
            "",
            "1 2 3",
            "7 noreply",
        ]);
        match self.random.below(4) {
            0 => format!("incr {key} {number}\r\n"),
            1 => format!("decr {key} {number}\r\n"),
            2 => format!(
                "touch {key} {}{}\r\n",
                self.expiry(),
                self.pick(&["", "", " noreply"])
            ),
            _ => format!(
                "delete {key}{}\r\n",
                self.pick(&["", "", " 0", " noreply", " 1", " a b c"])
            ),
        }
    }

    fn flags(
        &mut self,
        letters: &[&'static str],
        key: &str,
        cas_of: &mut Option<(String, i64)>,
    ) -> String {
        let mut flags = String::new();
        for _ in 0..self.random.below(5) {
            let flag = self.pick(letters);
            flags += " ";
            match flag {
                "C" => flags += &format!("C{}", self.cas(key, cas_of)),
                flag => flags += flag,
            }
        }
        flags
    }

    fn meta_set(&mut self, cas_of: &mut Option<(String, i64)>) -> String {
        let (key, value) = (self.meta_key(), self.value());
        let letters = [
            "c", "C", "b", "k", "q", "T0", "T1000", "T-1", "Tx", "F5", "Fx", "I", "O1", "Oabc",
            "MA", "MP", "MS", "ME", "MR", "MX", "Mset", "z", "v", "t",
        ];
        let flags = self.flags(&letters, &key, cas_of);
        let length = match self.random.below(20) {
            0 => "x".to_owned(),
            1 => "-1".to_owned(),
            _ => value.len().to_string(),
        };
        format!("ms {key} {length}{flags}\r\n{value}\r\n")
    }

    fn meta_key(&mut self) -> String {
        match self.random.below(5) {
            0 => self
                .pick(&["azE=", "azI=", "AAEC", "!!!!", "azE"])
                .to_owned(),
            _ => self.key(),
        }
    }

    fn meta(&mut self, name: &str, cas_of: &mut Option<(String, i64)>) -> String {
        let key = self.meta_key();
        let letters: &[&str] = match name {
            "mg" => &[
                "v", "v", "t", "c", "s", "f", "k", "b", "q", "O1", "h", "u", "N1000", "R500",
                "R1500", "T1000", "T0", "z", "Nx",
            ],
            "md" => &["q", "k", "b", "O2", "C", "I", "I", "T1000", "z", "Tx"],
            _ => &[
                "N0", "N1000", "J13", "D2", "MI", "MD", "M+", "M-", "MX", "T1000", "q", "t", "c",
                "v", "k", "b", "C", "O3", "z", "Dx",
            ],
        };
        let flags = self.flags(letters, &key, cas_of);
        format!("{name} {key}{flags}\r\n")
    }

    fn other(&mut self) -> String {
        let word = self.pick(&[
            "version",
            "verbosity 1",
            "verbosity",
            "verbosity x",
            "flush_all",
            "flush_all 0",
            "flush_all x",
            "flush_all -1 noreply",
            "nonsense",
            "",
            " ",
            "mg",
            "ms",
            "ms a",
            "md",
            "ma",
            "me",
            "get",
            "set a",
            "stats nonsense",
            "stats detail",
            "shutdown",
            "delete",
            "incr a",
            "touch a",
            "gat",
            "GET k1",
        ]);
        format!("{word}\r\n")
    }
}

/// Returns an answer without the numbers that differ by nature.
fn masked(answer: &str) -> String {
    let lines = answer.split("\r\n").map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let first = words.first().copied().unwrap_or_default();
        let mask = |(at, word): (usize, &&str)| -> String {
            let digits = |text: &str| text.parse::<u64>().is_ok_and(|number| number > 0);
            match (first, word.split_at_checked(1)) {
                ("VALUE", _) if at == 4 => "CAS".to_owned(),
                ("HD" | "VA" | "EN", Some(("c", rest))) if digits(rest) => "CAS".to_owned(),
                ("HD" | "VA" | "EN", Some(("t", rest))) if digits(rest) => "TTL".to_owned(),
                ("ME", _) if at >= 2 && !word.starts_with("size=") => String::new(),
                ("VERSION", _) if at == 1 => String::new(),
                _ => (*word).to_owned(),
            }
        };
        words
            .iter()
            .enumerate()
            .map(mask)
            .collect::<Vec<_>>()
            .join(" ")
    });
    lines.collect::<Vec<_>>().join("\r\n")
}

/// Asks a question with the server's own cas number in it.
fn ask(client: &mut Client, question: &Question) -> String {
    let Some((key, offset)) = &question.cas_of else {
        return client.ask(&question.text);
    };
    let is_base64 = key.contains('=') || key.starts_with("AAE");
    let asked = match is_base64 {
        true => format!("mg {key} b c u\r\n"),
        false => format!("mg {key} c u\r\n"),
    };
    let answer = client.ask(asked);
    let number = answer
        .trim_end()
        .split(' ')
        .find_map(|word| word.strip_prefix('c'));
    let cas: i64 = number.and_then(|number| number.parse().ok()).unwrap_or(1);
    client.ask(
        question
            .text
            .replace('@', &(cas + offset).max(1).to_string()),
    )
}

/// Deletes the item of a count from both where memcached's outcome is left to chance:
///
/// - It changes an item in its place unless another of its threads holds the item. In its place the
///   item keeps its marks, and blanks pad a shorter number.
/// - It refuses a number of 64 bits if it finds a `-` in stale memory behind the value.
///
/// Returns true if the number has 64 bits, so that the real program may have refused it.
fn settle_count(clients: &mut (Client, Client), question: &Question) -> bool {
    let mut words = question.text.split_ascii_whitespace();
    let (name, key) = (words.next(), words.next());
    let (Some("incr" | "decr" | "ma"), Some(key)) = (name, key) else {
        return false;
    };
    let is_base64 = name == Some("ma") && words.any(|word| word == "b");
    let b = if is_base64 { " b" } else { "" };
    let read = format!("mg {key} v h u{b}\r\n");
    let (ours, theirs) = (clients.0.ask(&read), clients.1.ask(&read));
    let number = |answer: &str| -> Option<u64> {
        let (_, value) = answer.split_once("\r\n")?;
        let is_blank = |letter: char| letter.is_ascii_whitespace() || letter == '\x0b';
        let first = value.split(is_blank).find(|word| !word.is_empty());
        first?.parse().ok()
    };
    let is_huge = number(&theirs).is_some_and(|number| i64::try_from(number).is_err());
    if ours == theirs {
        return is_huge;
    }
    assert!(number(&ours).is_some(), "{ours:?} {theirs:?}");
    assert!(
        is_huge || number(&ours) == number(&theirs),
        "{ours:?} {theirs:?} after {:?}",
        question.text
    );
    let delete = format!("md {key}{b}\r\n");
    assert_eq!(clients.0.ask(&delete), clients.1.ask(&delete));
    is_huge
}

/// Returns the last commands that name the key of the newest one, with their answers.
fn history_of_key(history: &[(String, String)]) -> Vec<&(String, String)> {
    let key_of = |text: &str| text.split_ascii_whitespace().nth(1).map(str::to_owned);
    let key = history.last().and_then(|(text, _)| key_of(text));
    let names_it = |(text, _): &&(String, String)| {
        let mut words = text.split_ascii_whitespace();
        words.any(|word| key.as_deref() == Some(word)) || text.starts_with("flush_all")
    };
    let mut named: Vec<_> = history.iter().rev().filter(names_it).take(20).collect();
    named.reverse();
    named
}

#[test]
fn answers_are_those_of_memcached() {
    let seed = seed("answers_are_those_of_memcached", 1);
    let scratch = Scratch::new("memcached");
    let real = start_real(scratch.path());
    let ours = Running::start(&options(&scratch.join("data")));
    let mut clients = (ours.client(), Client::unix(&real.socket));
    let mut questions = Questions {
        random: Random::new(seed),
    };
    let mut history: Vec<(String, String)> = Vec::new();
    for number in 0..quick_or_long(6_000, 300_000) {
        let question = questions.next();
        let ours = ask(&mut clients.0, &question);
        let theirs = ask(&mut clients.1, &question);
        history.push((question.text.clone(), theirs.clone()));
        if settle_count(&mut clients, &question) && theirs.starts_with("CLIENT_ERROR cannot") {
            continue;
        }
        assert_eq!(
            masked(&ours),
            masked(&theirs),
            "command {number} after {:#?}",
            history_of_key(&history)
        );
    }
}
