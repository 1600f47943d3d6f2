//! A soak: three real processes, two of ours and one slapd, under random updates, kills and cuts.
//!
//! ```text
//!   even episodes   clients --> ours 1 <==> ours 2 <-- clients       slapd copies 2
//!   odd episodes    clients --> slapd --> ours 1 --> ours 2
//! ```
//! Each arrow between servers leads through a proxy. Each episode has new stores. It ends when all
//! ways are open; then the three dumps must be equal. `make soak` runs it for an hour.
//!
//! A slapd may lose a value of a name by itself, mostly after a kill (see `slapd_by_itself`). The
//! proxy must have seen that slapd was told the value. Such a copy is emptied and filled again, and
//! must be equal then.
//!
//! ```sh
//! FULGURITE_SOAK_SECONDS=3600 cargo test -p fulgurite-conformance --test scenarios -- soak --nocapture
//! ```

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use fulgurite_client::{Change, Client, ClientError, PartialAttribute};
use fulgurite_conformance::HeldPort;
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_testkit::{Random, seed};

use crate::copies::{INDEXES, assert_equal_dumps, entries, top, wait_for};
use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::proxy::{Fault, Proxy};
use crate::stage::{Running, Stage, is_ours};

/// Entries that all clients change.
const SHARED: usize = 8;
/// Events of an episode.
const EVENTS: usize = 12;
/// The index of the slapd.
const SLAPD: usize = 2;

/// A server of the soak.
struct Node {
    stage: Stage,
    port: HeldPort,
}

impl Node {
    fn new(stage: Stage) -> Node {
        let port = HeldPort::new();
        Node { stage, port }
    }

    fn start(&self) -> Running<'_> {
        let running = self
            .stage
            .start_at(&[&format!("ldap://127.0.0.1:{}/", self.port)]);
        let begun = Instant::now();
        while std::net::TcpStream::connect(self.port.address()).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "no listener");
            std::thread::sleep(Duration::from_millis(10));
        }
        running
    }
}

/// A client of one server, and the entries that it alone adds, renames and deletes.
struct Writer {
    /// The index of the server.
    node: usize,
    client: Option<Client>,
    names: Vec<String>,
    next: u32,
    updates: u64,
}

impl Writer {
    fn new(node: usize) -> Writer {
        Writer {
            node,
            client: None,
            names: Vec::new(),
            next: 0,
            updates: 0,
        }
    }

    /// Does some updates. A server that ends meanwhile ends them too.
    fn run(&mut self, node: &Node, random: &mut Random, count: usize) {
        for _ in 0..count {
            if self.client.is_none() {
                let Ok(mut client) = Client::connect(node.port.address()) else {
                    return;
                };
                if client.bind(ROOT, PASSWORD.as_bytes()).is_err() {
                    return;
                }
                self.client = Some(client);
            }
            self.update(random);
        }
    }

