//! The overlay valsort next to Debian's slapd: the order of values, checks of weights, and texts.

use crate::data::SUFFIX;
use crate::overlays::{Request, add, answer, modify, rename};
use crate::stage::Stage;

const DATA: &str = "\
dn: dc=example,dc=com
objectClass: dcObject
objectClass: organization
dc: example
o: x

dn: ou=p,dc=example,dc=com
objectClass: organizationalUnit
ou: p

dn: uid=a,ou=p,dc=example,dc=com
objectClass: inetOrgPerson
uid: a
cn: a
sn: a
title: {2}two
title: {1}one
title: {10}ten
title: {1}a one
title: {-1}minus
title: {010}octal
title: {}none
description: beta
description: Alpha
description: ALPHA  q
description: ZETA
mail: a@x
mail: b@x
roomNumber: {2}b
roomNumber: {1}b
roomNumber: {1}c
roomNumber: {1}a
x121Address: 10
x121Address: 9
x121Address: 100 1
seeAlso: cn=b,dc=x
seeAlso: cn=A,dc=x
seeAlso: cn=a,dc=b
l: b
l: A
l: c
st: {2}b
st: {1}c
st: {3}a

dn: uid=out,dc=example,dc=com
objectClass: inetOrgPerson
uid: out
cn: out
sn: a
title: {2}x
title: {1}y
description: b
description: a
";

const RULES: &str = "overlay valsort
valsort-attr title ou=p,dc=example,dc=com weighted
valsort-attr description ou=p,dc=example,dc=com alpha-ascend
valsort-attr mail ou=p,dc=example,dc=com alpha-descend
valsort-attr roomNumber ou=p,dc=example,dc=com weighted alpha-descend
valsort-attr x121Address ou=p,dc=example,dc=com numeric-ascend
valsort-attr seeAlso ou=p,dc=example,dc=com alpha-ascend
valsort-attr l ou=p,dc=example,dc=com alpha-ascend
valsort-attr l ou=p,dc=example,dc=com alpha-descend
valsort-attr st ou=p,dc=example,dc=com weighted
valsort-attr st ou=p,dc=example,dc=com alpha-ascend
valsort-attr c ou=p,dc=example,dc=com alpha-ascend
";

const CONTROL: &str = "1.3.6.1.4.1.4203.666.5.14";

fn history(stage: &Stage, requests: &[Request<'_>]) -> Vec<String> {
    let database = stage.database("db", SUFFIX, RULES);
    stage.configure(&format!("moduleload valsort.so\n{database}"));
    stage.add(DATA).well();
    let server = stage.start();
    let mut answers = Vec::new();
    let found = |options: &[&str]| {
        let base = ["-LLL", "-o", "ldif-wrap=no", "-b", SUFFIX];
        let ran = server.client("ldapsearch", &[&base, options].concat(), "");
        format!("{options:?}\n{} {}{}", ran.status, ran.out, ran.err)
    };
    answers.push(found(&["(sn=*)"]));
    answers.push(found(&["-A", "(uid=a)"]));
    answers.push(found(&["(title={1}one)", "title"]));
    answers.push(found(&["(title=one)", "title"]));
    answers.push(found(&[
        "-E",
        "!mv=(description=alpha)",
        "(uid=a)",
        "description",
    ]));
    for value in ["=::MAMBAf8=", "=::MAMBAQA=", "=::AA==", ""] {
        for critical in ["", "!"] {
            let control = format!("{critical}{CONTROL}{value}");
            answers.push(found(&["-E", &control, "(uid=a)", "title", "mail"]));
        }
    }
    answers.extend(requests.iter().map(|request| answer(&server, request)));
    answers.push(found(&["(sn=*)"]));
    server.stop();
    answers
}

#[test]
fn values_are_ordered_and_weights_checked_as_in_slapd() {
    let mut requests = Vec::new();
    for value in [
        "plain",
        "{x}a",
        "{3a",
        "{}a",
        "{5x}a",
        "{ 7}a",
        "{8 }a",
        "{0x9}a",
        "a{3}b",
        "{4}",
        "{ }a",
        "{99999999999999999999}big",
        "{11}last",
    ] {
        requests.push(modify("a", &format!("add: title\ntitle: {value}")));
    }
    requests.extend([
        modify("a", "delete: title\ntitle: one"),
        modify("a", "delete: title\ntitle: {9}two"),
        modify("a", "delete: title\ntitle: {2}two"),
        modify(
            "a",
            "add: roomNumber\nroomNumber: q\n-\nadd: title\ntitle: {x}",
        ),
        modify("a", "delete: roomNumber"),
        modify("none", "add: description\ndescription: q"),
        add("b", "B", "title: q"),
        add("b", "B", "title: {2}q\ntitle: {1}r\ntitle;lang-de: s"),
        rename("uid=out", "title=z", 0, None),
    ]);
    let ours = history(&Stage::new("valsort-ours"), &requests);
    let theirs = history(&Stage::with_original("valsort-slapd"), &requests);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn wrong_directives_get_slapds_sentences() {
    let texts = |stage: &Stage| -> Vec<String> {
        let lines = [
            "",
            "title",
            "title dc=x",
            "q dc=x weighted",
            "title bad weighted",
            "title dc=x foo",
            "title dc=x alpha",
            "title dc=x weighted foo",
            "title dc=x weighted alpha-ascend x",
            "street dc=x numeric-ascend",
            "street dc=x weighted numeric-ascend",
            "telephoneNumber dc=x numeric-descend",
            "title dc=x weighted weighted",
            "title dc=x alpha-ascend weighted",
            "street dc=y ALPHA-ASCEND",
            "title;lang-de dc=x alpha-ascend",
            "mailPreferenceOption dc=x numeric-ascend",
        ];
        let texts = lines.map(|line| {
            let directive = format!("overlay valsort\nvalsort-attr {line}\n");
            let database = stage.database("db", SUFFIX, &directive);
            stage.configure(&format!("moduleload valsort.so\n{database}"));
            let ran = stage.tool("t", &["-u"], "");
            let text = ran.err.lines().find(|line| line.contains("valsort-attr>"));
            let text = text.and_then(|line| line.split_once("valsort-attr>"));
            let text = text.map_or("", |(_, text)| text.trim());
            format!("{line}: {} {text}", ran.status)
        });
        texts.to_vec()
    };
    let ours = texts(&Stage::new("valsort-words-ours"));
    let theirs = texts(&Stage::with_original("valsort-words-slapd"));
    assert_eq!(ours, theirs);
}

#[test]
fn directives_are_written_to_a_configuration_directory() {
    let written = |stage: &Stage| {
        let lines = "overlay valsort\nvalsort-attr title \"ou=my p,dc=x\" weighted alpha-descend\n\
            valsort-attr description dc=x alpha-ascend\n";
        let database = stage.database("db", SUFFIX, lines);
        stage.configure(&format!("moduleload valsort.so\n{database}"));
        stage.add(DATA).well();
        let folder = stage.text("slapd.d");
        std::fs::create_dir(&folder).expect("make a folder");
        stage.tool("t", &["-F", &folder], "").with_status(0);
        let overlays = std::path::Path::new(&folder).join("cn=config/olcDatabase={1}mdb");
        let file = overlays.join("olcOverlay={0}valsort.ldif");
        let text = std::fs::read_to_string(file).expect("the overlay's file");
        let lines = text.lines().filter(|line| line.starts_with("olc"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let ours = written(&Stage::new("valsort-folder-ours"));
    let theirs = written(&Stage::with_original("valsort-folder-slapd"));
    assert_eq!(ours, theirs);
}
