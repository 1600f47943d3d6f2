use fulgurite_directory::Session;
use fulgurite_ldap::{ResultCode, Scope};

use crate::support::{JANE, JOHN, TOP, World, asked, code};

fn group(world: &World, name: &str, members: &[&str]) -> String {
    let dn = format!("cn={name},ou=groups,{TOP}");
    let members: String = members
        .iter()
        .map(|member| format!("member: {member}\n"))
        .collect();
    world.load(&format!(
        "dn: {dn}\nobjectClass: groupOfNames\ncn: {name}\n{members}"
    ));
    dn
}

/// jane is in g0, which is in g1 ... g9; g9 is in g0 again.
fn world() -> (World, Vec<String>) {
    let world = World::new();
    let last = format!("cn=g9,ou=groups,{TOP}");
    let mut groups = vec![group(&world, "g0", &[JANE, &last])];
    for number in 1..10 {
        let below = groups[number - 1].clone();
        groups.push(group(&world, &format!("g{number}"), &[&below]));
    }
    group(&world, "other", &[JOHN]);
    (world, groups)
}

const IN_CHAIN: &str = "1.2.840.113556.1.4.1941";

#[test]
fn groups_of_groups_are_found_and_circles_end() {
    let (world, groups) = world();
    let found = |filter: String| world.names(&filter);
    let mut all = groups.clone();
    all.push(format!("cn=all,ou=groups,{TOP}"));
    all.sort();
    let containing = found(format!("(member:{IN_CHAIN}:={JANE})"));
    assert!(groups.iter().all(|group| containing.contains(group)));
    assert!(!containing.contains(&format!("cn=other,ou=groups,{TOP}")));
    let direct = found(format!("(member={JANE})"));
    assert!(direct.len() < containing.len());
    // From the middle of the circle, everything in it.
    let containing = found(format!("(member:{IN_CHAIN}:={})", groups[5]));
    assert_eq!(containing.len(), 10);
    assert_eq!(
        found(format!("(&(cn=g3)(member:{IN_CHAIN}:={JANE}))")),
        [groups[3].clone()]
    );
    let without = found(format!(
        "(&(objectClass=groupOfNames)(!(member:{IN_CHAIN}:={JANE})))"
    ));
    assert!(
        without.contains(&format!("cn=other,ou=groups,{TOP}")) && !without.contains(&groups[4])
    );
    assert_eq!(found(format!("(member:{IN_CHAIN}:=cn=nobody)")), [""; 0]);
}

#[test]
fn members_of_nested_groups_are_found_without_member_of() {
    let (world, groups) = world();
    let members = world.names(&format!("(memberOf:{IN_CHAIN}:={})", groups[9]));
    assert!(members.contains(&JANE.to_owned()) && !members.contains(&JOHN.to_owned()));
    let persons = format!(
        "(&(objectClass=person)(memberOf:{IN_CHAIN}:={}))",
        groups[9]
    );
    assert_eq!(world.names(&persons), [JANE]);
}

#[test]
fn chain_walks_continue_in_small_steps_and_after_parking() {
    let (world, groups) = world();
    let filter = format!("(member:{IN_CHAIN}:={})", groups[0]);
    let mut asked = asked(TOP, Scope::Subtree, &filter, &["1.1"]);
    asked.quantum.candidates_max = 1;
    let found = world.search(&world.root(), &asked);
    assert_eq!(code(&found.result), ResultCode::Success);
    assert_eq!(found.entries.len(), 10);
}

#[test]
fn chain_walks_stop_at_hidden_members() {
    let world = World::with(|options| {
        options.access = vec![
            format!("access to dn.base=\"cn=g4,ou=groups,{TOP}\" attrs=member by * none")
                .as_str()
                .into(),
            "access to * by * read".into(),
        ];
    });
    let mut below = JANE.to_owned();
    for number in 0..8 {
        below = group(&world, &format!("g{number}"), &[&below]);
    }
    let filter = format!("(&(cn=g*)(member:{IN_CHAIN}:={JANE}))");
    let asked = asked(TOP, Scope::Subtree, &filter, &["1.1"]);
    let seen = |session: &Session| world.search(session, &asked).entries.len();
    assert_eq!(seen(&world.root()), 8);
    assert_eq!(seen(&world.user(JOHN)), 4, "g0 to g3");
}
