//! The overlay `ppolicy` next to Debian's slapd. The same binds and changes of passwords get the
//! same answers, and leave the same state. Durations are a few seconds.

use std::time::Duration;

use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::stage::{Ran, Running, Stage, is_ours};

const CONFIGURATION: &str = "\
access to attrs=userPassword by dn.base=\"uid=boss,dc=example,dc=com\" manage by self write by anonymous auth
access to * by dn.base=\"uid=boss,dc=example,dc=com\" manage by self write by * read
overlay ppolicy
ppolicy_default cn=default,dc=example,dc=com
";

/// The attributes of the state. Times are masked. In slapd, a bind also changes the author of the
/// last change, but ours changes no entry.
const STATE: [&str; 9] = [
    "pwdChangedTime",
    "pwdAccountLockedTime",
    "pwdFailureTime",
    "pwdHistory",
    "pwdGraceUseTime",
    "pwdReset",
    "pwdLastSuccess",
    "pwdPolicySubentry",
    "title",
];

/// A step of a history.
enum Step {
    /// A bind of this user with this password.
    Bind(&'static str, &'static str),
    /// A modify by this user: the user changed, and the changes.
    Modify((&'static str, &'static str), &'static str, &'static str),
    /// A modify by the root.
    Root(&'static str, &'static str),
    /// An add by this user: the new name, and its attributes.
    Add((&'static str, &'static str), &'static str, &'static str),
    /// A password modify by this user, with these options.
    Passwd(&'static str, &'static str, &'static [&'static str]),
    /// A search by this user.
    Search(&'static str, &'static str),
    WaitMs(u64),
}

use Step::{Add, Bind, Modify, Passwd, Root, Search, WaitMs};

fn dn(uid: &str) -> String {
    format!("uid={uid},{SUFFIX}")
}

/// Returns the entries: a policy for each user, who has the password `secret`.
fn data(policies: &[(&str, &str)]) -> String {
    let mut text = format!(
        "dn: {SUFFIX}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: x\n\n\
         dn: uid=boss,{SUFFIX}\nobjectClass: inetOrgPerson\nuid: boss\ncn: B\nsn: B\n\
         userPassword: secret\n\n"
    );
    for (name, rules) in policies {
        let policy = format!("cn={name},{SUFFIX}");
        text += &format!(
            "dn: {policy}\nobjectClass: device\nobjectClass: pwdPolicy\ncn: {name}\n\
             pwdAttribute: userPassword\n{rules}\n\n\
             dn: {user}\nobjectClass: inetOrgPerson\nuid: {name}\ncn: {name}\nsn: S\n\
             userPassword: secret\npwdPolicySubentry: {policy}\n\n",
            user = dn(name)
        );
    }
    text
}

fn run(server: &Running<'_>, step: &Step) -> String {
    let policy = ["-e", "ppolicy"];
    let ran = match step {
        Bind(uid, password) => server.client_as((&dn(uid), password), "ldapwhoami", &policy, ""),
        Modify((uid, password), changed, changes) => {
            let text = format!("dn: {}\nchangetype: modify\n{changes}\n", dn(changed));
            server.client_as((&dn(uid), password), "ldapmodify", &policy, &text)
        }
        Root(changed, changes) => {
            let text = format!("dn: {}\nchangetype: modify\n{changes}\n", dn(changed));
            server.client_as((ROOT, PASSWORD), "ldapmodify", &policy, &text)
        }
        Add((uid, password), name, attributes) => {
            let text = format!(
                "dn: {}\nchangetype: add\nobjectClass: inetOrgPerson\ncn: x\nsn: x\n{attributes}\n",
                dn(name)
            );
            server.client_as((&dn(uid), password), "ldapmodify", &policy, &text)
        }
        Passwd(uid, password, options) => {
            let arguments = [&policy[..], options].concat();
            server.client_as((&dn(uid), password), "ldappasswd", &arguments, "")
        }
        Search(uid, password) => {
            let arguments = ["-LLL", "-b", SUFFIX, "-s", "base", "dc"];
            server.client_as((&dn(uid), password), "ldapsearch", &arguments, "")
        }
        WaitMs(ms) => {
            std::thread::sleep(Duration::from_millis(*ms));
            return String::new();
        }
    };
    said(&ran)
}

