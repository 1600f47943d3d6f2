//! The example configuration names every key. Its values are the defaults, and its examples are
//! valid.

use std::path::Path;

use fulgurite_config::{Layer, Origin, Settings};

fn example() -> (std::path::PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fulgurite.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

/// Returns the key of a line with its table: `size = 500` in `[limits]` is `limits.size`.
fn key_of<'t>(line: &'t str, table: &mut String) -> Option<(String, &'t str)> {
    if let Some(name) = line
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        *table = format!("{name}.");
        return None;
    }
    let line = line.strip_prefix('#').unwrap_or(line);
    let (key, value) = line.split_once(" = ")?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    key.chars()
        .all(plain)
        .then(|| (format!("{table}{key}"), value))
}

#[test]
fn every_key_is_named() {
    let (_, text) = example();
    let mut table = String::new();
    let named: Vec<String> = text
        .lines()
        .filter_map(|line| Some(key_of(line, &mut table)?.0))
        .collect();
    let missing: Vec<&str> = Layer::keys()
        .filter(|key| *key != "index" && !named.iter().any(|one| one == key))
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn values_that_are_set_are_the_defaults() {
    let (path, _) = example();
    let settings = Settings::new(Layer::from_file(&path).unwrap()).unwrap();
    let defaults = Settings::new(Layer::default()).unwrap().shown();
    let by_installation = ["data", "suffix", "root.dn", "root.password_file", "access"];
    let mut compared = 0;
    for line in settings.shown() {
        if line.origin == Origin::Default || by_installation.contains(&line.key) {
            continue;
        }
        let mut same = defaults
            .iter()
            .filter(|other| other.group == line.group && other.key == line.key);
        assert!(
            same.any(|other| other.value == line.value),
            "{} = {} is not the default",
            line.key,
            line.value
        );
        compared += 1;
    }
    assert!(compared > 60, "{compared}");
    assert_eq!(settings.suffix().unwrap(), "dc=example,dc=com");
    assert_eq!(settings.frontend.access.len(), 2);
}

#[test]
fn examples_in_comments_can_be_read() {
    let (path, text) = example();
    let lines: Vec<&str> = text.lines().collect();
    let mut table = String::new();
    let mut shown = 0;
    for (at, line) in lines.iter().enumerate() {
        let Some((key, _)) = key_of(line, &mut table) else {
            continue;
        };
        let Some(plain) = line.strip_prefix('#') else {
            continue;
        };
        // The line replaces one that sets the same key.
        let name = plain.split(" = ").next().unwrap_or_default();
        let set = format!("{name} = ");
        let mut inside = true;
        let changed: Vec<&str> = lines
            .iter()
            .enumerate()
            .map(|(other, text)| {
                if other > at && text.starts_with('[') {
                    inside = false;
                }
                let near = other.abs_diff(at) < 4 && inside;
                match other == at {
                    true => plain,
                    false if near && text.starts_with(&set) => "",
                    false => text,
                }
            })
            .collect();
        let layer = Layer::from_toml(&changed.join("\n"), &path);
        assert!(layer.is_ok(), "{key}: {:?}", layer.err());
        shown += 1;
    }
    assert!(shown > 20, "{shown}");
}

#[test]
fn databases_at_the_end_can_be_read() {
    let (path, text) = example();
    let (_, end) = text.split_once("# Several databases").unwrap();
    let tables: String = end
        .lines()
        .filter_map(|line| line.strip_prefix("#   "))
        .map(|line| format!("{line}\n"))
        .collect();
    let settings = Settings::new(Layer::from_toml(&tables, &path).unwrap()).unwrap();
    assert_eq!(settings.databases.len(), 2);
    assert!(settings.config.content.root_password_file.is_some());
}
