use fulgurite_directory::{Limit, Progress, Quantum, Session, SizeLimits};
use fulgurite_ldap::{Request, ResultCode, Scope};

use crate::support::{JANE, JOHN, PEOPLE, TOP, World, asked, code, decode, found};

#[test]
fn scopes() {
    let world = World::new();
    let names = |base: &str, scope| {
        let found = world.search(
            &Session::new(),
            &asked(base, scope, "(objectClass=*)", &["1.1"]),
        );
        let mut names: Vec<String> = found.dns().into_iter().map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(names(PEOPLE, Scope::Base), [PEOPLE]);
    assert_eq!(names(PEOPLE, Scope::One), [JANE, JOHN]);
    assert_eq!(names(PEOPLE, Scope::Children), [JANE, JOHN]);
    assert_eq!(names(PEOPLE, Scope::Subtree), [PEOPLE, JANE, JOHN]);
    assert_eq!(
        names(TOP, Scope::One),
        ["ou=groups,dc=example,dc=com", PEOPLE]
    );
    assert_eq!(names(TOP, Scope::Subtree).len(), 6);
    assert_eq!(names(TOP, Scope::Children).len(), 5);
    assert_eq!(
        names("OU=People , DC=Example,dc=COM", Scope::One),
        [JANE, JOHN]
    );
}

#[test]
fn filters_of_every_kind() {
    let world = World::new();
    let all = "cn=all,ou=groups,dc=example,dc=com";
    let cases: [(&str, &[&str]); 26] = [
        ("(uid=JANE)", &[JANE]),
        ("(mail=*)", &[JANE]),
        ("(cn=*ja*d*e)", &[JANE]),
        ("(cn=j*)", &[JANE, JOHN]),
        ("(sn=*oe)", &[JANE, JOHN]),
        ("(uidNumber>=1000)", &[JANE]),
        ("(uidNumber<=999)", &[]),
        ("(cn~=jane doe)", &[JANE]),
        ("(&(sn=doe)(uid=jane))", &[JANE]),
        ("(|(sn=doe)(sn=roe))", &[JANE, JOHN]),
        ("(&(objectClass=person)(!(mail=*)))", &[JOHN]),
        ("(&(uid=*)(&))", &[JANE, JOHN]),
        ("(cn;lang-de=jane reh)", &[JANE]),
        ("(cn=jane reh)", &[JANE]),
        ("(cn;lang-fr=jane reh)", &[]),
        ("(name=roe)", &[JOHN]),
        ("(sn:caseExactMatch:=roe)", &[]),
        ("(sn:caseExactMatch:=Roe)", &[JOHN]),
        ("(ou:dn:=groups)", &["ou=groups,dc=example,dc=com", all]),
        ("(:caseIgnoreMatch:=roe)", &[JOHN]),
        ("(member=UID=jane,ou=People,dc=example,dc=com)", &[all]),
        ("(description=second of two)", &[JOHN]),
        ("(objectClass=person)", &[JANE, JOHN]),
        ("(objectClass=organizationalPerson)", &[JANE, JOHN]),
        ("(|(nope=x)(uid=john))", &[JOHN]),
        ("(!(|(nope=x)(uid=nobody)))", &[]),
    ];
    for (filter, expected) in cases {
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(world.names(filter), expected, "{filter}");
    }
}

#[test]
fn selected_attributes_and_types_only() {
    let world = World::new();
    let entry = world.read(JANE, &[]);
    assert_eq!(
        entry.names(),
        [
            "cn",
            "cn;lang-de",
            "gidNumber",
            "homeDirectory",
            "mail",
            "objectClass",
            "sn",
            "uid",
            "uidNumber",
            "userPassword"
        ]
    );
    assert_eq!(world.read(JANE, &["1.1"]).names(), [""; 0]);
    assert_eq!(
        world.read(JANE, &["NAME"]).names(),
        ["cn", "cn;lang-de", "sn"]
    );
    assert_eq!(
        world.read(JANE, &["cn;lang-de", "nope"]).names(),
        ["cn;lang-de"]
    );
    assert_eq!(
        world.read(JANE, &["@domain"]).names(),
        ["objectClass", "userPassword"]
    );
    let mut types = asked(JANE, Scope::Base, "(uid=*)", &["sn", "mail"]);
    types.types_only = true;
    let found = world.search(&Session::new(), &types);
    assert_eq!(found.entries[0].names(), ["mail", "sn"]);
    assert_eq!(found.entries[0].get("sn"), [""; 0]);
    assert_eq!(
        world.read(JOHN, &["description"]).get("description"),
        ["first of two", "Second  of Two"]
    );
}

/// More shapes than a search remembers, and each comes again.
#[test]
fn entries_of_many_shapes_show_their_own_attributes() {
    const OPTIONAL: [&str; 6] = ["mail", "title", "l", "st", "street", "userPassword"];
    let world = World::new();
    let own = |number: usize| {
        let has = move |(bit, _): &(usize, &&str)| number >> bit & 1 == 1;
        OPTIONAL
            .iter()
            .enumerate()
            .filter(has)
            .map(|(_, name)| *name)
    };
    for number in 0..100 {
        let dn = format!("cn=shape {number},{PEOPLE}");
        let value = format!("own {number}");
        let mut attributes = vec![("objectClass", "inetOrgPerson"), ("sn", "shape")];
        attributes.extend(own(number).map(|name| (name, value.as_str())));
        let added = world.add(&world.root(), &dn, &attributes);
        assert_eq!(code(&added), ResultCode::Success, "{dn}");
    }
    let everything = ["*"].as_slice();
    for wanted in [everything, &["cn", "l", "mail"]] {
        let asked = asked(PEOPLE, Scope::One, "(sn=shape)", wanted);
        let found = world.search(&Session::new(), &asked);
        assert_eq!(found.entries.len(), 100);
        for entry in &found.entries {
            let cn = entry.get("cn").concat();
            let number = cn.trim_start_matches("shape ");
            let shown = |name: &&str| wanted == everything || wanted.contains(name);
            // The world's rules show no passwords.
            let readable = |name: &&str| *name != "userPassword";
            let own = own(number.parse().unwrap()).filter(readable);
            let own: Vec<&str> = own.filter(shown).collect();
            let always = ["cn", "sn", "objectClass"].into_iter().filter(shown);
            let mut expected: Vec<&str> = own.iter().copied().chain(always).collect();
            expected.sort_unstable();
            assert_eq!(entry.names(), expected, "{cn}");
            for name in own {
                assert_eq!(entry.get(name), [format!("own {number}")], "{cn}");
            }
        }
    }
}

#[test]
fn size_limits_stop_after_the_exact_number() {
    let world = World::with(|options| options.limits.size = SizeLimits::up_to(Limit::At(4)));
    let mut everything = asked(TOP, Scope::Subtree, "(objectClass=*)", &["1.1"]);
    let counted = |session: &Session, asked: &crate::support::Asked| {
        let found = world.search(session, asked);
        (found.entries.len(), code(&found.result))
    };
    let (anonymous, root) = (Session::new(), world.root());
    let exceeded = ResultCode::SizeLimitExceeded;
    assert_eq!(counted(&anonymous, &everything), (4, exceeded));
    assert_eq!(counted(&root, &everything), (6, ResultCode::Success));
    everything.size_limit = 2;
    assert_eq!(counted(&anonymous, &everything), (2, exceeded));
    assert_eq!(counted(&root, &everything), (2, exceeded));
    everything.size_limit = 6;
    assert_eq!(counted(&root, &everything), (6, ResultCode::Success));
    assert_eq!(counted(&anonymous, &everything), (4, exceeded));
}

/// Runs a search in steps of one candidate, doing something between steps.
fn in_steps(
    world: &World,
    asked: &crate::support::Asked,
    mut between: impl FnMut(usize),
) -> crate::support::SearchAnswer {
    let pdu = asked.pdu();
    let message = decode(&pdu);
    let Request::Search(request) = &message.request else {
        unreachable!("a search was encoded")
    };
    let quantum = Quantum {
        candidates_max: 1,
        bytes_max: 1,
    };
    let root = world.root();
    let mut task = world
        .directory
        .begin_search(&root, message.id, request, &message.controls);
    let mut out = Vec::new();
    let mut steps = 0;
    while task.advance(&mut out, quantum) == Progress::More {
        steps += 1;
        assert!(steps < 1000, "a search ends");
        if steps % 2 == 0 {
            task.park();
        }
        between(steps);
    }
    assert_eq!(
        task.advance(&mut out, quantum),
        Progress::Done,
        "it stays done"
    );
    found(&out)
}

#[test]
fn time_limits_stop_between_steps() {
    let world = World::new();
    let mut everything = asked(TOP, Scope::Subtree, "(objectClass=*)", &["1.1"]);
    everything.time_limit_s = 2;
    let found = in_steps(&world, &everything, |_| world.clock.sleep_s(1));
    assert_eq!(code(&found.result), ResultCode::TimeLimitExceeded);
    assert_eq!(found.entries.len(), 2);
}

#[test]
fn steps_of_one_candidate_give_the_same_as_one_step() {
    let world = World::new();
    for filter in [
        "(objectClass=*)",
        "(uid=*)",
        "(cn=j*)",
        "(!(sn=doe))",
        "(nope=x)",
    ] {
        for scope in [Scope::Base, Scope::One, Scope::Subtree, Scope::Children] {
            let asked = asked(TOP, scope, filter, &["*", "+"]);
            let at_once = world.search(&world.root(), &asked);
            let stepped = in_steps(&world, &asked, |_| {});
            assert_eq!(stepped.entries, at_once.entries, "{filter} {scope:?}");
            assert_eq!(stepped.result, at_once.result);
        }
    }
}

#[test]
fn a_search_survives_concurrent_changes() {
    let world = World::with(|options| options.limits.snapshot_s_max = 1);
    let all = asked(TOP, Scope::Subtree, "(objectClass=*)", &["*"]);
    let late = "ou=late,dc=example,dc=com";
    let found = in_steps(&world, &all, |step| {
        world.clock.sleep_s(1);
        if step == 3 {
            // Jane has been returned by now, John has not.
            assert!(world.delete(&world.root(), JOHN).is_success());
            let unit = [("objectClass", "organizationalUnit"), ("seeAlso", TOP)];
            assert!(world.add(&world.root(), late, &unit).is_success());
        }
    });
    assert_eq!(code(&found.result), ResultCode::Success);
    assert!(found.dns().contains(&JANE) && !found.dns().contains(&JOHN));
    let mut dns = found.dns();
    dns.sort_unstable();
    dns.dedup();
    assert_eq!(dns.len(), found.entries.len(), "nothing twice");
}

/// A stream of numbers for reproducible choices.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const GIVEN: [&str; 6] = ["Ada", "Bob", "Cay", "Dan", "Eve", "Fay"];
const FAMILY: [&str; 5] = ["Ash", "Birch", "Cedar", "Dogwood", "Elm"];

fn random_filter(numbers: &mut Numbers, depth: usize) -> String {
    if depth > 0 && numbers.below(2) == 0 {
        let parts: String = (0..numbers.below(3))
            .map(|_| random_filter(numbers, depth - 1))
            .collect();
        return match numbers.below(3) {
            0 => format!("(&{parts})"),
            1 => format!("(|{parts})"),
            _ => format!("(!{})", random_filter(numbers, depth - 1)),
        };
    }
    match numbers.below(9) {
        0 => format!("(givenName={})", numbers.pick(&GIVEN)),
        1 => format!("(sn={})", numbers.pick(&FAMILY)),
        2 => format!("(cn={}*)", &numbers.pick(&GIVEN)[..2]),
        3 => format!("(sn=*{}*)", &numbers.pick(&FAMILY)[1..3]),
        4 => format!("(uidNumber>={})", numbers.below(80)),
        5 => format!("(uidNumber<={})", numbers.below(80)),
        6 => "(description=*)".to_owned(),
        7 => "(nope=x)".to_owned(),
        _ => format!("(hasSubordinates={})", numbers.pick(&["TRUE", "FALSE"])),
    }
}

/// Indexes answer what a look at every entry answers.
#[test]
fn searches_equal_brute_force() {
    let world = World::new();
    let mut numbers = Numbers(42);
    for n in 0..80 {
        let (given, family) = (numbers.pick(&GIVEN), numbers.pick(&FAMILY));
        let (uid, name, id) = (format!("u{n}"), format!("{given} {family}"), n.to_string());
        let mut attributes = vec![
            ("objectClass", "inetOrgPerson"),
            ("objectClass", "posixAccount"),
            ("cn", name.as_str()),
            ("givenName", given),
            ("sn", family),
            ("uidNumber", id.as_str()),
            ("gidNumber", "1"),
            ("homeDirectory", "/"),
        ];
        if numbers.below(3) == 0 {
            attributes.push(("description", "some"));
        }
        let dn = format!("uid={uid},{PEOPLE}");
        assert!(world.add(&world.root(), &dn, &attributes).is_success());
    }
    let every: Vec<String> = world.names("(objectClass=*)");
    for round in 0..150 {
        let filter = random_filter(&mut numbers, 3);
        let brute: Vec<String> = every
            .iter()
            .filter(|dn| {
                let one = world.search(&world.root(), &asked(dn, Scope::Base, &filter, &["1.1"]));
                one.entries.len() == 1
            })
            .cloned()
            .collect();
        assert_eq!(world.names(&filter), brute, "round {round}: {filter}");
    }
}

#[test]
fn a_large_filter_has_small_steps() {
    let world = World::new();
    let steps = |items: usize| {
        let filter = format!("(|{})", "(description=nowhere)".repeat(items));
        let pdu = asked(TOP, Scope::Subtree, &filter, &["1.1"]).pdu();
        let message = decode(&pdu);
        let Request::Search(request) = &message.request else {
            unreachable!("a search was encoded")
        };
        let mut task =
            world
                .directory
                .begin_search(&world.root(), message.id, request, &message.controls);
        let mut out = Vec::new();
        let mut steps = 1;
        while task.advance(&mut out, Quantum::default()) == Progress::More {
            steps += 1;
        }
        assert!(found(&out).entries.is_empty());
        steps
    };
    assert_eq!(steps(4), 1, "six entries are no work");
    assert!(
        steps(20_000) >= 6,
        "an entry is enough for a step when the filter has thousands of items"
    );
}