    fn update(&mut self, random: &mut Random) {
        let Some(client) = &mut self.client else {
            return;
        };
        self.next += 1;
        let unit = ["a", "b", "c"][self.node];
        let text = format!("{} {}", self.node, self.next);
        let large = "x".repeat(random.below(3_000));
        let values: [&[u8]; 1] = [text.as_bytes()];
        let larges: [&[u8]; 1] = [large.as_bytes()];
        let change = match large.is_empty() {
            true => Change::replace("description", &values),
            false => Change::replace("carLicense", &larges),
        };
        let known = random.below(self.names.len().max(1));
        let answer = match (random.below(10), self.names.get(known).cloned()) {
            (0..2, _) => {
                let name = format!("cn=s{},{SUFFIX}", random.below(SHARED));
                client.modify(&name, &[Change::replace("description", &values)])
            }
            (2..5, Some(name)) => client.modify(&name, &[change]),
            (5..7, Some(name)) => {
                let rdn = format!("cn=r{}", self.next);
                let superior = format!("ou={unit},{SUFFIX}");
                let done = client.modify_dn(&name, &rdn, random.chance(50), Some(&superior));
                if is_done(&done) {
                    self.names[known] = format!("{rdn},{superior}");
                }
                done
            }
            (7, Some(name)) => {
                let done = client.delete(&name);
                if is_done(&done) {
                    self.names.swap_remove(known);
                }
                done
            }
            _ => {
                let name = format!("cn=n{},ou={unit},{SUFFIX}", self.next);
                let classes: [&[u8]; 1] = [b"inetOrgPerson"];
                let attributes = [
                    PartialAttribute::new("objectClass", &classes),
                    PartialAttribute::new("sn", &values),
                ];
                let done = client.add(&name, &attributes);
                if is_done(&done) {
                    self.names.push(name);
                }
                done
            }
        };
        match answer {
            Ok(answer) => {
                // A lost answer leaves open whether the name is there.
                let codes = [
                    ResultCode::Success,
                    ResultCode::NoSuchObject,
                    ResultCode::EntryAlreadyExists,
                ];
                assert!(codes.contains(&answer.code), "{answer:?}");
                self.updates += 1;
            }
            Err(_) => self.client = None,
        }
    }
}

fn is_done(answer: &Result<LdapResult, ClientError>) -> bool {
    answer.as_ref().is_ok_and(LdapResult::is_success)
}

/// Returns a syncrepl statement for the provider behind a port.
fn syncrepl(rid: u16, port: u16) -> String {
    format!(
        "syncrepl rid={rid} provider=ldap://127.0.0.1:{port} searchbase=\"{SUFFIX}\" \
         bindmethod=simple binddn=\"{ROOT}\" credentials={PASSWORD} retry=\"1 +\" \
         type=refreshAndPersist\n"
    )
}

/// The servers, the ways between them, and the clients.
struct Episode {
    nodes: [Node; 3],
    proxies: Vec<Proxy>,
    writers: Vec<Writer>,
}

impl Episode {
    /// Two providers of each other, and a copy of the second.
    fn mesh(label: &str) -> Episode {
        let nodes = nodes(label);
        let proxies = vec![
            Proxy::new(nodes[1].port.number()),
            Proxy::new(nodes[0].port.number()),
            Proxy::new(nodes[1].port.number()),
        ];
        let both = "multiprovider on\noverlay syncprov\n";
        configure(&nodes[0], Some(1), &(syncrepl(11, proxies[0].port) + both));
        configure(&nodes[1], Some(2), &(syncrepl(12, proxies[1].port) + both));
        configure(&nodes[2], None, &syncrepl(13, proxies[2].port));
        load(&nodes[0]);
        Episode {
            nodes,
            proxies,
            writers: vec![Writer::new(0), Writer::new(1)],
        }
    }

    /// slapd, a copy of it, and a copy of the copy.
    fn chain(label: &str) -> Episode {
        let nodes = nodes(label);
        let proxies = vec![
            Proxy::new(nodes[2].port.number()),
            Proxy::new(nodes[0].port.number()),
        ];
        let overlay = "overlay syncprov\nsyncprov-checkpoint 1 1\n";
        configure(&nodes[2], Some(1), overlay);
        let middle = syncrepl(11, proxies[0].port) + "overlay syncprov\n";
        configure(&nodes[0], None, &middle);
        configure(&nodes[1], None, &syncrepl(12, proxies[1].port));
        load(&nodes[2]);
        Episode {
            nodes,
            proxies,
            writers: vec![Writer::new(2)],
        }
    }