fn said(ran: &Ran) -> String {
    let lines = ran.out.lines().chain(ran.err.lines());
    let lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    format!("{} {}", ran.status, masked(&lines.join("\n")))
}

/// Replaces times, and the seconds of warnings.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    let mut digits = String::new();
    let flush = |digits: &mut String, masked: &mut String| {
        match digits.len() {
            14 => masked.push_str("TIME"),
            21 => masked.push_str("TIME_US"),
            _ if masked.ends_with("expires in ") => masked.push_str("SOME"),
            _ => masked.push_str(digits),
        }
        digits.clear();
    };
    for character in text.chars() {
        if character.is_ascii_digit() || (character == '.' && digits.len() == 14) {
            digits.push(character);
        } else {
            flush(&mut digits, &mut masked);
            masked.push(character);
        }
    }
    flush(&mut digits, &mut masked);
    masked
}

/// Returns the answer to each step, with the states of all users after it.
fn history(stage: &Stage, more: &str, policies: &[(&str, &str)], steps: &[Step]) -> Vec<String> {
    let lines = format!("{CONFIGURATION}{more}");
    let database = stage.database("db", SUFFIX, &lines);
    let modules = "moduleload ppolicy.so\nmoduleload unique.so\n";
    stage.configure(&format!("{modules}{database}"));
    stage.add(&data(policies)).well();
    let server = stage.start();
    let answers = steps.iter().map(|step| {
        let answer = run(&server, step);
        let usual = ["-LLL", "-o", "ldif-wrap=no", "-b", SUFFIX, "(uid=*)"];
        let arguments = [&usual[..], &STATE].concat();
        let found = server.root("ldapsearch", &arguments, "").well();
        format!("{answer}\n{}", entries(&found))
    });
    let answers = answers.collect();
    server.stop();
    answers
}

