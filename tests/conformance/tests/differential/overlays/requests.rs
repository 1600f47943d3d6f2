//! Requests about entries: updates that meet the overlays, searches and compares.

use crate::ber::{boolean, enumerated, group, integer, octets, sequence, set, tlv};
use crate::controls::{Control, fixed};
use crate::requests::{Effect, Request, Requester};

use super::material::{Material, is_allowed};
use super::worlds::Kind;

const RELAX: &str = "1.3.6.1.4.1.4203.666.5.12";
pub(crate) const PERMISSIVE: &str = "1.2.840.113556.1.4.1413";
const POST_READ: &str = "1.3.6.1.1.13.2";

/// The numbers of the changes of a modify.
pub(crate) const ADD: i64 = 0;
pub(crate) const DELETE: i64 = 1;
pub(crate) const REPLACE: i64 = 2;

/// A change of a modify: its number, the attribute, the values.
pub(crate) type Change = (i64, String, Vec<String>);

/// Returns a modify.
pub(crate) fn modify(who: Requester, dn: &str, changes: &[Change]) -> Request {
    let mut text = format!("{dn:?}");
    let mut list = Vec::new();
    for (operation, name, values) in changes {
        let word = ["add", "delete", "replace", "increment"][*operation as usize];
        let shown = if values.is_empty() {
            "(none)".to_owned()
        } else {
            values.join(" | ")
        };
        text += &format!("\n    {word} {name}: {shown}");
        let values: Vec<Vec<u8>> = values.iter().map(octets).collect();
        list.push(sequence(&[
            enumerated(*operation),
            sequence(&[octets(name), set(&values)]),
        ]));
    }
    request(
        who,
        "modify",
        text,
        group(0x66, &[octets(dn), sequence(&list)]),
    )
}

/// Returns an add.
pub(crate) fn add(who: Requester, dn: &str, entry: &[(String, Vec<String>)]) -> Request {
    let mut text = format!("{dn:?}");
    let mut list = Vec::new();
    for (name, values) in entry {
        text += &format!("\n    {name}: {}", values.join(" | "));
        let values: Vec<Vec<u8>> = values.iter().map(octets).collect();
        list.push(sequence(&[octets(name), set(&values)]));
    }
    request(
        who,
        "add",
        text,
        group(0x68, &[octets(dn), sequence(&list)]),
    )
}

/// Returns a delete.
pub(crate) fn delete(who: Requester, dn: &str) -> Request {
    request(who, "delete", format!("{dn:?}"), tlv(0x4a, dn.as_bytes()))
}

/// Returns a rename.
pub(crate) fn rename(
    who: Requester,
    dn: &str,
    rdn: &str,
    deletes_old: bool,
    superior: Option<&str>,
) -> Request {
    let mut parts = vec![octets(dn), octets(rdn), boolean(deletes_old)];
    parts.extend(superior.map(|name| tlv(0x80, name.as_bytes())));
    let text = format!("{dn:?} to {rdn:?}, delete old {deletes_old}, below {superior:?}");
    request(who, "modrdn", text, group(0x6c, &parts))
}

/// Returns a search; scope 0 is the base, 2 all below.
pub(crate) fn search(
    who: Requester,
    base: &str,
    scope: i64,
    (filter, filter_text): (Vec<u8>, &str),
    wanted: &[&str],
) -> Request {
    let names: Vec<Vec<u8>> = wanted.iter().map(octets).collect();
    let parts = [
        octets(base),
        enumerated(scope),
        enumerated(0),
        integer(0),
        integer(0),
        boolean(false),
        filter,
        sequence(&names),
    ];
    let scope = ["base", "one", "sub", "children"][scope as usize];
    let text = format!("{base:?} {scope} {filter_text} {wanted:?}");
    request(who, "search", text, group(0x63, &parts))
}

/// Returns a request without controls.
pub(crate) fn request(
    who: Requester,
    operation: &'static str,
    text: String,
    body: Vec<u8>,
) -> Request {
    Request {
        who,
        operation,
        body,
        controls: Vec::new(),
        text,
        effect: Effect::None,
    }
}

/// The filter that all entries match.
pub(crate) fn everything() -> (Vec<u8>, &'static str) {
    (tlv(0x87, b"objectClass"), "(objectClass=*)")
}

