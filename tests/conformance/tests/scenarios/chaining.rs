//! Updates of a copy that go to its provider in the name of the client (`overlay chain`).

use std::time::Instant;

use fulgurite_conformance::HeldPort;

use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::stage::{PATIENCE, Ran, Running, Stage};

const ADA: &str = "cn=ada,dc=example,dc=com";
const BOB: &str = "cn=bob,dc=example,dc=com";
const PROXY: &str = "cn=proxy,dc=example,dc=com";
const MODULES: &str = "moduleload ppolicy.so\nmoduleload lastbind.so\n";

/// A provider that lets the proxy act for everybody.
fn provider(label: &str, is_ours: bool) -> Stage {
    provider_with(label, is_ours, "")
}

/// A provider with more overlays.
fn provider_with(label: &str, is_ours: bool, overlays: &str) -> Stage {
    let label = format!("chain-{label}-provider");
    let stage = match is_ours {
        true => Stage::new(&label),
        false => Stage::with_original(&label),
    };
    let more = format!(
        "index entryCSN,entryUUID eq\nlimits * size=unlimited\n\
         access to attrs=userPassword by self write by anonymous auth\n\
         access to * by dn.exact=\"{ADA}\" write by * read\noverlay syncprov\n{overlays}"
    );
    let database = stage.database("db", SUFFIX, &more);
    stage.configure(&format!(
        "{MODULES}moduleload syncprov.so\nauthz-policy to\nserverID 1\n{database}"
    ));
    let mut entries = format!(
        "dn: {SUFFIX}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: Example\n\n"
    );
    for name in ["ada", "bob", "proxy"] {
        entries += &format!(
            "dn: cn={name},{SUFFIX}\nobjectClass: person\nsn: {name}\nuserPassword: {name}-secret\n"
        );
        if name == "proxy" {
            entries += &format!("authzTo: dn.subtree:{SUFFIX}\n");
        }
        entries += "\n";
    }
    stage.add(&entries).well();
    stage
}

/// A copy of the provider at a port, with directives of its overlay `chain`.
fn copy(label: &str, port: u16, is_ours: bool, chain: &str) -> Stage {
    copy_with(label, port, is_ours, (chain, ""))
}

/// A copy with more overlays.
fn copy_with(label: &str, port: u16, is_ours: bool, (chain, overlays): (&str, &str)) -> Stage {
    let label = format!("chain-{label}-copy");
    let stage = match is_ours {
        true => Stage::new(&label),
        false => Stage::with_original(&label),
    };
    let more = format!(
        "index entryCSN,entryUUID eq\naccess to attrs=userPassword by anonymous auth\n\
         access to * by * read\n\
         syncrepl rid=7 provider=ldap://127.0.0.1:{port} searchbase=\"{SUFFIX}\" bindmethod=simple \
         binddn=\"{ROOT}\" credentials={PASSWORD} retry=\"1 +\" type=refreshAndPersist\n\
         updateref ldap://127.0.0.1:{port}\n{overlays}"
    );
    let database = stage.database("db", SUFFIX, &more);
    stage.configure(&format!(
        "{MODULES}moduleload back_ldap.so\noverlay chain\nchain-uri ldap://127.0.0.1:{port}\n{chain}{database}"
    ));
    stage
}

fn identity() -> String {
    format!(
        "chain-idassert-bind bindmethod=simple binddn=\"{PROXY}\" credentials=proxy-secret mode=self\n"
    )
}

fn serve(stage: &Stage, port: u16) -> Running<'_> {
    let running = stage.start_at(&[&format!("ldap://127.0.0.1:{port}/")]);
    let begun = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < PATIENCE, "the provider does not listen");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    running
}

fn finds(server: &Running<'_>, filter: &str) -> bool {
    let arguments = ["-LLL", "-b", SUFFIX, filter, "1.1"];
    let found = server.client("ldapsearch", &arguments, "").out;
    !found.trim().is_empty()
}

