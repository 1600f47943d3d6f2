//! Manual pages and completions, made from the same commands as `--help`.
//!
//! They are files below `packaging/`, so that the program need not contain their makers.
//! `FULGURITE_BLESS=1 cargo test -p fulgurite-cli documents` writes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::arguments::Arguments;

/// Files below `packaging/`, by their paths there.
type Files = BTreeMap<String, String>;

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging")
}

/// Returns the program's commands with their full names.
fn program() -> Command {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    command
}

fn page_name(command: &Command) -> String {
    let name = command.get_display_name();
    name.unwrap_or_else(|| command.get_name()).to_owned()
}

fn pages(command: &Command, above: Option<&Command>, files: &mut Files) {
    let commands = || command.get_subcommands().filter(|one| !one.is_hide_set());
    let mut related: Vec<String> = above.map(page_name).into_iter().collect();
    related.extend(commands().map(page_name));
    let name = format!("man/{}.1", page_name(command));
    files.insert(name, page(command, &related));
    for one in commands() {
        pages(one, Some(command), files);
    }
}

fn page(command: &Command, related: &[String]) -> String {
    let man = Man::new(command.clone())
        .title(page_name(command))
        .source(format!("fulgurite {}", env!("CARGO_PKG_VERSION")))
        .manual("Fulgurite");
    let mut out = Vec::new();
    let rendered = man
        .render_title(&mut out)
        .and_then(|()| man.render_name_section(&mut out))
        .and_then(|()| man.render_synopsis_section(&mut out))
        .and_then(|()| man.render_description_section(&mut out))
        .and_then(|()| man.render_options_section(&mut out))
        .and_then(|()| match command.has_subcommands() {
            true => man.render_subcommands_section(&mut out),
            false => Ok(()),
        });
    rendered.expect("written to memory");
    let mut out = String::from_utf8(out).expect("text");
    if let Some(text) = command.get_after_help() {
        examples(&mut out, &text.to_string());
    }
    out.push_str(".SH \"SEE ALSO\"\n");
    let pages = related.iter().map(|name| reference(name, 1));
    let pages: Vec<String> = pages.chain([reference("fulgurite.toml", 5)]).collect();
    out.push_str(&pages.join(",\n"));
    out.push('\n');
    out
}

fn reference(page: &str, section: u8) -> String {
    format!(".BR {} ({section})", literal(page))
}

/// Adds the text after the help: command lines as they are, sentences as paragraphs.
fn examples(out: &mut String, text: &str) {
    let heading = match text.starts_with("Example") {
        true => "EXAMPLES",
        false => "NOTES",
    };
    out.push_str(&format!(".SH {heading}\n"));
    let mut is_literal = false;
    for line in text.lines() {
        let wants_literal = line.starts_with("  ");
        if wants_literal != is_literal {
            out.push_str(if wants_literal { ".nf\n" } else { ".fi\n" });
            is_literal = wants_literal;
        }
        match line {
            "Example:" | "Examples:" => {}
            "" => out.push_str(".PP\n"),
            line => out.push_str(&format!("{}\n", literal(line.trim_start_matches("  ")))),
        }
    }
    if is_literal {
        out.push_str(".fi\n");
    }
}

/// Returns a line that troff prints as it is.
fn literal(line: &str) -> String {
    let line = line
        .replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('\'', "\\(aq");
    match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line,
    }
}

fn completions(files: &mut Files) {
    for (shell, name) in [
        (Shell::Bash, "fulgurite.bash"),
        (Shell::Zsh, "_fulgurite"),
        (Shell::Fish, "fulgurite.fish"),
    ] {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "fulgurite", &mut script);
        let script = String::from_utf8(script).expect("text");
        files.insert(format!("completions/{name}"), script);
    }
}

fn all() -> Files {
    let mut files = Files::new();
    pages(&program(), None, &mut files);
    completions(&mut files);
    files
}

#[test]
fn documents_are_up_to_date() {
    let (folder, made) = (packaging(), all());
    let blesses = std::env::var_os("FULGURITE_BLESS").is_some();
    for (name, text) in &made {
        let path = folder.join(name);
        if blesses {
            std::fs::write(&path, text).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == *text,
            "packaging/{name} is not that of the commands; run FULGURITE_BLESS=1 cargo test -p \
             fulgurite-cli documents"
        );
    }
    for part in ["man", "completions"] {
        for file in std::fs::read_dir(folder.join(part)).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            // The settings table makes this page.
            let is_known =
                name == "fulgurite.toml.5" || made.contains_key(&format!("{part}/{name}"));
            assert!(is_known, "no command has packaging/{part}/{name}");
        }
    }
}

#[test]
fn every_command_has_a_page_with_its_flags() {
    fn visit(command: &Command, files: &Files) {
        let name = page_name(command);
        let page = files.get(&format!("man/{name}.1"));
        let page = page.unwrap_or_else(|| panic!("{name} has no page"));
        for argument in command.get_arguments().filter(|one| !one.is_hide_set()) {
            let Some(flag) = argument.get_long() else {
                continue;
            };
            let flag = literal(&format!("--{flag}"));
            assert!(page.contains(&flag), "{name}: {flag}");
        }
        for one in command.get_subcommands() {
            visit(one, files);
        }
    }
    let files = all();
    visit(&program(), &files);
    assert!(files.len() > 25, "{} files", files.len());
}

#[test]
fn man_finds_nothing_to_warn_of() {
    let folder = packaging().join("man");
    let mut names: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    names.sort();
    let man = std::process::Command::new("man")
        .args(["--warnings", "-E", "UTF-8", "-Tutf8", "-l"])
        .args(&names)
        .env("MANPAGER", "cat")
        .env("MANROFFSEQ", "")
        .output();
    let Ok(out) = man else {
        eprintln!("skipped: there is no man");
        return;
    };
    let warnings = String::from_utf8_lossy(&out.stderr);
    if warnings.contains("groff") && warnings.contains("not found") {
        eprintln!("skipped: {warnings}");
        return;
    }
    assert!(out.status.success() && warnings.is_empty(), "{warnings}");
}

#[test]
fn troff_prints_a_line_as_it_is() {
    assert_eq!(literal(".x --a 'b' \\"), "\\&.x \\-\\-a \\(aqb\\(aq \\e");
    let mut out = String::new();
    examples(&mut out, "Examples:\n  fulgurite dn x\n\nA remark.");
    assert_eq!(
        out,
        ".SH EXAMPLES\n.nf\nfulgurite dn x\n.fi\n.PP\nA remark.\n"
    );
}
