//! The example configuration names every key, and says the defaults it claims to say.

use std::path::Path;

use fulgurite_config::{Layer, Settings};

fn example() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fulgurite.toml")
}

#[test]
fn the_example_holds_the_defaults() {
    let from_example = Settings::new(Layer::from_file(&example()).unwrap()).unwrap();
    let default = Settings::new(Layer::default()).unwrap();
    assert_eq!(from_example.limits, default.limits);
    assert_eq!(from_example.storage, default.storage);
    assert_eq!(from_example.log, default.log);
    assert_eq!(from_example.listen, default.listen);
    assert_eq!(from_example.indexes, default.indexes);
    assert_eq!(from_example.threads, default.threads);
    assert_eq!(from_example.suffix().unwrap(), "dc=example,dc=com");
    assert_eq!(
        from_example.data().unwrap(),
        Path::new("/var/lib/fulgurite")
    );
    assert_eq!(from_example.access.len(), 2);
}

#[test]
fn the_example_alone_without_defaults_is_complete() {
    let text = std::fs::read_to_string(example())
        .unwrap()
        .replace("default_indexes = true", "default_indexes = false");
    let settings = Settings::new(Layer::from_toml(&text, &example()).unwrap()).unwrap();
    let default = Settings::new(Layer::default()).unwrap();
    let mut names: Vec<_> = settings
        .indexes
        .iter()
        .map(|index| index.attribute.to_owned())
        .collect();
    let mut wanted: Vec<_> = default
        .indexes
        .iter()
        .map(|index| index.attribute.to_owned())
        .collect();
    names.sort();
    wanted.sort();
    assert_eq!(names, wanted);
}