    /// Runs the episode.
    fn run(self, random: &mut Random) -> Outcome {
        let Episode {
            nodes,
            proxies,
            mut writers,
        } = self;
        let mut running: Vec<_> = nodes.iter().map(|node| Some(node.start())).collect();
        let first = writers[0].node;
        wait(&running, &nodes, first);
        for _ in 0..EVENTS {
            write(&nodes, &mut writers, random);
            let at = random.below(proxies.len());
            match random.below(8) {
                0..3 => {
                    let at = random.below(3);
                    let server = running[at].take().expect("it runs");
                    let delay = Duration::from_millis(random.between(0, 30) as u64);
                    std::thread::scope(|scope| {
                        scope.spawn(move || {
                            std::thread::sleep(delay);
                            server.kill();
                        });
                        write(&nodes, &mut writers, random);
                    });
                    if random.chance(60) {
                        write(&nodes, &mut writers, random);
                    }
                    running[at] = Some(match at == first && at == SLAPD {
                        true => restart_provider(&nodes[at], &proxies[0]),
                        false => nodes[at].start(),
                    });
                }
                3 => proxies[at].cut(),
                number => {
                    let faults = [
                        Fault::Delay,
                        Fault::Duplicate,
                        Fault::HalfOpen,
                        Fault::Refuse,
                    ];
                    proxies[at].set(faults[number - 4]);
                    write(&nodes, &mut writers, random);
                    std::thread::sleep(Duration::from_millis(random.between(0, 1500) as u64));
                    proxies[at].set(Fault::None);
                }
            }
            if random.chance(15) {
                wait(&running, &nodes, first);
            }
        }
        wait(&running, &nodes, first);
        for server in running.into_iter().flatten() {
            server.stop();
        }
        let dumps: Vec<_> = nodes.iter().map(|node| node.stage.cat()).collect();
        let lost = match first {
            SLAPD => None,
            _ => lost_names(&dumps[first], &dumps[SLAPD], &proxies[2]),
        };
        for at in [(first + 1) % 3, (first + 2) % 3] {
            if at == SLAPD && lost.is_some_and(|lost| lost > 0) {
                fill_again(&nodes, &dumps[first]);
            } else {
                assert_equal_dumps(&dumps[first], &dumps[at], &nodes[at].stage);
            }
        }
        Outcome {
            updates: writers.iter().map(|writer| writer.updates).sum(),
            lost: lost.unwrap_or(0),
        }
    }
}

/// The figures of an episode.
struct Outcome {
    updates: u64,
    /// Entries of which slapd has lost a name by itself.
    lost: usize,
}

/// Returns of how many entries a dump lacks values of `cn` that have passed the proxy. `None` if
/// anything else differs.
fn lost_names(provider: &str, dump: &str, way: &Proxy) -> Option<usize> {
    let (theirs, copied) = (entries(provider), entries(dump));
    let whole: Vec<_> = theirs.difference(&copied).collect();
    let poorer: Vec<_> = copied.difference(&theirs).collect();
    let lacks_names = |poorer: &str, whole: &str| {
        let (poorer, whole): (BTreeSet<_>, BTreeSet<_>) =
            (poorer.lines().collect(), whole.lines().collect());
        let uuid = whole
            .iter()
            .find_map(|line| line.strip_prefix("entryUUID: "));
        let told = way.names(uuid.unwrap_or(""));
        let mut lacking = whole.difference(&poorer);
        poorer.is_subset(&whole)
            && lacking.all(|line| {
                line.strip_prefix("cn: ")
                    .is_some_and(|name| told.contains(name))
            })
    };
    let explained = poorer
        .iter()
        .filter(|poorer| whole.iter().any(|whole| lacks_names(poorer, whole)))
        .count();
    (explained == poorer.len() && explained == whole.len()).then_some(explained)
}

/// Empties the slapd and lets it copy everything, as an administrator would.
fn fill_again(nodes: &[Node; 3], expected: &str) {
    let slapd = &nodes[SLAPD];
    let folder = slapd.stage.path("db");
    std::fs::remove_dir_all(&folder).expect("remove the copy");
    std::fs::create_dir(&folder).expect("make its folder");
    let servers = [nodes[1].start(), slapd.start()];
    wait_for(&servers[0], &servers[1], &slapd.stage);
    for server in servers {
        server.stop();
    }
    assert_equal_dumps(expected, &slapd.stage.cat(), &slapd.stage);
}

