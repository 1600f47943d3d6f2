//! Searches that repeat an earlier one but for the value, while the directory changes. Each is
//! begun anew, too.

use fulgurite_directory::{Connection, Limits, Progress, Session, Snapshots, Strength};
use fulgurite_ldap::{Deref, LdapResult, ModifyOperation, Request, ResultCode, Scope};
use fulgurite_policy::{Limit, LimitsRule, SizeLimits, Sourced};
use fulgurite_testkit::{Random, quick_or_long, seed};

use crate::support::{Asked, JANE, JOHN, PEOPLE, TOP, World, asked, decode, found};

const BASES: [&str; 7] = [
    TOP,
    PEOPLE,
    "OU=People, dc=example,dc=com",
    JANE,
    "ou=groups,dc=example,dc=com",
    "ou=nowhere,dc=example,dc=com",
    "",
];

const SCOPES: [Scope; 5] = [
    Scope::Subtree,
    Scope::Subtree,
    Scope::One,
    Scope::Children,
    Scope::Base,
];

const ATTRIBUTES: [&str; 9] = [
    "uid",
    "UID",
    "mail",
    "cn",
    "cn;lang-de",
    "objectClass",
    "member",
    "entryDN",
    "description",
];

const VALUES: [&str; 10] = [
    "jane",
    "JANE",
    " john ",
    "new0",
    "new1",
    "jane@example.com",
    "Jane Doe",
    "person",
    JANE,
    "",
];

const SELECTIONS: [&[&str]; 5] = [&[], &["*", "+"], &["1.1"], &["cn", "uid"], &["sn"]];

/// The settings of a world, by its number.
fn world(number: usize) -> World {
    let rules: &[&[&str]] = &[
        &[],
        &[
            "access to attrs=sn,mail by users read by anonymous search",
            "access to * by * read",
        ],
        &["access to * by peername.ip=127.0.0.1 read by users read"],
        &[
            "access to attrs=uid val=jane by * none",
            "access to * by * read",
        ],
        &[
            "access to dn.subtree=\"ou=people,dc=example,dc=com\" by self read by users search",
            "access to * by * read",
        ],
        &["access to * by ssf=56 read by dn.exact=\"uid=jane,ou=people,dc=example,dc=com\" read"],
        &[
            "access to * by group.exact=\"cn=all,ou=groups,dc=example,dc=com\" read by anonymous auth",
        ],
    ];
    World::with(|options| {
        let rules = rules[number % rules.len()];
        options.access = rules.iter().map(|&rule| rule.into()).collect();
        if number % 4 == 3 {
            let rule = LimitsRule {
                selector: "users".to_owned(),
                size: SizeLimits::up_to(Limit::At(1)),
                ..LimitsRule::default()
            };
            options.limits = Limits {
                rules: vec![Sourced::by_default(rule)],
                ..Limits::default()
            };
        }
    })
}

fn question(random: &mut Random) -> Asked {
    let attribute = random.pick(&ATTRIBUTES);
    let filter = match random.below(12) {
        0 => "(objectClass=*)".to_owned(),
        1 => format!("(!({attribute}={}))", random.pick(&VALUES)),
        _ => format!("({attribute}={})", random.pick(&VALUES)),
    };
    let mut asked = asked(
        random.pick::<&str>(&BASES),
        *random.pick(&SCOPES),
        &filter,
        random.pick::<&[&str]>(&SELECTIONS),
    );
    if random.chance(20) {
        asked.size_limit = 1;
    }
    asked.types_only = random.chance(10);
    if random.chance(10) {
        asked.deref = *random.pick(&[Deref::Always, Deref::Searching, Deref::Finding]);
    }
    if random.chance(5) {
        asked.page = Some((1, Vec::new()));
    }
    asked
}

