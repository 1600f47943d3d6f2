//! The list of commands in `fulgurite --help`, by what a person wants to do.

use clap::Command;

/// Columns of the text.
const WIDTH: usize = 100;

/// Headings with their commands.
const GROUPS: [(&str, &[&str]); 7] = [
    (
        "Set up and serve",
        &[
            "setup",
            "doctor",
            "serve",
            "status",
            "top",
            "log",
            "config",
            "check-config",
        ],
    ),
    (
        "Users, groups and entries of a running server",
        &["user", "group", "ou", "search", "apply"],
    ),
    ("LDIF", &["load", "export", "modify", "generate"]),
    (
        "Care of the data",
        &[
            "backup",
            "restore",
            "check",
            "env",
            "index",
            "explain",
            "schema-check",
        ],
    ),
    ("From other programs", &["migrate", "import", "dbload"]),
    (
        "Several servers, and a cache",
        &["replication", "cluster", "memcached"],
    ),
    (
        "Passwords, rights and names",
        &["passwd", "access", "auth", "dn"],
    ),
];

/// Returns the template of the program's help.
pub(super) fn template(command: &Command) -> String {
    let mut out = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    let names = GROUPS.iter().flat_map(|(_, names)| *names);
    let indent = names.map(|name| name.len()).max().unwrap_or(0) + 4;
    for (heading, names) in GROUPS {
        out.push_str(&format!("\n{heading}:\n"));
        for name in names {
            let found = command.find_subcommand(name);
            let about = found.and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            out.push_str(&item(name, &about, indent));
        }
    }
    out.push_str("\nOptions:\n{options}{after-help}");
    out
}

/// Returns a command with its text, in lines.
fn item(name: &str, about: &str, indent: usize) -> String {
    let mut out = format!("  {name:<width$}", width = indent - 2);
    let mut column = indent;
    for word in about.split_whitespace() {
        if column > indent && column + 1 + word.len() > WIDTH {
            out.push_str(&format!("\n{:indent$}", ""));
            column = indent;
        }
        if column > indent {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.len();
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory as _;

    #[test]
    fn each_command_is_in_one_group() {
        let command = Arguments::command();
        let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
        let mut all: Vec<&str> = shown.map(Command::get_name).collect();
        let names = GROUPS.iter().flat_map(|(_, names)| *names);
        let mut listed: Vec<&str> = names.copied().collect();
        all.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, all);
        let template = template(&command);
        assert!(
            template.lines().all(|line| line.len() <= WIDTH),
            "{template}"
        );
        assert!(
            template.contains("\n  user          Look after users of a running server\n"),
            "{template}"
        );
        // Anything else between braces would be taken for a part of the template.
        assert_eq!(template.matches('{').count(), 5, "{template}");
    }
}
