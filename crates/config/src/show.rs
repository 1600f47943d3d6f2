//! Settings as lines for people, with their origins.

use crate::{Database, Origin, Settings};

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its group: empty for the server, `all databases`, `database 1 (mdb)` and so on.
    pub group: String,
    /// Its key.
    pub key: &'static str,
    /// Its value; a secret is hidden, and a value that is not set is empty.
    pub value: String,
    /// Its origin.
    pub origin: Origin,
}

impl Settings {
    /// Returns every setting with its value and origin, lists one item at a time.
    pub fn shown(&self) -> Vec<Shown> {
        let mut lines = Vec::new();
        let mut show = collect(&mut lines, String::new());
        self.global.each(&mut show);
        drop(show);
        self.frontend
            .each(&mut collect(&mut lines, "all databases".to_owned()));
        for (at, database) in self.databases.iter().enumerate() {
            let group = format!("database {} ({})", at + 1, database.kind.as_str());
            show_database(database, &group, &mut lines);
        }
        show_database(&self.config, "cn=config", &mut lines);
        lines
    }
}

fn show_database(database: &Database, group: &str, lines: &mut Vec<Shown>) {
    database.content.each(&mut collect(lines, group.to_owned()));
    if database.kind == crate::DatabaseKind::Mdb {
        database.storage.each(&mut collect(lines, group.to_owned()));
        if *database.storage.default_indexes {
            let named = &database.storage.indexes;
            let own = |attribute: &str| {
                named
                    .iter()
                    .any(|one| one.attribute.eq_ignore_ascii_case(attribute))
            };
            let kept = database
                .indexes()
                .into_iter()
                .filter(|one| !own(&one.attribute));
            lines.extend(kept.map(|index| Shown {
                group: group.to_owned(),
                key: "index",
                value: format!("{}:{}", index.attribute, index.kinds),
                origin: Origin::Default,
            }));
        }
    }
    database.policy.each(&mut collect(lines, group.to_owned()));
}

fn collect(
    lines: &mut Vec<Shown>,
    group: String,
) -> impl FnMut(&'static str, String, &Origin) + '_ {
    move |key, value, origin| {
        lines.push(Shown {
            group: group.clone(),
            key,
            value,
            origin: origin.clone(),
        });
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Layer;

    #[test]
    fn every_value_has_its_origin_and_secrets_are_hidden() {
        let text = "sizelimit 7\ndatabase mdb\nsuffix dc=x\nrootdn cn=r,dc=x\nrootpw opensesame\n";
        let mut layer = Layer::default();
        layer.set_flag("--threads", "threads", "3").unwrap();
        let file = Layer::from_slapd_conf_text(text, Path::new("c.conf")).unwrap();
        let settings = Settings::new(layer.over(file)).unwrap();
        let shown = settings.shown();
        let find = |group: &str, key: &str| {
            let found = shown
                .iter()
                .find(|one| one.group == group && one.key == key);
            let found = found.unwrap_or_else(|| panic!("{group} {key}"));
            format!("{} ({})", found.value, found.origin)
        };
        assert_eq!(find("", "threads"), "3 (--threads)");
        assert_eq!(find("", "limits.connections"), "10000 (default)");
        assert_eq!(
            find("all databases", "limits.size"),
            "size.soft=7 size.hard=soft (c.conf, line 1)"
        );
        assert_eq!(find("database 1 (mdb)", "suffix"), "dc=x (c.conf, line 3)");
        assert_eq!(
            find("database 1 (mdb)", "root.password"),
            "(hidden) (c.conf, line 5)"
        );
        assert!(shown.iter().all(|one| !one.value.contains("opensesame")));
    }
}