/// Changes something; many changes are refused.
fn change(world: &World, random: &mut Random) -> LdapResult {
    let root = &world.root();
    let unit = *random.pick(&[PEOPLE, TOP, "ou=groups,dc=example,dc=com"]);
    let name = format!("new{}", random.below(3));
    let dn = format!("uid={name},{unit}");
    match random.below(9) {
        0..=2 => {
            let uid = *random.pick(&["jane", "new0", "new1"]);
            let person = [
                ("objectClass", "inetOrgPerson"),
                ("uid", &name),
                ("uid", uid),
                ("cn", "Jane Doe"),
                ("sn", "N"),
            ];
            world.add(root, &dn, &person)
        }
        3 => world.delete(root, &dn),
        4 => {
            let values: &[&str] = &["one", "jane"];
            let how = *random.pick(&[ModifyOperation::Add, ModifyOperation::Replace]);
            let attribute = *random.pick(&["description", "mail", "cn;lang-de", "uid;lang-de"]);
            world.modify(
                root,
                random.pick::<&str>(&[JANE, JOHN, &dn]),
                &[(how, attribute, values)],
            )
        }
        5 => {
            let referral = [
                ("objectClass", "referral"),
                ("objectClass", "extensibleObject"),
                ("ou", "far"),
                ("ref", "ldap://elsewhere/"),
            ];
            world.add(root, &format!("ou=far,{unit}"), &referral)
        }
        6 => world.rename(root, PEOPLE, "ou=staff", true, None),
        7 => world.rename(root, "ou=staff,dc=example,dc=com", "ou=people", true, None),
        _ => {
            let alias = [
                ("objectClass", "alias"),
                ("objectClass", "extensibleObject"),
                ("cn", "other"),
                ("aliasedObjectName", JANE),
            ];
            world.add(root, &format!("cn=other,{unit}"), &alias)
        }
    }
}

/// The bytes of an answer, and the figures of the task.
fn answer<'d>(
    world: &'d World,
    kept: &mut Snapshots<'d>,
    session: &Session,
    asked: &Asked,
) -> (Vec<u8>, [u64; 2], ResultCode) {
    let pdu = asked.pdu();
    let message = decode(&pdu);
    let Request::Search(request) = &message.request else {
        unreachable!("a search was encoded")
    };
    let (directory, controls) = (&world.directory, &message.controls);
    let mut task = directory.begin_search_on(kept, session, message.id, request, controls);
    let mut out = Vec::new();
    while task.advance(&mut out, asked.quantum) == Progress::More {}
    let figures = [task.entries().into(), task.references().into()];
    let code = task.code();
    task.leave(kept);
    (out, figures, code)
}

fn sessions(world: &World) -> Vec<Session> {
    let strong = Connection {
        strength: Strength {
            tls: 256,
            ..Strength::default()
        },
        ..Connection::default()
    };
    let jane = world.user(JANE);
    vec![
        Session::new(),
        jane.acting_for(world.root().identity().clone()),
        jane,
        world.user(JOHN),
        world.root(),
        Session::on(strong.into()),
    ]
}

#[test]
fn repeated_searches_have_the_answers_of_new_ones() {
    let seed = seed("repeated_searches", 0x7265_0001);
    let mut kept_some = 0;
    for round in 0..quick_or_long(14, 700) {
        let mut random = Random::new(seed.wrapping_add(round));
        let world = world(random.below(28));
        let sessions = sessions(&world);
        let kept = &mut Snapshots::default();
        let mut questions: Vec<Asked> = (0..4).map(|_| question(&mut random)).collect();
        for step in 0..200 {
            if random.chance(8) {
                change(&world, &mut random);
            }
            if random.chance(10) {
                let at = random.below(questions.len());
                questions[at] = question(&mut random);
            }
            // The same shape with another value.
            let mut asked = random.pick(&questions).clone();
            if random.chance(60)
                && let Some((attribute, _)) = asked.filter.split_once('=')
                && !attribute.starts_with("(!")
            {
                asked.filter = format!("{attribute}={})", random.pick(&VALUES));
            }
            if asked.scope == Scope::Base && random.chance(60) {
                asked.base = (*random.pick(&BASES)).to_owned();
                asked.filter = "(objectClass=*)".to_owned();
            }
            let session = random.pick(&sessions);
            let ours = answer(&world, kept, session, &asked);
            let fresh = answer(&world, &mut Snapshots::default(), session, &asked);
            assert_eq!(
                ours,
                fresh,
                "seed {seed}, round {round}, step {step}: {} {:?} {} {:?}: {:?} and {:?}",
                asked.base,
                asked.scope,
                asked.filter,
                session.identity(),
                found(&ours.0).result,
                found(&fresh.0).result
            );
        }
        kept_some += usize::from(format!("{kept:?}").contains("RepeatedSearch"));
    }
    assert!(kept_some > 3, "seed {seed}: searches are kept");
}
