//! Random requests about things that are there, that are hidden, and that are not there.

use fulgurite_ldap::control::{MatchedValues, ReadEntry, SortKey, SortRequest, Subentries};
use fulgurite_ldap::control::{PagedResults, VlvRequest, VlvTarget};
use fulgurite_ldap::{
    Assertion, BindRequest, CompareRequest, Control, Deref, ExtendedRequest, FilterBuf,
    ModifyDnRequest, ModifyOperation, PasswordModifyRequest, Request, Scope, oid,
};
use fulgurite_testkit::Random;

use crate::support::{add_pdu, asked, decode, delete_pdu, modify_pdu, pdu};

pub(super) const JANE: &str = "uid=jane,ou=people,dc=example,dc=com";
pub(super) const BOB: &str = "uid=bob,ou=people,dc=example,dc=com";

/// Names, of which some are there, some hidden, some neither; more are made below them.
const NAMES: &[&str] = &[
    "dc=example,dc=com",
    "ou=people,dc=example,dc=com",
    JANE,
    BOB,
    "uid=eve,ou=people,dc=example,dc=com",
    "uid=secret0,ou=people,dc=example,dc=com",
    "ou=closed,dc=example,dc=com",
    "cn=device,ou=closed,dc=example,dc=com",
    "cn=empty,ou=closed,dc=example,dc=com",
    "cn=secret2,ou=closed,dc=example,dc=com",
    "cn=secret3,cn=empty,ou=closed,dc=example,dc=com",
    "cn=d,ou=closed,dc=example,dc=com",
    "ou=work,dc=example,dc=com",
    "ou=work,dc=example,dc=com",
    "cn=a,ou=work,dc=example,dc=com",
    "cn=b,ou=work,dc=example,dc=com",
    "cn=team,ou=work,dc=example,dc=com",
    "ou=unit,ou=work,dc=example,dc=com",
    "cn=c,ou=unit,ou=work,dc=example,dc=com",
    "cn=open alias,ou=work,dc=example,dc=com",
    "cn=blind alias,ou=work,dc=example,dc=com",
    "cn=secret alias,ou=work,dc=example,dc=com",
    "cn=c,cn=secret alias,ou=work,dc=example,dc=com",
    "cn=c,cn=blind alias,ou=work,dc=example,dc=com",
    "cn=c,cn=open alias,ou=work,dc=example,dc=com",
    "cn=secret1,ou=work,dc=example,dc=com",
    "cn=d,ou=work,dc=example,dc=com",
    "ou=secret unit,ou=work,dc=example,dc=com",
    "cn=c,ou=secret unit,ou=work,dc=example,dc=com",
    "cn=secret4,cn=b,ou=work,dc=example,dc=com",
    "ou=away,ou=work,dc=example,dc=com",
    "cn=e,ou=away,ou=work,dc=example,dc=com",
    "ou=secret away,ou=work,dc=example,dc=com",
    "cn=new1,ou=work,dc=example,dc=com",
    "cn=new2,ou=unit,ou=work,dc=example,dc=com",
    "cn=secret9,ou=work,dc=example,dc=com",
];
const RDNS: &[&str] = &[
    "cn=new1",
    "cn=new2",
    "cn=a",
    "cn=b",
    "cn=d",
    "cn=secret1",
    "cn=secret9",
    "ou=secret unit",
    "ou=unit",
    "cn=x",
];
const ATTRIBUTES: &[&str] = &[
    "cn",
    "sn",
    "description",
    "description",
    "employeeNumber",
    "employeeNumber",
    "title",
    "uid",
    "mail",
    "l",
    "member",
    "objectClass",
    "userPassword",
    "destinationIndicator",
    "owner",
    "hasSubordinates",
    "numSubordinates",
    "entryDN",
    "seeAlso",
    "aliasedObjectName",
    "ref",
    "modifyTimestamp",
    "entryCSN",
    "telephoneNumber",
];
const SETTABLE: &[&str] = &[
    "sn",
    "description",
    "description",
    "employeeNumber",
    "title",
    "l",
    "seeAlso",
    "objectClass",
    "destinationIndicator",
    "cn",
    "userPassword",
    "mail",
];
const VALUES: &[&str] = &[
    "a",
    "b",
    "one",
    "x",
    "secret a",
    "secret plan",
    "secret first",
    "open",
    "17",
    "1",
    "TRUE",
    "FALSE",
    "inetOrgPerson",
    "device",
    "extensibleObject",
    "hidden",
    "cn=secret1,ou=work,dc=example,dc=com",
    "cn=a,ou=work,dc=example,dc=com",
    "first",
];

