//! Paragraphs into sentences.

use super::paragraphs::Paragraph;

/// Words with a full stop inside a sentence.
const ABBREVIATIONS: [&str; 7] = ["e.g.", "i.e.", "etc.", "vs.", "cf.", "no.", "approx."];

pub(super) struct Sentence {
    /// The line on which the sentence begins.
    pub(super) line: usize,
    pub(super) text: String,
}

/// Splits a paragraph behind each full stop, question mark and exclamation mark.
pub(super) fn split(paragraph: &Paragraph) -> Vec<Sentence> {
    let mut sentences: Vec<Sentence> = Vec::new();
    let mut open: Option<Sentence> = None;
    let mut in_code = false;
    for (line, text) in paragraph {
        for word in text.split_whitespace() {
            let sentence = open.get_or_insert_with(|| Sentence {
                line: *line,
                text: String::new(),
            });
            if !sentence.text.is_empty() {
                sentence.text.push(' ');
            }
            sentence.text.push_str(word);
            in_code ^= word.matches('`').count() % 2 == 1;
            if !in_code && ends_sentence(word) {
                sentences.extend(open.take());
            }
        }
    }
    sentences.extend(open);
    sentences
}

fn ends_sentence(word: &str) -> bool {
    let bare = word.trim_end_matches(['"', '\'', ')', '*', ']', '`']);
    let abbreviated = ABBREVIATIONS.contains(&bare.trim_start_matches('(').to_lowercase().as_str());
    bare.ends_with(['.', '?', '!']) && !bare.ends_with("..") && !abbreviated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[&str]) -> Vec<String> {
        let paragraph = lines
            .iter()
            .enumerate()
            .map(|(number, line)| (number + 1, (*line).to_owned()))
            .collect();
        split(&paragraph).into_iter().map(|one| one.text).collect()
    }

    #[test]
    fn full_stops_end_sentences_but_not_in_numbers_code_and_abbreviations() {
        assert_eq!(
            texts(&[
                "Reads version 0.9 (e.g. of LMDB). Calls `a. b` then",
                "stops. mdb_get follows"
            ]),
            [
                "Reads version 0.9 (e.g. of LMDB).",
                "Calls `a. b` then stops.",
                "mdb_get follows"
            ]
        );
    }
}
