//! The parts of the settings that decide about updates. All nodes of a cluster need the same.

use fulgurite_cluster::digest;
use fulgurite_config::{ConfigEntry, ConfigError, Settings};
use fulgurite_etcd::SettingsParts;
use fulgurite_schema::Schema;

/// Hexadecimal digits of a digest. They tell settings from others, and protect nothing.
const DIGITS: usize = 16;

/// Returns the digests of the settings of a node.
///
/// # Errors
/// [`ConfigError`] if no database is the cluster's.
pub fn settings_parts(settings: &Settings, schema: &Schema) -> Result<SettingsParts, ConfigError> {
    let suffix = settings.cluster_database()?.suffix()?;
    let entries = settings.config_entries(false);
    let is_it = |entry: &&ConfigEntry| entry.values("olcSuffix").iter().any(|own| own == suffix);
    let database = entries.iter().find(is_it);
    let dn = database.map(|entry| entry.dn.as_str()).unwrap_or_default();
    let named = |name: &str| {
        let mut values: Vec<String> = database
            .map(|entry| entry.values(name).to_vec())
            .unwrap_or_default();
        values.sort();
        values
    };
    let below = |entry: &&ConfigEntry| {
        let above = entry.dn.strip_suffix(dn);
        !dn.is_empty() && above.is_some_and(|rdn| rdn.ends_with(','))
    };
    let overlays = entries.iter().filter(below);
    let overlays = overlays.map(|entry| format!("{:?}", (&entry.dn, &entry.attributes)));
    let frontend = entries.iter().find(|entry| entry.dn.contains("frontend"));
    let of_all = frontend.map(|entry| entry.values("olcAccess").to_vec());
    let access = [of_all.unwrap_or_default(), named("olcAccess")].concat();
    let server = entries
        .first()
        .map(|entry| entry.values("olcServerID").to_vec());
    let definitions = schema
        .published_attribute_types()
        .chain(schema.published_object_classes())
        .chain(schema.published_content_rules())
        .map(str::to_owned);
    let parts = [
        ("schema", definitions.collect()),
        ("access rules", access),
        ("indexes", named("olcDbIndex")),
        ("overlays", overlays.collect()),
        ("the server's number", server.unwrap_or_default()),
    ];
    let parts = parts.into_iter();
    Ok(parts
        .map(|(name, texts)| (name.to_owned(), hex(&texts)))
        .collect())
}

/// Returns the digest of some texts.
fn hex(texts: &[String]) -> String {
    let all = texts.join("\n");
    let bytes = digest(all.as_bytes()).0;
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    digits.collect::<String>().chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fulgurite_config::Layer;

    use super::*;

    fn parts(text: &str) -> SettingsParts {
        let layer = Layer::from_toml(text, Path::new("x.toml")).expect("TOML");
        let settings = Settings::new(layer).expect("settings");
        settings_parts(&settings, &Schema::standard()).expect("a database")
    }

    #[test]
    fn each_part_has_its_digest() {
        let plain = "suffix = \"dc=a\"\ndata = \"/one\"\n";
        let own = parts(plain);
        assert_eq!(
            own,
            parts("suffix = \"dc=a\"\ndata = \"/two\"\n"),
            "paths do not count"
        );
        for (more, part) in [
            ("access = [\"to * by * none\"]\n", "access rules"),
            ("[index]\ncn = \"eq\"\n", "indexes"),
            ("server_id = [\"3\"]\n", "the server's number"),
        ] {
            let other = parts(&format!("{plain}{more}"));
            let differing = own
                .iter()
                .filter(|(name, digest)| other.get(*name) != Some(digest));
            let names: Vec<&str> = differing.map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, [part]);
        }
    }
}
