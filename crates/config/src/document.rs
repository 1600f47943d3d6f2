//! The settings table as text: the example configuration, and the reference of all settings.

use crate::index;
use crate::table::{AnyRow, Info, rows};

/// A part of the example configuration and of the reference.
pub(crate) struct Part {
    /// The TOML table; empty for keys at the top of the file.
    table: &'static str,
    /// The heading of the part; empty if it belongs to the part before it.
    pub(crate) heading: &'static str,
    /// The text below the heading.
    pub(crate) text: &'static str,
}

const DATABASE: Part = Part {
    table: "",
    heading: "The database",
    text: "These keys describe one database. For several databases, move them into `[[database]]` tables.",
};

const RULES: Part = Part {
    table: "",
    heading: "Rules",
    text: "At the top, rules of all databases; in a `[[database]]` table, rules of that database.",
};

const SERVER: Part = Part {
    table: "",
    heading: "The server",
    text: "",
};

const TABLES: [Part; 16] = [
    Part {
        table: "root",
        heading: "The root",
        text: "The identity that no access rule and no limit binds.",
    },
    Part {
        table: "index",
        heading: "Indexes",
        text: "",
    },
    Part {
        table: "limits",
        heading: "Limits",
        text: "",
    },
    Part {
        table: "storage",
        heading: "Storage",
        text: "",
    },
    Part {
        table: "tls",
        heading: "TLS",
        text: "For `ldaps://` and StartTLS.",
    },
    Part {
        table: "sasl",
        heading: "SASL",
        text: "",
    },
    Part {
        table: "authz",
        heading: "Identities",
        text: "The entry of a client that is authenticated by SASL, and the identities that it may assume.",
    },
    Part {
        table: "password",
        heading: "Passwords",
        text: "",
    },
    Part {
        table: "ppolicy",
        heading: "Password policies",
        text: "",
    },
    Part {
        table: "index_keys",
        heading: "Sizes of slapd's index keys",
        text: "Only `cn=config` shows these sizes. This server's indexes need none of them.",
    },
    Part {
        table: "metrics",
        heading: "Monitoring",
        text: "docs/monitoring.md describes the figures and the probes.",
    },
    Part {
        table: "console",
        heading: "The console",
        text: "docs/console.md describes the pages in the browser.",
    },
    Part {
        table: "cluster",
        heading: "Cluster",
        text: "Several servers with one content, whose order of changes is in etcd. docs/cluster.md \
               describes it.",
    },
    Part {
        table: "backup",
        heading: "Backups",
        text: "The running server copies all databases. docs/backup.md describes backups and restoring.",
    },
    Part {
        table: "log",
        heading: "The log",
        text: "",
    },
    Part {
        table: "start",
        heading: "The start",
        text: "A container finds these at every start. Entries that exist stay as they are.",
    },
];

const EXAMPLE_INTRODUCTION: &str = "\
# Settings of the fulgurite programs: every key there is. This file is made from the settings table
# (crates/config/src/table); docs/settings.md describes the same keys. A line with a key shows the
# default, or a value that every installation sets. A line that begins with \"#\" and a key shows an
# example; remove the mark to set it.
#
#   fulgurite config check fulgurite.toml            can the file be used?
#   fulgurite config show --resolved fulgurite.toml  every setting and its origin
#   fulgurite serve --config fulgurite.toml
#
# A flag (--suffix) wins over this file. This file wins over the environment (FULGURITE_SUFFIX, and
# FULGURITE_LIMITS_SIZE for limits.size). An unknown key is an error with its line and column.
";

const EXAMPLE_END: &str = "
# Several databases: each has the keys of \"The database\" and \"Rules\" above, and [database.index],
# [database.storage], [database.root], [database.limits]. Types are mdb, monitor and config.
#
#   [[database]]
#   suffix = \"dc=example,dc=com\"
#   data = \"/var/lib/fulgurite/example\"
#   root.dn = \"cn=admin,dc=example,dc=com\"
#   access = [\"to * by users read\"]
#
#   [[database]]
#   type = \"monitor\"
#   access = [\"to * by dn.exact=\\\"cn=admin,dc=example,dc=com\\\" read\"]
#
#   [[database]]
#   type = \"config\"
#   root.password_file = \"/etc/fulgurite/config-password\"
";

const REFERENCE_TITLE: &str = "\
# Settings

This page is made from the settings table (`crates/config/src/table`). It lists every setting with
its type, its default, and its names in other sources.
";

/// The text before the settings, in the reference and in the manual.
pub(crate) const INTRODUCTION: &str = "\
A flag wins over the configuration file, and the file wins over the environment. The file is TOML
([examples/fulgurite.toml](../examples/fulgurite.toml)), a slapd.conf, or a `cn=config` directory.
Every key has an environment variable: `FULGURITE_` and the key in capitals, with `_` for `.`.

A TOML file may have three more keys, which `fulgurite config convert` writes. `[[overlay]]`, or
`[[database.overlay]]` in a database, has the `name` of an overlay and its `lines` in the words of
slapd.conf. With `slapd_defaults = true`, rights and limits that nothing sets are those of slapd.
`slapd_modules` lists the modules that `cn=config` shows.
";

/// A setting's key, its name within its TOML table, and its row.
pub(crate) struct Setting {
    pub(crate) key: &'static str,
    name: &'static str,
    pub(crate) info: &'static Info,
}

