//! A record of the free list as runs of consecutive pages.

use std::io::{self, Write};

/// The pages that one transaction freed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FreePages {
    /// As recorded; in descending order unless damaged.
    pages: Vec<u64>,
}

/// Consecutive pages: the first, and their number.
type Span = (u64, usize);

impl FreePages {
    /// Reads a record's value: a count, then that many page numbers. Numbers beyond the end of the
    /// value are left out.
    pub(crate) fn read(value: &[u8]) -> FreePages {
        let (words, _) = value.as_chunks();
        let mut words = words.iter().map(|word| u64::from_ne_bytes(*word));
        let count = words.next().unwrap_or(0);
        FreePages {
            pages: words
                .take(usize::try_from(count).unwrap_or(usize::MAX))
                .collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }

    /// Writes one line: the number of pages, and their longest run.
    pub(crate) fn summarise(&self, txnid: u64, out: &mut dyn Write) -> io::Result<()> {
        let longest = self.spans().map(|(_, len)| len).max().unwrap_or(0);
        let descending = self.pages.is_sorted_by(|above, below| above > below);
        let complaint = if descending { "" } else { " [bad sequence]" };
        writeln!(
            out,
            "    Transaction {txnid}, {} pages, maxspan {longest}{complaint}",
            self.len()
        )
    }

    /// Writes a line for each run, in ascending order.
    pub(crate) fn list(&self, out: &mut dyn Write) -> io::Result<()> {
        for (first, len) in self.spans() {
            if len > 1 {
                writeln!(out, "     {first:>9}[{len}]")?;
            } else {
                writeln!(out, "     {first:>9}")?;
            }
        }
        Ok(())
    }

    fn spans(&self) -> impl Iterator<Item = Span> {
        let mut ascending = self.pages.iter().rev().copied().peekable();
        std::iter::from_fn(move || {
            let first = ascending.next()?;
            let mut len = 1;
            while ascending
                .next_if(|next| first.checked_add(len as u64) == Some(*next))
                .is_some()
            {
                len += 1;
            }
            Some((first, len))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &[u64]) -> String {
        let value: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let record = FreePages::read(&value);
        let mut out = Vec::new();
        record.summarise(7, &mut out).expect("write");
        record.list(&mut out).expect("write");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn runs_are_listed_with_their_length() {
        let expected = "    Transaction 7, 4 pages, maxspan 2\n            19\n            22[2]\n            35\n";
        assert_eq!(text(&[4, 35, 23, 22, 19]), expected);
        assert_eq!(text(&[0]), "    Transaction 7, 0 pages, maxspan 0\n");
        assert_eq!(
            text(&[1, 5, 4]),
            "    Transaction 7, 1 pages, maxspan 1\n             5\n"
        );
    }

    #[test]
    fn damaged_records_are_listed_too() {
        assert!(
            text(&[2, 4, 9]).starts_with("    Transaction 7, 2 pages, maxspan 1 [bad sequence]\n")
        );
        assert!(text(&[2, 9, 9]).contains("[bad sequence]"));
        assert!(text(&[1 << 60, 9]).starts_with("    Transaction 7, 1 pages"));
        assert_eq!(text(&[]), "    Transaction 7, 0 pages, maxspan 0\n");
    }
}
