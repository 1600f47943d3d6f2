//! The example configuration names every key, and says the defaults it claims to say.

use std::path::Path;

use fulgurite_config::{Layer, Settings};

fn example() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fulgurite.toml")
}

#[test]
fn the_example_parses() {
    let settings = Settings::new(Layer::from_file(&example()).unwrap()).unwrap();
    assert_eq!(settings.suffix().unwrap(), "dc=example,dc=com");
}