impl Material<'_> {
    /// A request about entries.
    pub(crate) fn request(&mut self) -> Request {
        let who = [Requester::Root, Requester::User][self.random.below(2)];
        let Some(target) = self.existing() else {
            return self.add(who);
        };
        match self.random.below(100) {
            0..=24 => self.add(who),
            25..=59 => self.modify(who, &target),
            60..=67 => {
                let request = delete(who, &target);
                self.with_controls(request)
            }
            68..=81 => self.rename(who, &target),
            82..=95 => self.search(who, &target),
            _ => self.compare(who, &target),
        }
    }

    pub(crate) fn add(&mut self, who: Requester) -> Request {
        let (dn, entry) = self.entry();
        let request = add(who, &dn, &entry);
        self.with_controls(request)
    }

    fn with_controls(&mut self, mut request: Request) -> Request {
        let wanted = ["*", "memberOf", "member", "title"][self.random.below(4)];
        let control = match self.random.below(40) {
            0 | 1 => fixed(RELAX, true, None),
            2 => Control::manage_dsa_it(),
            3 if request.operation == "modify" => fixed(PERMISSIVE, true, None),
            4 if request.operation != "delete" => {
                fixed(POST_READ, true, Some(sequence(&[octets(wanted)])))
            }
            _ => return request,
        };
        request.controls.push(control);
        request
    }

    fn modify(&mut self, who: Requester, target: &str) -> Request {
        let mut changes = Vec::new();
        for _ in 0..[1, 1, 1, 1, 2, 2, 3][self.random.below(7)] {
            let mut attribute = *self.random.pick(self.world.attributes);
            for _ in 0..6 {
                if may_have(target, attribute) {
                    break;
                }
                attribute = *self.random.pick(self.world.attributes);
            }
            let operation = [ADD, ADD, ADD, DELETE, DELETE, REPLACE, REPLACE][self.random.below(7)];
            let operation = if attribute == "labeledURI" {
                REPLACE
            } else {
                operation
            };
            let count = match operation {
                ADD => self.random.between(1, 2),
                DELETE => [0, 1, 1, 1, 2][self.random.below(5)],
                _ => self.random.below(4),
            };
            changes.push((
                operation,
                attribute.to_owned(),
                self.values(attribute, count),
            ));
        }
        let request = modify(who, target, &changes);
        self.with_controls(request)
    }

    fn rename(&mut self, who: Requester, target: &str) -> Request {
        let kind = kind_of(target);
        let old = target.split(',').next().unwrap_or_default().to_owned();
        let (naming, id) = self.rdn(kind);
        let rdn = match self.random.below(12) {
            0 => old,
            1 if kind == Kind::Person => format!("{naming}={id}+mail={}", self.value("mail")),
            2 if kind == Kind::Person => format!("employeeNumber={}", self.value("employeeNumber")),
            _ => format!("{naming}={id}"),
        };
        let superior = match self.random.below(10) {
            0 | 1 => Some(self.container()),
            2 | 3 => self.existing(),
            _ => None,
        };
        let deletes_old = self.random.chance(70);
        let request = rename(who, target, &rdn, deletes_old, superior.as_deref());
        self.with_controls(request)
    }

    fn search(&mut self, who: Requester, target: &str) -> Request {
        let base = match self.random.below(6) {
            0 => target.to_owned(),
            1 => self.container(),
            _ => self.world.suffix(),
        };
        let scope = [2, 2, 2, 1, 0, 3][self.random.below(6)];
        let (filter, text) = self.filter(2);
        let attribute = *self.random.pick(self.world.attributes);
        let choices: [&[&str]; 7] = [
            &["*"],
            &["*", "+"],
            &[],
            &["1.1"],
            &["memberOf"],
            &["member", "memberOf"],
            &[attribute],
        ];
        let wanted = choices[self.random.below(7)];
        let mut request = search(who, &base, scope, (filter, &text), wanted);
        if self.random.chance(6) {
            request.controls.push(Control::manage_dsa_it());
        }
        request
    }

    /// A filter about the attributes of the overlays.
    fn filter(&mut self, depth: usize) -> (Vec<u8>, String) {
        if depth > 0 && self.random.chance(30) {
            let (first, first_text) = self.filter(depth - 1);
            let (second, second_text) = self.filter(depth - 1);
            return match self.random.below(4) {
                0 => (group(0xa2, &[first]), format!("(!{first_text})")),
                1 => (
                    group(0xa1, &[first, second]),
                    format!("(|{first_text}{second_text})"),
                ),
                _ => (
                    group(0xa0, &[first, second]),
                    format!("(&{first_text}{second_text})"),
                ),
            };
        }
        let has_groups = self.world.has("memberof") || self.world.has("dynlist");
        let attribute = match self.random.below(6) {
            0 => "objectClass",
            1 => "uid",
            2 if has_groups => "memberOf",
            3 if has_groups => "member",
            _ => *self.random.pick(self.world.attributes),
        };
        if self.random.chance(12) {
            return (tlv(0x87, attribute.as_bytes()), format!("({attribute}=*)"));
        }
        let value = match attribute {
            "objectClass" => {
                ["person", "groupOfNames", "organizationalUnit"][self.random.below(3)].to_owned()
            }
            _ => self.value(attribute),
        };
        let item = group(0xa3, &[octets(attribute), octets(&value)]);
        (item, format!("({attribute}={value})"))
    }

    fn compare(&mut self, who: Requester, target: &str) -> Request {
        let attribute = *self.random.pick(self.world.attributes);
        let value = self.value(attribute);
        let assertion = sequence(&[octets(attribute), octets(&value)]);
        let text = format!("{target:?} {attribute}={value}");
        request(
            who,
            "compare",
            text,
            group(0x6e, &[octets(target), assertion]),
        )
    }
}

/// Returns true if an entry of that name may have the attribute.
fn may_have(dn: &str, attribute: &str) -> bool {
    let kinds: &[Kind] = match kind_of(dn) {
        Kind::Group => &[Kind::Group, Kind::UniqueGroup, Kind::UrlGroup],
        Kind::Unit => &[Kind::Unit],
        _ => &[Kind::Person],
    };
    kinds.iter().any(|kind| is_allowed(*kind, attribute))
}

/// Guesses the kind of an entry from its name.
fn kind_of(dn: &str) -> Kind {
    match dn.get(..3) {
        Some("ou=") => Kind::Unit,
        Some("cn=") => Kind::Group,
        _ => Kind::Person,
    }
}
