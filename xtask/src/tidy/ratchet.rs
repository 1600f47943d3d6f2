//! The faults that are still allowed: a list that can only shrink.

use std::collections::{BTreeMap, BTreeSet};

/// Where the list is, from the root.
pub(crate) const FILE: &str = "xtask/tidy.txt";

/// Rows of the list.
#[derive(Default)]
pub(crate) struct Ratchet {
    /// Two files that use each other, in alphabetical order.
    pub(crate) pairs: BTreeSet<(String, String)>,
    /// Breaches of the language rules that a file still has.
    pub(crate) prose: BTreeMap<String, usize>,
}

impl Ratchet {
    /// Reads the rows `pair FILE FILE` and `prose FILE COUNT`; `#` begins a comment.
    ///
    /// # Errors
    /// Returns the line of a row of another form.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut ratchet = Self::default();
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [] | ["#", ..] => {}
                ["pair", first, second] if first < second => {
                    ratchet
                        .pairs
                        .insert(((*first).to_owned(), (*second).to_owned()));
                }
                ["prose", file, count] if count.parse::<usize>().is_ok() => {
                    let count = count.parse().unwrap_or_default();
                    ratchet.prose.insert((*file).to_owned(), count);
                }
                _ => return Err(format!("{FILE}:{}: not a row: {line}", number + 1)),
            }
        }
        Ok(ratchet)
    }

    /// Compares the breaches of one file with its row.
    ///
    /// Returns the faults if there are more, and asks for a lower row if there are fewer.
    pub(crate) fn judge_prose(&mut self, file: &str, faults: Vec<String>) -> Vec<String> {
        let allowed = self.prose.remove(file).unwrap_or(0);
        if faults.len() > allowed {
            return faults;
        }
        if faults.len() < allowed {
            return vec![format!(
                "{FILE}: {file} has {} breaches, its row allows {allowed}: lower it",
                faults.len()
            )];
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_and_others_refused() {
        let ratchet = Ratchet::read("# why\npair a.rs b.rs\n\nprose c.rs 3\n").expect("rows");
        assert_eq!(ratchet.pairs.len(), 1);
        assert_eq!(ratchet.prose["c.rs"], 3);
        for wrong in ["pair b.rs a.rs", "prose c.rs many", "other"] {
            assert!(Ratchet::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_row_can_only_shrink() {
        let row = || Ratchet::read("prose c.rs 2").expect("a row");
        let faults = |count| vec![String::from("fault"); count];
        assert_eq!(row().judge_prose("c.rs", faults(3)).len(), 3);
        assert!(row().judge_prose("c.rs", faults(2)).is_empty());
        assert!(row().judge_prose("c.rs", faults(1))[0].contains("lower it"));
        assert_eq!(row().judge_prose("d.rs", faults(1)).len(), 1);
    }
}
