//! Names: odd ones, the empty one, and their forms.

use crate::data::{PASSWORD, ROOT, SUFFIX, UNORDERED, names};
use crate::stage::{Stage, is_ours};

#[test]
fn odd_names_are_the_same_names() {
    let stage = Stage::loaded("dn", "", UNORDERED);
    let server = stage.start();
    let groups = "\
dn: cn=odd 1,ou=Groups,dc=example,dc=com
objectClass: groupOfNames
cn: odd 1
member: OU=Sales+CN=J. Smith , DC=example,DC=net
member: CN=Before\\0dAfter,DC=example,DC=net
member: cn=\\23one\\2c two,dc=example
member: 1.3.6.1.4.1.1466.0=#04024869

";
    let ran = server.root("ldapadd", &[], groups);
    // The last value is of an attribute that is not defined: slapd takes it when it is written so.
    assert!([0, 21].contains(&ran.status), "{ran:?}");
    let simple: String = groups
        .lines()
        .filter(|line| !line.contains("1466.0"))
        .map(|line| format!("{line}\n"))
        .collect();
    if ran.status != 0 {
        server.root("ldapadd", &[], &simple).well();
    }
    for filter in [
        "(member=cn=j. smith+ou=SALES,dc=EXAMPLE,dc=net)",
        "(member=CN=Before\\5c0DAfter,dc=example,dc=net)",
        "(member=CN=\\5c#one\\5c, two, DC=Example)",
    ] {
        let found = server.search(&[filter, "1.1"]);
        assert_eq!(
            names(&found),
            ["cn=odd 1,ou=Groups,dc=example,dc=com"],
            "{filter}"
        );
    }
    for base in [
        "OU=groups,DC=Example,DC=Com",
        "ou=Groups , dc=example , dc=com",
        "organizationalUnitName=Groups,dc=example,dc=com",
        "2.5.4.11=Groups,0.9.2342.19200300.100.1.25=example,dc=com",
    ] {
        let found = server.client("ldapsearch", &["-LLL", "-s", "base", "-b", base, "1.1"], "");
        assert_eq!(
            names(&found.well()),
            ["ou=Groups,dc=example,dc=com"],
            "{base}"
        );
    }
    for base in ["bad", "=x", "cn=x,,dc=com", "cn=\\zz"] {
        server
            .client("ldapsearch", &["-b", base], "")
            .with_status(34);
    }
    server.stop();
}

/// The root of the database of everything.
const TOP: &str = "cn=Manager,c=US";

/// A server for every name, except for one tree in a separate database.
fn everything() -> Stage {
    let stage = Stage::new("empty-dn");
    let own = stage.database("own", SUFFIX, "access to * by * read");
    let all = stage.database("all", "", "access to * by users write by * read");
    let all = all.replace(ROOT, TOP);
    stage.configure(&format!("{own}\ndatabase monitor\n{all}"));
    let own = format!("dn: {SUFFIX}\nobjectClass: domain\ndc: example\n\n");
    stage.add(&own).well();
    let countries: String = ["US", "IT"]
        .map(|c| format!("dn: o=Example,c={c}\nobjectClass: organization\no: Example\n\ndn: c={c}\nobjectClass: country\nc: {c}\n\n"))
        .concat();
    let file = stage.file("countries.ldif", &countries);
    stage.tool("a", &["-b", "", "-l", &file], "").well();
    stage
}

#[test]
fn a_database_of_everything() {
    let stage = everything();
    let dumped = names(&stage.tool("c", &["-b", ""], "").well());
    let sorted = ["c=IT", "c=US", "o=Example,c=IT", "o=Example,c=US"];
    assert_eq!(dumped, sorted);
    let server = stage.start();
    let found = |base: &str, scope: &str, filter: &str| {
        let arguments = ["-LLL", "-b", base, "-s", scope, filter, "1.1"];
        names(&server.client("ldapsearch", &arguments, "").well())
    };
    assert_eq!(found("", "sub", "(objectClass=*)"), sorted);
    assert_eq!(found("", "children", "(objectClass=*)"), sorted);
    assert_eq!(found("", "one", "(objectClass=*)"), ["c=IT", "c=US"]);
    assert_eq!(found("", "sub", "(o=example)"), sorted[2..]);
    assert_eq!(
        found("c=IT", "sub", "(objectClass=*)"),
        ["c=IT", "o=Example,c=IT"]
    );
    // Names with more specific owners belong to them.
    assert_eq!(found(SUFFIX, "sub", "(objectClass=*)"), [SUFFIX]);
    assert_eq!(
        found("cn=Monitor", "base", "(objectClass=*)"),
        ["cn=Monitor"]
    );
    let dse = server
        .client("ldapsearch", &["-LLL", "-b", "", "-s", "base", "+"], "")
        .well();
    assert!(dse.contains("supportedLDAPVersion: 3"), "{dse}");
    assert!(
        dse.contains("namingContexts:\n") && dse.contains(&format!("namingContexts: {SUFFIX}\n")),
        "{dse}"
    );
    let change = |text: &str, status: i32| {
        let ran = server.client_as((TOP, PASSWORD), "ldapmodify", &[], text);
        ran.with_status(status);
    };
    change(
        "dn: c=DE\nchangetype: add\nobjectClass: country\nc: DE\n",
        0,
    );
    change(
        "dn: c=DE\nchangetype: modify\nreplace: description\ndescription: x\n",
        0,
    );
    change(
        "dn: c=DE\nchangetype: modrdn\nnewrdn: c=AT\ndeleteoldrdn: 1\n",
        0,
    );
    change(
        "dn: o=x,c=DE\nchangetype: add\nobjectClass: organization\no: x\n",
        32,
    );
    change(
        "dn: o=Example,c=IT\nchangetype: modrdn\nnewrdn: o=Example\ndeleteoldrdn: 0\nnewsuperior: c=AT\n",
        0,
    );
    change("dn: c=IT\nchangetype: delete\n", 0);
    change("dn: c=US\nchangetype: delete\n", 66);
    assert_eq!(
        found("", "sub", "(objectClass=*)"),
        ["c=AT", "c=US", "o=Example,c=AT", "o=Example,c=US"]
    );
    server.stop();
}

