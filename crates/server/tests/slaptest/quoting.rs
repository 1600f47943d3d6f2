//! Arguments with backslashes, quotes, braces and white space, compared with the real slapd.
//!
//! They are read from slapd.conf, read from `cn=config`, and written for it.
//!
//! `slapauth` shows the second argument of `authz-regexp` in its trace, `slapacl` the rights by
//! rules with expressions.

use std::fs;
use std::path::Path;

use fulgurite_access::Rights;
use fulgurite_config::{Layer, Settings};
use fulgurite_directory::{ExplainTarget, Session};
use fulgurite_server::open_directory;
use fulgurite_testkit::{Outcome, Random, quick_or_long, seed};

use super::{find_slapd, slapd_tool};

/// The names of a rule's expression and of entries that it may match.
const PATTERNS: &[(&str, [&str; 3])] = &[
    (
        r"^cn=a\\.b,dc=x$",
        ["cn=a.b,dc=x", "cn=axb,dc=x", "cn=a\\2bb,dc=x"],
    ),
    (
        r"^cn=a\\*b,dc=x$",
        ["cn=a*b,dc=x", "cn=aab,dc=x", "cn=b,dc=x"],
    ),
    (
        r"^cn=a b\\.c,dc=x$",
        ["cn=a b.c,dc=x", "cn=a bxc,dc=x", "cn=ab.c,dc=x"],
    ),
    (
        r"^cn=[^,]+\\\\2c[^,]*,dc=x$",
        ["cn=a\\2cb,dc=x", "cn=ab,dc=x", "cn=a2cb,dc=x"],
    ),
    // slapd drops blanks behind commas.
    (
        r"^cn=[^, ]+,  dc=x$",
        ["cn=a,dc=x", "cn=a b,dc=x", "cn=a,cn=b,dc=x"],
    ),
    (
        r"^cn=a{2}b,dc=x$",
        ["cn=aab,dc=x", "cn=ab,dc=x", "cn=a{2}b,dc=x"],
    ),
];

/// Returns a text of the letters that quoting is about.
fn text(random: &mut Random, letters: &[char]) -> String {
    let length = 1 + random.below(9);
    let letter = |_| letters[random.below(letters.len())];
    (0..length).map(letter).collect()
}

/// Returns the replacement that slapauth uses; `None` if slapd refuses the configuration.
fn their_replacement(slapd: &Path, option: &str, configuration: &Path) -> Option<String> {
    let arguments = [
        option.as_ref(),
        configuration.as_os_str(),
        "-d".as_ref(),
        "1".as_ref(),
        "u:id".as_ref(),
    ];
    let outcome = slapd_tool(slapd, "slapauth", &arguments);
    let mut lines = outcome.stderr.split('\n');
    let used = lines.find_map(|line| line.strip_prefix("slap_parseURI: parsing "));
    let refused = outcome.stderr.contains("bad configuration");
    assert_eq!(used.is_none(), refused, "{outcome:?}");
    used.map(str::to_owned)
}

/// Returns the replacement that we read; `None` if we refuse the configuration.
fn our_replacement(configuration: &Path) -> Option<String> {
    let settings = Settings::new(Layer::from_file(configuration).ok()?).unwrap();
    let [rule] = settings.global.authz_regexp.as_slice() else {
        panic!("{:?}", settings.global.authz_regexp);
    };
    assert_eq!(rule.value.pattern, ".*");
    Some(rule.value.replacement.clone())
}

fn core_schema(slapd: &Path) -> String {
    format!("include {}/etc/ldap/schema/core.schema\n", slapd.display())
}

