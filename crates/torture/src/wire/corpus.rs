//! A valid message of every kind, and some that are valid but extreme.

use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{
    AddRequest, Assertion, Authentication, BindRequest, CancelRequest, Change, CompareRequest,
    Control, DeleteRequest, Deref, ExtendedRequest, FilterBuf, ModifyDnRequest, ModifyRequest,
    PartialAttribute, PasswordModifyRequest, Request, Scope, SearchRequest, encode, oid,
};

const BASE: &str = "dc=example,dc=com";
const ENTRY: &str = "uid=mutant,ou=People,dc=example,dc=com";

const FILTERS: [&str; 16] = [
    "(objectClass=*)",
    "(uid=ada)",
    "(cn=A*d*a)",
    "(sn=*son)",
    "(mail=a*)",
    "(uidNumber>=1000)",
    "(uidNumber<=2000)",
    "(cn~=Aida)",
    "(cn:dn:caseExactMatch:=Ada Lovelace)",
    "(:1.2.840.113556.1.4.803:=3)",
    "(&(objectClass=person)(|(uid=a*)(!(sn=Babbage)))(cn=*))",
    "(&)",
    "(|)",
    "(cn=)",
    "(cn=\\00\\ff\\28)",
    "(nosuchattribute;lang-de=x)",
];

/// Returns valid requests of every kind as complete PDUs. They name entries below
/// `dc=example,dc=com`, and searches ask for at most ten entries.
#[must_use]
pub fn corpus() -> Vec<Vec<u8>> {
    let mut pdus = Vec::new();
    binds(&mut pdus);
    searches(&mut pdus);
    additions(&mut pdus);
    modifications(&mut pdus);
    others(&mut pdus);
    pdus
}

fn push(pdus: &mut Vec<Vec<u8>>, request: &Request<'_>, controls: &[Control<'_>]) {
    let id = u32::try_from(pdus.len() + 1).unwrap_or(1);
    let mut pdu = Vec::new();
    encode::request(&mut pdu, id, request, controls);
    pdus.push(pdu);
}

fn binds(pdus: &mut Vec<Vec<u8>>) {
    push(pdus, &Request::Bind(BindRequest::simple("", b"")), &[]);
    push(
        pdus,
        &Request::Bind(BindRequest::simple(ENTRY, b"wrong")),
        &[],
    );
    push(
        pdus,
        &Request::Bind(BindRequest {
            version: 2,
            ..BindRequest::simple(ENTRY, b"wrong")
        }),
        &[],
    );
    let sasl = |mechanism: &'static [u8], credentials| BindRequest {
        version: 3,
        name: b"",
        authentication: Authentication::Sasl {
            mechanism,
            credentials,
        },
    };
    push(
        pdus,
        &Request::Bind(sasl(b"PLAIN", Some(b"\0ada\0wrong"))),
        &[],
    );
    push(pdus, &Request::Bind(sasl(b"SCRAM-SHA-256", None)), &[]);
}

fn searches(pdus: &mut Vec<Vec<u8>>) {
    let scopes = [Scope::Base, Scope::One, Scope::Subtree, Scope::Children];
    for (number, text) in FILTERS.iter().enumerate() {
        let filter = FilterBuf::parse(text).expect("the filters above are valid");
        let mut request = SearchRequest::new(BASE, scopes[number % scopes.len()], filter.filter());
        request.size_limit = 10;
        request.time_limit_s = 5;
        request.deref = [Deref::Never, Deref::Always][number % 2];
        request.types_only = number % 5 == 0;
        request.attributes =
            [&b"*"[..], b"+", b"cn", b"1.1", b"cn;lang-de", b"@person"][..number % 7].to_vec();
        push(pdus, &Request::Search(request), &[]);
    }
    let all = FilterBuf::parse("(objectClass=*)").expect("valid");
    let mut paged = SearchRequest::new(BASE, Scope::Subtree, all.filter());
    paged.size_limit = 10;
    for cookie in [&b""[..], b"\x01\x02\x03\x04\x05\x06\x07\x08"] {
        let value = PagedResults { size: 3, cookie }.encode();
        let controls = [
            Control::with_value(oid::PAGED_RESULTS, true, &value),
            Control::manage_dsa_it(),
        ];
        push(pdus, &Request::Search(paged.clone()), &controls);
    }
    for base in ["", "cn=Subschema"] {
        let mut request = SearchRequest::new(base, Scope::Base, all.filter());
        request.attributes = vec![b"+"];
        push(
            pdus,
            &Request::Search(request),
            &[Control::new("1.2.3.4.5", false)],
        );
    }
    pdus.push(deep_filter(100));
}

