//! Requests of every kind, made at random: octets, and text for a person.

use std::fmt;

use fulgurite_testkit::Random;

use crate::ber::{boolean, enumerated, group, integer, octets, sequence, set, tlv};
use crate::controls::{self, Control, Target};
use crate::filters::{self, Filter};
use crate::names::{self, Name, Rdn};
use crate::values::{self, CLASSES, Kind, attribute, value};

/// The identity of the requester.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Requester {
    Anonymous,
    User,
    Root,
    /// A connection whose identity changes with its binds.
    Session(u8),
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) who: Requester,
    /// The operation's name.
    pub(crate) operation: &'static str,
    pub(crate) body: Vec<u8>,
    pub(crate) controls: Vec<Control>,
    pub(crate) text: String,
    /// The effect on the present names, if the request succeeds.
    pub(crate) effect: Effect,
}

/// The effect of a successful request on names.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    None,
    Made(Name),
    Gone(Name),
    Moved(Name, Name),
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {} {}", self.who, self.operation, self.text)?;
        for control in &self.controls {
            match control {
                Control::Fixed {
                    oid,
                    critical,
                    value,
                } => {
                    write!(
                        f,
                        "\n    control {oid}{}",
                        if *critical { " critical" } else { "" }
                    )?;
                    if let Some(value) = value {
                        write!(f, " {}", value.escape_ascii())?;
                    }
                }
                Control::Paged { size, critical } => write!(
                    f,
                    "\n    pages of {size}{}",
                    if *critical { " critical" } else { "" }
                )?,
            }
        }
        Ok(())
    }
}

/// Attribute descriptions with their values.
pub(crate) type Attributes = Vec<(String, Vec<Vec<u8>>)>;

/// The material of requests.
pub(crate) struct Generator<'g> {
    pub(crate) random: &'g mut Random,
    /// The top of the episode.
    pub(crate) top: &'g Name,
    /// Names of entries believed to be there, the top first.
    pub(crate) names: &'g [Name],
}

