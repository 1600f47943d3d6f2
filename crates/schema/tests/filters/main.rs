//! Filters from their text to their outcome.

use fulgurite_ldap::FilterBuf;
use fulgurite_schema::{Assertion, Dn, Entry, EntrySubject, Filter, Schema, Truth};

fn jane(schema: &Schema) -> Entry {
    let mut entry = Entry::new(Dn::parse(schema, "uid=jane,ou=People,dc=example,dc=com").unwrap());
    for (attribute, value) in [
        ("objectClass", "inetOrgPerson"),
        ("objectClass", "posixAccount"),
        ("uid", "jane"),
        ("cn", "Jane  Doe"),
        ("cn;lang-de", "Johanna Döring"),
        ("sn", "Doe"),
        ("uidNumber", "1007"),
        ("gidNumber", "100"),
        ("homeDirectory", "/home/Jane"),
        ("mail", "Jane.Doe@Example.COM"),
        ("telephoneNumber", "+49 30 123-456"),
        ("manager", "uid=Boss, ou=People,dc=example,dc=com"),
        ("postalAddress", "1 Main St$Some  Town"),
        ("createTimestamp", "20240131101112Z"),
        ("entryUUID", "597ae2f6-16a6-1027-98f4-d28b5365dc14"),
        ("entryCSN", "20240131101112.123456Z#000000#001#000000"),
        ("jpegPhoto", "\u{ff}"),
    ] {
        entry.push(
            &schema.describe(attribute.as_bytes()).unwrap(),
            value.as_bytes().to_vec(),
        );
    }
    entry
}

fn outcome(text: &str) -> Truth {
    let schema = Schema::standard();
    let buffer = FilterBuf::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let filter = Filter::resolve(&schema, &buffer.filter());
    let entry = jane(&schema);
    // The map must not change the outcome.
    filter.map(&mut |selector| selector).test(
        &schema,
        &EntrySubject {
            schema: &schema,
            entry: &entry,
        },
    )
}

#[test]
fn items_of_every_kind() {
    use Truth::*;
    for (filter, expected) in [
        ("(&)", True),
        ("(|)", False),
        ("(uid=JANE)", True),
        ("(uid=joan)", False),
        ("(cn=jane doe)", True),
        ("(cn=johanna do\u{308}ring)", True),
        ("(cn;lang-de=jane doe)", False),
        ("(cn;lang-de=*)", True),
        ("(cn;lang-fr=*)", False),
        ("(name=doe)", True),
        ("(2.5.4.3=jane doe)", True),
        ("(mail=jane.doe@example.com)", True),
        ("(homeDirectory=/home/jane)", False),
        ("(homeDirectory=/home/Jane)", True),
        ("(telephoneNumber=+4930123456)", True),
        ("(manager=UID=boss,OU=people,DC=Example,DC=com)", True),
        ("(manager=uid=chef,ou=people,dc=example,dc=com)", False),
        ("(manager=nonsense)", Undefined),
        ("(uidNumber=1007)", True),
        ("(uidNumber=01007)", Undefined),
        ("(uidNumber>=200)", True),
        ("(uidNumber<=200)", False),
        ("(uidNumber>=-5)", True),
        ("(createTimestamp>=20240131111112+0100)", True),
        ("(createTimestamp<=20240131101111Z)", False),
        ("(entryUUID=597AE2F6-16A6-1027-98F4-D28B5365DC14)", True),
        ("(entryCSN>=20240131101112.000000Z#000000#000#000000)", True),
        ("(cn~=JANE DOE)", True),
        ("(cn=)", Undefined),
        ("(cn>=a)", Undefined),
        ("(jpegPhoto=x)", Undefined),
        ("(jpegPhoto=*)", True),
        ("(nosuch=*)", Undefined),
        ("(nosuch=x)", Undefined),
        ("(title=*)", False),
    ] {
        assert_eq!(outcome(filter), expected, "{filter}");
    }
}

#[test]
fn substrings() {
    use Truth::*;
    for (filter, expected) in [
        ("(cn=jan*)", True),
        ("(cn=*DOE)", True),
        ("(cn=j*n*d*e)", True),
        ("(cn=*e d*)", True),
        ("(cn=jane *doe)", True),
        ("(cn=jane * doe)", True),
        ("(cn=*doe *)", True),
        ("(cn=*ed*)", False),
        ("(cn=doe*)", False),
        ("(cn=jane d*doe)", False),
        ("(cn=*DÖR*)", True),
        ("(telephoneNumber=*30-12*)", True),
        ("(postalAddress=*some town)", True),
        ("(postalAddress=*st some*)", False),
        ("(uidNumber=10*)", Undefined),
        ("(mail=*@example.com)", True),
        ("(homeDirectory=/home*)", Undefined),
    ] {
        assert_eq!(outcome(filter), expected, "{filter}");
    }
}