/// Returns entries in the order of their names, with sorted lines.
fn entries(found: &str) -> String {
    let sorted = |entry: &str| {
        let mut lines: Vec<String> = entry.lines().map(masked).collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    let mut entries: Vec<String> = found.split("\n\n").map(sorted).collect();
    entries.sort_unstable();
    entries.join("\n\n")
}

fn assert_same(label: &str, more: &str, policies: &[(&str, &str)], steps: &[Step]) {
    let ours = Stage::new(&format!("{label}-ours"));
    let original = Stage::with_original(&format!("{label}-slapd"));
    let (ours, theirs) = std::thread::scope(|scope| {
        let ours = scope.spawn(|| history(&ours, more, policies, steps));
        let theirs = history(&original, more, policies, steps);
        (ours.join().expect("our history"), theirs)
    });
    for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(ours, theirs, "step {number}");
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn names_are_locked_as_in_slapd() {
    let policies = [
        (
            "lock",
            "pwdLockout: TRUE\npwdMaxFailure: 2\npwdLockoutDuration: 2",
        ),
        ("forever", "pwdLockout: TRUE\npwdMaxFailure: 1"),
        ("off", "pwdMaxFailure: 2\npwdMaxRecordedFailure: 1"),
        (
            "aging",
            "pwdLockout: TRUE\npwdMaxFailure: 2\npwdFailureCountInterval: 1",
        ),
        ("none", "pwdLockout: FALSE"),
    ];
    let steps = [
        Bind("lock", "secret"),
        Bind("lock", "wrong"),
        Bind("aging", "wrong"),
        Bind("lock", "secret"),
        Bind("lock", "wrong"),
        Bind("lock", "wrong"),
        Bind("lock", "secret"),
        Bind("lock", "wrong"),
        Bind("forever", "wrong"),
        Bind("forever", "secret"),
        Bind("off", "wrong"),
        Bind("off", "wrong"),
        Bind("off", "wrong"),
        Bind("off", "secret"),
        Bind("none", "wrong"),
    ];
    assert_same("ppolicy-lock", "", &policies, &steps);
}

#[test]
fn idle_names_and_unlocked_ones_bind_as_in_slapd() {
    let policies = [
        ("idle", "pwdLockout: TRUE\npwdMaxIdle: 2"),
        ("lock", "pwdLockout: TRUE\npwdMaxFailure: 1"),
    ];
    let forever = "replace: pwdAccountLockedTime\npwdAccountLockedTime: 000001010000Z";
    let steps = [
        Bind("idle", "wrong"),
        Bind("idle", "secret"),
        WaitMs(1000),
        Bind("idle", "secret"),
        WaitMs(3100),
        Bind("idle", "secret"),
        Bind("idle", "wrong"),
        Root("idle", "replace: userPassword\nuserPassword: new"),
        Bind("idle", "new"),
        Root("lock", "delete: pwdAccountLockedTime"),
        Bind("lock", "wrong"),
        Bind("lock", "secret"),
        Root("lock", "delete: pwdAccountLockedTime"),
        Bind("lock", "secret"),
        Root("lock", forever),
        Bind("lock", "secret"),
        Bind("lock", "wrong"),
        Root("lock", "replace: userPassword\nuserPassword: new"),
        Bind("lock", "new"),
    ];
    assert_same("ppolicy-idle", "lastbind on\n", &policies, &steps);
}

/// In slapd, each of these binds is a modify.
#[test]
fn only_locks_change_the_entry() {
    if !is_ours() {
        return;
    }
    let stage = Stage::new("ppolicy-entry");
    let lines = format!("{CONFIGURATION}lastbind on\noverlay syncprov\n");
    let database = stage.database("db", SUFFIX, &lines);
    stage.configure(&format!("moduleload ppolicy.so\n{database}"));
    let rules = "pwdLockout: TRUE\npwdMaxFailure: 2";
    stage.add(&data(&[("lock", rules)])).well();
    let server = stage.start();
    let stamps = || {
        let names = ["entryCSN", "modifyTimestamp", "modifiersName", "contextCSN"];
        let arguments = [&["-LLL", "-b", SUFFIX][..], &names].concat();
        server.root("ldapsearch", &arguments, "").well()
    };
    let mut before = stamps();
    for (password, code, locks) in [
        ("secret", 0, false),
        ("wrong", 49, false),
        ("wrong", 49, true),
        ("secret", 49, false),
    ] {
        let ran = server.client_as((&dn("lock"), password), "ldapwhoami", &[], "");
        assert_eq!(ran.status, code, "{ran:?}");
        let after = stamps();
        assert_eq!(
            after != before,
            locks,
            "only a lock changes the entry: {after}"
        );
        before = after;
    }
    server.stop();
    // The state outlives the server, and a copy of the text has it.
    let state = |text: &str| {
        let lines = text.lines();
        let lines = lines.filter(|line| line.starts_with("pwdFailureTime: "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let exported = stage.tool("c", &[], "").well();
    assert_eq!(state(&exported).len(), 2);
    assert!(exported.contains("pwdAccountLockedTime: "), "{exported}");
    let copy = Stage::new("ppolicy-entry-copy");
    let database = copy.database("db", SUFFIX, &lines);
    copy.configure(&format!("moduleload ppolicy.so\n{database}"));
    copy.add(&exported).well();
    let server = copy.start();
    let ran = server.client_as((&dn("lock"), "secret"), "ldapwhoami", &[], "");
    assert_eq!(ran.status, 49, "the lock is loaded: {ran:?}");
    server.stop();
    assert_eq!(state(&copy.tool("c", &[], "").well()), state(&exported));
}

#[test]
fn passwords_expire_as_in_slapd() {
    let policies = [
        ("expired", "pwdMaxAge: 2\npwdGraceAuthNLimit: 2"),
        (
            "late",
            "pwdMaxAge: 1\npwdGraceAuthNLimit: 2\npwdGraceExpiry: 1",
        ),
        ("refused", "pwdMaxAge: 1"),
        ("warned", "pwdMaxAge: 1000\npwdExpireWarning: 2000"),
        ("quiet", "pwdMaxAge: 1000\npwdExpireWarning: 10"),
    ];
    let change = "replace: userPassword\nuserPassword: new";
    let steps = [
        Bind("expired", "secret"),
        Root("expired", change),
        Root("late", change),
        Root("refused", change),
        Root("warned", change),
        Root("quiet", change),
        Bind("expired", "new"),
        Bind("warned", "new"),
        Bind("quiet", "new"),
        WaitMs(4100),
        Bind("expired", "wrong"),
        Bind("expired", "new"),
        Bind("expired", "new"),
        Bind("expired", "new"),
        Bind("late", "new"),
        Bind("refused", "new"),
        Root("expired", "replace: userPassword\nuserPassword: newer"),
        Bind("expired", "newer"),
    ];
    assert_same("ppolicy-expire", "", &policies, &steps);
}

#[test]
fn new_passwords_are_judged_as_in_slapd() {
    let policies = [
        ("safe", "pwdSafeModify: TRUE"),
        ("fixed", "pwdAllowUserChange: FALSE"),
        ("young", "pwdMinAge: 1000"),
        (
            "good",
            "pwdCheckQuality: 2\npwdMinLength: 4\npwdMaxLength: 8",
        ),
        ("fair", "pwdCheckQuality: 1\npwdMinLength: 4"),
        ("old", "pwdInHistory: 2"),
        ("free", "pwdMinLength: 20"),
        (
            "module",
            "pwdCheckQuality: 1\nobjectClass: pwdPolicyChecker\npwdCheckModule: missing.so",
        ),
    ];
    let replace = |password: &'static str| -> &'static str {
        Box::leak(format!("replace: userPassword\nuserPassword: {password}").into_boxed_str())
    };
    let exchange = |old: &str, new: &str| -> &'static str {
        let text = format!(
            "delete: userPassword\nuserPassword: {old}\n-\nadd: userPassword\nuserPassword: {new}"
        );
        Box::leak(text.into_boxed_str())
    };
    let me = |uid: &'static str, changes: &'static str| Modify((uid, "secret"), uid, changes);
    let steps = [
        me("safe", replace("new")),
        me("safe", exchange("wrong", "new")),
        me("safe", exchange("secret", "new")),
        Passwd("safe", "new", &["-s", "newer"]),
        Passwd("safe", "new", &["-a", "new", "-s", "secret"]),
        me("safe", "replace: title\ntitle: x"),
        me("fixed", replace("new")),
        Modify(("boss", "secret"), "fixed", replace("new")),
        Root("young", replace("secret")),
        me("young", replace("new")),
        me("good", replace("abc")),
        me("good", replace("abcdefghi")),
        me("good", replace("{SSHA}x")),
        me("good", replace("abcd")),
        Root("good", replace("abc")),
        Passwd("good", "abc", &["-s", "abcdefghij"]),
        me("fair", replace("{SSHA}8tA6SM4lDZMRTTMMbNVgQ3qR+Uk+Wxyz")),
        me("old", replace("secret")),
        me("old", replace("one")),
        Modify(("old", "one"), "old", replace("secret")),
        WaitMs(1100),
        Modify(("old", "one"), "old", replace("two")),
        WaitMs(1100),
        Modify(("old", "two"), "old", replace("three")),
        WaitMs(1100),
        Modify(("old", "three"), "old", replace("secret")),
        Modify(("old", "secret"), "old", replace("two")),
        Root("old", replace("two")),
        me(
            "free",
            "add: userPassword\nuserPassword: b\nuserPassword: c",
        ),
        me("free", replace("secret")),
        me("free", "delete: userPassword"),
        me("module", replace("abcd")),
        Add(("boss", "secret"), "n1", "userPassword: a\nuserPassword: b"),
        Add(("boss", "secret"), "n2", "userPassword: a"),
        Add(("boss", "secret"), "n3", "userPassword: a\npwdReset: TRUE"),
    ];
    assert_same("ppolicy-change", "", &policies, &steps);
}

#[test]
fn a_removed_password_ends_its_state_as_in_slapd() {
    let policies = [
        ("lock", "pwdLockout: TRUE\npwdMaxFailure: 1"),
        ("reset", "pwdMustChange: TRUE"),
        ("own", "pwdLockout: TRUE"),
    ];
    let change = "replace: userPassword\nuserPassword: new";
    let removal = "delete: userPassword";
    let steps = [
        Root("lock", change),
        Bind("lock", "wrong"),
        Root("lock", removal),
        Root("reset", change),
        Root("reset", removal),
        Root("own", change),
        Bind("own", "wrong"),
        Modify(("own", "new"), "own", removal),
    ];
    assert_same("ppolicy-removal", "", &policies, &steps);
}

#[test]
fn a_reset_password_must_change_as_in_slapd() {
    let policies = [
        ("reset", "pwdMustChange: TRUE"),
        (
            "both",
            "pwdMustChange: TRUE\npwdInHistory: 3\npwdMinAge: 50\npwdMaxAge: 100",
        ),
        ("kept", "pwdMustChange: FALSE"),
    ];
    let steps = [
        Root("reset", "replace: userPassword\nuserPassword: new"),
        Bind("reset", "new"),
        Search("reset", "new"),
        Modify(("reset", "new"), "reset", "replace: title\ntitle: x"),
        Modify(
            ("reset", "new"),
            "reset",
            "replace: userPassword\nuserPassword: newer\n-\nreplace: title\ntitle: x",
        ),
        Modify(
            ("reset", "new"),
            "reset",
            "replace: userPassword\nuserPassword: newer\n\ndn: uid=reset,dc=example,dc=com\nchangetype: modify\nreplace: title\ntitle: y",
        ),
        Search("reset", "newer"),
        Modify(
            ("boss", "secret"),
            "both",
            "replace: userPassword\nuserPassword: new",
        ),
        Bind("both", "new"),
        Passwd("both", "new", &["-s", "newer"]),
        Bind("both", "newer"),
        Modify(
            ("both", "newer"),
            "both",
            "replace: userPassword\nuserPassword: x",
        ),
        Root(
            "kept",
            "replace: userPassword\nuserPassword: new\n-\nreplace: pwdReset\npwdReset: TRUE",
        ),
        Bind("kept", "new"),
        Search("kept", "new"),
    ];
    assert_same("ppolicy-reset", "", &policies, &steps);
}

#[test]
fn the_overlay_configured_last_refuses_first_as_in_slapd() {
    let policies = [
        ("good", "pwdCheckQuality: 2\npwdMinLength: 4"),
        ("other", "pwdMinLength: 1"),
    ];
    let both = "replace: title\ntitle: taken\n-\nreplace: userPassword\nuserPassword: a";
    let password = "replace: userPassword\nuserPassword: a";
    let steps = [
        Root("other", "replace: title\ntitle: taken"),
        Modify(("good", "secret"), "good", both),
        Modify(("good", "secret"), "good", password),
        Add(
            ("boss", "secret"),
            "n1",
            "title: taken\nuserPassword: a\nuserPassword: b",
        ),
        Add(("boss", "secret"), "n1", "userPassword: a\nuserPassword: b"),
    ];
    let unique = "overlay unique\nunique_uri ldap:///?title?sub\n";
    assert_same("ppolicy-unique", unique, &policies, &steps);
}
