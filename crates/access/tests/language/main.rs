//! The rule language on a handful of entries: who may do what, in tables.

use std::sync::Arc;

use fulgurite_access::{
    EntryRef, Facts, Level, Requester, Rights, RuleSearch, RuleText, Rules, Strengths, Wire,
    WithoutRules,
};
use fulgurite_schema::{
    Attribute, AttributeDescription, AttributeSelector, Dn, Entry, EntrySubject, Filter, Schema,
};
use proptest::prelude::*;

const ADA: &str = "uid=ada,ou=people,dc=x";
const BOB: &str = "uid=bob,ou=people,dc=x";
const EVE: &str = "uid=eve,ou=people,dc=x";

/// Entries in memory.
struct World {
    schema: Arc<Schema>,
    entries: Vec<Entry>,
}

/// The facts about the entries of the world.
struct EntryFacts<'w> {
    world: &'w World,
    target: String,
}

impl World {
    fn new() -> World {
        let schema = Schema::standard();
        let entry = |dn: &str, values: &[(&str, &str)]| {
            let mut entry = Entry::new(Dn::parse(&schema, dn).expect(dn));
            for (name, value) in values {
                let description = schema.describe(name.as_bytes()).expect(name);
                entry.push(&description, value.as_bytes().to_vec());
            }
            entry
        };
        let person = |dn: &str, title: &str, manager: &str| {
            let class = ("objectClass", "inetOrgPerson");
            entry(dn, &[class, ("title", title), ("manager", manager)])
        };
        let group = ("objectClass", "groupOfNames");
        let url = "ldap:///ou=people,dc=x??one?(title=staff)";
        let entries = vec![
            person(ADA, "boss", ADA),
            person(BOB, "staff", ADA),
            person(EVE, "staff", BOB),
            entry(
                "cn=admins,dc=x",
                &[group, ("member", ADA), ("member", "cn=inner,dc=x")],
            ),
            entry("cn=inner,dc=x", &[group, ("member", BOB)]),
            entry(
                "cn=staff,dc=x",
                &[("objectClass", "labeledURIObject"), ("labeledURI", url)],
            ),
        ];
        World { schema, entries }
    }

    fn find(&self, normal: &str) -> Option<&Entry> {
        self.entries
            .iter()
            .find(|entry| entry.dn.normal() == normal)
    }

    fn at(&self, target: &str) -> EntryFacts<'_> {
        EntryFacts {
            world: self,
            target: target.to_owned(),
        }
    }

    fn rules(&self, texts: &[&str]) -> Rules {
        let texts: Vec<RuleText> = texts.iter().map(|&text| text.into()).collect();
        let rules = Rules::parse(&self.schema, &texts, WithoutRules::default());
        rules.unwrap_or_else(|error| panic!("{texts:?}: {error}"))
    }

    /// Returns the rights of a requester to an attribute of an entry, or to one value, after `=`.
    fn rights(&self, rules: &[&str], who: Requester<'_>, target: &str, part: &str) -> Rights {
        let rules = self.rules(rules);
        let decisions = rules.decide(&who);
        let facts = self.at(target);
        let rights = decisions.at(target, &facts);
        let (name, value) = match part.split_once('=') {
            None => (part, None),
            Some((name, value)) => (name, Some(value)),
        };
        let description = self.schema.describe(name.as_bytes()).expect(name);
        match value {
            None => rights.attribute(&description),
            Some(value) => rights.value(&description, value.as_bytes()),
        }
    }

    /// Returns true if a rule `to * by <by> read` lets `who` read the title of `target`.
    fn reads(&self, by: &str, who: &str, target: &str) -> bool {
        let rule = format!("to * by {by} read");
        let rights = self.rights(&[&rule], Requester::user(who), target, "title");
        assert!(rights == Rights::NONE || rights == Level::Read.rights());
        rights.allows(Rights::READ)
    }
}

impl EntryFacts<'_> {
    fn entry(&self, of: EntryRef<'_>) -> Option<&Entry> {
        match of {
            EntryRef::Target => self.world.find(&self.target),
            EntryRef::Entry(name) => self.world.find(name),
        }
    }
}

