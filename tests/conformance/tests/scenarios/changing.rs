//! Changes (modify, rename, move, delete), and several databases glued together.

use crate::data::{BABS, SUFFIX, UNORDERED, heads, names};
use crate::stage::Stage;

#[test]
fn every_form_of_modify() {
    let stage = Stage::loaded("modify", "index cn,sn pres,eq,sub", UNORDERED);
    let server = stage.start();
    let modify = |change: &str| {
        let input = format!("dn: {BABS}\nchangetype: modify\n{change}\n");
        server.root("ldapmodify", &[], &input)
    };
    modify("add: description\ndescription: two\ndescription: three\n-\ndelete: title\n-\nreplace: mail\nmail: b@x\nmail: c@x\n-").well();
    let shown = server.search(&["(uid=bjensen)", "description", "title", "mail"]);
    let lines: Vec<&str> = shown
        .lines()
        .skip(1)
        .filter(|line| !line.is_empty())
        .collect();
    let mut sorted = lines.clone();
    sorted.sort_unstable();
    assert_eq!(
        sorted,
        [
            "description: Says \"hello\"",
            "description: three",
            "description: two",
            "mail: b@x",
            "mail: c@x"
        ]
    );
    for (change, status) in [
        ("add: description\ndescription: TWO\n-", 20),
        ("delete: description\ndescription: nine\n-", 16),
        ("delete: title\n-", 16),
        ("replace: title\n-", 0),
        ("delete: sn\n-", 65),
        ("delete: cn\ncn: Barbara Jensen\n-", 64),
        ("add: nosuch\nnosuch: x\n-", 17),
        ("add: ou\nou:\n-", 21),
        (
            "replace: entryUUID\nentryUUID: 11111111-2222-4333-8444-555555555555\n-",
            19,
        ),
        ("add: uniqueMember\nuniqueMember: cn=x\n-", 65),
        ("increment: description\ndescription: 1\n-", 19),
        // All of it or nothing.
        ("add: title\ntitle: half\n-\ndelete: nosuch\n-", 17),
    ] {
        assert_eq!(modify(change).status, status, "{change}");
    }
    assert!(!server.search(&["(uid=bjensen)", "title"]).contains("half"));
    assert_eq!(
        heads(&server.search(&["(description=three)", "1.1"])),
        ["cn=Barbara Jensen"]
    );
    modify("delete: description\ndescription: three\n-").well();
    assert_eq!(
        heads(&server.search(&["(description=three)", "1.1"])),
        [""; 0]
    );
    server
        .root("ldapcompare", &[BABS, "sn:jensen"], "")
        .with_status(6);
    server
        .root("ldapcompare", &[BABS, "sn:else"], "")
        .with_status(5);
    server
        .root("ldapcompare", &[BABS, "title:x"], "")
        .with_status(16);
    let dots = "cn=Dorothy Stevens,ou=Alumni,ou=People,dc=example,dc=com";
    server
        .root("ldapdelete", &["ou=Alumni,ou=People,dc=example,dc=com"], "")
        .with_status(66);
    server.root("ldapdelete", &[dots], "").well();
    server.root("ldapdelete", &[dots], "").with_status(32);
    server.stop();
    assert_eq!(names(&stage.cat()).len(), 8);
}