#[test]
fn object_classes_imply_their_superiors() {
    use Truth::*;
    for (filter, expected) in [
        ("(objectClass=inetOrgPerson)", True),
        ("(objectClass=person)", True),
        ("(objectClass=TOP)", True),
        ("(objectClass=2.5.6.6)", True),
        ("(objectClass=posixAccount)", True),
        ("(objectClass=organization)", False),
        ("(objectClass=nonsense)", Undefined),
        ("(objectClass=*)", True),
    ] {
        assert_eq!(outcome(filter), expected, "{filter}");
    }
    let schema = Schema::standard();
    let closure = schema.class_closure("person").unwrap();
    for class in [
        "person",
        "organizationalPerson",
        "inetOrgPerson",
        "residentialPerson",
    ] {
        assert!(
            closure.contains(&schema.object_class(class).unwrap().oid.as_str()),
            "{class}"
        );
    }
    assert!(!closure.contains(&schema.object_class("top").unwrap().oid.as_str()));
}

#[test]
fn extensible_matches() {
    use Truth::*;
    for (filter, expected) in [
        ("(cn:caseExactMatch:=Jane Doe)", True),
        ("(cn:caseExactMatch:=jane doe)", False),
        ("(cn:2.5.13.5:=Jane Doe)", True),
        ("(cn:=JANE DOE)", True),
        ("(:caseExactMatch:=Jane Doe)", True),
        ("(:caseIgnoreMatch:=nobody)", False),
        ("(ou:dn:=people)", True),
        ("(ou:=people)", False),
        ("(dc:dn:=EXAMPLE)", True),
        ("(:dn:caseIgnoreMatch:=people)", True),
        ("(dc:dn:caseExactMatch:=Example)", Undefined),
        ("(dc:dn:caseExactIA5Match:=Example)", False),
        ("(mail:caseExactIA5Match:=Jane.Doe@Example.COM)", True),
        ("(c:caseIgnoreIA5Match:=a b)", False),
        ("(!(c:caseExactIA5Match:=a b))", True),
        ("(cn:integerMatch:=1)", Undefined),
        ("(cn:nosuchMatch:=x)", Undefined),
        ("(uidNumber:1.2.840.113556.1.4.803:=1002)", True),
        ("(uidNumber:1.2.840.113556.1.4.803:=1016)", False),
        ("(uidNumber:integerBitOrMatch:=16)", False),
        ("(uidNumber:integerBitOrMatch:=24)", True),
        ("(manager:dnSubtreeMatch:=dc=example,dc=com)", True),
        (
            "(manager:dnOneLevelMatch:=ou=people,dc=example,dc=com)",
            True,
        ),
        ("(manager:dnOneLevelMatch:=dc=example,dc=com)", False),
        (
            "(manager:dnSubordinateMatch:=uid=boss,ou=people,dc=example,dc=com)",
            False,
        ),
        (
            "(manager:dnSuperiorMatch:=cn=x,uid=boss,ou=people,dc=example,dc=com)",
            True,
        ),
        ("(entryCSN:CSNSIDMatch:=1)", True),
        ("(uidNumber:integerOrderingMatch:=2000)", True),
        ("(uidNumber:integerOrderingMatch:=1007)", False),
    ] {
        assert_eq!(outcome(filter), expected, "{filter}");
    }
}

#[test]
fn three_valued_logic() {
    use Truth::*;
    for (filter, expected) in [
        ("(!(nosuch=x))", Undefined),
        ("(!(uid=jane))", False),
        ("(!(title=*))", True),
        ("(&(uid=jane)(nosuch=x))", Undefined),
        ("(&(uid=joan)(nosuch=x))", False),
        ("(|(uid=jane)(nosuch=x))", True),
        ("(|(uid=joan)(nosuch=x))", Undefined),
        (
            "(&(objectClass=person)(|(uid=x)(mail=jane.doe@example.com))(!(title=*)))",
            True,
        ),
    ] {
        assert_eq!(outcome(filter), expected, "{filter}");
    }
}