impl Facts for EntryFacts<'_> {
    fn values(
        &self,
        of: EntryRef<'_>,
        wanted: &AttributeDescription,
        visit: &mut dyn FnMut(&[u8]),
    ) {
        let held = self
            .entry(of)
            .into_iter()
            .flat_map(|entry| &entry.attributes);
        held.filter(|held: &&Attribute| *wanted == held.description)
            .flat_map(|held| &held.values)
            .for_each(|value| visit(value));
    }

    fn lists(&self, of: EntryRef<'_>, attribute: &AttributeDescription, name: &str) -> bool {
        let mut found = false;
        self.values(of, attribute, &mut |value| {
            found |= value == name.as_bytes()
        });
        found
    }

    fn matches(&self, of: EntryRef<'_>, filter: &Filter<AttributeSelector>) -> bool {
        let schema = &self.world.schema;
        self.entry(of).is_some_and(|entry| {
            filter
                .test(schema, &EntrySubject { schema, entry })
                .is_true()
        })
    }

    fn search(&self, search: &RuleSearch<'_>, visit: &mut dyn FnMut(&[u8])) {
        for entry in &self.world.entries {
            let name = entry.dn.normal();
            if !name.ends_with(search.base) || !self.matches(EntryRef::Entry(name), search.filter) {
                continue;
            }
            if search.attributes.is_empty() {
                visit(name.as_bytes());
            }
            for attribute in search.attributes {
                self.values(EntryRef::Entry(name), attribute, visit);
            }
        }
    }
}

#[test]
fn who() {
    let world = World::new();
    for (by, who, target, reads) in [
        ("*", "", BOB, true),
        ("anonymous", "", BOB, true),
        ("anonymous", ADA, BOB, false),
        ("users", ADA, BOB, true),
        ("users", "", BOB, false),
        ("self", BOB, BOB, true),
        ("self", ADA, BOB, false),
        ("self.level{1}", BOB, "ou=people,dc=x", true),
        ("self.level{1}", BOB, "dc=x", false),
        ("self.level{-1}", "ou=people,dc=x", BOB, true),
        ("dn.base=\"uid=Ada,ou=people,dc=x\"", ADA, BOB, true),
        ("dn.one=\"ou=people,dc=x\"", ADA, BOB, true),
        ("dn.one=\"dc=x\"", ADA, BOB, false),
        ("dn.level{2}=\"dc=x\"", ADA, BOB, true),
        ("dn.children=\"dc=x\"", ADA, BOB, true),
        ("dn.children=\"dc=x\"", "", BOB, false),
        ("dn.regex=\"^uid=(ada|bob),\"", BOB, BOB, true),
        ("dn.regex=\"^uid=(ada|bob),\"", EVE, BOB, false),
        ("dnattr=manager", ADA, BOB, true),
        ("dnattr=manager", BOB, ADA, false),
        ("group=\"cn=admins,dc=x\"", ADA, BOB, true),
        ("group=\"cn=admins,dc=x\"", BOB, BOB, false),
        ("group=\"cn=none,dc=x\"", ADA, BOB, false),
        (
            "group/labeledURIObject/labeledURI=\"cn=staff,dc=x\"",
            BOB,
            ADA,
            true,
        ),
        (
            "group/labeledURIObject/labeledURI=\"cn=staff,dc=x\"",
            ADA,
            ADA,
            false,
        ),
    ] {
        assert_eq!(
            world.reads(by, who, target),
            reads,
            "by {by}: {who} of {target}"
        );
    }
}

#[test]
fn sets() {
    let world = World::new();
    for (set, who, target, holds) in [
        ("user", ADA, BOB, true),
        ("user", "", BOB, false),
        ("this & user", BOB, BOB, true),
        ("this/manager & user", ADA, BOB, true),
        ("this/manager & user", EVE, BOB, false),
        ("this/manager* & user", ADA, EVE, true),
        ("this/manager & user", ADA, EVE, false),
        ("this->manager & user", BOB, EVE, true),
        ("[cn=admins,dc=x]/member & user", BOB, BOB, false),
        ("[cn=admins,dc=x]/member* & user", BOB, BOB, true),
        ("user/title & this/title", BOB, EVE, true),
        ("user/title & this/title", ADA, EVE, false),
        ("this/title & [staff]", ADA, BOB, true),
        ("([uid=] + [ada,ou=people,dc=x]) & user", ADA, BOB, true),
        ("([x] & user) | (this & user)", BOB, BOB, true),
        ("user/-1 & [ou=people,dc=x]", ADA, BOB, true),
        ("this/-* & [dc=x]", ADA, BOB, true),
        ("this/nope", ADA, BOB, false),
        ("this/entryDN & user", BOB, BOB, true),
        ("this/objectClass & [inetOrgPerson]", ADA, BOB, true),
        ("this/-0 & user", BOB, BOB, true),
        (
            "[ldap:///ou=people,dc=x??sub?(title=staff)]/manager & user",
            ADA,
            BOB,
            true,
        ),
        (
            "[ldap:///ou=people,dc=x??sub?(title=staff)]/manager & user",
            EVE,
            BOB,
            false,
        ),
    ] {
        let by = format!("set=\"{set}\"");
        assert_eq!(
            world.reads(&by, who, target),
            holds,
            "{set}: {who} of {target}"
        );
    }
}

