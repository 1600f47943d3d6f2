//! Wishes from YAML: a list of mappings, or one in each document.
//!
//! A scalar is a value as it is written, so `0123` and `yes` stay text. `null` and `[]` are no
//! value. The tag `!!binary` marks base64.

use anyhow::{Context as _, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use saphyr_parser::{Event, Parser, ScalarStyle};

use super::wanted::{WantedState, Wish};
use crate::remote::entries::{NamedValues, is_of_server};

/// Lists and mappings within each other at most.
const DEPTH_MAX: usize = 8;

/// A piece of the file.
struct Node {
    line: usize,
    content: Content,
}

enum Content {
    Null,
    Value(Vec<u8>),
    List(Vec<Node>),
    Mapping(Vec<(String, Node)>),
}

/// Reads all wishes of a text.
pub(super) fn read(text: &str, file: &str) -> anyhow::Result<Vec<Wish>> {
    let mut wishes = Vec::new();
    for document in documents(text).with_context(|| file.to_owned())? {
        match document.content {
            Content::List(nodes) => {
                for node in nodes {
                    wishes.push(wish(node, file)?);
                }
            }
            Content::Mapping(_) => wishes.push(wish(document, file)?),
            Content::Null => {}
            Content::Value(_) => bail!("{file}, line {}: entries are mappings", document.line),
        }
    }
    Ok(wishes)
}

fn wish(node: Node, file: &str) -> anyhow::Result<Wish> {
    let place = format!("{file}, line {}", node.line);
    let Content::Mapping(pairs) = node.content else {
        bail!("{place}: an entry is a mapping with dn");
    };
    let (mut dn, mut is_absent, mut attributes) = (None, false, Vec::new());
    for (key, node) in pairs {
        match key.to_ascii_lowercase().as_str() {
            "dn" => dn = Some(one_text(node).with_context(|| format!("{place}: dn"))?),
            "state" => match one_text(node).unwrap_or_default().as_str() {
                "present" => is_absent = false,
                "absent" => is_absent = true,
                other => bail!("{place}: state is present or absent, not \"{other}\""),
            },
            "attributes" => {
                let Content::Mapping(pairs) = node.content else {
                    bail!("{place}: attributes is a mapping");
                };
                for (key, node) in pairs {
                    attribute(&mut attributes, key, node).with_context(|| place.clone())?;
                }
            }
            _ => attribute(&mut attributes, key, node).with_context(|| place.clone())?,
        }
    }
    let Some(dn) = dn else {
        bail!("{place}: the entry has no dn");
    };
    let state = match is_absent {
        true => WantedState::Absent,
        false => WantedState::Present(attributes),
    };
    Ok(Wish { dn, place, state })
}

fn attribute(attributes: &mut Vec<NamedValues>, name: String, node: Node) -> anyhow::Result<()> {
    if is_of_server(&name) {
        return Ok(());
    }
    let known = attributes.iter();
    if known
        .map(|(known, _)| known)
        .any(|known| known.eq_ignore_ascii_case(&name))
    {
        bail!("{name} comes twice");
    }
    let values = values(node).with_context(|| name.clone())?;
    attributes.push((name, values));
    Ok(())
}

fn values(node: Node) -> anyhow::Result<Vec<Vec<u8>>> {
    match node.content {
        Content::Null => Ok(Vec::new()),
        Content::Value(value) => Ok(vec![value]),
        Content::List(nodes) => {
            let mut all = Vec::new();
            for node in nodes {
                match node.content {
                    Content::Value(value) => all.push(value),
                    _ => bail!("line {}: a list of values has values alone", node.line),
                }
            }
            Ok(all)
        }
        Content::Mapping(_) => bail!("line {}: a value or a list is expected", node.line),
    }
}

fn one_text(node: Node) -> anyhow::Result<String> {
    match node.content {
        Content::Value(value) => String::from_utf8(value).context("not UTF-8"),
        _ => bail!("line {}: one value is expected", node.line),
    }
}

/// Returns the documents of a text as trees.
fn documents(text: &str) -> anyhow::Result<Vec<Node>> {
    let mut documents = Vec::new();
    // Open lists and mappings, with the key that waits for its value.
    let mut open: Vec<(Node, Option<String>)> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| anyhow!("{error}"))?;
        let line = span.start.line();
        let node = |content| Node { line, content };
        let finished = match event {
            Event::SequenceStart(..) => {
                open.push((node(Content::List(Vec::new())), None));
                None
            }
            Event::MappingStart(..) => {
                open.push((node(Content::Mapping(Vec::new())), None));
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(|(node, _)| node),
            Event::Scalar(text, style, _, tag) => {
                let is_binary = tag.is_some_and(|tag| tag.suffix == "binary");
                let value = scalar(&text, style == ScalarStyle::Plain, is_binary);
                Some(node(value.with_context(|| format!("line {line}"))?))
            }
            Event::Alias(_) => bail!("line {line}: aliases (*name) are not read"),
            _ => None,
        };
        if open.len() > DEPTH_MAX {
            bail!("line {line}: too many lists and mappings within each other");
        }
        let Some(finished) = finished else { continue };
        match open.last_mut() {
            None => documents.push(finished),
            Some((parent, key)) => hang(parent, key, finished)?,
        }
    }
    Ok(documents)
}

