//! Row 7 of the interop matrix: copies of a part of a content, next to slapd in both directions.
//!
//! Entries enter and leave the part by changes, renames and moves of subtrees. In the end the copy
//! has what the same search finds at the provider.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use fulgurite_testkit::{Random, seed};

use crate::copies::{INDEXES, PATIENCE, Provider, Updates, entries, log_of};
use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::faulty_copies::{Program, Way, provider};
use crate::stage::{Running, Stage, is_ours};

/// A part of a content.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    label: &'static str,
    /// The name above the part, in front of the suffix.
    below: &'static str,
    scope: &'static str,
    filter: &'static str,
    /// Attributes that are asked for; empty for all.
    attributes: &'static [&'static str],
    /// Attributes that are left out.
    without: &'static [&'static str],
    checks_schema: bool,
}

const WHOLE: Part = Part {
    label: "whole",
    below: "",
    scope: "sub",
    filter: "(objectClass=*)",
    attributes: &[],
    without: &[],
    checks_schema: false,
};

const PARTS: [Part; 5] = [
    Part {
        label: "class",
        filter: "(objectClass=person)",
        ..WHOLE
    },
    Part {
        label: "base",
        below: "ou=a,",
        scope: "base",
        ..WHOLE
    },
    Part {
        label: "attrs",
        attributes: &["objectClass", "cn", "sn", "description", "entryCSN"],
        ..WHOLE
    },
    Part {
        label: "exattrs",
        without: &["description", "jpegPhoto"],
        ..WHOLE
    },
    Part {
        label: "schema",
        checks_schema: true,
        ..WHOLE
    },
];

/// Parts whose entries move with others that are outside. slapd as a provider does not tell of
/// them.
const BELOW: [Part; 3] = [
    Part {
        label: "presence",
        filter: "(description=*)",
        ..WHOLE
    },
    Part {
        label: "one",
        below: "ou=a,",
        scope: "one",
        ..WHOLE
    },
    Part {
        label: "subtree",
        below: "ou=a,",
        ..WHOLE
    },
];

impl Part {
    fn base(&self) -> String {
        format!("{}{SUFFIX}", self.below)
    }

    /// Configures a copy of the part.
    fn copy(&self, label: &str, program: Program, port: u16) -> Stage {
        let stage = program.stage(&format!("{label}-copy"));
        let stage = stage.expect("a program");
        let mut line = format!(
            "syncrepl rid=7 provider=ldap://127.0.0.1:{port} searchbase=\"{}\" scope={} \
             filter=\"{}\" bindmethod=simple binddn=\"{ROOT}\" credentials={PASSWORD} \
             retry=\"1 +\" type=refreshAndPersist",
            self.base(),
            self.scope,
            self.filter
        );
        if !self.attributes.is_empty() {
            line += &format!(" attrs=\"{}\"", self.attributes.join(","));
        }
        if !self.without.is_empty() {
            line += &format!(" exattrs=\"{}\"", self.without.join(","));
        }
        if self.checks_schema {
            line += " schemachecking=on";
        }
        let unsynced = stage.unsynced();
        let lines = format!("{unsynced}{INDEXES}limits * size=unlimited\n{line}\n");
        stage.configure(&stage.database("db", SUFFIX, &lines));
        stage
    }

    /// Returns the entries that a search for the part finds at the provider.
    fn expected(&self, server: &Running<'_>) -> BTreeSet<String> {
        let base = self.base();
        let search = ["-LLL", "-b", &base, "-s", self.scope, self.filter];
        let text = self.found(server, &search);
        entries(&text)
    }

    /// Returns the entries of the copy that clients see. Glue is hidden.
    fn held(&self, server: &Running<'_>) -> BTreeSet<String> {
        entries(&self.found(server, &["-LLL", "-b", SUFFIX, "(objectClass=*)"]))
    }

    fn found(&self, server: &Running<'_>, search: &[&str]) -> String {
        let all = ["*", "+"];
        let attributes = match self.attributes.is_empty() {
            true => &all[..],
            false => self.attributes,
        };
        let ran = server.root("ldapsearch", &[search, attributes].concat(), "");
        assert!([0, 32].contains(&ran.status), "{ran:?}");
        let text = ran.out.replace("\n ", "");
        // Both servers compute these, and the state is that of the suffix.
        let computed = [
            "hasSubordinates",
            "contextCSN",
            "subschemaSubentry",
            "entryDN",
        ];
        let is_shown = |line: &&str| {
            let name = line.split(':').next().unwrap_or_default();
            let lists = [&computed[..], self.without];
            !lists.iter().any(|list| list.contains(&name))
        };
        text.lines().filter(is_shown).collect::<Vec<_>>().join("\n")
    }

    fn follow(&self, programs: (Program, Program)) {
        let seed = seed("parts", 4533);
        let label = format!("part-{:?}-{}", programs.1, self.label);
        println!("seed {seed}, {label}");
        let provider: Provider = provider(&label, programs.0, Way::Persist, "").expect("a program");
        let copy = self.copy(&label, programs.1, provider.port.number());
        let theirs = provider.start();
        let mut updates = Updates::new(&provider, Random::new(seed));
        updates.run(25);
        let mut ours = copy.start();
        for round in 0..3 {
            if round == 1 {
                ours.kill();
                updates.run(15);
                ours = copy.start();
            }
            updates.run(25);
        }
        // A change of the base itself, for the part that is an entry.
        let change = format!(
            "dn: ou=a,{SUFFIX}\nchangetype: modify\nreplace: description\ndescription: last\n-\n\n"
        );
        theirs.root("ldapmodify", &[], &change).well();
        let begun = Instant::now();
        loop {
            let (expected, held) = (self.expected(&theirs), self.held(&ours));
            if expected == held && !held.is_empty() {
                break;
            }
            if begun.elapsed() > PATIENCE {
                let missing: Vec<_> = expected.difference(&held).collect();
                let extra: Vec<_> = held.difference(&expected).collect();
                panic!(
                    "{label}: missing {missing:#?}\nnot at the provider {extra:#?}\n{}",
                    log_of(&copy)
                );
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        ours.stop();
        theirs.stop();
    }
}

#[test]
fn our_server_copies_parts_of_slapd() {
    for part in PARTS {
        part.follow((Program::Slapd, Program::Ours));
    }
}

#[test]
fn slapd_copies_parts_of_our_server() {
    if !is_ours() {
        return;
    }
    // Of parts that entries enter and leave, slapd's consumer may end with result 32.
    for part in PARTS {
        part.follow((Program::Ours, Program::Slapd));
    }
}

#[test]
fn our_server_copies_parts_of_our_server() {
    for part in BELOW {
        part.follow((Program::Ours, Program::Ours));
    }
}