#[test]
fn connections() {
    let world = World::new();
    let wire = Wire {
        peer: "IP=10.1.2.3:4711",
        socket: "IP=10.0.0.1:389",
        url: "ldaps://ldap.example.org/",
        domain: "www.example.org",
        strength: Strengths {
            overall: 256,
            transport: 0,
            tls: 256,
            sasl: 0,
        },
    };
    for (by, fits) in [
        ("peername.ip=10.1.2.3", true),
        ("peername.ip=10.0.0.0%255.0.0.0{4711}", true),
        ("peername.ip=10.0.0.0%255.0.0.0{4712}", false),
        ("peername.regex=\"^IP=10[.]1\"", true),
        ("peername=ip=10.1.2.3:4711", true),
        ("peername.path=/run/ldapi", false),
        ("sockname.regex=:389", true),
        ("sockurl=\"ldaps://ldap.example.org/\"", true),
        ("sockurl.regex=\"^ldap://\"", false),
        ("domain.subtree=example.org", true),
        ("domain=example.org", false),
        ("ssf=128", true),
        ("tls_ssf=256", true),
        ("sasl_ssf=1", false),
        ("transport_ssf=1", false),
        ("users ssf=256", true),
        ("anonymous ssf=256", false),
    ] {
        let rule = format!("to * by {by} read");
        let requester = Requester::user(ADA).over(wire);
        let rights = world.rights(&[&rule], requester, BOB, "title");
        assert_eq!(rights.allows(Rights::READ), fits, "{by}");
    }
}

/// The authenticated name may differ from the name for which access is decided.
#[test]
fn real_names() {
    let world = World::new();
    let proxied = Requester {
        name: BOB,
        real_name: ADA,
        ..Requester::default()
    };
    for (by, fits) in [
        ("self", true),
        ("realself", false),
        ("realdn.base=\"uid=ada,ou=people,dc=x\"", true),
        ("realdnattr=manager", true),
        ("dnattr=manager", false),
        ("realanonymous", false),
    ] {
        let rule = format!("to * by {by} read");
        let rights = world.rights(&[&rule], proxied, BOB, "title");
        assert_eq!(rights.allows(Rights::READ), fits, "{by}");
    }
}

#[test]
fn targets_values_and_sub_matches() {
    let world = World::new();
    let of = |rules: &[&str], who: &str, target: &str, part: &str| {
        let rights = world.rights(rules, Requester::user(who), target, part);
        rights.to_string()
    };
    let filtered = [
        "to filter=(title=staff) attrs=title by * read",
        "to * by * search",
    ];
    assert_eq!(of(&filtered, ADA, BOB, "title"), "=rscxd");
    assert_eq!(of(&filtered, ADA, ADA, "title"), "=scxd");
    let rule = format!("to attrs=manager val.exact=\"{ADA}\" by * none");
    let valued = [&*rule, "to * by * read"];
    assert_eq!(of(&valued, BOB, BOB, &format!("manager={ADA}")), "=0");
    assert_eq!(of(&valued, BOB, BOB, &format!("manager={EVE}")), "=rscxd");
    assert_eq!(of(&valued, BOB, BOB, "manager"), "=rscxd");
    let class = [
        "to attrs=objectClass val=person by * none",
        "to * by * read",
    ];
    assert_eq!(of(&class, BOB, BOB, "objectClass=inetOrgPerson"), "=0");
    assert_eq!(of(&class, BOB, BOB, "objectClass=top"), "=rscxd");
    let regex = ["to attrs=title val.regex=\"^s(.*)f$\" by dn.regex=\"${v1}\" read"];
    assert_eq!(of(&regex, "cn=taf,dc=x", BOB, "title=staff"), "=rscxd");
    assert_eq!(of(&regex, BOB, BOB, "title=staff"), "=0");
    let rule = "to dn.regex=\"^(.+,)?uid=([^,]+),ou=people,dc=x$\" \
                by dn.exact,expand=\"uid=$2,ou=people,dc=x\" write";
    assert_eq!(of(&[rule], BOB, BOB, "title"), "=wrscxd");
    assert_eq!(of(&[rule], ADA, BOB, "title"), "=0");
    let above = ["to dn.subtree=\"dc=x\" by dn.subtree,expand=\"$1\" read"];
    assert_eq!(of(&above, ADA, BOB, "title"), "=rscxd");
    let own = ["to attrs=member by * selfwrite by * read"];
    let member = format!("member={BOB}");
    assert_eq!(of(&own, BOB, "cn=inner,dc=x", &member), "=wrscxd");
    assert_eq!(of(&own, ADA, "cn=inner,dc=x", &member), "=rscxd");
    assert_eq!(of(&own, ADA, "cn=inner,dc=x", "member"), "=rscxd");
}