/// Waits until a search of the copy finds something.
fn wait_for(copy: &Running<'_>, filter: &str) {
    let begun = Instant::now();
    while !finds(copy, filter) {
        assert!(begun.elapsed() < PATIENCE, "the copy has no {filter}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn shown(ran: &Ran, port: u16) -> String {
    let text = format!("{} {}{}", ran.status, ran.out, ran.err);
    // The control's value has lengths in another form.
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("control: ") && !line.starts_with(' '));
    let text = lines.collect::<Vec<_>>().join("\n");
    text.replace(&port.to_string(), "PORT")
}

/// Updates through a copy, and what clients see of them.
fn updates(provider: &Running<'_>, copy: &Running<'_>, port: u16) -> Vec<String> {
    let as_ada = |program, arguments: &[&str], text: &str| {
        copy.client_as((ADA, "ada-secret"), program, arguments, text)
    };
    let mut seen = Vec::new();
    let mut add = |ran: Ran| seen.push(shown(&ran, port));
    let person = |name: &str| format!("dn: cn={name},{SUFFIX}\nobjectClass: person\nsn: {name}\n");
    add(as_ada("ldapadd", &[], &person("one")));
    add(as_ada("ldapadd", &[], &person("one")));
    add(as_ada("ldapadd", &["-e", "postread=sn"], &person("two")));
    let change = |name: &str, value: &str| {
        format!(
            "dn: cn={name},{SUFFIX}\nchangetype: modify\nreplace: description\ndescription: {value}\n"
        )
    };
    add(as_ada("ldapmodify", &[], &change("two", "by ada")));
    add(as_ada("ldapmodify", &[], &change("nobody", "by ada")));
    add(copy.client_as(
        (BOB, "bob-secret"),
        "ldapmodify",
        &[],
        &change("two", "by bob"),
    ));
    add(copy.client("ldapmodify", &[], &change("two", "by nobody")));
    // A transaction is of one connection, and the one to the provider has none.
    for end in ["txn=commit", "txn=abort"] {
        let ran = as_ada(
            "ldapmodify",
            &["-E", end],
            &change("two", "in a transaction"),
        );
        assert!(
            ran.err.contains("invalid transaction identifier"),
            "{}",
            ran.err
        );
        add(ran);
    }
    add(as_ada(
        "ldapmodify",
        &[],
        &format!("dn: cn=one,{SUFFIX}\nchangetype: modrdn\nnewrdn: cn=three\ndeleteoldrdn: 1\n"),
    ));
    add(as_ada("ldapdelete", &[&format!("cn=two,{SUFFIX}")], ""));
    add(as_ada("ldapdelete", &[&format!("cn=two,{SUFFIX}")], ""));
    add(copy.client_as((BOB, "bob-secret"), "ldappasswd", &["-s", "bob-new"], ""));
    add(provider.client_as((BOB, "bob-new"), "ldapwhoami", &[], ""));
    // The provider knows who it was.
    let who = [
        "-LLL",
        "-b",
        SUFFIX,
        "(cn=three)",
        "creatorsName",
        "modifiersName",
    ];
    add(provider.client("ldapsearch", &who, ""));
    seen
}

#[test]
fn updates_reach_the_provider_as_through_slapd() {
    let mut seen = Vec::new();
    for (label, provider_is_ours, copy_is_ours) in [
        ("slapd", false, false),
        ("ours", false, true),
        ("both-ours", true, true),
    ] {
        let held = HeldPort::new();
        let port = held.number();
        let above = provider(label, provider_is_ours);
        let lines = format!("{}chain-return-error TRUE\n", identity());
        let below = copy(label, port, copy_is_ours, &lines);
        let theirs = serve(&above, port);
        let ours = below.start();
        wait_for(&ours, "(cn=proxy)");
        seen.push(updates(&theirs, &ours, port));
        theirs.stop();
        let entry = format!("dn: cn=four,{SUFFIX}\nobjectClass: person\nsn: four\n");
        let lost = ours.client_as((ADA, "ada-secret"), "ldapadd", &[], &entry);
        let lost = lost.with_status(52);
        assert!(lost.contains("Proxy operation retry failed"), "{lost}");
        // The provider comes back, and with it updates.
        let theirs = serve(&above, port);
        ours.client_as((ADA, "ada-secret"), "ldapadd", &[], &entry)
            .well();
        ours.stop();
        theirs.stop();
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
}

/// Binds at a copy whose provider has to learn of them. slapd and our server are either of them.
#[test]
fn binds_at_a_copy_count_at_the_provider() {
    let policy = format!(
        "dn: cn=policy,{SUFFIX}\nobjectClass: device\nobjectClass: pwdPolicy\n\
         pwdAttribute: userPassword\npwdLockout: TRUE\npwdMaxFailure: 3\n"
    );
    let chain = format!(
        "chain-idassert-bind bindmethod=simple binddn=\"{ROOT}\" credentials={PASSWORD} mode=self\n"
    );
    let overlay = format!("overlay ppolicy\nppolicy_default cn=policy,{SUFFIX}\n");
    let forwarding = format!(
        "{overlay}ppolicy_forward_updates\noverlay lastbind\nlastbind_forward_updates on\n"
    );
    for (label, provider_is_ours, copy_is_ours) in [
        ("binds-ours", false, true),
        ("binds-above", true, false),
        ("binds-both", true, true),
    ] {
        let held = HeldPort::new();
        let port = held.number();
        let above = provider_with(label, provider_is_ours, &overlay);
        above.add(&policy).well();
        let below = copy_with(label, port, copy_is_ours, (&chain, &forwarding));
        let (theirs, ours) = (serve(&above, port), below.start());
        wait_for(&ours, "(cn=policy)");
        wait_for(&ours, "(cn=ada)");
        let bind = |server: &Running<'_>, password| {
            server
                .client_as((ADA, password), "ldapwhoami", &[], "")
                .status
        };
        let both_find = |filter: &str| {
            wait_for(&theirs, filter);
            wait_for(&ours, filter);
        };
        // The answer to a bind waits for the provider, so that it knows of the bind at once.
        let provider_finds = |filter: &str| assert!(finds(&theirs, filter), "{label} {filter}");
        assert_eq!(bind(&ours, "wrong"), 49, "{label}");
        provider_finds("(&(cn=ada)(pwdFailureTime=*))");
        both_find("(&(cn=ada)(pwdFailureTime=*))");
        assert_eq!(bind(&ours, "ada-secret"), 0, "{label}");
        provider_finds("(&(cn=ada)(authTimestamp=*)(!(pwdFailureTime=*)))");
        both_find("(&(cn=ada)(authTimestamp=*)(!(pwdFailureTime=*)))");
        // The state that comes back from the provider may replace failures counted meanwhile.
        let locked = "(&(cn=ada)(pwdAccountLockedTime=*))";
        let mut failures = 0;
        while failures < 3 || failures < 20 && !finds(&ours, locked) {
            assert_eq!(bind(&ours, "wrong"), 49, "{label}");
            failures += 1;
        }
        both_find(locked);
        for server in [&theirs, &ours] {
            assert_eq!(bind(server, "ada-secret"), 49, "{label}");
        }
        let unlock = format!("dn: {ADA}\nchangetype: modify\ndelete: pwdAccountLockedTime\n");
        theirs.root("ldapmodify", &[], &unlock).well();
        both_find("(&(cn=ada)(!(pwdAccountLockedTime=*)))");
        assert_eq!(bind(&ours, "ada-secret"), 0, "{label}");
        // Without a provider, binds are answered all the same.
        theirs.stop();
        assert_eq!(bind(&ours, "wrong"), 49, "{label}");
        assert_eq!(bind(&ours, "ada-secret"), 0, "{label}");
        ours.stop();
    }
}

/// A lock reaches the copies, and the failures before it do not.
#[test]
fn a_lock_at_the_provider_holds_at_copies() {
    let policy = format!(
        "dn: cn=policy,{SUFFIX}\nobjectClass: device\nobjectClass: pwdPolicy\n\
         pwdAttribute: userPassword\npwdLockout: TRUE\npwdMaxFailure: 2\n"
    );
    let overlay = format!("overlay ppolicy\nppolicy_default cn=policy,{SUFFIX}\n");
    for (label, copy_is_ours) in [("lock-theirs", false), ("lock-ours", true)] {
        let held = HeldPort::new();
        let port = held.number();
        let above = provider_with(label, true, &overlay);
        above.add(&policy).well();
        let below = copy_with(label, port, copy_is_ours, (&identity(), &overlay));
        let (above, below) = (serve(&above, port), below.start());
        wait_for(&below, "(cn=policy)");
        let bind = |server: &Running<'_>, password| {
            let ran = server.client_as((ADA, password), "ldapwhoami", &[], "");
            ran.status
        };
        assert_eq!(bind(&below, "ada-secret"), 0, "{label}");
        for _ in 0..2 {
            assert_eq!(bind(&above, "wrong"), 49, "{label}");
        }
        wait_for(&below, "(&(cn=ada)(pwdAccountLockedTime=*))");
        assert_eq!(bind(&below, "ada-secret"), 49, "{label}");
        assert!(!finds(&below, "(pwdFailureTime=*)"), "{label}");
        let unlock = format!("dn: {ADA}\nchangetype: modify\ndelete: pwdAccountLockedTime\n");
        above.root("ldapmodify", &[], &unlock).well();
        wait_for(&below, "(&(cn=ada)(!(pwdAccountLockedTime=*)))");
        assert_eq!(bind(&below, "ada-secret"), 0, "{label}");
        for server in [above, below] {
            server.stop();
        }
    }
}