#[test]
fn approximate_match_is_by_sound_where_there_are_words() {
    use Truth::*;
    for (filter, expected) in [
        ("(cn~=jain dough)", False),
        ("(cn~=jane)", True),
        ("(cn~=jan do)", True),
        ("(cn~=do jane)", False),
        ("(mail~=jain.doe@example.com)", True),
        ("(uidNumber~=1007)", True),
        ("(uidNumber~=x)", Undefined),
        ("(manager~=UID=boss,ou=people,DC=example,dc=com)", True),
        ("(nosuch~=x)", Undefined),
        ("(jpegPhoto~=x)", Undefined),
        ("(cn~=)", Undefined),
    ] {
        assert_eq!(outcome(filter), expected, "{filter}");
    }
}

#[test]
fn names_with_identifiers_match_approximately_without_them() {
    let schema = Schema::standard();
    let mut entry = Entry::new(Dn::parse(&schema, "cn=a").unwrap());
    let description = schema.describe(b"uniqueMember").unwrap();
    entry.push(&description, b"dc=one".to_vec());
    for (value, filter, expected) in [
        ("dc=one", "(uniqueMember~=DC=one)", true),
        ("dc=one", "(uniqueMember~=dc=one#'01'B)", true),
        ("dc=one", "(uniqueMember=dc=one#'01'B)", false),
        ("dc=one#'01'B", "(uniqueMember~=dc=one)", true),
        ("dc=one#'01'B", "(uniqueMember=dc=one)", false),
        ("dc=one#'01'B", "(uniqueMember~=dc=one#'01'B)", true),
        ("dc=one#'01'B", "(uniqueMember~=dc=one#'11'B)", false),
        ("dc=one#'01'B", "(uniqueMember~=dc=two)", false),
        ("#'01'B", "(uniqueMember~=)", true),
        ("#'01'B", "(uniqueMember=)", false),
    ] {
        entry.attributes[0].values = vec![value.as_bytes().to_vec()];
        let buffer = FilterBuf::parse(filter).unwrap();
        let subject = EntrySubject {
            schema: &schema,
            entry: &entry,
        };
        let found = Filter::resolve(&schema, &buffer.filter()).test(&schema, &subject);
        assert_eq!(found, Truth::from(expected), "{value} {filter}");
    }
}

#[test]
fn chains_are_left_to_the_search() {
    let schema = Schema::standard();
    let resolve = |text: &str| {
        let buffer = FilterBuf::parse(text).unwrap();
        Filter::resolve(&schema, &buffer.filter())
    };
    let chain = resolve("(&(uid=jane)(!(manager:1.2.840.113556.1.4.1941:=cn=Top, dc=example)))");
    assert!(chain.has_chains());
    // Nobody followed them.
    let entry = jane(&schema);
    let subject = EntrySubject {
        schema: &schema,
        entry: &entry,
    };
    assert_eq!(chain.test(&schema, &subject), Truth::Undefined);
    let expand = |answer: Vec<&str>| {
        let names: Vec<Box<[u8]>> = answer.iter().map(|name| name.as_bytes().into()).collect();
        chain
            .clone()
            .replace_chains(&mut |direct, kind| {
                assert_eq!(direct.attribute.attribute, kind);
                assert_eq!(schema.attribute_at(kind).name(), "manager");
                assert_eq!(&*direct.normal, b"cn=top,dc=example");
                let steps = names.iter().map(|normal| {
                    Filter::Equality(Assertion {
                        normal: normal.clone(),
                        ..direct.clone()
                    })
                });
                Ok::<_, ()>(Filter::Or(steps.collect()))
            })
            .unwrap()
    };
    let through = expand(vec!["uid=boss,ou=people,dc=example,dc=com"]);
    assert!(!through.has_chains());
    assert_eq!(through.test(&schema, &subject), Truth::False);
    assert_eq!(
        expand(vec!["uid=other"]).test(&schema, &subject),
        Truth::True
    );
    assert_eq!(chain.clone().replace_chains(&mut |_, _| Err(7)), Err(7));
    for undefined in [
        "(cn:1.2.840.113556.1.4.1941:=cn=x)",
        "(manager:1.2.840.113556.1.4.1941:=x)",
        "(:1.2.840.113556.1.4.1941:=cn=x)",
    ] {
        assert_eq!(
            resolve(undefined),
            Filter::Constant(Truth::Undefined),
            "{undefined}"
        );
    }
    assert!(resolve("(uniqueMember:1.2.840.113556.1.4.1941:=cn=x)").has_chains());
}