#[test]
fn renames_and_moves() {
    let stage = Stage::loaded("modrdn", "index cn eq", UNORDERED);
    let server = stage.start();
    let rename = |arguments: &[&str]| server.root("ldapmodrdn", arguments, "").status;
    let people = "ou=People,dc=example,dc=com";
    assert_eq!(rename(&[BABS, "cn=Babs"]), 0);
    let kept = server.search(&["(cn=Babs)", "cn"]);
    assert!(
        kept.contains("cn: Barbara Jensen") && kept.contains("cn: Babs\n"),
        "{kept}"
    );
    let babs = format!("cn=Babs,{people}");
    assert_eq!(rename(&["-r", &babs, "cn=Barbara"]), 0);
    let gone = server.search(&["(cn=Barbara)", "cn"]);
    assert!(!gone.contains("cn: Babs\n"), "{gone}");
    let barbara = format!("cn=Barbara,{people}");
    let bjorn = format!("cn=Bjorn Jensen,{people}");
    assert_eq!(rename(&[&barbara, "cn=Bjorn Jensen"]), 68);
    assert_eq!(rename(&[&barbara, "nosuch=x"]), 34);
    assert_eq!(
        rename(&["-s", "ou=Nowhere,dc=example,dc=com", &barbara, "cn=Barbara"]),
        32
    );
    assert_eq!(
        rename(&[
            "-s",
            "ou=Alumni,ou=People,dc=example,dc=com",
            &bjorn,
            "cn=Bjorn Jensen"
        ]),
        0
    );
    // A subtree with all below it, and never below itself.
    let alumni = format!("ou=Alumni,{people}");
    assert_eq!(rename(&["-r", "-s", SUFFIX, &alumni, "ou=Retired"]), 0);
    let moved = server.search(&["-s", "sub", "(cn=*)", "1.1"]);
    assert!(
        names(&moved).contains(&"cn=Bjorn Jensen,ou=Retired,dc=example,dc=com".to_owned()),
        "{moved}"
    );
    let retired = "ou=Retired,dc=example,dc=com";
    let inside = format!("cn=Dorothy Stevens,{retired}");
    assert_ne!(rename(&["-s", &inside, retired, "ou=Retired"]), 0);
    server.stop();
    let dump = stage.cat();
    assert!(
        dump.contains("dn: cn=Dorothy Stevens,ou=Retired,dc=example,dc=com"),
        "{dump}"
    );
}

#[test]
fn databases_glued_together() {
    let stage = Stage::new("glue");
    let people = stage.database("people", "ou=People,dc=example,dc=com", "subordinate");
    // The root is that of the database above, and so is its password.
    let people = people.replace("rootpw secret\n", "");
    let top = stage.database("top", SUFFIX, "");
    stage.configure(&(people + &top));
    stage.add(UNORDERED).well();
    assert_eq!(names(&stage.cat()).len(), 9);
    let alone = stage.tool("c", &["-g", "-b", SUFFIX], "").well();
    assert_eq!(names(&alone).len(), 4, "{alone}");
    let server = stage.start();
    assert_eq!(names(&server.search(&["(objectClass=*)", "1.1"])).len(), 9);
    assert_eq!(
        heads(&server.search(&["(uid=dots)", "1.1"])),
        ["cn=Dorothy Stevens"]
    );
    // From one database into another nothing can be moved.
    let out = [
        "-s",
        "ou=Groups,dc=example,dc=com",
        BABS,
        "cn=Barbara Jensen",
    ];
    server.root("ldapmodrdn", &out, "").with_status(71);
    server.root("ldapmodrdn", &[BABS, "cn=Babs"], "").well();
    server.stop();
    assert!(
        stage
            .cat()
            .contains("dn: cn=Babs,ou=People,dc=example,dc=com")
    );
}

#[test]
fn changes_without_a_server() {
    let stage = Stage::loaded("slapmodify", "index cn eq", UNORDERED);
    let changes = format!(
        "dn: {BABS}\nchangetype: modify\nreplace: title\ntitle: Boss\n-\nadd: description\ndescription: more\n-\n\n\
         dn: cn=New,ou=Groups,dc=example,dc=com\nchangetype: add\nobjectClass: groupOfNames\nmember: {BABS}\ncn: New\n"
    );
    let file = stage.file("changes.ldif", &changes);
    stage.tool("m", &["-l", &file], "").well();
    let dump = stage.cat().replace("\n ", "");
    assert!(
        dump.contains("title: Boss\n") && dump.contains("description: more\n"),
        "{dump}"
    );
    assert!(!dump.contains("title: Mythical"), "{dump}");
    assert!(
        dump.contains("dn: cn=New,ou=Groups,dc=example,dc=com"),
        "{dump}"
    );
    let wrong = "dn: cn=nobody,dc=example,dc=com\nchangetype: modify\nadd: title\ntitle: x\n";
    let file = stage.file("wrong.ldif", wrong);
    let said = stage.tool("m", &["-l", &file], "").with_status(1);
    assert!(
        said.contains("no such entry \"cn=nobody,dc=example,dc=com\" in database (lineno=1)"),
        "{said}"
    );
}