/// Hangs a node into the list or mapping around it. In a mapping, keys and values alternate.
fn hang(parent: &mut Node, key: &mut Option<String>, node: Node) -> anyhow::Result<()> {
    match &mut parent.content {
        Content::List(nodes) => nodes.push(node),
        Content::Mapping(pairs) => match key.take() {
            Some(key) => pairs.push((key, node)),
            None => *key = Some(one_text(node).context("a key")?),
        },
        Content::Null | Content::Value(_) => {}
    }
    Ok(())
}

fn scalar(text: &str, is_plain: bool, is_binary: bool) -> anyhow::Result<Content> {
    if is_binary {
        let text: String = text.split_whitespace().collect();
        let bytes = STANDARD.decode(text).context("!!binary has no base64")?;
        return Ok(Content::Value(bytes));
    }
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" if is_plain => Content::Null,
        text => Content::Value(text.as_bytes().to_vec()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let error = read(text, "f").expect_err("it cannot be read");
        format!("{error:#}")
    }

    #[test]
    fn entries_are_mappings() {
        let text = "- dn: uid=ada,dc=x\n  objectClass: [inetOrgPerson, posixAccount]\n  uid: ada\n  \
                    title: null\n  employeeNumber: 0123\n  description:\n    - \"null\"\n    - yes\n  \
                    jpegPhoto: !!binary /wA=\n- dn: cn=b,dc=x\n  state: absent\n";
        let wishes = read(text, "f").unwrap();
        let [ada, b] = wishes.as_slice() else {
            panic!("{wishes:?}");
        };
        assert_eq!(
            (ada.dn.as_str(), ada.place.as_str()),
            ("uid=ada,dc=x", "f, line 1")
        );
        let WantedState::Present(attributes) = &ada.state else {
            panic!("{ada:?}");
        };
        let values = |name: &str| {
            let found = attributes.iter().find(|(known, _)| known == name);
            found.map(|(_, values)| values.clone()).unwrap()
        };
        let texts = |texts: &[&str]| -> Vec<Vec<u8>> {
            texts.iter().map(|text| text.as_bytes().to_vec()).collect()
        };
        assert_eq!(
            values("objectClass"),
            texts(&["inetOrgPerson", "posixAccount"])
        );
        assert_eq!(values("title"), texts(&[]));
        assert_eq!(values("employeeNumber"), texts(&["0123"]));
        assert_eq!(values("description"), texts(&["null", "yes"]));
        assert_eq!(values("jpegPhoto"), [vec![0xff, 0]]);
        assert_eq!(b.state, WantedState::Absent);
        let nested = read("dn: dc=x\nattributes:\n  dc: x\n---\ndn: dc=y\n", "f").unwrap();
        assert_eq!(nested.len(), 2);
    }

    #[test]
    fn mistakes_have_their_line() {
        for (text, part) in [
            ("- cn: x\n", "f, line 1: the entry has no dn"),
            (
                "- dn: dc=x\n  state: gone\n",
                "present or absent, not \"gone\"",
            ),
            ("- dn: dc=x\n  cn: a\n  CN: b\n", "CN comes twice"),
            (
                "- dn: dc=x\n  cn:\n    a: b\n",
                "cn: line 3: a value or a list",
            ),
            ("- dn: dc=x\n  cn: &a b\n  sn: *a\n", "aliases"),
            ("text\n", "entries are mappings"),
            ("- [\n", "f: "),
            ("[[[[[[[[[[[[", "f: "),
        ] {
            let told = error(text);
            assert!(told.contains(part), "{text}: {told}");
        }
    }
}