#[test]
fn a_client_finds_its_changes_in_the_copy_at_once() {
    let held = HeldPort::new();
    let port = held.number();
    let above = provider("reads", false);
    let below = copy("reads", port, true, &identity());
    let theirs = serve(&above, port);
    let ours = below.start();
    wait_for(&ours, "(cn=proxy)");
    let mut at_once = 0;
    for number in 0..20 {
        let entry = format!("dn: cn=n{number},{SUFFIX}\nobjectClass: person\nsn: x\n");
        ours.client_as((ADA, "ada-secret"), "ldapadd", &[], &entry)
            .well();
        let filter = format!("(cn=n{number})");
        let found = ours.client("ldapsearch", &["-LLL", "-b", SUFFIX, &filter], "");
        at_once += u32::from(found.well().contains("sn: x"));
        wait_for(&ours, &filter);
    }
    // The answer waits for the copy for two seconds at most, which a busy machine may exceed.
    assert!(at_once >= 10, "{at_once} of 20 were there");
    ours.stop();
    theirs.stop();
}

#[test]
fn without_return_error_a_failure_is_the_referral() {
    for copy_is_ours in [false, true] {
        let held = HeldPort::new();
        let port = held.number();
        let label = format!("refer-{copy_is_ours}");
        let above = provider(&label, false);
        let below = copy(&label, port, copy_is_ours, &identity());
        let theirs = serve(&above, port);
        let ours = below.start();
        wait_for(&ours, "(cn=proxy)");
        let target = format!("ldap://127.0.0.1:{port}/{ADA}");
        let entry = format!("dn: {ADA}\nobjectClass: person\nsn: ada\n");
        let refused = ours.client_as((ADA, "ada-secret"), "ldapadd", &[], &entry);
        assert!(refused.with_status(10).contains(&target));
        theirs.stop();
        let refused = ours.client_as((ADA, "ada-secret"), "ldapadd", &[], &entry);
        assert!(refused.with_status(10).contains(&target));
        ours.stop();
    }
}