#[test]
fn arguments_are_those_of_slapd() {
    let slapd = find_slapd();
    let folder = tempfile::tempdir().unwrap();
    let (base, file) = (folder.path().join("base"), folder.path().join("a.conf"));
    fs::create_dir(&base).unwrap();
    fs::write(&file, core_schema(&slapd)).unwrap();
    let arguments = [
        "-f".as_ref(),
        file.as_os_str(),
        "-F".as_ref(),
        base.as_os_str(),
    ];
    slapd_tool(&slapd, "slaptest", &arguments);
    let global = fs::read_to_string(base.join("cn=config.ldif")).unwrap();

    let mut random = Random::new(seed("arguments_are_those_of_slapd", 18));
    let letters: Vec<char> = "ab=\"\"\"  \\\\{}#\t,".chars().collect();
    let (mut read, mut refused, mut written) = (0, 0, 0);
    for _ in 0..quick_or_long(120, 3000) {
        let value = format!(".* {}", text(&mut random, &letters));

        let value_line = format!("{global}olcAuthzRegexp:: {}\n", base64(value.as_bytes()));
        fs::write(base.join("cn=config.ldif"), value_line).unwrap();
        let theirs = their_replacement(&slapd, "-F", &base);
        let ours = our_replacement(&base);
        assert_eq!(ours, theirs, "a value of cn=config: {value:?}");
        *if theirs.is_some() {
            &mut read
        } else {
            &mut refused
        } += 1;

        // An ordinary line follows, because a backslash at the end joins lines.
        let line = format!("{}authz-regexp {value}\n\n", core_schema(&slapd));
        fs::write(&file, line).unwrap();
        let theirs = their_replacement(&slapd, "-f", &file);
        let ours = our_replacement(&file);
        assert_eq!(ours, theirs, "a line of slapd.conf: {value:?}");
        *if theirs.is_some() {
            &mut read
        } else {
            &mut refused
        } += 1;

        let Some(meant) = theirs else { continue };
        let settings = Settings::new(Layer::from_file(&file).unwrap()).unwrap();
        let directory = folder.path().join("written");
        fs::create_dir(&directory).unwrap();
        // A text that no value can hold is refused rather than changed.
        if settings.write_config_dir(&directory).is_ok() {
            let theirs = their_replacement(&slapd, "-F", &directory);
            assert_eq!(
                theirs.as_ref(),
                Some(&meant),
                "written for slapd: {value:?}"
            );
            assert_eq!(
                our_replacement(&directory),
                Some(meant),
                "written: {value:?}"
            );
            written += 1;
        }
        fs::remove_dir_all(&directory).unwrap();
    }
    assert!(
        read > 60 && refused > 20 && written > 30,
        "{read} {refused} {written}"
    );
}

#[test]
fn rules_grant_as_in_slapd() {
    let slapd = find_slapd();
    let mut granted = 0;
    for (pattern, entries) in PATTERNS {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("slapd.conf");
        let (theirs, ours) = (folder.path().join("theirs"), folder.path().join("ours"));
        let root = slapd.display();
        let text = format!(
            "{}modulepath {root}/usr/lib/ldap\nmoduleload back_mdb.so\ndatabase mdb\nsuffix dc=x\n\
             directory {}\naccess to dn.regex=\"{pattern}\" by * write\naccess to * by * read\n",
            core_schema(&slapd),
            folder.path().join("data").display(),
        );
        fs::write(&file, text).unwrap();
        for directory in [&theirs, &ours, &folder.path().join("data")] {
            fs::create_dir(directory).unwrap();
        }
        let arguments = [
            "-f".as_ref(),
            file.as_os_str(),
            "-F".as_ref(),
            theirs.as_os_str(),
        ];
        slapd_tool(&slapd, "slaptest", &arguments);
        let settings = Settings::new(Layer::from_file(&file).unwrap()).unwrap();
        settings.write_config_dir(&ours).unwrap();

        for entry in entries {
            let truth = their_right(&slapd, "-f", &file, entry);
            assert_eq!(
                their_right(&slapd, "-F", &ours, entry),
                truth,
                "{pattern} {entry}"
            );
            assert_eq!(
                their_right(&slapd, "-F", &theirs, entry),
                truth,
                "{pattern} {entry}"
            );
            for configuration in [&file, &theirs, &ours] {
                let right = our_right(configuration, entry);
                assert_eq!(
                    right,
                    truth,
                    "{pattern} {entry} by {}",
                    configuration.display()
                );
            }
            granted += usize::from(truth);
        }
    }
    assert!(granted >= PATTERNS.len() - 1, "{granted}");
}

/// Returns true if slapd lets everybody write an entry's name.
fn their_right(slapd: &Path, option: &str, configuration: &Path, entry: &str) -> bool {
    let arguments = [
        option.as_ref(),
        configuration.as_os_str(),
        "-u".as_ref(),
        "-b".as_ref(),
        entry.as_ref(),
        "cn/write".as_ref(),
    ];
    let outcome: Outcome = slapd_tool(slapd, "slapacl", &arguments);
    let allowed = outcome.stderr.contains("write access to cn: ALLOWED");
    let denied = outcome.stderr.contains("write access to cn: DENIED");
    assert!(allowed != denied, "{outcome:?}");
    allowed
}

/// Returns true if we let everybody write an entry's name.
fn our_right(configuration: &Path, entry: &str) -> bool {
    let settings = Settings::new(Layer::from_file(configuration).unwrap()).unwrap();
    let directory = open_directory(&settings).unwrap();
    let cn = directory.schema().describe(b"cn").unwrap();
    let target = [ExplainTarget::Attribute(cn, None)];
    let answers = directory.explain(&Session::new(), entry, &target, true);
    answers.unwrap()[0].allows(Rights::WRITE)
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let number = (0..3).fold(0usize, |sum, at| {
            sum << 8 | usize::from(group.get(at).copied().unwrap_or(0))
        });
        for at in 0..4 {
            let letter = LETTERS[number >> (18 - 6 * at) & 63];
            text.push(if at > group.len() {
                '='
            } else {
                char::from(letter)
            });
        }
    }
    text
}