#[test]
fn entries_move_to_the_top_where_nothing_is_above_them() {
    let stage = everything();
    let server = stage.start();
    let up =
        "dn: o=Example,c=IT\nchangetype: modrdn\nnewrdn: o=Alone\ndeleteoldrdn: 1\nnewsuperior:\n";
    let root = (TOP, PASSWORD);
    server.client_as(root, "ldapmodify", &[], up).well();
    // slapd takes the empty new superior for none.
    let expected = if is_ours() { "o=Alone" } else { "o=Alone,c=IT" };
    let found = server.client("ldapsearch", &["-LLL", "-b", expected, "1.1"], "");
    assert_eq!(names(&found.well()), [expected]);
    server.stop();
}

#[test]
fn slapdn_says_what_is_what() {
    let stage = Stage::usual("slapdn", "");
    let ran = stage
        .tool("d", &["CN=Foo\\, Bar , DC=Example,dc=COM"], "")
        .well();
    assert_eq!(
        ran,
        "DN: <CN=Foo\\, Bar , DC=Example,dc=COM> check succeeded\n\
         normalized: <cn=foo\\2C bar,dc=example,dc=com>\n\
         pretty:     <cn=Foo\\2C Bar,dc=Example,dc=COM>\n"
    );
    assert_eq!(stage.tool("d", &["-N", "OU=A"], "").well(), "ou=a\n");
    assert_eq!(stage.tool("d", &["-P", "OU=A"], "").well(), "ou=A\n");
    let wrong = stage.tool("d", &["bad", "cn=x"], "").with_status(255);
    assert_eq!(wrong, "DN: <bad> check failed 21 (Invalid syntax)\n");
    stage.tool("d", &["-N", "-P", "cn=x"], "").with_status(1);
}

#[test]
fn language_tags() {
    let stage = Stage::loaded("language", "index cn,name eq,sub", UNORDERED);
    let server = stage.start();
    let dots = "cn=Dorothy Stevens,ou=Alumni,ou=People,dc=example,dc=com";
    let change = format!(
        "dn: {dots}\nchangetype: modify\nadd: cn;lang-fr\ncn;lang-fr: Dorothée\n-\nadd: cn;lang-de-at\ncn;lang-de-at: Dorli\n"
    );
    server.root("ldapmodify", &[], &change).well();
    let found = |filter: &str| names(&server.search(&[filter, "1.1"])).len();
    assert_eq!(found("(cn=Dorli)"), 1);
    assert_eq!(found("(name=Dorli)"), 1);
    assert_eq!(found("(cn;lang-de-at=Dorli)"), 1);
    assert_eq!(found("(cn;lang-fr=Dorli)"), 0);
    let shown = server.search(&["(uid=dots)", "cn;lang-fr"]);
    assert!(
        shown.contains("cn;lang-fr::") && !shown.contains("lang-de"),
        "{shown}"
    );
    let ranged = server.search(&["(uid=dots)", "cn;lang-de-"]);
    assert!(
        ranged.contains("cn;lang-de: ") && ranged.contains("cn;lang-de-at: "),
        "{ranged}"
    );
    server
        .client_as(
            (ROOT, PASSWORD),
            "ldapcompare",
            &[dots, "cn;lang-de:dorothea stevens"],
            "",
        )
        .with_status(6);
    assert_eq!(names(&server.search(&["-s", "base", "1.1"])), [SUFFIX]);
    server.stop();
}