#[test]
fn rights_are_put_together() {
    let world = World::new();
    let cases: [(&[&str], &str); 10] = [
        (&["to * by * =cs continue by users +r"], "=rsc"),
        (&["to * by * =cs continue by anonymous +r"], "=0"),
        (&["to * by * =cs break", "to * by * +r"], "=rsc"),
        (&["to * by * =cs break"], "=0"),
        (&["to * by * write continue by * -r"], "=wscxd"),
        (&["to * by * add"], "=arscxd"),
        (&["to * by * =az"], "=w"),
        (&["to * by *"], "=0"),
        (
            &["to * by * break", "to * by users", "to * by * read"],
            "=0",
        ),
        (&["to attrs=cn by * none", "to * by * manage"], "=mwrscxd"),
    ];
    for (rules, rights) in cases {
        let found = world.rights(rules, Requester::user(BOB), ADA, "title");
        assert_eq!(found.to_string(), rights, "{rules:?}");
    }
}

#[test]
fn global_rules_and_none_at_all() {
    let world = World::new();
    let facts = world.at(ADA);
    let own = world.rules(&["to attrs=title by * search"]);
    let global = world.rules(&["to attrs=title by * none", "to * by * read"]);
    let title = world.schema.describe(b"title").expect("title");
    let all = own.followed_by(&global);
    let decisions = all.decide(&Requester::anonymous());
    let rights = decisions.at(ADA, &facts);
    assert_eq!(rights.attribute(&title), Level::Search.rights());
    assert_eq!(rights.entry(), Level::Read.rights());
    let everything = WithoutRules::Everything(Level::Search);
    let rules = Rules::parse(&world.schema, [], everything).expect("no rules");
    let decisions = rules.decide(&Requester::anonymous());
    assert_eq!(decisions.at(ADA, &facts).entry(), Level::Search.rights());
}

/// Words that rules are made of, so that random texts get somewhere.
#[rustfmt::skip]
const WORDS: [&str; 36] = [
    "to", "by", "*", "dn=", "dn.regex=", "dn.exact,expand=", "\"", "$1", "${v1}", "(.*)", "[", "]", "attrs=", "cn",
    "@person", "!person", "val.regex=", "val=", "filter=(cn=x)", "users", "self.level{", "1}", "group/", "set=", "this",
    "/-", "->", "&", "peername.ip=", "%", "{", "ssf=", "+r", "=w", "break", "\\",
];

proptest! {
    #[test]
    fn no_text_panics(
        words in prop::collection::vec((0..WORDS.len(), any::<bool>()), 0..24),
        noise in ".{0,12}",
    ) {
        let world = World::new();
        let mut text = String::new();
        for (word, apart) in words {
            text.push_str(WORDS[word]);
            if apart {
                text.push(' ');
            }
        }
        let texts = [
            format!("{text}{noise}"),
            format!("to * by {text}"),
            format!("to {text} by * read"),
            noise,
        ];
        for text in texts {
            let text = RuleText::from(text);
            if let Ok(rules) = Rules::parse(&world.schema, [&text], WithoutRules::default()) {
                let decisions = rules.decide(&Requester::user(ADA));
                let facts = world.at(BOB);
                let cn = world.schema.describe(b"cn").expect("cn");
                let rights = decisions.at(BOB, &facts);
                let _ = (rights.entry(), rights.value(&cn, b"x"), rights.attribute(&cn));
            }
        }
    }
}