impl Generator<'_> {
    pub(crate) fn request(&mut self) -> Request {
        let who = [
            Requester::Anonymous,
            Requester::User,
            Requester::User,
            Requester::Root,
            Requester::Root,
            Requester::Root,
        ][self.random.below(6)];
        match self.random.below(100) {
            0..=37 => self.search(who),
            38..=55 => self.modify(who),
            56..=71 => self.add(who),
            72..=77 => self.delete(who),
            78..=86 => self.rename(who),
            87..=94 => self.compare(who),
            95..=97 => self.bind(who),
            _ => self.extended(who),
        }
    }

    fn finish(
        &mut self,
        who: Requester,
        operation: &'static str,
        target: Target,
        text: String,
        body: Vec<u8>,
    ) -> Request {
        let texts = self.texts();
        Request {
            who,
            operation,
            body,
            controls: controls::some(target, &texts, self.random),
            text,
            effect: Effect::None,
        }
    }

    fn texts(&self) -> Vec<String> {
        self.names.iter().map(Name::plain).collect()
    }

    fn existing(&mut self) -> Name {
        self.random.pick(self.names).clone()
    }

    /// The name of an entry, of none, or no name.
    fn some_name(&mut self) -> String {
        match self.random.below(20) {
            0 => (*self.random.pick(names::ODD)).to_owned(),
            1 => self.existing().child("cn", "missing").spelt(self.random),
            2 => self
                .existing()
                .child("cn", "missing")
                .child("ou", "further")
                .plain(),
            _ => {
                let name = self.existing();
                name.spelt(self.random)
            }
        }
    }

    fn search(&mut self, who: Requester) -> Request {
        let texts = self.texts();
        let base = if self.random.chance(40) {
            self.top.spelt(self.random)
        } else {
            self.some_name()
        };
        let scope = [0, 1, 2, 2, 2, 3][self.random.below(6)];
        let deref = [0, 0, 0, 1, 2, 3][self.random.below(6)];
        let size = [0, 0, 0, 0, 1, 3][self.random.below(6)];
        let types_only = self.random.chance(8);
        let filter = if self.random.chance(25) {
            Filter::everything()
        } else {
            filters::any(3, &texts, self.random)
        };
        let wanted = self.selection();
        let body = group(
            0x63,
            &[
                octets(&base),
                enumerated(scope),
                enumerated(deref),
                integer(size),
                integer(0),
                boolean(types_only),
                filter.octets.clone(),
                sequence(&wanted.iter().map(octets).collect::<Vec<_>>()),
            ],
        );
        let scope = ["base", "one", "sub", "children"][scope as usize];
        let deref = ["never", "in searching", "finding base", "always"][deref as usize];
        let text = format!(
            "{base:?} {scope}, deref {deref}, size {size}, types only {types_only}, {} {wanted:?}",
            filter.text
        );
        let mut request = self.finish(who, "search", Target::Search, text, body);
        // Entries over which a limit falls are any; with pages that would be page after page of
        // chance.
        if size != 0 {
            request
                .controls
                .retain(|control| !matches!(control, Control::Paged { .. }));
        }
        request
    }

    fn selection(&mut self) -> Vec<String> {
        let mut wanted = Vec::new();
        while self.random.chance(50) && wanted.len() < 4 {
            let one = match self.random.below(10) {
                0 | 1 => "*".to_owned(),
                2 => "+".to_owned(),
                3 => "1.1".to_owned(),
                4 => ["@person", "@inetOrgPerson", "@undefinedClass"][self.random.below(3)]
                    .to_owned(),
                5 => [
                    "cn;lang-de",
                    "name",
                    "description;lang-en-",
                    "cn;lang-",
                    "description;lang-en",
                ][self.random.below(5)]
                .to_owned(),
                _ => attribute(self.random).0.to_owned(),
            };
            wanted.push(one);
        }
        wanted
    }

    fn modify(&mut self, who: Requester) -> Request {
        let texts = self.texts();
        let dn = self.some_name();
        let mut changes = Vec::new();
        let mut text = format!("{dn:?}");
        for _ in 0..[1, 1, 1, 2, 3][self.random.below(5)] {
            let (name, kind) = values::common(self.random);
            let operation = [0, 0, 0, 1, 1, 2, 2, 2, 3][self.random.below(9)];
            let count = match operation {
                0 => self.random.between(1, 2),
                3 => 1,
                _ => self.random.below(3),
            };
            let kind = if operation == 3 { Kind::Number } else { kind };
            let all: Vec<Vec<u8>> = (0..count)
                .map(|_| value(kind, &texts, self.random))
                .collect();
            let word = ["add", "delete", "replace", "increment"][operation as usize];
            text += &format!("\n    {word} {name}: {}", escaped(&all));
            changes.push(sequence(&[
                enumerated(operation),
                sequence(&[
                    octets(name),
                    set(&all.iter().map(octets).collect::<Vec<_>>()),
                ]),
            ]));
        }
        let body = group(0x66, &[octets(&dn), sequence(&changes)]);
        self.finish(who, "modify", Target::Update, text, body)
    }

    fn add(&mut self, who: Requester) -> Request {
        let texts = self.texts();
        let parent = self.existing();
        let (rdn, mut attributes) = self.entry(&texts);
        let name = parent.below(rdn);
        if self.random.chance(25) {
            let (extra, kind) = attribute(self.random);
            attributes.push((extra.to_owned(), vec![value(kind, &texts, self.random)]));
        }
        if self.random.chance(10) && !attributes.is_empty() {
            let gone = self.random.below(attributes.len());
            attributes.remove(gone);
        }
        let dn = if self.random.chance(4) {
            self.some_name()
        } else {
            name.spelt(self.random)
        };
        let mut request = self.add_of(who, &dn, &attributes);
        request.effect = Effect::Made(name);
        let controls = controls::some(Target::Update, &texts, self.random);
        request.controls = controls;
        request
    }

    /// The request that makes this entry, without controls.
    pub(crate) fn add_of(
        &self,
        who: Requester,
        dn: &str,
        attributes: &[(String, Vec<Vec<u8>>)],
    ) -> Request {
        let mut text = format!("{dn:?}");
        let mut list = Vec::new();
        for (name, values) in attributes {
            text += &format!("\n    {name}: {}", escaped(values));
            list.push(sequence(&[
                octets(name),
                set(&values.iter().map(octets).collect::<Vec<_>>()),
            ]));
        }
        Request {
            who,
            operation: "add",
            body: group(0x68, &[octets(dn), sequence(&list)]),
            controls: Vec::new(),
            text,
            effect: Effect::None,
        }
    }

    /// An entry of some kind, mostly as the schema wants it.
    pub(crate) fn entry(&mut self, texts: &[String]) -> (Rdn, Attributes) {
        let number = self.random.below(1000);
        let id = format!(
            "{}{number}",
            ["n", "Name ", "ü", "a+b "][[0, 0, 0, 1, 2, 3][self.random.below(6)]]
        );
        let text = |text: &str| vec![text.as_bytes().to_vec()];
        let (classes, naming, mut rest): (&[&str], &str, Vec<(&str, Kind)>) =
            match self.random.below(12) {
                0 | 1 => (
                    &["person"],
                    "cn",
                    vec![
                        ("sn", Kind::Text),
                        ("telephoneNumber", Kind::Phone),
                        ("seeAlso", Kind::Name),
                        ("userPassword", Kind::Password),
                    ],
                ),
                2 | 3 => (
                    &["inetOrgPerson"],
                    "uid",
                    vec![
                        ("cn", Kind::Text),
                        ("sn", Kind::Text),
                        ("mail", Kind::Ascii),
                        ("cn;lang-de", Kind::Text),
                        ("manager", Kind::Name),
                    ],
                ),
                4 | 5 => (
                    &["organizationalUnit"],
                    "ou",
                    vec![
                        ("description", Kind::Text),
                        ("l", Kind::Text),
                        ("postalAddress", Kind::Postal),
                    ],
                ),
                6 => (
                    &["groupOfNames"],
                    "cn",
                    vec![("member", Kind::Name), ("member", Kind::Name)],
                ),
                7 => (
                    &["inetOrgPerson", "posixAccount"],
                    "uid",
                    vec![
                        ("cn", Kind::Text),
                        ("sn", Kind::Text),
                        ("uidNumber", Kind::Number),
                        ("gidNumber", Kind::Number),
                        ("homeDirectory", Kind::Ascii),
                    ],
                ),
                8 => (
                    &["device"],
                    "cn",
                    vec![
                        ("serialNumber", Kind::Ascii),
                        ("owner", Kind::Name),
                        ("description;lang-en", Kind::Text),
                    ],
                ),
                9 => (
                    &["alias", "extensibleObject"],
                    "cn",
                    vec![("aliasedObjectName", Kind::Name)],
                ),
                10 => (
                    &["referral", "extensibleObject"],
                    "ou",
                    vec![("ref", Kind::Url)],
                ),
                _ => (
                    &["extensibleObject", "applicationProcess"],
                    "cn",
                    vec![
                        ("description", Kind::Text),
                        ("jpegPhoto", Kind::Octets),
                        ("c", Kind::Country),
                    ],
                ),
            };
        let mut classes: Vec<Vec<u8>> = classes
            .iter()
            .map(|class| class.as_bytes().to_vec())
            .collect();
        if self.random.chance(6) {
            classes.push(self.random.pick(CLASSES).as_bytes().to_vec());
        }
        let mut rdn = vec![(naming.to_owned(), id.clone())];
        if self.random.chance(6) {
            rdn.push(("description".to_owned(), "both".to_owned()));
        }
        let mut attributes = vec![("objectClass".to_owned(), classes)];
        // The name implies the attributes of the RDN.
        if self.random.chance(80) {
            attributes.push((naming.to_owned(), text(&id)));
        }
        if self.random.chance(30) {
            rest.truncate(rest.len() - 1);
        }
        for (name, kind) in rest {
            let made = values::value(kind, texts, self.random);
            match attributes.iter_mut().find(|(known, _)| known == name) {
                Some((_, values)) => values.push(made),
                None => attributes.push((name.to_owned(), vec![made])),
            }
        }
        (rdn, attributes)
    }

    fn delete(&mut self, who: Requester) -> Request {
        let name = self.existing();
        let dn = if self.random.chance(10) {
            self.some_name()
        } else {
            name.spelt(self.random)
        };
        let body = tlv(0x4a, dn.as_bytes());
        let mut request = self.finish(who, "delete", Target::Update, format!("{dn:?}"), body);
        request.effect = Effect::Gone(name);
        request
    }

    fn rename(&mut self, who: Requester) -> Request {
        let old = self.existing();
        let dn = if self.random.chance(5) {
            self.some_name()
        } else {
            old.spelt(self.random)
        };
        let rdn: Rdn = match self.random.below(6) {
            0 => old.rdn().clone(),
            1 => vec![(old.rdn()[0].0.clone(), old.rdn()[0].1.to_uppercase())],
            2 => vec![
                old.rdn()[0].clone(),
                ("description".to_owned(), "second".to_owned()),
            ],
            // Names have types without options, see accepted.txt.
            3 => {
                // A telephone number with letters is one that slapd does not find again.
                let (kind, _) = match attribute(self.random) {
                    (_, Kind::Phone) => ("description", Kind::Text),
                    other => other,
                };
                let kind = kind.split(';').next().unwrap_or_default();
                vec![(kind.to_owned(), "other kind".to_owned())]
            }
            _ => vec![(
                old.rdn()[0].0.clone(),
                format!("renamed {}", self.random.below(30)),
            )],
        };
        let mut rdn_text = names::spelt_rdn(&rdn, self.random);
        if self.random.chance(4) {
            rdn_text = (*self.random.pick(names::ODD)).to_owned();
        }
        let superior = self.random.chance(40).then(|| self.existing());
        let superior_text = superior.as_ref().map(|name| {
            if self.random.chance(6) {
                (*self.random.pick(names::ODD)).to_owned()
            } else {
                name.spelt(self.random)
            }
        });
        let delete_old = self.random.chance(60);
        let mut parts = vec![octets(&dn), octets(&rdn_text), boolean(delete_old)];
        parts.extend(
            superior_text
                .as_ref()
                .map(|text| tlv(0x80, text.as_bytes())),
        );
        let text =
            format!("{dn:?} to {rdn_text:?}, delete old {delete_old}, below {superior_text:?}");
        let parent = superior
            .or_else(|| old.parent())
            .unwrap_or_else(Name::suffix);
        let mut request = self.finish(who, "modrdn", Target::Update, text, group(0x6c, &parts));
        request.effect = Effect::Moved(old, parent.below(rdn));
        request
    }

    fn compare(&mut self, who: Requester) -> Request {
        let texts = self.texts();
        let dn = self.some_name();
        let (name, kind) = attribute(self.random);
        let asserted = value(kind, &texts, self.random);
        let body = group(
            0x6e,
            &[octets(&dn), sequence(&[octets(name), octets(&asserted)])],
        );
        let text = format!("{dn:?} {name}={}", asserted.escape_ascii());
        self.finish(who, "compare", Target::Other, text, body)
    }

    fn bind(&mut self, who: Requester) -> Request {
        let dn = match self.random.below(4) {
            0 => "uid=ada,ou=People,dc=example,dc=org".to_owned(),
            1 => String::new(),
            _ => self.some_name(),
        };
        let password = ["ada secret", "", "secret", "wrong"][self.random.below(4)];
        let version = if self.random.chance(5) {
            [1, 2, 4][self.random.below(3)]
        } else {
            3
        };
        let credentials = match self.random.below(12) {
            0 => group(0xa3, &[octets("UNKNOWN-MECHANISM")]),
            1 => group(0xa3, &[octets("EXTERNAL")]),
            _ => tlv(0x80, password.as_bytes()),
        };
        let text = format!("version {version} {dn:?} {}", credentials.escape_ascii());
        let body = group(0x60, &[integer(version), octets(&dn), credentials]);
        let mut request = self.finish(who, "bind", Target::Other, text, body);
        request.who = Requester::Anonymous;
        request
    }

    fn extended(&mut self, who: Requester) -> Request {
        let name = self.some_name();
        let password_modify = |random: &mut Random| {
            let mut parts = Vec::new();
            if random.chance(70) {
                parts.push(tlv(0x80, name.as_bytes()));
            }
            if random.chance(30) {
                parts.push(tlv(0x81, ["secret", "wrong"][random.below(2)].as_bytes()));
            }
            // Without one the server invents it, which cannot be compared.
            parts.push(tlv(0x82, b"new secret"));
            sequence(&parts)
        };
        let (oid, content) = match self.random.below(7) {
            0 | 1 => ("1.3.6.1.4.1.4203.1.11.3", None),
            2 | 3 => (
                "1.3.6.1.4.1.4203.1.11.1",
                Some(password_modify(self.random)),
            ),
            4 => ("1.3.6.1.1.8", Some(sequence(&[integer(77)]))),
            5 => ("1.3.6.1.4.1.4203.1.11.3", Some(b"value".to_vec())),
            _ => ("1.2.3.4.5", None),
        };
        let mut parts = vec![tlv(0x80, oid.as_bytes())];
        parts.extend(content.as_ref().map(|content| tlv(0x81, content)));
        let text = format!("{oid} {}", content.unwrap_or_default().escape_ascii());
        self.finish(who, "extended", Target::Other, text, group(0x77, &parts))
    }
}

fn escaped(values: &[Vec<u8>]) -> String {
    let texts: Vec<String> = values
        .iter()
        .map(|value| value.escape_ascii().to_string())
        .collect();
    texts.join(" | ")
}
