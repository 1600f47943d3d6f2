//! Changes that a state has passed while their entry waited for its name.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fulgurite_directory::{Directory, Quantum};
use fulgurite_ldap::ModifyOperation;
use fulgurite_schema::Schema;

use crate::clients::{add, modify};
use crate::link::{Link, settings};
use crate::node::{Node, SeenEntry, TOP};

const COUNT: u16 = 4;

type Lives = [[OnceCell<Directory>; 1]; COUNT as usize];

/// Servers that hear of each other one by one.
struct Servers<'d> {
    world_us: Arc<AtomicU64>,
    nodes: Vec<Node<'d>>,
    /// By the receiving server and the telling one.
    links: BTreeMap<(u16, u16), Link<'d>>,
}

impl<'d> Servers<'d> {
    fn new(lives: &'d Lives) -> Servers<'d> {
        let (schema, world_us) = (Schema::standard(), Arc::new(AtomicU64::new(0)));
        let others = |server: u16| (1..=COUNT).filter(move |other| *other != server);
        let nodes: Vec<Node<'d>> = (1..=COUNT)
            .zip(lives)
            .map(|(server, lives)| {
                let settings = others(server).map(|other| settings(other, false));
                Node::new(server, (&schema, &world_us), settings.collect(), lives)
            })
            .collect();
        let pairs = (1..=COUNT).flat_map(|to| others(to).map(move |from| (to, from)));
        let links = pairs.map(|(to, from)| {
            let ends = (usize::from(to) - 1, usize::from(from) - 1);
            ((to, from), Link::new(&nodes, ends, settings(from, false)))
        });
        Servers {
            links: links.collect(),
            world_us,
            nodes,
        }
    }

    fn node(&self, server: u16) -> &Node<'d> {
        &self.nodes[usize::from(server) - 1]
    }

    /// Lets so much time pass that a consumer asks again.
    fn pass(&self) -> u64 {
        let before = self.world_us.fetch_add(6_000_000, Ordering::Relaxed);
        (before + 6_000_000) / 1000
    }

    /// Lets a server hear all that another one has.
    fn hear(&mut self, to: u16, from: u16) {
        let now = self.pass();
        let link = self.links.get_mut(&(to, from)).expect("a way");
        link.turn(&self.nodes, now, true);
        for _ in 0..2 {
            while link.provide(Quantum::default(), false) {}
            link.deliver(&self.nodes, (usize::MAX, now), None);
        }
        link.store(&self.nodes, None, now);
        assert!(!link.is_busy(), "the refresh is at its end");
    }

    /// Lets a server hear the first entry that another one tells. Then the connection breaks.
    fn hear_one(&mut self, to: u16, from: u16) {
        let now = self.pass();
        let link = self.links.get_mut(&(to, from)).expect("a way");
        link.turn(&self.nodes, now, true);
        link.deliver(&self.nodes, (1, now), None);
        while link.provide(Quantum::default(), false) {}
        link.deliver(&self.nodes, (1, now), None);
        link.cut(&self.nodes, now, None);
    }

    fn set(&self, server: u16, name: &str, value: &str) {
        let values = [value.to_owned()];
        let replace = ModifyOperation::Replace;
        assert!(modify(self.node(server), &a(), replace, (name, &values)));
        self.pass();
    }

    fn add(&self, server: u16) {
        let unit = [("objectClass", "organizationalUnit"), ("ou", "a")];
        assert!(add(self.node(server), &a(), &unit));
        self.pass();
    }

    /// Returns the entry below the top.
    fn entry(&self, server: u16) -> SeenEntry {
        let entries = self.node(server).entries();
        let mut below = entries.into_values().filter(|entry| entry.dn != TOP);
        below.next().expect("an entry")
    }

    /// Server 1 has an entry with the name of another one, which server 3 has. Server 2 and server
    /// 3 change that. Server 1 hears of both changes, but its state covers only that of server 2
    /// while the entry waits for its name. Server 3 hears of this state.
    fn let_a_state_pass_a_change(&mut self) {
        let top = [("objectClass", "domain"), ("dc", "example")];
        assert!(add(self.node(1), TOP, &top));
        (2..=COUNT).for_each(|to| self.hear(to, 1));
        self.add(3);
        self.hear(2, 3);
        self.add(1);
        self.set(2, "l", "there");
        self.set(3, "description", "later");
        self.hear_one(1, 3);
        self.hear(1, 2);
        let own = self.entry(1);
        assert!(own.first("entryUUID").starts_with("01"), "{own:?}");
        self.hear(3, 1);
        assert_eq!(self.entry(3).first("l"), "", "nobody has told it");
        let reached = |server| self.node(server).vector().into_iter();
        let of_second = |csn: &String| csn.contains("#002#");
        assert_eq!(
            reached(3).find(of_second),
            reached(2).find(of_second),
            "but it knows the state"
        );
        self.hear(1, 3);
        let entry = self.entry(1);
        assert_eq!(
            (entry.first("l"), entry.first("description")),
            ("there", "later")
        );
    }
}

fn a() -> String {
    format!("ou=a,{TOP}")
}

fn lives() -> Lives {
    std::array::from_fn(|_| std::array::from_fn(|_| OnceCell::new()))
}

#[test]
fn a_change_that_a_state_has_passed_is_told_again() {
    let lives = lives();
    let mut servers = Servers::new(&lives);
    servers.let_a_state_pass_a_change();
    servers.hear(3, 1);
    assert_eq!(servers.entry(3), servers.entry(1));
}

#[test]
fn a_change_that_is_told_again_is_passed_on() {
    let lives = lives();
    let mut servers = Servers::new(&lives);
    servers.let_a_state_pass_a_change();
    // Server 4 lacks nothing that its state covers.
    servers.hear(4, 1);
    servers.hear(3, 4);
    servers.hear(3, 1);
    assert_eq!(servers.entry(4), servers.entry(1));
    assert_eq!(servers.entry(3), servers.entry(1));
}
