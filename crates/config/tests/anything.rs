//! Readers of any file or variable end without a panic, and every result can be shown.

use std::path::Path;

use fulgurite_config::{Layer, Settings};
use proptest::prelude::*;

/// Uses a layer in every way that opens no file.
fn use_up(layer: Layer) {
    let Ok(settings) = Settings::new(layer) else {
        return;
    };
    let shown = settings.shown();
    let entries = settings.config_entries(true);
    assert!(!shown.is_empty() && entries.len() >= 4);
    for line in shown {
        assert!(line.key != "root.password" || line.value == "(hidden)" || line.value.is_empty());
    }
}

/// Reads a slapd.conf without `include`, which would open files.
fn read_slapd_conf(text: &str) {
    if text.to_lowercase().contains("include") {
        return;
    }
    if let Ok(layer) = Layer::from_slapd_conf_text(text, Path::new("any.conf")) {
        use_up(layer);
    }
}

/// Directives with words that some of them take.
fn directives() -> impl Strategy<Value = String> {
    let keyword = prop::sample::select(vec![
        "database",
        "suffix",
        "rootdn",
        "rootpw",
        "access",
        "limits",
        "sizelimit",
        "timelimit",
        "index",
        "loglevel",
        "security",
        "require",
        "restrict",
        "serverID",
        "authz-regexp",
        "attributetype",
        "objectclass",
        "overlay",
        "syncrepl",
        "updateref",
        "subordinate",
        "directory",
        "maxsize",
        "mode",
        "envflags",
        "multival",
        "checkpoint",
        "moduleload",
        "TLSProtocolMin",
        "sasl-secprops",
        "referral",
        "tcp-buffer",
        "password-hash",
        "backend",
        "threads",
        "index_substr_if_minlen",
        "dbnosync",
        "extra_attrs",
        "attributeoptions",
        "bogus",
        "#",
        "",
    ]);
    let word = prop_oneof![
        prop::sample::select(vec![
            "mdb",
            "monitor",
            "config",
            "frontend",
            "dc=x",
            "cn=a,dc=x",
            "to",
            "*",
            "by",
            "users",
            "read",
            "on",
            "off",
            "eq,sub",
            "default",
            "cn",
            "size.soft=5",
            "size.pr=noEstimate",
            "time=unlimited",
            "ssf=1",
            "none",
            "-1",
            "0x10",
            "08",
            "{SSHA}x",
            "( 1.2.3 )",
            "sssvlv",
            "syncprov",
            "stats",
            "3.3",
            "99999999999999999999",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,12}",
    ];
    let space = prop::sample::select(vec![" ", "\t", "  ", "\n  ", " \\\n", "\""]);
    let line =
        (keyword, prop::collection::vec((space, word), 0..4)).prop_map(|(keyword, words)| {
            let words: String = words
                .into_iter()
                .map(|(space, word)| format!("{space}{word}"))
                .collect();
            format!("{keyword}{words}\n")
        });
    prop::collection::vec(line, 0..20).prop_map(|lines| lines.concat())
}

/// Returns few cases by default, and many in long runs.
fn cases(few: u32) -> ProptestConfig {
    let long = std::env::var_os("FULGURITE_TEST_LONG").is_some();
    ProptestConfig::with_cases(if long { few * 100 } else { few })
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn text_of_slapd_conf(text in "[\\PC\\n\\t\\\\\"#]{0,200}") {
        read_slapd_conf(&text);
    }

    #[test]
    fn directives_of_slapd_conf(text in directives()) {
        read_slapd_conf(&text);
    }

    #[test]
    fn text_of_toml(text in "[\\PC\\n\"=\\[\\]]{0,200}") {
        if let Ok(layer) = Layer::from_toml(&text, Path::new("any.toml")) {
            use_up(layer);
        }
    }

    #[test]
    fn variables_of_images(value in "\\PC{0,40}") {
        for name in [
            "LDAP_ROOT", "LDAP_DOMAIN", "LDAP_BASE_DN", "LDAP_ADMIN_USERNAME", "LDAP_USERS", "LDAP_PASSWORDS", "LDAP_PORT",
            "LDAP_LOG_LEVEL", "LDAP_EXTRA_SCHEMAS", "LDAP_TLS_VERIFY_CLIENT",
        ] {
            let variables = [("LDAP_ROOT", "dc=x"), ("LDAP_READONLY_USER", "true"), (name, value.as_str())];
            let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
            if let Ok(layer) = Layer::from_environment(variables) {
                use_up(layer);
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn values_of_every_key(value in "\\PC{0,40}", number in any::<i64>()) {
        for key in Layer::keys() {
            for text in [value.clone(), number.to_string(), format!("\"{number}\""), format!("[\"{number}\"]"), "true".into()] {
                // The value in a file and in a variable.
                if let Ok(layer) = Layer::from_toml(&format!("{key} = {text}\n"), Path::new("any.toml")) {
                    use_up(layer);
                }
                let variable = format!("FULGURITE_{}", key.replace('.', "_").to_uppercase());
                if let Ok(layer) = Layer::from_environment([(variable, text)]) {
                    use_up(layer);
                }
            }
        }
    }
}

#[test]
fn an_endless_file_is_refused() {
    let error = Layer::from_slapd_conf(Path::new("/dev/zero"))
        .map(|_| ())
        .unwrap_err();
    assert!(error.to_string().contains("too large"), "{error}");
}

#[test]
fn a_deep_or_wide_file_is_read_in_time() {
    let deep = format!("access to * by {} read\n", "\\".repeat(100_001));
    read_slapd_conf(&deep);
    let wide = "sizelimit 5\n".repeat(50_000);
    let begun = std::time::Instant::now();
    read_slapd_conf(&wide);
    read_slapd_conf(&" x\n".repeat(100_000).replacen(' ', "access to", 1));
    assert!(
        begun.elapsed() < std::time::Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}
