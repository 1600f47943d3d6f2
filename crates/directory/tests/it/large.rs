//! Attributes of many values: nobody can tell by any answer how they are stored.

use ModifyOperation::{Add, Delete, Increment, Replace};
use fulgurite_ldap::{LdapResult, ModifyOperation, ResultCode};

use crate::support::World;

const GROUP: &str = "cn=all,ou=groups,dc=example,dc=com";

fn world(inline_values_max: usize) -> World {
    let world = World::empty_with_store(
        |_| {},
        |options| {
            options.inline_values_max = Some(inline_values_max);
            options.durability = Some(fulgurite_store::Durability::NoSync);
        },
    );
    world.load(
        "dn: dc=example,dc=com\nobjectClass: domain\n\ndn: ou=groups,dc=example,dc=com\nobjectClass: organizationalUnit",
    );
    let members: Vec<String> = (0..8).map(member).collect();
    let mut attributes = vec![("objectClass", "groupOfNames"), ("cn", "everybody")];
    attributes.extend(members.iter().map(|member| ("member", member.as_str())));
    let added = world.add(&world.root(), GROUP, &attributes);
    assert_eq!(added, LdapResult::success());
    world
}

fn member(number: u32) -> String {
    format!("uid=m{number},ou=people,dc=example,dc=com")
}

/// Numbers without a pattern; the same ones each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

type Owned = (ModifyOperation, &'static str, Vec<String>);

fn some_changes(dice: &mut Dice) -> Vec<Owned> {
    let changes = (0..=dice.below(2)).map(|_| {
        let operation = match dice.below(20) {
            0 => Replace,
            1 => Increment,
            2..11 => Add,
            _ => Delete,
        };
        let name =
            ["member", "member", "member", "cn", "description", "seeAlso"][dice.below(6) as usize];
        let values = (0..dice.below(3)).map(|_| {
            let number = dice.below(30) as u32;
            match (name, dice.below(3)) {
                ("member" | "seeAlso", 0) => member(number).to_uppercase().replace(',', " , "),
                ("member" | "seeAlso", _) => member(number),
                (_, 0) => format!("Text  {number}"),
                _ => format!("text {number}"),
            }
        });
        (operation, name, values.collect())
    });
    changes.collect()
}

#[test]
fn large_attributes_give_the_same_answers_as_small_ones() {
    // 1: two values are overflow values. 1000: nothing is.
    let (large, small) = (world(1), world(1000));
    let mut dice = Dice(4711);
    let (mut done, mut refused) = (0, 0);
    for round in 0..400 {
        let changes = some_changes(&mut dice);
        let values: Vec<Vec<&str>> = changes
            .iter()
            .map(|(_, _, values)| values.iter().map(String::as_str).collect())
            .collect();
        let changes: Vec<(ModifyOperation, &str, &[&str])> = changes
            .iter()
            .zip(&values)
            .map(|((operation, name, _), values)| (*operation, *name, values.as_slice()))
            .collect();
        let [ours, theirs] =
            [&large, &small].map(|world| world.modify(&world.root(), GROUP, &changes));
        assert_eq!(ours, theirs, "{round}: {changes:?}");
        if ours.is_success() {
            done += 1;
        } else {
            refused += 1;
        }
        let wanted = ["*", "structuralObjectClass"];
        assert_eq!(
            large.read(GROUP, &wanted),
            small.read(GROUP, &wanted),
            "{round}: {changes:?}"
        );
        let asked = member(dice.below(14) as u32);
        for filter in [
            format!("(member={asked})"),
            format!("(&(cn=text 3)(!(member={asked})))"),
        ] {
            assert_eq!(
                large.names(&filter),
                small.names(&filter),
                "{round}: {filter}"
            );
        }
        for name in ["member", "cn", "distinguishedName"] {
            let [ours, theirs] =
                [&large, &small].map(|world| world.compare(&world.root(), GROUP, name, &asked));
            assert_eq!(ours, theirs, "{round}: {name}");
        }
    }
    // Both kinds of outcome are common, or the comparison says little.
    assert!(done > 50 && refused > 50, "{done} done, {refused} refused");
}

#[test]
fn the_last_member_cannot_be_deleted() {
    let world = world(1);
    let root = world.root();
    let all: Vec<String> = (0..8).map(member).collect();
    let values: Vec<&str> = all.iter().map(String::as_str).collect();
    let result = world.modify(&root, GROUP, &[(Delete, "member", &values)]);
    assert_eq!(result.code, ResultCode::ObjectClassViolation);
    let result = world.modify(&root, GROUP, &[(Delete, "member", &values[..7])]);
    assert_eq!(result, LdapResult::success());
    assert_eq!(world.read(GROUP, &["member"]).get("member"), [values[7]]);
}
