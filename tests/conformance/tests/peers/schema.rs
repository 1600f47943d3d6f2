//! Storable values, side by side with slapd: the same schema files, updates and values.
//!
//! ```text
//!   schema.rows          updates: code, text and what is stored afterwards must be equal
//!   syntaxes.txt         a value per line and who accepts it: the table that the schema's own tests read too
//! ```

use std::fs;
use std::path::Path;

use fulgurite_client::{
    Change, Client, Control, LdapResult, PartialAttribute, Request, Scope, SearchRequest,
};
use fulgurite_ldap::{DeleteRequest, FilterBuf, oid};
use fulgurite_testkit::Scratch;

use crate::data::SUFFIX;
use crate::servers::{PATIENCE, ROOT_DN, ROOT_PASSWORD, Server};

const ROWS: &str = include_str!("schema.rows");
const DEFINITIONS: &str = include_str!("schema.definitions");
const SYNTAXES: &str = include_str!("../../../../crates/schema/tests/data/syntaxes.txt");
const FILES: [&str; 5] = ["core", "cosine", "inetorgperson", "nis", "collective"];

/// One update.
#[derive(Debug)]
enum Update<'r> {
    Add(&'r str, Vec<(&'r str, Vec<&'r [u8]>)>),
    Modify(Vec<(&'r str, &'r str, Vec<&'r [u8]>)>),
}

fn parse(row: &str) -> (&str, Update<'_>) {
    let mut fields = row.split(" | ");
    let (label, what) = (
        fields.next().unwrap_or_default(),
        fields.next().unwrap_or_default(),
    );
    let Some(dn) = what.strip_prefix("add ") else {
        assert_eq!(what, "mod", "{row}");
        let changes = fields.map(|field| {
            let mut parts = field.split('\t');
            let head = parts.next().unwrap_or_default();
            let (kind, name) = head.split_once(' ').unwrap_or_else(|| panic!("{row}"));
            (kind, name, parts.map(str::as_bytes).collect())
        });
        return (label, Update::Modify(changes.collect()));
    };
    let mut attributes: Vec<(&str, Vec<&[u8]>)> = Vec::new();
    for field in fields {
        let (name, value) = match field.split_once(':') {
            Some((name, value)) => (name, Some(value.as_bytes())),
            None => (field, None),
        };
        match attributes.iter_mut().find(|(held, _)| *held == name) {
            Some((_, values)) => values.extend(value),
            None => attributes.push((name, value.into_iter().collect())),
        }
    }
    (label, Update::Add(dn, attributes))
}

fn connect(server: &Server) -> Client {
    let mut client = Client::connect(server.address()).expect("connect");
    client.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let bound = client
        .bind(ROOT_DN, ROOT_PASSWORD.as_bytes())
        .expect("bind");
    assert!(
        bound.is_success(),
        "{}: {bound:?}\n{}",
        server.name(),
        server.log()
    );
    client
}

fn manage() -> Control<'static> {
    Control {
        oid: oid::MANAGE_DSA_IT.as_bytes(),
        critical: true,
        value: None,
    }
}

fn add(client: &mut Client, dn: &str, attributes: &[(&str, Vec<&[u8]>)]) -> LdapResult {
    let attributes: Vec<PartialAttribute<'_>> = attributes
        .iter()
        .map(|(name, values)| PartialAttribute {
            description: name.as_bytes(),
            values: fulgurite_ldap::Values::from_slices(values),
        })
        .collect();
    client.add(dn, &attributes).expect("an answer")
}

fn apply(client: &mut Client, update: &Update<'_>) -> LdapResult {
    match update {
        Update::Add(dn, attributes) => add(client, dn, attributes),
        Update::Modify(changes) => {
            let dn = format!("cn=m,{SUFFIX}");
            let target: [(&str, Vec<&[u8]>); 7] = [
                (
                    "objectClass",
                    vec![b"inetOrgPerson", b"simpleSecurityObject"],
                ),
                ("cn", vec![b"m", b"n"]),
                ("sn", vec![b"s"]),
                ("description", vec![b"d"]),
                ("userPassword", vec![b"p"]),
                ("jpegPhoto", vec![b"x", b"y"]),
                ("telephoneNumber", vec![b"1"]),
            ];
            let made = add(client, &dn, &target);
            assert!(made.is_success(), "{made:?}");
            let changes: Vec<Change<'_>> = changes
                .iter()
                .map(|(kind, name, values)| match *kind {
                    "add" => Change::add(name, values),
                    "delete" => Change::delete(name, values),
                    "replace" => Change::replace(name, values),
                    "increment" => Change::increment(name, values),
                    other => panic!("no change: {other}"),
                })
                .collect();
            client.modify(&dn, &changes).expect("an answer")
        }
    }
}

/// Everything below the suffix in words, and then no more of it.
fn shown_and_removed(client: &mut Client) -> String {
    let filter = FilterBuf::parse("(objectClass=*)").expect("a filter");
    let request = SearchRequest {
        attributes: vec![b"*", b"structuralObjectClass"],
        ..SearchRequest::new(SUFFIX, Scope::One, filter.filter())
    };
    let found = client.search_with(&request, &[manage()]).expect("a search");
    let mut words = String::new();
    for entry in &found.entries {
        let mut attributes: Vec<String> = entry
            .attributes
            .iter()
            .map(|(name, values)| {
                let mut values: Vec<String> = values
                    .iter()
                    .map(|value| value.escape_ascii().to_string())
                    .collect();
                values.sort();
                format!("{name}={}", values.join("&"))
            })
            .collect();
        attributes.sort();
        words += &format!("{} {}", entry.dn, attributes.join(" "));
        let delete = Request::Delete(DeleteRequest {
            dn: entry.dn.as_bytes(),
        });
        let gone = client.request(&delete, &[manage()]).expect("an answer");
        assert!(gone.result.is_success(), "{}: {gone:?}", entry.dn);
    }
    words
}

fn both(folder: &Path, definitions: &str) -> [Server; 2] {
    let path = folder.join("more.schema");
    fs::write(&path, definitions).expect("write the definitions");
    [false, true].map(|ours| {
        let folder = folder.join(if ours { "ours" } else { "slapd" });
        fs::create_dir_all(&folder).expect("make a folder");
        Server::configured(ours, &folder, &FILES, &path)
    })
}

fn start_tree(client: &mut Client) {
    let made = add(client, SUFFIX, &[("objectClass", vec![b"domain"])]);
    assert!(made.is_success(), "{made:?}");
}

#[test]
fn updates_are_judged_alike() {
    let scratch = Scratch::new("schema-rows");
    let servers = both(scratch.path(), DEFINITIONS);
    let mut clients = servers.each_ref().map(connect);
    clients.iter_mut().for_each(start_tree);
    let mut wrong = Vec::new();
    let rows = ROWS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    for row in rows {
        let (label, update) = parse(row);
        let answers = clients.each_mut().map(|client| {
            let result = apply(client, &update);
            let stored = shown_and_removed(client);
            let refused = !result.is_success();
            let text = if refused {
                result.diagnostic.clone()
            } else {
                stored
            };
            (format!("{:?}", result.code), text)
        });
        let [theirs, ours] = &answers;
        let alike = theirs.0 == ours.0 && (theirs.1 == ours.1 || label.starts_with('~'));
        if alike == label.starts_with('!') {
            wrong.push(format!("{row}\n  slapd {theirs:?}\n  ours  {ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn values_are_judged_alike() {
    let rows: Vec<[&str; 3]> = SYNTAXES
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let fields: Vec<&str> = line.splitn(3, '|').collect();
            fields.try_into().unwrap_or_else(|_| panic!("{line}"))
        })
        .collect();
    let mut syntaxes: Vec<&str> = rows.iter().map(|[syntax, ..]| *syntax).collect();
    syntaxes.sort_unstable();
    syntaxes.dedup();
    let definitions: String = syntaxes
        .iter()
        .enumerate()
        .map(|(number, syntax)| {
            format!("attributetype ( 1.3.6.1.4.1.32473.3.{number} NAME 'test{number}' SYNTAX {syntax} )\n")
        })
        .collect();
    let scratch = Scratch::new("schema-values");
    let servers = both(scratch.path(), &definitions);
    let mut clients = servers.each_ref().map(connect);
    clients.iter_mut().for_each(start_tree);
    let mut wrong = Vec::new();
    for [syntax, verdict, value] in rows {
        let number = syntaxes.binary_search(&syntax).expect("its number");
        let value = unescaped(value);
        let accepted = clients.each_mut().map(|client| {
            let mut result = None;
            // With `;binary`, where the syntax needs it.
            for name in [format!("test{number}"), format!("test{number};binary")] {
                let attributes: [(&str, Vec<&[u8]>); 2] = [
                    ("objectClass", vec![b"device", b"extensibleObject"]),
                    (&name, vec![&value]),
                ];
                let answer = add(client, &format!("cn=v,{SUFFIX}"), &attributes);
                let binary = answer.diagnostic.contains("requires ;binary");
                result = Some(answer);
                if !binary {
                    break;
                }
            }
            shown_and_removed(client);
            result.is_some_and(|result| result.is_success())
        });
        let expected = match verdict {
            "+" => [true, true],
            "-" => [false, false],
            ">" => [false, true],
            "<" => [true, false],
            other => panic!("no verdict: {other}"),
        };
        if accepted != expected {
            wrong.push(format!(
                "{syntax}|{verdict}|{}: {accepted:?}",
                value.escape_ascii()
            ));
        }
    }
    assert!(wrong.is_empty(), "slapd, ours:\n{}", wrong.join("\n"));
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut octets = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        octets.push(u8::from_str_radix(&part[..2], 16).expect("two digits"));
        octets.extend_from_slice(&part.as_bytes()[2..]);
    }
    octets
}
