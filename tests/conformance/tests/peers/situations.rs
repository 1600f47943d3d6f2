//! Every situation of the result codes, the right and the wrong ones, in an order that builds on
//! itself.

use crate::data::{SUFFIX, USER_DN};
use crate::queries::Requester;
use crate::servers::ROOT_DN;
use crate::updates::{Kind, Operation, Update, root};

/// Every situation of the result codes that these operations have.
pub(crate) fn fixed() -> Vec<Update> {
    let mut all = binds();
    all.extend(adds());
    all.extend(modifies());
    all.extend(compares());
    all.extend(renames());
    all.extend(deletes());
    all
}

fn owned(values: &[&str]) -> Vec<Vec<u8>> {
    values
        .iter()
        .map(|value| value.as_bytes().to_vec())
        .collect()
}

/// `rdn` below the suffix unless it names the suffix itself or ends in a dot for "as it is".
fn full(rdn: &str) -> String {
    match rdn.strip_suffix('.') {
        Some(absolute) => absolute.to_owned(),
        None if rdn.is_empty() => SUFFIX.to_owned(),
        None => format!("{rdn},{SUFFIX}"),
    }
}

fn add(rdn: &str, attributes: &[(&str, &[&str])]) -> Update {
    let attributes = attributes
        .iter()
        .map(|(name, values)| ((*name).to_owned(), owned(values)))
        .collect();
    root(Operation::Add {
        dn: full(rdn),
        attributes,
    })
}

fn modify(rdn: &str, changes: &[(Kind, &str, &[&str])]) -> Update {
    let changes = changes
        .iter()
        .map(|(kind, name, values)| (*kind, (*name).to_owned(), owned(values)))
        .collect();
    root(Operation::Modify {
        dn: full(rdn),
        changes,
    })
}

fn delete(rdn: &str) -> Update {
    root(Operation::Delete { dn: full(rdn) })
}

fn rename(rdn: &str, new: &str, delete_old: bool, superior: Option<&str>) -> Update {
    let superior = superior.map(full);
    root(Operation::Rename {
        dn: full(rdn),
        rdn: new.to_owned(),
        delete_old,
        superior,
    })
}

fn compare(rdn: &str, attribute: &str, value: &str) -> Update {
    root(Operation::Compare {
        dn: full(rdn),
        attribute: attribute.to_owned(),
        value: value.into(),
    })
}

fn bind(dn: &str, password: &str) -> Update {
    root(Operation::Bind {
        dn: dn.to_owned(),
        password: password.to_owned(),
    })
}

fn by(who: Requester, update: Update) -> Update {
    Update { who, ..update }
}

/// Changes at and below a referral object, by clients that expect to be sent elsewhere.
pub(crate) fn referrals() -> Vec<Update> {
    let person: &[(&str, &[&str])] =
        &[("objectClass", &["person"]), ("cn", &["x"]), ("sn", &["x"])];
    vec![
        add("cn=x,ou=Suppliers", person),
        add("cn=x,ou=y,ou=Suppliers", person),
        modify("ou=Suppliers", &[(Kind::Add, "description", &["x"])]),
        modify("cn=x,ou=Suppliers", &[(Kind::Add, "description", &["x"])]),
        compare("ou=Suppliers", "ou", "Suppliers"),
        compare("cn=x,ou=Suppliers", "cn", "x"),
        rename("ou=Suppliers", "ou=Vendors", true, None),
        rename("cn=x,ou=Suppliers", "cn=y", true, None),
        delete("cn=x,ou=Suppliers"),
        delete("ou=Suppliers"),
        bind("cn=x,ou=Suppliers,dc=example,dc=org", "x"),
    ]
}

fn binds() -> Vec<Update> {
    vec![
        bind(USER_DN, "ada-demo"),
        bind(USER_DN, "wrong"),
        bind(USER_DN, ""),
        bind("", ""),
        bind("", "password without a name"),
        bind("uid=nobody,dc=example,dc=org", "x"),
        bind("dc=elsewhere", "x"),
        bind("ou=People,dc=example,dc=org", "x"),
        bind("not a name", "x"),
        bind(ROOT_DN, "wrong"),
        bind(
            "UID=Ada, OU=engineering,ou=PEOPLE,dc=example,dc=org",
            "ada-demo",
        ),
        bind(
            "uid=user.7,ou=people,ou=Generated,dc=example,dc=org",
            "pw.7",
        ),
        bind(
            "uid=user.7,ou=people,ou=Generated,dc=example,dc=org",
            "pw.8",
        ),
    ]
}

