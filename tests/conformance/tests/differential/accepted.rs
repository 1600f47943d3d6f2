//! The differences that are known: `accepted.txt`.

use crate::compare::Difference;

const TEXT: &str = include_str!("accepted.txt");

/// All lines of the file.
pub(crate) struct Accepted {
    lines: Vec<Line>,
}

struct Line {
    number: usize,
    /// `operation`, `what`, `theirs`, `ours`, `request` or `lines`, and the pattern it has to
    /// match.
    conditions: Vec<(String, String)>,
}

impl Accepted {
    /// Reads the file; a line without a reason is a mistake.
    pub(crate) fn read() -> Accepted {
        let mut lines = Vec::new();
        for (at, line) in TEXT.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let (conditions, reason) = line
                .split_once(" -- ")
                .unwrap_or_else(|| panic!("accepted.txt:{}: no reason", at + 1));
            assert!(
                reason.trim().len() > 10,
                "accepted.txt:{}: what reason is that",
                at + 1
            );
            let conditions = conditions.split('\t').map(|condition| {
                let (field, pattern) = condition.trim().split_once('=').unwrap_or_else(|| {
                    panic!("accepted.txt:{}: {condition:?} is no condition", at + 1)
                });
                assert!(
                    ["operation", "what", "theirs", "ours", "request", "lines"].contains(&field),
                    "accepted.txt:{}: no field {field:?}",
                    at + 1
                );
                (field.to_owned(), pattern.to_owned())
            });
            lines.push(Line {
                number: at + 1,
                conditions: conditions.collect(),
            });
        }
        Accepted { lines }
    }

    /// The number of the line that explains a difference.
    pub(crate) fn line_for(&self, difference: &Difference) -> Option<usize> {
        let holds = |(field, pattern): &(String, String)| {
            if field == "lines" {
                let both = difference.theirs.lines().skip(1);
                let mut both = both.chain(difference.ours.lines().skip(1));
                return both.all(|line| matches(pattern, line));
            }
            let text = match field.as_str() {
                "operation" => difference.operation,
                "what" => difference.what,
                "theirs" => &difference.theirs,
                "ours" => &difference.ours,
                _ => &difference.request,
            };
            matches(pattern, text)
        };
        let line = self
            .lines
            .iter()
            .find(|line| line.conditions.iter().all(holds));
        line.map(|line| line.number)
    }
}

/// Returns true if a text fits the pattern: `*` fits anything, `[*]` itself.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.replace("[*]", "\0"), text.replace('*', "\0"));
    let (mut pieces, text) = (pattern.split('*'), text.as_str());
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut last = None;
    for piece in pieces {
        if let Some(before) = last.replace(piece) {
            match rest.find(before) {
                Some(at) => rest = &rest[at + before.len()..],
                None => return false,
            }
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

#[test]
fn patterns_match_as_they_read() {
    assert!(matches("20*", "20 value exists"));
    assert!(matches("*exists", "20 value exists"));
    assert!(matches("2*val*ists", "20 value exists"));
    assert!(matches("20", "20"));
    assert!(!matches("20", "200"));
    assert!(!matches("*a*b", "ba"));
    assert!(!matches("x*", "20"));
    assert!(matches("*=[*] [*])*", "(a=* *)(b=c)"));
    assert!(!matches("*=[*] [*])*", "(a=* c)"));
}
