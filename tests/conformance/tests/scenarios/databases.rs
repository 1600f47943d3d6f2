//! Several databases that are searched as one, and what may not be done in a database.

use crate::data::{PASSWORD, ROOT, SUFFIX, heads, records};
use crate::stage::{Running, Stage, is_ours};

const EU: &str = "ou=eu,ou=people,dc=example,dc=com";

const ENTRIES: &str = "\
dn: dc=example,dc=com
changetype: add
objectClass: organization
objectClass: dcObject
dc: example
o: x

dn: ou=eu,ou=people,dc=example,dc=com
changetype: add
objectClass: organizationalUnit

dn: ou=people,dc=example,dc=com
changetype: add
objectClass: organizationalUnit

dn: cn=a,ou=eu,ou=people,dc=example,dc=com
changetype: add
objectClass: device

dn: cn=p,ou=people,dc=example,dc=com
changetype: add
objectClass: device

dn: ou=adv,dc=example,dc=com
changetype: add
objectClass: organizationalUnit

dn: cn=b,ou=adv,dc=example,dc=com
changetype: add
objectClass: device

dn: ou=own,dc=example,dc=com
changetype: add
objectClass: organizationalUnit
";

/// A database below the usual one, with its root but not his password.
fn below(stage: &Stage, name: &str, suffix: &str, more: &str) -> String {
    let all = stage.database(name, suffix, more);
    all.replace(&format!("rootpw {PASSWORD}\n"), "")
}

fn glued() -> Stage {
    let stage = Stage::new("glued");
    let lines = [
        below(&stage, "eu", EU, "subordinate"),
        below(
            &stage,
            "adv",
            "ou=adv,dc=example,dc=com",
            "subordinate advertise",
        ),
        below(&stage, "own", "ou=own,dc=example,dc=com", ""),
        // Its effect is also there without a request.
        stage.database("db", SUFFIX, "overlay glue"),
    ];
    stage.configure(&lines.concat());
    stage
}

/// First RDNs of what is found, sorted.
fn found(server: &Running<'_>, base: &str, scope: &str) -> Vec<String> {
    let ldif = server
        .client("ldapsearch", &["-LLL", "-b", base, "-s", scope, "1.1"], "")
        .well();
    let mut heads = heads(&ldif);
    heads.sort();
    heads
}

#[test]
fn glued_databases_are_searched_as_one() {
    let stage = glued();
    let server = stage.start();
    server.root("ldapmodify", &[], ENTRIES).well();
    let people = "ou=people,dc=example,dc=com";
    let all = [
        "cn=a",
        "cn=b",
        "cn=p",
        "dc=example",
        "ou=adv",
        "ou=eu",
        "ou=people",
    ];
    for (base, scope, expected) in [
        (SUFFIX, "base", &["dc=example"][..]),
        (SUFFIX, "one", &["ou=adv", "ou=people"]),
        (SUFFIX, "sub", &all),
        (people, "one", &["cn=p", "ou=eu"]),
        (people, "sub", &["cn=a", "cn=p", "ou=eu", "ou=people"]),
        (EU, "sub", &["cn=a", "ou=eu"]),
        ("ou=own,dc=example,dc=com", "sub", &["ou=own"]),
    ] {
        assert_eq!(found(&server, base, scope), expected, "{base} {scope}");
    }
    for (limit, status) in [("6", 4), ("7", 0)] {
        let search = ["-LLL", "-b", SUFFIX, "-z", limit, "1.1"];
        assert_eq!(
            server.client("ldapsearch", &search, "").status,
            status,
            "{limit}"
        );
    }
    let contexts = ["-LLL", "-b", "", "-s", "base", "namingContexts"];
    let contexts = server.client("ldapsearch", &contexts, "").well();
    for (context, named) in [
        (SUFFIX, true),
        ("ou=adv,dc=example,dc=com", true),
        (EU, false),
    ] {
        let line = format!("namingContexts: {context}\n");
        assert_eq!(contexts.contains(&line), named, "{context}");
    }
    server.stop();
}

