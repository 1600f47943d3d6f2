//! Random updates of a cluster whose sequencers change and die. All nodes stay equal.

use std::sync::Arc;

use fulgurite_directory::{
    DirectoryOptions, ExtendedStep, RuleText, Session, UpdateStep, WriteRequest,
};
use fulgurite_ldap::{
    Control, Controls, EndTransaction, ExtendedRequest, LdapResult, ModifyOperation, ResultCode,
    oid,
};
use fulgurite_schema::{Builtin, SchemaBuilder};
use fulgurite_store::Durability;
use fulgurite_testkit::{Random, quick_or_long, seed};

use crate::cluster::{Cluster, Death, rename_pdu, tree_delete_pdu};
use crate::guards::overlay;
use crate::support::*;
use ModifyOperation::{Add, Delete, Increment, Replace};

const POLICY: &str = "cn=policy,dc=example,dc=com";
const GROUP: &str = "cn=all,ou=groups,dc=example,dc=com";

/// A database with all that changes entries without a number.
fn adjust(options: &mut DirectoryOptions) {
    let default = format!("ppolicy_default {POLICY}");
    let database = &mut options.databases[0];
    database.last_bind_s = Some(1);
    database.overlays = vec![
        overlay("ppolicy", &[&default]),
        overlay("refint", &["refint_attributes member~seeAlso~manager"]),
        overlay("unique", &["unique_uri ldap:///?mail?sub"]),
    ];
    let rule = "to * by self write by anonymous auth by * read".to_owned();
    options.access = vec![RuleText::from(rule)];
}

fn world() -> World {
    let schema = SchemaBuilder::standard().builtin(Builtin::PasswordPolicy);
    let schema = Arc::new(schema.build().expect("the built-in schema resolves"));
    let world = World::empty_with_schema(schema, adjust, |store| {
        store.inline_values_max = Some(4);
        store.durability = Some(Durability::NoSync);
    });
    world.load_example();
    let policy = [
        ("objectClass", "device"),
        ("objectClass", "pwdPolicy"),
        ("cn", "policy"),
        ("pwdAttribute", "userPassword"),
        ("pwdLockout", "TRUE"),
        ("pwdMaxFailure", "3"),
        ("pwdInHistory", "2"),
        ("pwdLockoutDuration", "20"),
    ];
    let added = world.add(&world.root(), POLICY, &policy);
    assert_eq!(added, LdapResult::success());
    world
}

fn name(random: &mut Random) -> String {
    let uid = *random.pick(&["jane", "john", "a", "b", "c", "d", "e"]);
    let above = *random.pick(&["ou=people,", "ou=people,", "ou=x,ou=people,", ""]);
    format!("uid={uid},{above}{TOP}")
}

fn value(random: &mut Random) -> &'static str {
    const VALUES: [&str; 7] = ["one", "two", "Two ", "three", "four", "5", "six"];
    VALUES[random.below(VALUES.len())]
}

/// Makes an update. Many are refused.
fn update(random: &mut Random) -> Vec<u8> {
    let dn = name(random);
    match random.below(16) {
        0..=2 => {
            let uid = dn.split([',', '=']).nth(1).unwrap_or_default();
            let mail = format!("{}@example.com", value(random));
            let mut attributes = vec![
                ("objectClass", "inetOrgPerson"),
                ("objectClass", "posixAccount"),
                ("uid", uid),
                ("cn", uid),
                ("sn", "S"),
                ("uidNumber", "7"),
                ("gidNumber", "7"),
                ("homeDirectory", "/"),
                ("userPassword", "secret"),
            ];
            if random.chance(30) {
                attributes.push(("mail", &mail));
            }
            add_pdu(&dn, &attributes)
        }
        3 => add_pdu(
            &format!("ou=x,{PEOPLE}"),
            &[("objectClass", "organizationalUnit")],
        ),
        4 => delete_pdu(&dn),
        5 if random.chance(30) => tree_delete_pdu(&format!("ou=x,{PEOPLE}")),
        5 | 6 => {
            let rdn = format!("uid={}", random.pick(&["a", "b", "jane", "f"]));
            let rdn = match random.chance(20) {
                true => format!("{rdn}+cn=more"),
                false => rdn,
            };
            let superior = format!("ou=x,{PEOPLE}");
            let superior = random.chance(40).then_some(superior.as_str());
            rename_pdu(&dn, &rdn, random.chance(60), superior)
        }
        7 => {
            let (from, to) = ("ou=people", "ou=folk");
            let (from, to) = if random.chance(60) {
                (to, from)
            } else {
                (from, to)
            };
            rename_pdu(&format!("{from},{TOP}"), to, true, None)
        }
        8 => {
            let members: Vec<String> = (0..random.between(1, 9))
                .map(|number| format!("uid=m{number},{TOP}"))
                .collect();
            let members: Vec<&str> = members.iter().map(String::as_str).collect();
            let operation = *random.pick(&[Add, Add, Delete, Replace]);
            modify_pdu(GROUP, &[(operation, "member", &members)])
        }
        9 => modify_pdu(
            GROUP,
            &[(*random.pick(&[Add, Delete]), "member", &[dn.as_str()])],
        ),
        10 => modify_pdu(&dn, &[(Increment, "uidNumber", &["3"])]),
        11 => modify_pdu(&dn, &[(Replace, "userPassword", &[value(random)])]),
        12 => modify_pdu(
            &dn,
            &[(Add, "manager", &[dn.as_str()]), (Add, "seeAlso", &[JANE])],
        ),
        _ => {
            let attribute = *random.pick(&["description", "title", "description;lang-de", "mail"]);
            let operation = *random.pick(&[Add, Add, Delete, Replace, Replace]);
            let first = (operation, attribute, &[value(random)][..]);
            let second = (Replace, "sn", &[value(random)][..]);
            match random.chance(50) {
                true => modify_pdu(&dn, &[first, second]),
                false => modify_pdu(&dn, &[first]),
            }
        }
    }
}

