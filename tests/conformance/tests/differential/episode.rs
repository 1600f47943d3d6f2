//! An episode: a new tree, some requests, a dump, and the removal of the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fulgurite_testkit::{Random, Scratch};

use crate::ber::{boolean, enumerated, group, integer, octets, sequence, tlv};
use crate::compare::{Difference, difference};
use crate::controls::Control;
use crate::conversation::{Answer, Clients};
use crate::filters::Filter;
use crate::names::Name;
use crate::requests::{Effect, Generator, Request, Requester};
use crate::servers::{Server, Setup};

/// Entries at the beginning, and requests.
const ENTRIES: usize = 12;
const REQUESTS: usize = 90;

/// Both servers.
pub(crate) struct Duel {
    pub(crate) is_verbose: bool,
    pub(crate) differences: Vec<Difference>,
    pub(crate) counts: Counts,
    /// The last request, for when a server is gone.
    last: String,
    theirs: Clients,
    ours: Clients,
    // Dropped, and ended, last.
    _servers: [Server; 2],
}

/// Counts of the requests: a test whose requests all fail proves little.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) operations: usize,
    /// How often the reference had to be started again.
    restarts: usize,
    codes: BTreeMap<(&'static str, u32), usize>,
    entries: usize,
    same_diagnostics: usize,
    diagnostics: usize,
}

impl Counts {
    pub(crate) fn assert_varied(&self) {
        let codes: BTreeSet<u32> = self.codes.keys().map(|(_, code)| *code).collect();
        assert!(codes.len() > 15, "only the codes {codes:?}");
        for operation in ["search", "modify", "add", "delete", "modrdn"] {
            let all: usize = self
                .codes
                .iter()
                .filter(|((of, _), _)| *of == operation)
                .map(|(_, count)| count)
                .sum();
            let good = self.codes.get(&(operation, 0)).copied().unwrap_or(0);
            assert!(good * 12 > all, "{operation}: {good} of {all} succeed");
        }
        assert!(
            self.entries > self.operations / 4,
            "{} entries",
            self.entries
        );
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} operations, {} entries; of {} diagnostics {} are the same; the reference ended itself {} times",
            self.operations, self.entries, self.diagnostics, self.same_diagnostics, self.restarts
        )?;
        let mut last = "";
        for ((operation, code), count) in &self.codes {
            if *operation != last {
                write!(f, "{}{operation}:", if last.is_empty() { "" } else { "\n" })?;
                last = operation;
            }
            write!(f, " {code}x{count}")?;
        }
        Ok(())
    }
}

impl Duel {
    /// Starts both servers with their files in folders of that name.
    pub(crate) fn start(scratch: &Scratch, folder: &str) -> Duel {
        let setup = Setup::plain();
        let reference = Server::slapd(&scratch.join(&format!("{folder}-slapd")), &setup);
        let tested = Server::tested(&scratch.join(&format!("{folder}-ours")), &setup);
        Duel {
            is_verbose: false,
            differences: Vec::new(),
            counts: Counts::default(),
            last: String::new(),
            theirs: Clients::new(reference.address()),
            ours: Clients::new(tested.address()),
            _servers: [reference, tested],
        }
    }

    /// Runs one episode. Where the reference ends itself, which it does now and then, both begin
    /// anew and the episode is left out.
    pub(crate) fn run(&mut self, episode: u64, scratch: &Scratch) {
        let known = self.differences.len();
        if self.play(episode).is_none() {
            assert!(
                self.ours.is_alive(),
                "our server is gone: episode {episode}, after {}",
                self.last
            );
            assert!(!self.theirs.is_alive());
            println!(
                "the reference ended itself: episode {episode}, after {}",
                self.last
            );
            self.differences.truncate(known);
            let is_verbose = self.is_verbose;
            let folder = format!("again-{episode}");
            let fresh = Duel::start(scratch, &folder);
            let old = std::mem::replace(self, fresh);
            self.is_verbose = is_verbose;
            self.differences = old.differences;
            self.counts = old.counts;
            self.counts.restarts += 1;
            assert!(
                self.counts.restarts * 2000 < self.counts.operations + 20_000,
                "the reference ends itself all the time"
            );
        }
    }

    fn play(&mut self, episode: u64) -> Option<()> {
        let mut random = Random::new(episode);
        let top = Name::suffix()
            .child("ou", "Work")
            .child("ou", &format!("e{episode}"));
        let mut names = vec![top.clone()];
        self.begin(&top, &mut names, &mut random)?;
        for _ in 0..REQUESTS {
            let mut generator = Generator {
                random: &mut random,
                top: &top,
                names: &names,
            };
            let request = generator.request();
            let is_same = self.both(episode, &request, &mut names)?;
            // The stored content may differ from here on.
            if !is_same
                && request.operation != "search"
                && request.operation != "compare"
                && request.operation != "bind"
            {
                return self.end(&top);
            }
        }
        self.both(episode, &dump(&top), &mut names)?;
        self.end(&top)
    }