const PERSON: &[(&str, &[&str])] = &[
    ("objectClass", &["person"]),
    ("cn", &["Test"]),
    ("sn", &["Test"]),
];

fn adds() -> Vec<Update> {
    let unit: &[(&str, &[&str])] = &[("objectClass", &["organizationalUnit"]), ("ou", &["Tests"])];
    vec![
        add("ou=Tests", unit),
        add("ou=Tests", unit),
        add("OU=TESTS", unit),
        add("cn=Test,ou=Tests", PERSON),
        add(
            "cn=second,ou=Tests",
            &[
                ("objectClass", &["inetOrgPerson"]),
                ("cn", &["second"]),
                ("sn", &["B"]),
                ("mail", &["b@example.org"]),
                ("description", &["one", "two"]),
            ],
        ),
        add("cn=x,ou=Nowhere", PERSON),
        add("cn=x,cn=y,ou=Nowhere,ou=Tests", PERSON),
        add("cn=x,dc=elsewhere.", PERSON),
        add("not a name.", PERSON),
        add("cn=,ou=Tests", PERSON),
        add(".", PERSON),
        add(
            "cn=nosn,ou=Tests",
            &[("objectClass", &["person"]), ("cn", &["nosn"])],
        ),
        add(
            "cn=extra,ou=Tests",
            &[
                ("objectClass", &["person"]),
                ("cn", &["extra"]),
                ("sn", &["x"]),
                ("mail", &["x@y"]),
            ],
        ),
        add(
            "cn=noclass,ou=Tests",
            &[("cn", &["noclass"]), ("sn", &["x"])],
        ),
        add(
            "cn=abstract,ou=Tests",
            &[("objectClass", &["top"]), ("cn", &["abstract"])],
        ),
        add(
            "cn=aux,ou=Tests",
            &[
                ("objectClass", &["posixAccount"]),
                ("cn", &["aux"]),
                ("uid", &["aux"]),
                ("uidNumber", &["1"]),
                ("gidNumber", &["1"]),
                ("homeDirectory", &["/"]),
            ],
        ),
        add(
            "cn=two,ou=Tests",
            &[
                ("objectClass", &["person", "organizationalUnit"]),
                ("cn", &["two"]),
                ("sn", &["x"]),
                ("ou", &["x"]),
            ],
        ),
        add(
            "cn=unknown,ou=Tests",
            &[
                ("objectClass", &["person"]),
                ("cn", &["unknown"]),
                ("sn", &["x"]),
                ("nosuchattribute", &["x"]),
            ],
        ),
        add(
            "cn=badclass,ou=Tests",
            &[
                ("objectClass", &["person", "nosuchclass"]),
                ("cn", &["badclass"]),
                ("sn", &["x"]),
            ],
        ),
        add(
            "cn=badvalue,ou=Tests",
            &[
                ("objectClass", &["person", "posixAccount"]),
                ("cn", &["badvalue"]),
                ("sn", &["x"]),
                ("uid", &["b"]),
                ("uidNumber", &["many"]),
                ("gidNumber", &["1"]),
                ("homeDirectory", &["/"]),
            ],
        ),
        add(
            "cn=empty,ou=Tests",
            &[
                ("objectClass", &["person"]),
                ("cn", &["empty"]),
                ("sn", &[""]),
            ],
        ),
        add(
            "cn=baddn,ou=Tests",
            &[
                ("objectClass", &["person"]),
                ("cn", &["baddn"]),
                ("sn", &["x"]),
                ("seeAlso", &["no name"]),
            ],
        ),
        add(
            "cn=twice,ou=Tests",
            &[
                ("objectClass", &["person"]),
                ("cn", &["twice"]),
                ("sn", &["x", "X"]),
            ],
        ),
        add(
            "cn=single,ou=Tests",
            &[
                ("objectClass", &["person", "posixAccount"]),
                ("cn", &["single"]),
                ("sn", &["x"]),
                ("uid", &["s"]),
                ("uidNumber", &["1", "2"]),
                ("gidNumber", &["1"]),
                ("homeDirectory", &["/"]),
            ],
        ),
        add(
            "cn=operational,ou=Tests",
            &[
                ("objectClass", &["person"]),
                ("cn", &["operational"]),
                ("sn", &["x"]),
                ("createTimestamp", &["20200101000000Z"]),
            ],
        ),
        add(
            "cn=naming,ou=Tests",
            &[
                ("objectClass", &["person"]),
                ("cn", &["other"]),
                ("sn", &["x"]),
            ],
        ),
        add(
            "cn=implied,ou=Tests",
            &[("objectClass", &["person"]), ("sn", &["x"])],
        ),
        add(
            "cn=a+sn=b,ou=Tests",
            &[("objectClass", &["person"]), ("cn", &["a"]), ("sn", &["b"])],
        ),
        add(
            "sn=B+cn=A,ou=Tests",
            &[("objectClass", &["person"]), ("cn", &["a"]), ("sn", &["b"])],
        ),
        add(
            "cn=comma\\, inside,ou=Tests",
            &[
                ("objectClass", &["person"]),
                ("cn", &["comma, inside"]),
                ("sn", &["x"]),
            ],
        ),
        add("cn=below,cn=Test,ou=Tests", PERSON),
        add(
            "cn=below,cn=Test,ou=Tests",
            &[
                ("objectClass", &["person"]),
                ("cn", &["below"]),
                ("sn", &["x"]),
            ],
        ),
        add(
            "cn=x,cn=boss,ou=People",
            &[("objectClass", &["person"]), ("cn", &["x"]), ("sn", &["x"])],
        ),
        add(
            "cn=group,ou=Tests",
            &[("objectClass", &["groupOfNames"]), ("cn", &["group"])],
        ),
        add(
            "cn=group,ou=Tests",
            &[
                ("objectClass", &["groupOfNames"]),
                ("cn", &["group"]),
                ("member", &["cn=Test,ou=Tests,dc=example,dc=org"]),
            ],
        ),
        add(
            "cn=account,ou=Tests",
            &[
                ("objectClass", &["person", "posixAccount"]),
                ("cn", &["account"]),
                ("sn", &["x"]),
                ("uid", &["acc"]),
                ("uidNumber", &["70000"]),
                ("gidNumber", &["70"]),
                ("homeDirectory", &["/home/acc"]),
            ],
        ),
        add(
            "cn=optioned,ou=Tests",
            &[
                ("objectClass", &["person"]),
                ("cn", &["optioned"]),
                ("sn", &["x"]),
                ("cn;lang-de", &["mit Option"]),
            ],
        ),
        by(
            Requester::Anonymous,
            add(
                "cn=forbidden,ou=Tests",
                &[
                    ("objectClass", &["person"]),
                    ("cn", &["forbidden"]),
                    ("sn", &["x"]),
                ],
            ),
        ),
        by(
            Requester::User,
            add(
                "cn=forbidden,ou=Tests",
                &[
                    ("objectClass", &["person"]),
                    ("cn", &["forbidden"]),
                    ("sn", &["x"]),
                ],
            ),
        ),
    ]
}

