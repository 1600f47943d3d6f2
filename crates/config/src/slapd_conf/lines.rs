//! The lines of a slapd.conf as slapd reads them: continued lines joined, without comments and
//! blank lines.

/// A logical line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The number of its last physical line, counted from one. slapd's errors name this line.
    pub(crate) number: usize,
    /// The number of its first physical line.
    pub(crate) first: usize,
    /// Its text, with one space between physical lines.
    pub(crate) text: String,
}

/// Divides a text into logical lines.
///
/// A line that begins with white space continues the line before it, even a comment. A blank line
/// ends the line before it. A backslash at the very end joins the next line without a space.
pub(crate) fn logical_lines(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut open = false;
    let mut joined = false;
    for (at, physical) in text.lines().enumerate() {
        let number = at + 1;
        let physical = physical.strip_suffix('\r').unwrap_or(physical);
        let continues = open && (joined || physical.starts_with([' ', '\t']));
        let blank = physical.trim().is_empty();
        match lines.last_mut() {
            Some(line) if continues && (joined || !blank) => {
                if joined {
                    line.text.pop();
                    line.text.push_str(physical);
                } else {
                    line.text.push(' ');
                    line.text.push_str(physical.trim_start());
                }
                line.number = number;
            }
            _ if blank => {}
            _ => lines.push(Line {
                number,
                first: number,
                text: physical.trim_start().to_owned(),
            }),
        }
        open = !blank || joined;
        joined = open && ends_in_backslash(physical);
    }
    lines.retain(|line| !line.text.starts_with('#'));
    lines
}

/// Returns true if the last backslash is not escaped itself.
fn ends_in_backslash(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(usize, String)> {
        let lines = logical_lines(text).into_iter();
        lines.map(|line| (line.number, line.text)).collect()
    }

    #[test]
    fn lines_continue_after_white_space() {
        assert_eq!(
            read("a\n  b\n\tc\nd\n"),
            [(3, "a b c".to_owned()), (4, "d".to_owned())]
        );
    }

    #[test]
    fn comments_continue_too_and_blank_lines_end() {
        assert_eq!(
            read("# c\n  still\na\n# inner\n  lost\nb\n\n  own\n"),
            [
                (3, "a".to_owned()),
                (6, "b".to_owned()),
                (8, "own".to_owned())
            ]
        );
    }

    #[test]
    fn a_backslash_at_the_end_joins() {
        assert_eq!(read("a \\\nb\n"), [(2, "a b".to_owned())]);
        assert_eq!(
            read("a\\\\\nb"),
            [(1, "a\\\\".to_owned()), (2, "b".to_owned())]
        );
        assert_eq!(read("last\\"), [(1, "last\\".to_owned())]);
    }

    #[test]
    fn line_ends_of_windows() {
        assert_eq!(
            read("a 1\r\n b\r\n\r\nc"),
            [(2, "a 1 b".to_owned()), (4, "c".to_owned())]
        );
    }
}