/// Each database has separate rules, and numbers its attributes in the order of their arrival.
#[test]
fn what_is_shown_of_an_entry_depends_on_its_database() {
    let stage = Stage::new("glued-shown");
    let hiding = "subordinate\naccess to attrs=title by * none\naccess to * by * read";
    let lines = [
        below(&stage, "eu", EU, hiding),
        stage.database("db", SUFFIX, "access to * by * read"),
    ];
    stage.configure(&lines.concat());
    let ldif = format!(
        "dn: {SUFFIX}\nobjectClass: domain\ndc: example\n\n\
         dn: ou=people,{SUFFIX}\nobjectClass: organizationalUnit\nou: people\n\n\
         dn: cn=p,ou=people,{SUFFIX}\nobjectClass: inetOrgPerson\ncn: p\nsn: p\ntitle: shown\nmail: p\n\n\
         dn: {EU}\nobjectClass: organizationalUnit\nou: eu\ndescription: x\n\n\
         dn: cn=a,{EU}\nmail: a\ntitle: hidden\nsn: a\ncn: a\ndescription: y\nobjectClass: inetOrgPerson\n"
    );
    stage.add(&ldif).well();
    let server = stage.start();
    // slapd sorts by an overlay.
    for sorted in [&[][..], &["-E", "sss=cn"]] {
        if !sorted.is_empty() && !is_ours() {
            continue;
        }
        let shown = server.search(&[sorted, &["(mail=*)"]].concat());
        let shown = records(&shown.replace("# sortResult: (0) Success\n", ""));
        let mut expected = records(&ldif.replace("title: hidden\n", ""));
        expected.retain(|record| record.contains("mail: "));
        assert_eq!(shown, expected);
    }
    let shown = server.search(&["(title=*)", "title"]);
    assert!(
        shown.contains("shown") && !shown.contains("hidden"),
        "{shown}"
    );
    server.stop();
}

#[test]
fn updates_stay_in_their_database() {
    let stage = glued();
    let server = stage.start();
    server.root("ldapmodify", &[], ENTRIES).well();
    let people = "ou=people,dc=example,dc=com";
    assert_eq!(server.root("ldapdelete", &[people], "").status, 66);
    for (dn, rdn, superior) in [
        ("cn=a,ou=eu,ou=people,dc=example,dc=com", "cn=a", people),
        ("cn=b,ou=adv,dc=example,dc=com", "cn=b", SUFFIX),
        (people, "ou=people", "ou=adv,dc=example,dc=com"),
        (people, "ou=adv", SUFFIX),
        (EU, "ou=us", people),
    ] {
        let rename = server.root("ldapmodrdn", &["-r", "-s", superior, dn, rdn], "");
        assert_eq!(rename.status, 71, "{dn} {rdn} {superior}");
    }
    server
        .root("ldapdelete", &["cn=p,ou=people,dc=example,dc=com"], "")
        .well();
    // A glued database below does not count as a child.
    server.root("ldapdelete", &[people], "").well();
    assert_eq!(found(&server, EU, "sub"), ["cn=a", "ou=eu"]);
    server.stop();
}

/// Returns the client's status of an operation under these lines, which is the result code.
struct Row {
    global: &'static str,
    own: &'static str,
    /// Anonymous search, search of the root DSE, search by the root, add by the root. Also whether
    /// an anonymous who am I fails, without the code, which the client does not print.
    expected: [i32; 5],
}

