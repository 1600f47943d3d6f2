//! The example configuration, the reference and the manual are those of the settings table.
//!
//! `FULGURITE_BLESS=1 cargo test -p fulgurite-config --test documents` writes them.

use std::path::Path;

#[test]
fn documents_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, text) in [
        ("examples/fulgurite.toml", fulgurite_config::example()),
        ("docs/settings.md", fulgurite_config::reference()),
        ("packaging/man/fulgurite.toml.5", fulgurite_config::manual()),
    ] {
        let path = root.join(name);
        if std::env::var_os("FULGURITE_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == text,
            "{name} is not that of the settings table; run FULGURITE_BLESS=1 cargo test -p \
             fulgurite-config --test documents"
        );
    }
}