#[test]
fn the_overlay_is_in_the_configuration_directory_as_slapd_writes_it() {
    let held = HeldPort::new();
    let port = held.number();
    let mut trees = Vec::new();
    for is_ours in [false, true] {
        let lines = format!(
            "{}chain-uri ldap://127.0.0.1:{}\nchain-tls start\nchain-return-error TRUE\n",
            identity(),
            port + 1
        );
        let stage = copy(&format!("tree-{is_ours}"), port, is_ours, &lines);
        let top = format!(
            "dn: {SUFFIX}\nobjectClass: organization\nobjectClass: dcObject\no: x\ndc: example\n"
        );
        stage.add(&top).well();
        let folder = stage.text("slapd.d");
        std::fs::create_dir(&folder).expect("a folder");
        let file = stage.text("slapd.conf");
        stage.tool("t", &["-f", &file, "-F", &folder], "").well();
        let cat =
            stage.tool_by_directory("c", &folder, &["-n0", "-a", "(objectClass=olcChainConfig)"]);
        let cat = cat.well();
        assert!(cat.contains("olcChainReturnError: TRUE"), "{cat}");
        let all = stage.tool_by_directory("c", &folder, &["-n0"]).well();
        let names: Vec<String> = all
            .replace("\n ", "")
            .lines()
            .filter(|line| line.contains("}ldap,") || line.starts_with("olcDbURI:"))
            .map(|line| line.replace('"', ""))
            .collect();
        trees.push(names);
        // Our server starts from the folder that either of them has written.
        let checker = Stage::new(&format!("tree-check-{is_ours}"));
        checker.tool_by_directory("t", &folder, &["-u"]).well();
    }
    assert_eq!(trees[0], trees[1]);
    assert_eq!(trees[0].len(), 5, "{trees:?}");
}
