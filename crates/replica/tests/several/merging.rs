//! Changes of one entry at two servers that do not hear of each other.

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fulgurite_directory::{ConflictKind, Directory, Quantum, conflicts};
use fulgurite_ldap::{ModifyDnRequest, ModifyOperation, Request};
use fulgurite_schema::Schema;

use crate::clients::{add, modify};
use crate::link::{Link, settings};
use crate::node::{Node, SeenEntry, TOP};

/// Two servers, each a consumer of the other.
struct Pair<'d> {
    world_us: Arc<AtomicU64>,
    nodes: [Node<'d>; 2],
    links: [Link<'d>; 2],
}

impl<'d> Pair<'d> {
    /// Returns servers that both have an entry.
    fn new(lives: &'d [[OnceCell<Directory>; 1]; 2]) -> Pair<'d> {
        let (schema, world_us) = (Schema::standard(), Arc::new(AtomicU64::new(0)));
        let node = |server: u16, other: u16| {
            let lives = &lives[usize::from(server) - 1];
            Node::new(
                server,
                (&schema, &world_us),
                vec![settings(other, true)],
                lives,
            )
        };
        let nodes = [node(1, 2), node(2, 1)];
        let link = |to: usize, from: usize| {
            let settings = settings(from as u16 + 1, true);
            Link::new(&nodes, (to, from), settings)
        };
        let links = [link(0, 1), link(1, 0)];
        let mut pair = Pair {
            world_us,
            nodes,
            links,
        };
        let top = [("objectClass", "domain"), ("dc", "example")];
        assert!(add(&pair.nodes[0], TOP, &top));
        let unit = [
            ("objectClass", "organizationalUnit"),
            ("ou", "a"),
            ("description", "first"),
            ("telephoneNumber", "1"),
        ];
        assert!(add(&pair.nodes[0], &a(), &unit));
        pair.meet();
        pair
    }

    /// Lets a second pass.
    fn pass(&self) {
        self.world_us.fetch_add(1_000_000, Ordering::Relaxed);
    }

    /// Lets the servers hear of each other until nothing changes.
    fn meet(&mut self) {
        for _ in 0..6 {
            self.world_us.fetch_add(6_000_000, Ordering::Relaxed);
            let now = self.world_us.load(Ordering::Relaxed) / 1000;
            for link in &mut self.links {
                link.turn(&self.nodes, now, true);
                for _ in 0..2 {
                    while link.provide(Quantum::default(), false) {}
                    link.deliver(&self.nodes, (usize::MAX, now), None);
                }
                link.store(&self.nodes, None, now);
            }
        }
        assert_eq!(self.nodes[0].entries(), self.nodes[1].entries());
        assert_eq!(self.nodes[0].vector(), self.nodes[1].vector());
    }

    fn set(&self, node: usize, operation: ModifyOperation, name: &str, values: &[&str]) {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        assert!(modify(&self.nodes[node], &a(), operation, (name, &values)));
        self.pass();
    }

    fn rename(&self, node: usize, new_rdn: &str) {
        let dn = a();
        let request = Request::ModifyDn(ModifyDnRequest {
            dn: dn.as_bytes(),
            new_rdn: new_rdn.as_bytes(),
            delete_old_rdn: true,
            new_superior: None,
        });
        assert!(self.nodes[node].update(&request).is_success());
        self.pass();
    }

    /// Returns the one entry below the top.
    fn entry(&self) -> SeenEntry {
        let entries = self.nodes[0].entries();
        let mut below = entries.into_values().filter(|entry| entry.dn != TOP);
        below.next().expect("an entry")
    }

    fn kinds(&self) -> Vec<ConflictKind> {
        let mut kinds = Vec::new();
        for node in &self.nodes {
            let read = conflicts(&node.store, &mut |conflict| {
                kinds.push(conflict.kind);
                true
            });
            read.expect("a sound store");
        }
        kinds
    }
}

fn a() -> String {
    format!("ou=a,{TOP}")
}

fn lives() -> [[OnceCell<Directory>; 1]; 2] {
    std::array::from_fn(|_| std::array::from_fn(|_| OnceCell::new()))
}

const ADD: ModifyOperation = ModifyOperation::Add;
const DELETE: ModifyOperation = ModifyOperation::Delete;
const REPLACE: ModifyOperation = ModifyOperation::Replace;

#[test]
fn changes_of_different_attributes_are_both_kept() {
    let lives = lives();
    let mut pair = Pair::new(&lives);
    pair.set(0, REPLACE, "l", &["there"]);
    pair.set(1, REPLACE, "description", &["second"]);
    pair.meet();
    let entry = pair.entry();
    assert_eq!(
        (entry.first("l"), entry.first("description")),
        ("there", "second")
    );
    let kinds = pair.kinds();
    assert!(kinds.contains(&ConflictKind::Merged), "{kinds:?}");
    assert!(!kinds.contains(&ConflictKind::Overwritten), "{kinds:?}");
}

#[test]
fn attributes_and_values_keep_their_order() {
    let lives = lives();
    let mut pair = Pair::new(&lives);
    pair.set(0, REPLACE, "l", &["there"]);
    pair.meet();
    assert_eq!(pair.nodes[0].read(), pair.nodes[1].read());
    let dn = a();
    let request = Request::ModifyDn(ModifyDnRequest {
        dn: dn.as_bytes(),
        new_rdn: b"ou=b",
        delete_old_rdn: false,
        new_superior: None,
    });
    assert!(pair.nodes[0].update(&request).is_success());
    pair.pass();
    pair.meet();
    assert_eq!(pair.nodes[0].read(), pair.nodes[1].read());
}

#[test]
fn values_of_one_attribute_are_added_and_removed_one_by_one() {
    let lives = lives();
    let mut pair = Pair::new(&lives);
    pair.set(0, ADD, "telephoneNumber", &["2"]);
    pair.set(1, ADD, "telephoneNumber", &["3"]);
    pair.set(0, DELETE, "telephoneNumber", &["1"]);
    pair.meet();
    assert_eq!(pair.entry().attributes["telephoneNumber"], ["2", "3"]);
    // Values that are new as a whole end older ones, and none that come later.
    pair.set(0, ADD, "telephoneNumber", &["4"]);
    pair.set(1, REPLACE, "telephoneNumber", &["5"]);
    pair.set(0, ADD, "telephoneNumber", &["6"]);
    pair.meet();
    assert_eq!(pair.entry().attributes["telephoneNumber"], ["5", "6"]);
}

#[test]
fn the_later_change_of_an_attribute_wins() {
    let lives = lives();
    let mut pair = Pair::new(&lives);
    pair.set(1, REPLACE, "description", &["theirs"]);
    pair.set(0, REPLACE, "description", &["ours"]);
    pair.meet();
    assert_eq!(pair.entry().attributes["description"], ["ours"]);
    assert!(pair.kinds().contains(&ConflictKind::Overwritten));
}

#[test]
fn a_new_name_does_not_lose_to_a_later_change_of_values() {
    let lives = lives();
    let mut pair = Pair::new(&lives);
    pair.rename(0, "ou=b");
    pair.set(1, REPLACE, "ou", &["a", "c"]);
    pair.set(1, REPLACE, "description", &["second"]);
    pair.meet();
    let entry = pair.entry();
    assert_eq!(entry.dn, format!("ou=b,{TOP}"));
    assert_eq!(entry.attributes["ou"], ["b", "c"]);
    assert_eq!(entry.first("description"), "second");
}