fn additions(pdus: &mut Vec<Vec<u8>>) {
    let long = vec![b'x'; 300];
    let attributes = vec![
        PartialAttribute::new("objectClass", &[b"inetOrgPerson", b"top"]),
        PartialAttribute::new("cn", &[b"Mutant"]),
        PartialAttribute::new("sn", &[b"M"]),
    ];
    let mut large = attributes.clone();
    let values: [&[u8]; 3] = [&long, b"short", b""];
    large.push(PartialAttribute::new("description;lang-en", &values));
    push(
        pdus,
        &Request::Add(AddRequest {
            dn: ENTRY.as_bytes(),
            attributes,
        }),
        &[],
    );
    push(
        pdus,
        &Request::Add(AddRequest {
            dn: ENTRY.as_bytes(),
            attributes: large,
        }),
        &[],
    );
}

fn modifications(pdus: &mut Vec<Vec<u8>>) {
    let changes = vec![
        Change::add("mail", &[b"m@example.com", b"n@example.com"]),
        Change::delete("description", &[]),
        Change::replace("cn", &[b"Changed"]),
        Change::increment("uidNumber", &[b"1"]),
    ];
    push(
        pdus,
        &Request::Modify(ModifyRequest {
            dn: ENTRY.as_bytes(),
            changes,
        }),
        &[],
    );
    push(
        pdus,
        &Request::Modify(ModifyRequest {
            dn: ENTRY.as_bytes(),
            changes: vec![],
        }),
        &[Control::manage_dsa_it()],
    );
    push(
        pdus,
        &Request::Delete(DeleteRequest {
            dn: ENTRY.as_bytes(),
        }),
        &[],
    );
    let rename = ModifyDnRequest {
        dn: ENTRY.as_bytes(),
        new_rdn: b"uid=mutated+cn=M\\2C n",
        delete_old_rdn: true,
        new_superior: None,
    };
    push(pdus, &Request::ModifyDn(rename), &[]);
    push(
        pdus,
        &Request::ModifyDn(ModifyDnRequest {
            new_superior: Some(BASE.as_bytes()),
            ..rename
        }),
        &[],
    );
}

fn others(pdus: &mut Vec<Vec<u8>>) {
    let assertion = Assertion {
        attribute: b"cn",
        value: b"Ada",
    };
    push(
        pdus,
        &Request::Compare(CompareRequest {
            dn: ENTRY.as_bytes(),
            assertion,
        }),
        &[],
    );
    push(pdus, &Request::Abandon(3), &[]);
    push(pdus, &Request::Unbind, &[]);
    let cancel = CancelRequest { id: 3 }.encode();
    let password = PasswordModifyRequest {
        new_password: Some(b"new"),
        ..Default::default()
    }
    .encode();
    let extended: [(&str, Option<&[u8]>); 5] = [
        (oid::WHO_AM_I, None),
        (oid::CANCEL, Some(&cancel)),
        (oid::PASSWORD_MODIFY, Some(&password)),
        (oid::START_TLS, None),
        ("1.2.3.4.5.6", Some(b"value")),
    ];
    for (oid, value) in extended {
        push(
            pdus,
            &Request::Extended(ExtendedRequest {
                oid: oid.as_bytes(),
                value,
            }),
            &[],
        );
    }
}

/// Returns a search whose filter nests `depth` negations and conjunctions around one item.
#[must_use]
pub fn deep_filter(depth: usize) -> Vec<u8> {
    let item = FilterBuf::parse("(cn=x)").expect("valid");
    let inside = wrap(
        item.encoded(),
        (0..depth).map(|level| if level % 2 == 0 { 0xa2 } else { 0xa0 }),
    );
    let mut body = vec![
        0x04, 0, 0x0a, 1, 2, 0x0a, 1, 0, 0x02, 1, 0, 0x02, 1, 0, 0x01, 1, 0,
    ];
    body.extend_from_slice(&inside);
    body.extend_from_slice(&[0x30, 0]);
    let operation = wrap(&body, [0x63]);
    wrap(&[&[0x02, 1, 9], operation.as_slice()].concat(), [0x30])
}

/// Returns `depth` nested sequences; only the first bytes resemble an LDAPMessage.
#[must_use]
pub fn nested_sequences(depth: usize) -> Vec<u8> {
    wrap(&[], (0..depth).map(|_| 0x30))
}

/// Wraps `content` into elements with `tags`, from the inside outwards.
fn wrap(content: &[u8], tags: impl IntoIterator<Item = u8>) -> Vec<u8> {
    // Built backwards, so that a header never moves its content.
    let mut reversed: Vec<u8> = content.iter().rev().copied().collect();
    for tag in tags {
        let len = u32::try_from(reversed.len())
            .expect("far below 4 GiB")
            .to_le_bytes();
        if reversed.len() < 0x80 {
            reversed.extend_from_slice(&[len[0], tag]);
        } else {
            reversed.extend_from_slice(&[len[0], len[1], len[2], len[3], 0x84, tag]);
        }
    }
    reversed.reverse();
    reversed
}
