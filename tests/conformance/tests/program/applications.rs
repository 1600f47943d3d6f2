//! The filters of docs/applications.md, each sent as its application sends it.

use std::fs;
use std::path::Path;

use fulgurite_client::Scope;
use fulgurite_conformance::{PASSWORD, RunningServer, fulgurite};
use tempfile::TempDir;

const SUFFIX: &str = "dc=example,dc=org";
const ROOT: &str = "cn=admin,dc=example,dc=org";

/// The marks that applications replace by a text.
const MARKS: [&str; 5] = ["%uid", "%USER%", "%Lu", "%s", "{0}"];

/// A row of the page.
struct Row {
    application: String,
    filter: String,
    finds: String,
}

fn tree(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rows() -> Vec<Row> {
    let page = tree("docs/applications.md").replace("\\|", "\u{1}");
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('`'));
    let rows = rows.map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, application, setting, filter, with, finds, _] = &cells[..] else {
            panic!("{line}");
        };
        let filter = filter.trim_matches('`').replace('\u{1}', "|");
        let filter = MARKS
            .iter()
            .fold(filter, |filter, mark| filter.replace(mark, with));
        Row {
            application: format!("{application}, {setting}"),
            filter,
            finds: (*finds).to_owned(),
        }
    });
    rows.collect()
}

/// Serves the example's entries with the overlays that a setup writes.
fn serve(folder: &Path) -> RunningServer {
    let data = folder.join("db");
    fs::write(folder.join("harbour.ldif"), tree("examples/harbour.ldif")).expect("write LDIF");
    let load = fulgurite()
        .args(["load", "--quiet", "--suffix", SUFFIX, "--data"])
        .args([&data, &folder.join("harbour.ldif")])
        .output()
        .expect("run the program");
    assert!(load.status.success(), "{load:?}");
    let settings = format!(
        "suffix = \"{SUFFIX}\"\ndata = \"{}\"\nlisten = [\"ldap://127.0.0.1:0\"]\n\
         [root]\ndn = \"{ROOT}\"\npassword = \"{PASSWORD}\"\n\
         [[overlay]]\nname = \"memberof\"\n[[overlay]]\nname = \"refint\"\n\
         lines = [\"refint_attributes member uniqueMember\"]\n",
        data.display()
    );
    fs::write(folder.join("fulgurite.toml"), settings).expect("write the settings");
    let mut command = fulgurite();
    command
        .args(["serve", "--config"])
        .arg(folder.join("fulgurite.toml"));
    RunningServer::start(&mut command)
}

#[test]
fn every_filter_of_the_page_finds_what_it_promises() {
    let folder = TempDir::new().expect("make a directory");
    let server = serve(folder.path());
    let mut client = server.client();
    let bound = client.bind(ROOT, PASSWORD.as_bytes()).expect("bind");
    assert!(bound.is_success(), "{bound:?}");
    let rows = rows();
    for Row {
        application,
        filter,
        finds,
    } in &rows
    {
        assert!(!filter.contains('%'), "{application}: {filter}");
        let found = client.search(SUFFIX, Scope::Subtree, filter, &["1.1"]);
        let found = found.unwrap_or_else(|error| panic!("{application}: {filter}: {error}"));
        assert!(
            found.result.is_success(),
            "{application}: {:?}",
            found.result
        );
        let names: Vec<&str> = found
            .entries
            .iter()
            .map(|entry| entry.dn.as_str())
            .collect();
        match finds.parse::<usize>() {
            Ok(count) => assert_eq!(names.len(), count, "{application}: {filter}: {names:?}"),
            Err(_) => {
                let is_one = matches!(&names[..], [name] if name.starts_with(&format!("{finds},")));
                assert!(is_one, "{application}: {filter}: {names:?}");
            }
        }
    }
    for name in [
        "Nextcloud",
        "GitLab",
        "Keycloak",
        "SSSD",
        "Postfix",
        "Dovecot",
        "LDAP Account",
        "Grafana",
    ] {
        assert!(
            rows.iter().any(|row| row.application.starts_with(name)),
            "{name}"
        );
    }
}

#[test]
fn every_document_is_in_the_table_of_contents() {
    let contents = tree("docs/SUMMARY.md");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for file in fs::read_dir(&folder).expect("the documents") {
        let name = file
            .expect("a file")
            .file_name()
            .into_string()
            .expect("UTF-8");
        if name.ends_with(".md") && name != "SUMMARY.md" {
            assert!(contents.contains(&format!("({name})")), "{name}");
        }
    }
    for link in contents.split("](").skip(1) {
        let name = link.split(')').next().unwrap_or_default();
        assert!(folder.join(name).is_file(), "{name}");
    }
}