fn modifies() -> Vec<Update> {
    use Kind::{Add, Delete, Increment, Replace};
    let test = "cn=Test,ou=Tests";
    let account = "cn=account,ou=Tests";
    vec![
        modify(test, &[(Add, "description", &["a", "b"])]),
        modify(test, &[(Add, "description", &["A"])]),
        modify(test, &[(Add, "description", &["c", "C"])]),
        modify(
            test,
            &[
                (Add, "description", &["c"]),
                (Delete, "description", &["a"]),
            ],
        ),
        modify(test, &[(Delete, "description", &["absent"])]),
        modify(test, &[(Delete, "telephoneNumber", &[])]),
        modify(test, &[(Delete, "description", &[])]),
        modify(test, &[(Replace, "description", &[])]),
        modify(test, &[(Replace, "description", &["x", "y"])]),
        modify(test, &[(Replace, "description", &["x", "X"])]),
        modify(
            test,
            &[
                (Replace, "telephoneNumber", &["+49 1"]),
                (Add, "telephoneNumber", &["+491"]),
            ],
        ),
        modify(test, &[(Delete, "sn", &[])]),
        modify(test, &[(Replace, "sn", &[])]),
        modify(test, &[(Delete, "sn", &[]), (Add, "sn", &["New"])]),
        modify(test, &[(Delete, "cn", &["Test"])]),
        modify(test, &[(Replace, "cn", &["Other"])]),
        modify(test, &[(Replace, "cn", &["TEST", "Other"])]),
        modify(test, &[(Add, "nosuchattribute", &["x"])]),
        modify(test, &[(Delete, "nosuchattribute", &[])]),
        modify(test, &[(Add, "mail", &["x@y"])]),
        modify(test, &[(Add, "telephoneNumber", &[""])]),
        modify(test, &[(Add, "seeAlso", &["no name"])]),
        modify(test, &[(Add, "sn", &[""])]),
        modify(test, &[(Add, "description", &[])]),
        modify(test, &[(Replace, "objectClass", &["organizationalUnit"])]),
        modify(test, &[(Delete, "objectClass", &[])]),
        modify(test, &[(Add, "objectClass", &["nosuchclass"])]),
        modify(
            test,
            &[
                (Add, "objectClass", &["uidObject"]),
                (Add, "uid", &["test"]),
            ],
        ),
        modify(test, &[(Add, "objectClass", &["uidObject"])]),
        modify(test, &[(Delete, "objectClass", &["uidObject"])]),
        modify(
            test,
            &[
                (Delete, "objectClass", &["uidObject"]),
                (Delete, "uid", &[]),
            ],
        ),
        modify(test, &[(Add, "objectClass", &["organizationalPerson"])]),
        modify(test, &[(Replace, "createTimestamp", &["20200101000000Z"])]),
        modify(
            test,
            &[(
                Replace,
                "entryUUID",
                &["00000000-0000-0000-0000-000000000000"],
            )],
        ),
        modify(test, &[(Add, "userPassword", &["secret", "Secret"])]),
        modify(test, &[(Add, "cn;lang-de", &["Prüfung"])]),
        modify(test, &[(Delete, "cn;lang-fr", &[])]),
        modify(test, &[]),
        modify(account, &[(Increment, "uidNumber", &["1"])]),
        modify(account, &[(Increment, "uidNumber", &["-5"])]),
        modify(account, &[(Increment, "uidNumber", &["x"])]),
        modify(account, &[(Increment, "uidNumber", &["1", "2"])]),
        modify(account, &[(Increment, "homeDirectory", &["1"])]),
        modify(account, &[(Increment, "cn", &["1"])]),
        modify(account, &[(Add, "uidNumber", &["5"])]),
        modify(account, &[(Replace, "uidNumber", &["5", "6"])]),
        modify(account, &[(Replace, "uidNumber", &["0x5"])]),
        modify(
            account,
            &[
                (Replace, "gidNumber", &["071"]),
                (Replace, "loginShell", &["/bin/sh"]),
            ],
        ),
        modify("cn=absent,ou=Tests", &[(Add, "description", &["x"])]),
        modify("cn=x,ou=Absent,ou=Tests", &[(Add, "description", &["x"])]),
        modify("dc=elsewhere.", &[(Add, "description", &["x"])]),
        modify("no name.", &[(Add, "description", &["x"])]),
        modify(".", &[(Replace, "description", &["x"])]),
        modify(
            "cn=group,ou=Tests",
            &[(Delete, "member", &["CN=test, ou=tests,dc=example,dc=org"])],
        ),
        modify(
            "cn=group,ou=Tests",
            &[(
                Add,
                "member",
                &[
                    "cn=absent,dc=example,dc=org",
                    "cn=Test, ou=Tests,dc=example,dc=org",
                ],
            )],
        ),
        modify(
            "cn=group,ou=Tests",
            &[(Add, "member", &["cn=other,dc=example,dc=org"])],
        ),
        modify("", &[(Replace, "description", &["changed at the top"])]),
        by(
            Requester::User,
            modify(test, &[(Add, "description", &["forbidden"])]),
        ),
        by(
            Requester::Anonymous,
            modify(test, &[(Add, "description", &["forbidden"])]),
        ),
        by(
            Requester::User,
            root(Operation::Modify {
                dn: USER_DN.to_owned(),
                changes: vec![(Replace, "title".into(), owned(&["me"]))],
            }),
        ),
    ]
}