/// Returns the settings of a part, in the order of the table.
pub(crate) fn settings_of(part: &Part) -> Vec<Setting> {
    let settings = rows().filter_map(|row| {
        let info = row.info();
        let key = info.key?;
        let (table, name) = key.split_once('.').unwrap_or(("", key));
        let heading = match (table, row) {
            ("", _) if key == "index" => "Indexes",
            ("", AnyRow::Storage(_) | AnyRow::Content(_)) => DATABASE.heading,
            ("", AnyRow::Policy(_)) => RULES.heading,
            ("", AnyRow::Global(_)) => SERVER.heading,
            (table, _) => TABLES.iter().find(|part| part.table == table)?.heading,
        };
        (heading == part.heading).then_some(Setting { key, name, info })
    });
    settings.collect()
}

/// Returns the parts of the reference, in its order.
pub(crate) fn parts() -> impl Iterator<Item = &'static Part> {
    [&DATABASE, &RULES, &SERVER].into_iter().chain(&TABLES)
}

/// Returns the settings that have flags, with their headings, in the order of the reference.
pub fn flags() -> impl Iterator<Item = (&'static str, &'static Info)> {
    let settings = parts().flat_map(|part| {
        settings_of(part)
            .into_iter()
            .map(|one| (part.heading, one.info))
    });
    settings.filter(|(_, info)| info.flag.is_some())
}

/// Returns the example configuration, `examples/fulgurite.toml`.
#[must_use]
pub fn example() -> String {
    let mut out = EXAMPLE_INTRODUCTION.to_owned();
    for part in parts() {
        let settings = settings_of(part);
        if part.table.is_empty() {
            out.push_str(&format!("\n# --- {} ---\n", part.heading));
            comment(&mut out, part.text);
        } else {
            out.push('\n');
            comment(&mut out, part.text);
            if part.table == "index" {
                for setting in &settings {
                    comment(&mut out, &setting.info.text());
                }
                comment(&mut out, "These are the defaults:");
            }
            out.push_str(&format!("[{}]\n", part.table));
        }
        if part.table == "index" {
            for setting in index::defaults() {
                out.push_str(&format!("{} = \"{}\"\n", setting.attribute, setting.kinds));
            }
            continue;
        }
        for (at, setting) in settings.iter().enumerate() {
            if part.table.is_empty() || at > 0 {
                out.push('\n');
            }
            comment(&mut out, &setting.info.text());
            values(&mut out, setting);
        }
    }
    out.push_str(EXAMPLE_END);
    out
}

/// Adds the lines that set a key: the default or the installed value, then examples.
fn values(out: &mut String, setting: &Setting) {
    let info = setting.info;
    let mut examples = info.examples.iter();
    let value = match info.installed {
        true => examples.next().map(|value| (*value).to_owned()),
        // An empty list says less than an example.
        false => (info.default)().filter(|value| value != "[]" || info.examples.is_empty()),
    };
    if let Some(value) = value {
        out.push_str(&format!("{} = {value}\n", setting.name));
    }
    for example in examples {
        out.push_str(&format!("#{} = {example}\n", setting.name));
    }
}

/// Adds a comment, wrapped.
pub(crate) fn comment(out: &mut String, text: &str) {
    for line in wrapped(&text.replace('`', ""), 98) {
        out.push_str(&format!("# {line}\n"));
    }
}

/// Divides a text into lines of at most `columns` characters.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns the reference of all settings, `docs/settings.md`.
#[must_use]
pub fn reference() -> String {
    let mut out = format!("{REFERENCE_TITLE}\n{INTRODUCTION}");
    for part in parts() {
        out.push_str(&format!("\n## {}\n", part.heading));
        if !part.text.is_empty() {
            out.push_str(&format!("\n{}\n", wrapped(part.text, 100).join("\n")));
        }
        for setting in settings_of(part) {
            describe(&mut out, &setting);
        }
    }
    out
}

fn describe(out: &mut String, setting: &Setting) {
    let info = setting.info;
    let doc = wrapped(&info.text(), 100).join("\n");
    out.push_str(&format!("\n### `{}`\n\n{doc}\n\n", setting.key));
    for fact in facts(info) {
        out.push_str(&format!("- {fact}\n"));
    }
}

/// Returns the type of a setting, its default and its names in other sources, as sentences.
pub(crate) fn facts(info: &Info) -> Vec<String> {
    let mut facts = vec![format!("Type: {}.", info.kind)];
    if let Some(default) = (info.default)() {
        facts.push(format!("Default: `{default}`."));
    }
    if let Some(directive) = &info.directive {
        let keyword = format!("slapd.conf: `{}`.", directive.keyword);
        facts.push(match directive.olc {
            "" => keyword,
            olc => format!("{keyword} cn=config: `{olc}`."),
        });
    }
    if let Some(flag) = info.flag {
        facts.push(format!("Flag: `{}`.", flag.name));
    }
    let variables: Vec<String> = info.variables().map(|name| format!("`{name}`")).collect();
    facts.push(format!("Environment: {}.", variables.join(", ")));
    if info.fixed {
        facts.push("A change needs a restart.".to_owned());
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_belongs_to_one_part() {
        let described = parts().map(|part| settings_of(part).len()).sum::<usize>();
        let all = rows().filter(|row| row.info().key.is_some()).count();
        assert_eq!(described, all);
    }
}