/// Starts a killed slapd that is a provider, and updates it before a copy asks.
///
/// Its contextCSN may be older than its newest entry then. To a copy in that state it says nothing
/// of the entry, now or later.
fn restart_provider<'n>(node: &'n Node, way: &Proxy) -> Running<'n> {
    way.set(Fault::Refuse);
    let running = node.start();
    let mut client = Client::connect(node.port.address()).expect("connect");
    let bound = client.bind(ROOT, PASSWORD.as_bytes()).expect("bind");
    assert!(bound.is_success(), "{bound:?}");
    let values: [&[u8]; 1] = [b"started again"];
    let change = Change::replace("description", &values);
    let changed = client.modify(&format!("cn=s0,{SUFFIX}"), &[change]);
    assert!(is_done(&changed), "{changed:?}");
    way.set(Fault::None);
    running
}

/// Lets each client do some updates.
fn write(nodes: &[Node; 3], writers: &mut [Writer], random: &mut Random) {
    for writer in writers {
        let count = random.between(1, 15);
        writer.run(&nodes[writer.node], random, count);
    }
}

fn nodes(label: &str) -> [Node; 3] {
    [
        Node::new(Stage::new(&format!("{label}-1"))),
        Node::new(Stage::new(&format!("{label}-2"))),
        Node::new(Stage::with_original(&format!("{label}-slapd"))),
    ]
}

fn configure(node: &Node, number: Option<u16>, lines: &str) {
    let number = number.map_or_else(String::new, |number| format!("serverID {number}\n"));
    let lines = format!("{INDEXES}limits * size=unlimited\n{lines}");
    let database = node.stage.database("db", SUFFIX, &lines);
    node.stage
        .configure(&format!("moduleload syncprov.so\n{number}{database}"));
}

/// Loads the top of the tree, with the entries that all clients change.
fn load(node: &Node) {
    let mut text = top();
    for number in 0..SHARED {
        text +=
            &format!("dn: cn=s{number},{SUFFIX}\nobjectClass: person\ncn: s{number}\nsn: x\n\n");
    }
    let file = node.stage.file("top.ldif", &text);
    let added = node.stage.tool("a", &["-w", "-S", "1", "-l", &file], "");
    added.well();
}

/// Waits until all servers have the state of the first one.
fn wait(running: &[Option<Running<'_>>], nodes: &[Node; 3], first: usize) {
    let server = |at: usize| running[at].as_ref().expect("it runs");
    // The first may copy from the second, so that is asked again in the end.
    for at in [(first + 1) % 3, (first + 2) % 3, (first + 1) % 3] {
        wait_for(server(first), server(at), &nodes[at].stage);
    }
}

#[test]
fn soak_of_three_servers() {
    if !is_ours() {
        return;
    }
    let seconds = std::env::var("FULGURITE_SOAK_SECONDS").ok();
    let seconds = seconds.map_or(0, |text| text.parse().expect("a number of seconds"));
    let first = seed("soak", 19);
    let (begun, mut episodes) = (Instant::now(), 0);
    let (mut updates, mut lost) = (0, 0);
    while episodes < 2 || begun.elapsed() < Duration::from_secs(seconds) {
        let number = first + episodes;
        println!("FULGURITE_TEST_SEED={number}: episode {episodes}, {updates} updates so far");
        let label = format!("soak-{number}");
        let episode = match number % 2 {
            0 => Episode::mesh(&label),
            _ => Episode::chain(&label),
        };
        let outcome = episode.run(&mut Random::new(number));
        updates += outcome.updates;
        lost += outcome.lost;
        episodes += 1;
    }
    let minutes = begun.elapsed().as_secs() / 60;
    println!("{episodes} episodes, {updates} updates, {minutes} minutes: all dumps equal");
    println!("slapd was filled again after it had lost names of {lost} entries by itself");
}