const ROWS: [Row; 19] = [
    Row {
        global: "",
        own: "",
        expected: [0, 0, 0, 0, 0],
    },
    Row {
        global: "",
        own: "readonly on",
        expected: [0, 0, 0, 53, 0],
    },
    Row {
        global: "",
        own: "restrict search",
        expected: [53, 0, 53, 0, 0],
    },
    Row {
        global: "restrict search",
        own: "",
        expected: [53, 53, 53, 0, 0],
    },
    Row {
        global: "",
        own: "restrict write",
        expected: [0, 0, 0, 53, 0],
    },
    Row {
        global: "restrict extended",
        own: "",
        expected: [0, 0, 0, 0, 1],
    },
    Row {
        global: "",
        own: "restrict extended",
        expected: [0, 0, 0, 0, 0],
    },
    Row {
        global: "restrict extended=1.3.6.1.4.1.4203.1.11.3",
        own: "",
        expected: [0, 0, 0, 0, 1],
    },
    Row {
        global: "restrict bind",
        own: "",
        expected: [53, 53, 53, 53, 1],
    },
    Row {
        global: "",
        own: "restrict bind",
        expected: [0, 0, 53, 53, 0],
    },
    Row {
        global: "require authc",
        own: "",
        expected: [53, 53, 0, 0, 1],
    },
    Row {
        global: "",
        own: "require authc",
        expected: [53, 0, 0, 0, 0],
    },
    Row {
        global: "require SASL",
        own: "",
        expected: [8, 8, 8, 8, 1],
    },
    Row {
        global: "",
        own: "require SASL",
        expected: [8, 0, 8, 8, 0],
    },
    Row {
        global: "disallow bind_anon",
        own: "",
        expected: [48, 48, 0, 0, 1],
    },
    Row {
        global: "disallow bind_simple",
        own: "",
        expected: [0, 0, 53, 53, 0],
    },
    Row {
        global: "security ssf=1",
        own: "",
        expected: [13, 13, 13, 13, 1],
    },
    Row {
        global: "",
        own: "security update_ssf=1",
        expected: [0, 0, 0, 13, 0],
    },
    Row {
        global: "security simple_bind=1",
        own: "",
        expected: [0, 0, 13, 13, 0],
    },
];

#[test]
fn restrictions_of_every_kind() {
    let top = "dn: dc=example,dc=com\nobjectClass: organization\nobjectClass: dcObject\ndc: example\no: x\n";
    let unit = format!("dn: ou=new,{SUFFIX}\nobjectClass: organizationalUnit\n");
    let stage = Stage::loaded("restrictions", "", top);
    for row in ROWS {
        let lines = format!("{}\n{}", row.global, stage.database("db", SUFFIX, row.own));
        stage.configure(&lines);
        let server = stage.start();
        let base = ["-LLL", "-b", SUFFIX, "-s", "base"];
        let outcome = [
            server.client("ldapsearch", &base, "").status,
            server
                .client("ldapsearch", &["-LLL", "-b", "", "-s", "base"], "")
                .status,
            server.root("ldapsearch", &base, "").status,
            server.root("ldapadd", &[], &unit).status,
            i32::from(server.client("ldapwhoami", &[], "").status != 0),
        ];
        assert_eq!(outcome, row.expected, "{} | {}", row.global, row.own);
        if row.expected[3] == 0 {
            server
                .root("ldapdelete", &[&format!("ou=new,{SUFFIX}")], "")
                .well();
        }
        server.stop();
    }
}

#[test]
fn names_outside_are_referred() {
    let stage = Stage::new("referral");
    let lines = format!(
        "referral ldap://other.example.com\n{}",
        stage.database("db", SUFFIX, "")
    );
    stage.configure(&lines);
    let server = stage.start();
    let search = server.client(
        "ldapsearch",
        &["-LLL", "-b", "dc=no where", "-s", "one"],
        "",
    );
    let said = search.with_status(10);
    assert!(
        said.contains("ldap://other.example.com/dc=no%20where??one"),
        "{said}"
    );
    let delete = server.client_as((ROOT, PASSWORD), "ldapdelete", &["dc=elsewhere"], "");
    let said = delete.with_status(10);
    assert!(
        said.contains("ldap://other.example.com/dc=elsewhere"),
        "{said}"
    );
    server.stop();
}