fn compares() -> Vec<Update> {
    let test = "cn=Test,ou=Tests";
    vec![
        compare("ou=People", "entryDN", "OU=people,dc=example,dc=org"),
        compare(test, "cn", "TEST"),
        compare(test, "cn", "nobody"),
        compare(test, "name", "test"),
        compare(test, "mail", "x@y"),
        compare(test, "nosuchattribute", "x"),
        compare("cn=account,ou=Tests", "uidNumber", "many"),
        compare("cn=account,ou=Tests", "uidNumber", "00069996"),
        compare("cn=absent,ou=Tests", "cn", "x"),
        compare("dc=elsewhere.", "cn", "x"),
        compare("no name.", "cn", "x"),
        compare(test, "objectClass", "person"),
        compare(test, "objectClass", "top"),
        compare(test, "objectClass", "nosuchclass"),
        compare(test, "hasSubordinates", "TRUE"),
        compare(test, "structuralObjectClass", "person"),
        compare(test, "userPassword", "secret"),
        by(
            Requester::Anonymous,
            compare(test, "userPassword", "secret"),
        ),
        by(Requester::User, compare(test, "sn", "new")),
    ]
}

fn renames() -> Vec<Update> {
    vec![
        rename("cn=second,ou=Tests", "cn=third", true, None),
        rename("cn=third,ou=Tests", "cn=fourth", false, None),
        rename("cn=fourth,ou=Tests", "CN=Fourth", true, None),
        rename("cn=fourth,ou=Tests", "cn=Test", true, None),
        rename("cn=fourth,ou=Tests", "sn=B", true, None),
        rename("sn=B,ou=Tests", "mail=b@example.org+cn=both", true, None),
        rename(
            "mail=b@example.org+cn=both,ou=Tests",
            "cn=fourth",
            false,
            Some("ou=People"),
        ),
        rename("cn=fourth,ou=People", "cn=fourth", false, Some("ou=Tests")),
        rename("cn=fourth,ou=Tests", "cn=x", true, Some("ou=Nowhere")),
        rename("cn=fourth,ou=Tests", "cn=x", true, Some("dc=elsewhere.")),
        rename("cn=fourth,ou=Tests", "cn=x,cn=y", true, None),
        rename("cn=fourth,ou=Tests", "nonsense", true, None),
        rename("cn=fourth,ou=Tests", "", true, None),
        rename("cn=fourth,ou=Tests", "nosuchattribute=x", true, None),
        rename("cn=fourth,ou=Tests", "memberUid=x", true, None),
        rename("cn=fourth,ou=Tests", "uidNumber=x", true, None),
        rename("cn=absent,ou=Tests", "cn=x", true, None),
        rename("cn=x,dc=elsewhere.", "cn=x", true, None),
        rename("no name.", "cn=x", true, None),
        rename("ou=Tests", "ou=Tests", true, Some("cn=Test,ou=Tests")),
        rename("ou=Tests", "ou=Tests", true, Some("ou=Tests")),
        rename("", "dc=other", true, None),
        rename("ou=Tests", "ou=Trials", true, None),
        rename("ou=Trials", "ou=Tests", true, Some("ou=Groups")),
        rename("ou=Tests,ou=Groups", "ou=Tests", true, Some("")),
        rename("cn=account,ou=Tests", "uidNumber=69996", true, None),
        rename("uidNumber=69996,ou=Tests", "cn=account", true, None),
        by(
            Requester::User,
            rename("cn=Test,ou=Tests", "cn=mine", true, None),
        ),
    ]
}

fn deletes() -> Vec<Update> {
    vec![
        delete("ou=Tests"),
        delete("cn=Test,ou=Tests"),
        delete("cn=absent,ou=Tests"),
        delete("cn=x,ou=Absent,ou=Tests"),
        delete("dc=elsewhere."),
        delete("no name."),
        delete("."),
        by(Requester::Anonymous, delete("cn=below,cn=Test,ou=Tests")),
        by(Requester::User, delete("cn=below,cn=Test,ou=Tests")),
        delete("cn=below,cn=Test,ou=Tests"),
        delete("CN=test , OU=tests"),
        delete("cn=Test,ou=Tests"),
    ]
}
