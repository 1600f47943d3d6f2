//! The differences that are known: `accepted.txt`, and `overlays/accepted.txt`.

/// A difference as its fields.
pub(crate) trait Fields {
    /// The names of the fields.
    const NAMES: &'static [&'static str];

    /// Returns true if a field fits.
    fn fits(&self, field: &str, is_match: &dyn Fn(&str) -> bool) -> bool;
}

/// All lines of a file.
pub(crate) struct Accepted {
    lines: Vec<Line>,
}

struct Line {
    number: usize,
    /// Names of fields, and the patterns that they have to match.
    conditions: Vec<(String, String)>,
}

impl Accepted {
    /// Reads the text of a file; a line without a reason is a mistake.
    pub(crate) fn read<D: Fields>(text: &str) -> Accepted {
        let mut lines = Vec::new();
        for (at, line) in text.lines().enumerate() {
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
                    D::NAMES.contains(&field),
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
    pub(crate) fn line_for(&self, difference: &impl Fields) -> Option<usize> {
        let holds = |(field, pattern): &(String, String)| {
            difference.fits(field, &|text| matches(pattern, text))
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