    fn begin(&mut self, top: &Name, names: &mut Vec<Name>, random: &mut Random) -> Option<()> {
        let word = |text: &str| vec![text.as_bytes().to_vec()];
        let first = [("objectClass".to_owned(), word("organizationalUnit"))];
        for at in 0..ENTRIES {
            let mut generator = Generator { random, top, names };
            let (name, request) = if at == 0 {
                (
                    top.clone(),
                    generator.add_of(Requester::Root, &top.plain(), &first),
                )
            } else {
                let texts: Vec<String> = generator.names.iter().map(Name::plain).collect();
                let (rdn, attributes) = generator.entry(&texts);
                let parent = generator.random.pick(generator.names).clone();
                let name = parent.below(rdn);
                let request = generator.add_of(Requester::Root, &name.plain(), &attributes);
                (name, request)
            };
            let (theirs, ours) = (self.theirs.ask(&request)?, self.ours.ask(&request)?);
            assert!(
                at > 0 || theirs.code == Some(0),
                "the episode's top: {theirs:?}"
            );
            self.note(0, &request, &theirs, &ours);
            if theirs.code == Some(0) && at > 0 {
                names.push(name);
            }
        }
        Some(())
    }

    /// Asks both servers; tells whether the answers are the same.
    fn both(&mut self, episode: u64, request: &Request, names: &mut Vec<Name>) -> Option<bool> {
        self.last = request.to_string();
        let (theirs, ours) = (self.theirs.ask(request)?, self.ours.ask(request)?);
        if self.is_verbose {
            println!("{request}\n  reference {theirs:?}\n  ours      {ours:?}");
        }
        if theirs.code == Some(0) {
            apply(&request.effect, names);
        }
        Some(self.note(episode, request, &theirs, &ours))
    }

    fn note(&mut self, episode: u64, request: &Request, theirs: &Answer, ours: &Answer) -> bool {
        let counts = &mut self.counts;
        counts.operations += 1;
        counts.entries += theirs.entries.len();
        *counts
            .codes
            .entry((request.operation, theirs.code.unwrap_or(9999)))
            .or_default() += 1;
        if theirs.code == ours.code && !theirs.diagnostic.is_empty() {
            counts.diagnostics += 1;
            counts.same_diagnostics += usize::from(theirs.diagnostic == ours.diagnostic);
        }
        let Some((what, theirs, ours)) = difference(theirs, ours) else {
            return true;
        };
        self.differences.push(Difference {
            episode,
            operation: request.operation,
            what,
            theirs,
            ours,
            request: request.to_string(),
        });
        false
    }

    /// Removes the episode's entries from both servers, leaves first.
    fn end(&mut self, top: &Name) -> Option<()> {
        for clients in [&mut self.theirs, &mut self.ours] {
            for _ in 0..4 {
                let mut found: Vec<String> = clients
                    .ask(&dump(top))?
                    .entries
                    .into_iter()
                    .map(|(dn, _)| dn)
                    .collect();
                // A name is longer than that of its parent.
                found.sort_by_key(|dn| std::cmp::Reverse(dn.len()));
                for dn in &found {
                    let request = Request {
                        who: Requester::Root,
                        operation: "delete",
                        body: tlv(0x4a, dn.as_bytes()),
                        controls: vec![Control::manage_dsa_it()],
                        text: dn.clone(),
                        effect: Effect::None,
                    };
                    clients.ask(&request)?;
                }
                if found.is_empty() {
                    break;
                }
            }
        }
        Some(())
    }
}

fn apply(effect: &Effect, names: &mut Vec<Name>) {
    match effect {
        Effect::None => {}
        Effect::Made(name) => {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        Effect::Gone(name) => names.retain(|known| known != name || names_top(known)),
        Effect::Moved(old, new) => {
            for name in names.iter_mut() {
                if name.is_within(old) {
                    let own = name.0.len() - old.0.len();
                    let mut rdns = name.0[..own].to_vec();
                    rdns.extend(new.0.iter().cloned());
                    name.0 = rdns;
                }
            }
        }
    }
}

/// The top of an episode stays in the list, so that there is always a name to choose.
fn names_top(name: &Name) -> bool {
    name.0.len() == Name::suffix().0.len() + 2
}

/// Everything of an episode, with all attributes.
fn dump(top: &Name) -> Request {
    let everything = Filter::everything();
    Request {
        who: Requester::Root,
        operation: "search",
        body: group(
            0x63,
            &[
                octets(top.plain()),
                enumerated(2),
                enumerated(0),
                integer(0),
                integer(0),
                boolean(false),
                everything.octets,
                sequence(&[octets("*"), octets("+")]),
            ],
        ),
        controls: vec![Control::manage_dsa_it()],
        text: format!("everything below {}", top.plain()),
        effect: Effect::None,
    }
}