/// A request in bytes, and as text.
#[derive(Clone)]
pub(super) struct Sent {
    pub(super) pdu: Vec<u8>,
    pub(super) text: String,
}

impl Sent {
    /// The request for the page behind a cookie.
    pub(super) fn with_cookie(&self, cookie: &[u8]) -> Sent {
        let message = decode(&self.pdu);
        let Some(control) = message.controls.find(oid::PAGED_RESULTS) else {
            return self.clone();
        };
        let size = PagedResults::decode(control.value.unwrap_or_default())
            .expect("what was encoded decodes")
            .size;
        let value = PagedResults { size, cookie }.encode();
        let controls: Vec<Control<'_>> = message
            .controls
            .iter()
            .map(|control| match control.is(oid::PAGED_RESULTS) {
                true => Control::with_value(oid::PAGED_RESULTS, control.critical, &value),
                false => control,
            })
            .collect();
        Sent {
            pdu: pdu(&message.request, &controls),
            text: self.text.clone(),
        }
    }
}

/// Makes requests.
pub(super) struct Generator<'r>(pub(super) &'r mut Random);

type Given = (&'static str, bool, Option<Vec<u8>>);

impl Generator<'_> {
    pub(super) fn request(&mut self) -> Sent {
        match self.0.below(100) {
            0..=39 => self.search(),
            40..=54 => self.modify(),
            55..=67 => self.add(),
            68..=74 => self.delete(),
            75..=85 => self.rename(),
            86..=93 => self.compare(),
            94..=96 => self.bind(),
            _ => self.password(),
        }
    }

    fn name(&mut self) -> String {
        let name = (*self.0.pick(NAMES)).to_owned();
        match self.0.below(10) {
            0 => format!("{},{name}", self.0.pick(RDNS)),
            1 => format!("cn=further,{},{name}", self.0.pick(RDNS)),
            _ => name,
        }
    }

    fn filter(&mut self, depth: usize) -> String {
        let attribute = *self.0.pick(ATTRIBUTES);
        let value = *self.0.pick(VALUES);
        match self.0.below(if depth == 0 { 8 } else { 11 }) {
            0 | 1 => "(objectClass=*)".to_owned(),
            2 => format!("({attribute}=*)"),
            3 | 4 => format!("({attribute}={value})"),
            5 => format!("({attribute}=*{}*)", &value[..1]),
            6 => format!("({attribute}>={value})"),
            7 => match self.0.below(4) {
                0 => format!("(:caseIgnoreMatch:={value})"),
                1 => format!("(:dn:caseIgnoreMatch:={value})"),
                2 => format!("(member:1.2.840.113556.1.4.1941:={})", self.name()),
                _ => format!("(memberOf:1.2.840.113556.1.4.1941:={})", self.name()),
            },
            8 => format!("(!{})", self.filter(depth - 1)),
            9 => format!("(&{}{})", self.filter(depth - 1), self.filter(depth - 1)),
            _ => format!("(|{}{})", self.filter(depth - 1), self.filter(depth - 1)),
        }
    }

    fn controls(&mut self, is_search: bool, is_update: bool) -> Vec<Given> {
        let mut given = Vec::new();
        if self.0.chance(20) {
            given.push((oid::MANAGE_DSA_IT, true, None));
        }
        if self.0.chance(10) {
            let filter = FilterBuf::parse(&self.filter(1)).expect("a filter");
            given.push((oid::ASSERTION, true, Some(filter.encoded().to_vec())));
        }
        if self.0.chance(6) {
            let name = self.name();
            let identity = match self.0.below(3) {
                0 => String::new(),
                1 => "dn:uid=secret0,ou=people,dc=example,dc=com".to_owned(),
                _ => format!("dn:{name}"),
            };
            given.push((
                oid::PROXIED_AUTHORIZATION,
                true,
                Some(identity.into_bytes()),
            ));
        }
        if is_update && self.0.chance(25) {
            let read = ReadEntry {
                attributes: vec![b"*", b"+", b"employeeNumber", b"numSubordinates"],
            };
            let which = [oid::PRE_READ, oid::POST_READ][self.0.below(2)];
            given.push((which, false, Some(read.encode())));
        }
        for (control, percent) in [
            (oid::NO_OP, 5),
            (oid::RELAX, 4),
            (oid::PERMISSIVE_MODIFY, 8),
        ] {
            if is_update && self.0.chance(percent) {
                given.push((control, false, None));
            }
        }
        if is_search {
            self.search_controls(&mut given);
        }
        given
    }

    fn search_controls(&mut self, given: &mut Vec<Given>) {
        let sorted = self.0.chance(25);
        if sorted {
            let attribute = *self.0.pick(ATTRIBUTES);
            let sort = SortRequest {
                keys: vec![SortKey {
                    attribute: attribute.as_bytes(),
                    rule: None,
                    reverse: self.0.chance(40),
                }],
            };
            given.push((oid::SORT_REQUEST, false, Some(sort.encode())));
        }
        if sorted && self.0.chance(40) {
            let value = *self.0.pick(VALUES);
            let target = match self.0.below(2) {
                0 => VlvTarget::AtLeast(value.as_bytes()),
                _ => VlvTarget::Offset {
                    offset: self.0.below(6) as u32,
                    count: self.0.below(8) as u32,
                },
            };
            let view = VlvRequest {
                before: self.0.below(3) as u32,
                after: self.0.below(4) as u32,
                target,
                context: None,
            };
            given.push((oid::VLV_REQUEST, true, Some(view.encode())));
        } else if self.0.chance(30) {
            let page = PagedResults {
                size: self.0.between(1, 4) as u32,
                cookie: b"",
            };
            given.push((oid::PAGED_RESULTS, true, Some(page.encode())));
        }
        if self.0.chance(10) {
            let attribute = *self.0.pick(ATTRIBUTES);
            let filter = format!("(({attribute}={}))", self.0.pick(VALUES));
            if let Ok(values) = MatchedValues::encode_text(&filter) {
                given.push((oid::MATCHED_VALUES, true, Some(values)));
            }
        }
        if self.0.chance(6) {
            given.push((oid::DOMAIN_SCOPE, true, None));
        }
        if self.0.chance(6) {
            let visible = self.0.chance(50);
            given.push((oid::SUBENTRIES, true, Some(Subentries { visible }.encode())));
        }
    }

    fn search(&mut self) -> Sent {
        let base = if self.0.chance(40) {
            ["dc=example,dc=com", "ou=work,dc=example,dc=com"][self.0.below(2)].to_owned()
        } else {
            self.name()
        };
        let scopes = [Scope::Base, Scope::One, Scope::Subtree, Scope::Children];
        let derefs = [Deref::Never, Deref::Never, Deref::Finding, Deref::Always];
        let wanted: &[&str] = match self.0.below(4) {
            0 => &[],
            1 => &["*", "+", "numSubordinates"],
            2 => &["description", "employeeNumber", "hasSubordinates"],
            _ => &["1.1"],
        };
        let mut search = asked(&base, scopes[self.0.below(4)], &self.filter(2), wanted);
        search.deref = derefs[self.0.below(4)];
        search.size_limit = [0, 0, 0, 1, 3][self.0.below(5)];
        search.types_only = self.0.chance(15);
        search.controls = self.controls(true, false);
        let text = format!(
            "search {base:?} {:?} deref {:?} size {} types {} {} {wanted:?} {:?}",
            search.scope,
            search.deref,
            search.size_limit,
            search.types_only,
            search.filter,
            shown(&search.controls)
        );
        Sent {
            pdu: search.pdu(),
            text,
        }
    }

    fn update(&mut self, plain: &[u8], text: String) -> Sent {
        let given = self.controls(false, true);
        self.with(plain, given, text)
    }

    fn with(&mut self, plain: &[u8], given: Vec<Given>, text: String) -> Sent {
        let controls: Vec<Control<'_>> = given
            .iter()
            .map(|(oid, critical, value)| Control {
                oid: oid.as_bytes(),
                critical: *critical,
                value: value.as_deref(),
            })
            .collect();
        Sent {
            pdu: pdu(&decode(plain).request, &controls),
            text: format!("{text} {:?}", shown(&given)),
        }
    }

    fn modify(&mut self) -> Sent {
        let dn = self.name();
        let attribute = *self.0.pick(SETTABLE);
        let value = *self.0.pick(VALUES);
        let operation = [
            ModifyOperation::Add,
            ModifyOperation::Add,
            ModifyOperation::Delete,
            ModifyOperation::Replace,
        ][self.0.below(4)];
        let values: &[&str] = match operation {
            ModifyOperation::Delete | ModifyOperation::Replace if self.0.chance(40) => &[],
            _ => &[value],
        };
        let plain = modify_pdu(&dn, &[(operation, attribute, values)]);
        self.update(
            &plain,
            format!("modify {dn:?} {operation:?} {attribute} {values:?}"),
        )
    }

    fn add(&mut self) -> Sent {
        let dn = if self.0.chance(70) {
            let parent = *self.0.pick(NAMES);
            format!("{},{parent}", self.0.pick(RDNS))
        } else {
            self.name()
        };
        let (rdn, _) = dn.split_once(',').unwrap_or((&dn, ""));
        let (kind, value) = rdn.split_once('=').unwrap_or(("cn", "x"));
        let (kind, value) = (kind.to_owned(), value.to_owned());
        let mut attributes = vec![
            ("objectClass", "extensibleObject"),
            ("objectClass", "device"),
        ];
        attributes.push((kind.as_str(), value.as_str()));
        if kind != "cn" {
            attributes.push(("cn", "x"));
        }
        if self.0.chance(40) {
            let attribute = *self
                .0
                .pick(&["description", "l", "employeeNumber", "member"]);
            let value = if attribute == "member" {
                "cn=secret1,ou=work,dc=example,dc=com"
            } else {
                *self.0.pick(VALUES)
            };
            attributes.push((attribute, value));
        }
        let plain = add_pdu(&dn, &attributes);
        let text = format!("add {dn:?} {attributes:?}");
        self.update(&plain, text)
    }

    fn delete(&mut self) -> Sent {
        let dn = self.name();
        let mut given = self.controls(false, true);
        if self.0.chance(20) {
            given.push((oid::TREE_DELETE, true, None));
        }
        self.with(&delete_pdu(&dn), given, format!("delete {dn:?}"))
    }

    fn rename(&mut self) -> Sent {
        let dn = self.name();
        let new_rdn = *self.0.pick(RDNS);
        let superior = self.0.chance(50).then(|| self.name());
        let delete_old_rdn = self.0.chance(60);
        let request = ModifyDnRequest {
            dn: dn.as_bytes(),
            new_rdn: new_rdn.as_bytes(),
            delete_old_rdn,
            new_superior: superior.as_deref().map(str::as_bytes),
        };
        let plain = pdu(&Request::ModifyDn(request), &[]);
        self.update(
            &plain,
            format!("rename {dn:?} to {new_rdn:?} below {superior:?}, old goes: {delete_old_rdn}"),
        )
    }

    fn compare(&mut self) -> Sent {
        let dn = self.name();
        let (attribute, value) = (*self.0.pick(ATTRIBUTES), *self.0.pick(VALUES));
        let request = CompareRequest {
            dn: dn.as_bytes(),
            assertion: Assertion {
                attribute: attribute.as_bytes(),
                value: value.as_bytes(),
            },
        };
        let plain = pdu(&Request::Compare(request), &[]);
        let given = self.controls(false, false);
        self.with(&plain, given, format!("compare {dn:?} {attribute}={value}"))
    }

    fn bind(&mut self) -> Sent {
        let dn = self.name();
        let password = *self.0.pick(&["secret", "wrong"]);
        let request = BindRequest::simple(&dn, password.as_bytes());
        Sent {
            pdu: pdu(&Request::Bind(request), &[]),
            text: format!("bind {dn:?} {password}"),
        }
    }

    fn password(&mut self) -> Sent {
        let dn = self.name();
        let old = self.0.chance(50).then_some(&b"secret"[..]);
        let value = PasswordModifyRequest {
            user_identity: Some(dn.as_bytes()),
            old_password: old,
            new_password: self.0.chance(80).then_some(b"new"),
        }
        .encode();
        let request = ExtendedRequest {
            oid: oid::PASSWORD_MODIFY.as_bytes(),
            value: Some(&value),
        };
        Sent {
            pdu: pdu(&Request::Extended(request), &[]),
            text: format!("password of {dn:?}, old {}", old.is_some()),
        }
    }
}

fn shown(given: &[Given]) -> Vec<String> {
    given
        .iter()
        .map(|(oid, _, value)| {
            format!(
                "{oid} {}",
                value.as_deref().unwrap_or_default().escape_ascii()
            )
        })
        .collect()
}
