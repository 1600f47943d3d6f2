//! A reader of OpenMetrics text that refuses everything but the form of the specification.

use std::collections::{BTreeMap, HashSet};

/// A figure: its name and its labels in their order.
type Sample = (String, Labels);

/// Names and values of labels.
type Labels = Vec<(String, String)>;

/// The figures of one answer.
#[derive(Debug)]
pub(crate) struct OpenMetrics {
    /// The type of each family.
    pub(crate) families: BTreeMap<String, String>,
    samples: Vec<(Sample, f64)>,
}

impl OpenMetrics {
    /// Reads a text.
    ///
    /// # Panics
    /// With the first wrong line.
    pub(crate) fn parse(text: &str) -> OpenMetrics {
        let body = text.strip_suffix("# EOF\n").expect("the end is marked");
        let mut read = OpenMetrics {
            families: BTreeMap::new(),
            samples: Vec::new(),
        };
        let mut current: Option<(String, String)> = None;
        let mut described = HashSet::new();
        let mut seen = HashSet::new();
        for line in body.lines() {
            if let Some(comment) = line.strip_prefix("# ") {
                let (keyword, rest) = comment.split_once(' ').expect(line);
                let (name, value) = rest.split_once(' ').expect(line);
                assert!(
                    described.insert((keyword.to_owned(), name.to_owned())),
                    "{line}"
                );
                match keyword {
                    "HELP" => {}
                    "TYPE" => {
                        let known = ["counter", "gauge", "histogram", "info"];
                        assert!(known.contains(&value), "{line}");
                        let family = (name.to_owned(), value.to_owned());
                        let before = read.families.insert(family.0.clone(), family.1.clone());
                        assert_eq!(before, None, "{line}");
                        current = Some(family);
                    }
                    "UNIT" => assert!(name.ends_with(&format!("_{value}")), "{line}"),
                    _ => panic!("{line}"),
                }
                continue;
            }
            let (sample, value) = read_sample(line);
            let (family, kind) = current.as_ref().expect(line);
            let suffix = sample.0.strip_prefix(family.as_str()).expect(line);
            let suffixes: &[&str] = match kind.as_str() {
                "counter" => &["_total"],
                "gauge" => &[""],
                "info" => &["_info"],
                _ => &["_sum", "_count", "_bucket"],
            };
            assert!(suffixes.contains(&suffix), "{line}");
            assert!(kind == "gauge" || value >= 0.0, "{line}");
            let mut labels = sample.1.clone();
            labels.sort();
            assert!(seen.insert((sample.0.clone(), labels)), "twice: {line}");
            read.samples.push((sample, value));
        }
        read.check_histograms();
        read
    }

    /// Returns the sum of the figures of a name that have these labels.
    pub(crate) fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let found = self.samples.iter().filter(|((of, has), _)| {
            let has_label = |(label, value): &(&str, &str)| {
                has.iter().any(|(own, is)| own == label && is == value)
            };
            of == name && labels.iter().all(has_label)
        });
        found.map(|(_, value)| value).sum()
    }

    /// Returns the only figure of a name.
    #[track_caller]
    pub(crate) fn one(&self, name: &str) -> f64 {
        let found: Vec<_> = self
            .samples
            .iter()
            .filter(|((of, _), _)| of == name)
            .collect();
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        found[0].1
    }

    /// Returns true if there is a figure of a family.
    pub(crate) fn has(&self, family: &str) -> bool {
        let mut names = self.samples.iter().map(|((name, _), _)| name.as_str());
        names.any(|name| name == family || name.strip_suffix("_count") == Some(family))
    }

    /// Classes rise, and the last one counts all.
    fn check_histograms(&self) {
        for (family, kind) in &self.families {
            if kind != "histogram" {
                continue;
            }
            let mut before: Option<(Labels, f64, f64)> = None;
            for ((name, labels), value) in &self.samples {
                if *name != format!("{family}_bucket") {
                    continue;
                }
                let (bounds, others): (Vec<_>, Vec<_>) =
                    labels.iter().cloned().partition(|(label, _)| label == "le");
                assert_eq!(bounds.len(), 1, "{name}{labels:?}");
                let bound = match bounds[0].1.as_str() {
                    "+Inf" => f64::INFINITY,
                    text => text.parse().expect("a bound"),
                };
                if let Some((_, lower, count)) = before.take().filter(|(of, ..)| *of == others) {
                    assert!(bound > lower && *value >= count, "{name}{labels:?}");
                }
                if bound.is_infinite() {
                    let others: Vec<_> = others
                        .iter()
                        .map(|(l, v)| (l.as_str(), v.as_str()))
                        .collect();
                    assert_eq!(
                        self.sum(&format!("{family}_count"), &others),
                        *value,
                        "{name}"
                    );
                }
                before = Some((others, bound, *value));
            }
            let last = before.expect("a histogram has classes");
            assert!(last.1.is_infinite(), "{family}");
        }
    }
}

/// Reads `name{label="value",...} number`.
fn read_sample(line: &str) -> (Sample, f64) {
    let name_len = line.find(['{', ' ']).expect(line);
    let (name, mut rest) = line.split_at(name_len);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    assert!(!name.is_empty() && name.chars().all(is_name), "{line}");
    let mut labels = Vec::new();
    if let Some(mut inside) = rest.strip_prefix('{') {
        while !inside.starts_with('}') {
            let (label, behind) = inside.split_once("=\"").expect(line);
            assert!(label.chars().all(is_name), "{line}");
            let (value, behind) = read_value(behind);
            labels.push((label.to_owned(), value));
            inside = behind.strip_prefix(',').unwrap_or(behind);
        }
        rest = &inside[1..];
    }
    let number = rest.strip_prefix(' ').expect(line);
    ((name.to_owned(), labels), number.parse().expect(line))
}

/// Reads the rest of a value up to its quote, and returns the text behind it too.
fn read_value(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &text[at + 1..]),
            '\\' => match letters.next().expect("an escape").1 {
                'n' => value.push('\n'),
                escaped @ ('"' | '\\') => value.push(escaped),
                other => panic!("\\{other} in {text}"),
            },
            letter => value.push(letter),
        }
    }
    panic!("a value without an end: {text}");
}