/// Makes a client's transaction of some updates.
fn transaction(world: &World, updates: &[Vec<u8>]) -> Option<WriteRequest> {
    let mut session = world.root();
    let extended = |session: &mut Session, oid: &str, value: Option<&[u8]>| {
        let oid = oid.as_bytes();
        let request = ExtendedRequest { oid, value };
        world
            .directory
            .extended(session, 5, &request, &Controls::NONE)
    };
    extended(&mut session, oid::START_TRANSACTION, None);
    for update in updates {
        let message = decode(update);
        let control = Control::with_value(oid::TRANSACTION, true, b"");
        let within = pdu(&message.request, &[control]);
        let step = world.directory.begin_update(&mut session, &decode(&within));
        assert!(matches!(step, UpdateStep::Answered(_)), "{step:?}");
    }
    let identifier = b"".as_slice();
    let commit = true;
    let value = EndTransaction { commit, identifier }.encode();
    match extended(&mut session, oid::END_TRANSACTION, Some(&value)) {
        ExtendedStep::Update(update) => Some(update),
        _ => None,
    }
}

/// Returns the updates of a bind.
fn bind(cluster: &Cluster, node: usize, random: &mut Random) -> Vec<WriteRequest> {
    let world = &cluster.worlds[node];
    let password = random.pick(&["secret", "jane's", "one", "wrong"]);
    let (_, mut session) = world.bind(&name(random), password);
    let later = world.directory.bind_update(&mut session);
    cluster.kept[node].take().into_iter().chain(later).collect()
}

#[test]
fn random_updates_leave_nodes_equal() {
    let first = seed("random_updates_leave_nodes_equal", 11);
    let (runs, rounds) = quick_or_long((4, 60), (40, 400));
    let (mut done, mut refused, mut deaths) = (0, 0, 0);
    for seed in first..first + runs {
        let mut random = Random::new(seed);
        let mut cluster = Cluster::new(random.between(2, 3), world, adjust);
        let root = cluster.worlds[0].root();
        for round in 0..rounds {
            let label = format!("seed {seed}, round {round}");
            let node = random.below(cluster.worlds.len());
            cluster.worlds[node].clock.sleep_s(random.below(3) as u64);
            let mut requests = Vec::new();
            for _ in 0..random.between(1, 6) {
                match random.below(10) {
                    0 => {
                        let updates: Vec<_> = (0..3).map(|_| update(&mut random)).collect();
                        requests.extend(transaction(&cluster.worlds[node], &updates));
                    }
                    1 => requests.extend(bind(&cluster, node, &mut random)),
                    _ => requests.push(write_request(&root, &update(&mut random))),
                }
            }
            let death = *random.pick(&[Death::BeforeAppend, Death::BeforeCommit]);
            let death = random.chance(15).then_some(death);
            deaths += usize::from(death.is_some());
            for reply in cluster.lead(node, &requests, death) {
                match reply.result.code {
                    ResultCode::Success => done += 1,
                    _ => refused += 1,
                }
            }
            let late = random.chance(50);
            for other in (0..cluster.worlds.len()).filter(|other| !late || *other == node) {
                let followed = cluster.follow(other);
                followed.unwrap_or_else(|error| panic!("{label}: {error}"));
            }
            if !late {
                cluster.assert_equal(&label);
            }
        }
    }
    println!("{done} updates, {refused} refusals, {deaths} deaths");
    assert!(done > 0 && refused > 0 && deaths > 0);
}
