//! A history: entries, requests with the whole content compared after each update, and the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

use fulgurite_testkit::{Random, Scratch};

use crate::controls::Control;
use crate::conversation::{Answer, Attributes, Clients};
use crate::requests::{Request, Requester};
use crate::servers::Server;

use super::explained::{States, explanation, normal};
use super::findings::{Entries, Finding, by_name, parts};
use super::material::Material;
use super::passwords::{Ask, Passwords};
use super::requests::{REPLACE, add, delete, everything, modify, rename, search};
use super::shown::{self, ShownEntry, deciding_entry};
use super::worlds::{CONTAINERS, Style, WORLDS, World, setup};

/// Entries at the beginning, and requests.
const ENTRIES: usize = 8;
const REQUESTS: usize = 60;
/// The time after which slapd's task sleeps.
const LATE: Duration = Duration::from_secs(3);
/// How many requests may wake it.
const RINGS: usize = 20;
const MANAGE_DSA_IT: &str = "2.16.840.1.113730.3.4.2";

/// Both servers.
pub(crate) struct Arena {
    pub(crate) is_verbose: bool,
    pub(crate) findings: Vec<Finding>,
    /// How often each reason of code explained a difference.
    pub(crate) reasons: BTreeMap<&'static str, usize>,
    pub(crate) counts: Counts,
    last: String,
    bells: BTreeMap<&'static str, usize>,
    theirs: Clients,
    ours: Clients,
    // Dropped, and ended, last.
    _servers: [Server; 2],
}

/// Counts of requests by world, operation and code.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) operations: usize,
    contents: usize,
    restarts: usize,
    codes: BTreeMap<(&'static str, &'static str, u32), usize>,
}

impl Counts {
    pub(crate) fn assert_varied(&self) {
        for world in WORLDS {
            let of = |operation: &str, is_good: bool| -> usize {
                let codes = self.codes.iter().filter(|((name, known, code), _)| {
                    *name == world.name && *known == operation && (*code == 0) == is_good
                });
                codes.map(|(_, count)| count).sum()
            };
            for operation in ["add", "modify"] {
                let (good, bad) = (of(operation, true), of(operation, false));
                assert!(
                    good * 8 > bad && bad > 0,
                    "{} {operation}: {good}, {bad}",
                    world.name
                );
            }
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} operations, {} contents; the reference ended itself {} times",
            self.operations, self.contents, self.restarts
        )?;
        let mut last = ("", "");
        for ((world, operation, code), count) in &self.codes {
            if (*world, *operation) != last {
                last = (world, operation);
                write!(f, "\n{world} {operation}:")?;
            }
            write!(f, " {code}x{count}")?;
        }
        Ok(())
    }
}

impl Arena {
    /// Starts both servers with their files in folders of that name, and makes the folders of
    /// entries in each world.
    pub(crate) fn start(scratch: &Scratch, folder: &str) -> Arena {
        let reference = Server::slapd(&scratch.join(&format!("{folder}-slapd")), &setup());
        let tested = Server::tested(&scratch.join(&format!("{folder}-ours")), &setup());
        let mut arena = Arena {
            is_verbose: false,
            findings: Vec::new(),
            reasons: BTreeMap::new(),
            counts: Counts::default(),
            last: String::new(),
            bells: BTreeMap::new(),
            theirs: Clients::new(reference.address()),
            ours: Clients::new(tested.address()),
            _servers: [reference, tested],
        };
        for world in WORLDS {
            for (dn, entry) in first_entries(world) {
                let request = add(Requester::Root, &dn, &entry);
                for clients in [&mut arena.theirs, &mut arena.ours] {
                    let answer = clients.ask(&request).expect("the first entries");
                    assert_eq!(answer.code, Some(0), "{dn}: {answer:?}");
                }
            }
        }
        arena
    }

    /// Runs one history. If the reference ends itself, both begin anew.
    pub(crate) fn run(&mut self, episode: u64, world: &'static World, scratch: &Scratch) {
        let known = self.findings.len();
        if self.play(episode, world).is_some() {
            return;
        }
        let last = &self.last;
        assert!(
            self.ours.is_alive(),
            "our server is gone: {episode}, after {last}"
        );
        println!(
            "the reference ended itself: {} {episode}, after {last}",
            world.name
        );
        self.findings.truncate(known);
        let mut fresh = Arena::start(scratch, &format!("again-{episode}"));
        fresh.is_verbose = self.is_verbose;
        fresh.findings = std::mem::take(&mut self.findings);
        fresh.reasons = std::mem::take(&mut self.reasons);
        fresh.counts = std::mem::take(&mut self.counts);
        *self = fresh;
        self.counts.restarts += 1;
        let (restarts, operations) = (self.counts.restarts, self.counts.operations);
        assert!(
            restarts * 1000 < operations + 20_000,
            "the reference ends itself all the time"
        );
    }

    fn play(&mut self, episode: u64, world: &'static World) -> Option<()> {
        let mut history = History {
            world,
            episode,
            random: Random::new(episode),
            states: States::default(),
            seen: BTreeSet::new(),
            passwords: Passwords::default(),
        };
        let mut goes_on = true;
        if world.style != Style::Entries {
            for request in history.passwords.first_requests(world, &mut history.random) {
                goes_on = goes_on && self.step(&mut history, Ask::of(request))?;
            }
        }
        for at in 0..ENTRIES + REQUESTS {
            if !goes_on {
                break;
            }
            let ask = history.next(at);
            goes_on = self.step(&mut history, ask)?;
        }
        self.end(world)
    }

    /// Asks both servers. Returns false if their contents differ from here on.
    fn step(&mut self, history: &mut History, ask: Ask) -> Option<bool> {
        let (request, other) = (&ask.request, ask.ours.as_ref().unwrap_or(&ask.request));
        self.last = request.to_string();
        let (theirs, ours) = (self.theirs.ask(request)?, self.ours.ask(other)?);
        if self.is_verbose {
            println!("{request}\n  reference {theirs:?}\n  ours      {ours:?}");
        }
        let counts = &mut self.counts;
        counts.operations += 1;
        let code = theirs.code.unwrap_or(9999);
        let key = (history.world.name, request.operation, code);
        *counts.codes.entry(key).or_default() += 1;
        history.passwords.note_bind(&ask, ours.code);
        let is_same = self.note(history, request.operation, request, &theirs, &ours);
        if ["search", "compare"].contains(&request.operation) {
            return Some(true);
        }
        if !is_same {
            return Some(false);
        }
        if code == 0 {
            history.passwords.learn(&ask);
        }
        if code != 0 && request.operation != "bind" {
            return Some(true);
        }
        let changes_names = ["delete", "modrdn"].contains(&request.operation);
        if history.world.is_late && changes_names {
            self.wait_for_references(history.world)?;
        }
        self.compare_contents(history, request)
    }

    fn compare_contents(&mut self, history: &mut History, request: &Request) -> Option<bool> {
        let dump = dump(history.world);
        let (theirs, ours) = (self.theirs.ask(&dump)?, self.ours.ask(&dump)?);
        self.counts.contents += 1;
        let before = std::mem::take(&mut history.states);
        history.states = States {
            theirs: by_name(&theirs),
            ours: by_name(&ours),
            theirs_before: before.theirs,
            ours_before: before.ours,
            above: BTreeMap::new(),
        };
        Some(self.note(history, "contents", request, &theirs, &ours))
    }

    /// Notes the differences. Returns false if requests may be answered differently from here on.
    fn note(
        &mut self,
        history: &mut History,
        operation: &'static str,
        request: &Request,
        theirs: &Answer,
        ours: &Answer,
    ) -> bool {
        let mut is_same = true;
        for (what, dn, theirs, ours) in parts(theirs, ours) {
            is_same &= ["attribute memberof", "attribute modifiersname"].contains(&what.as_str());
            let finding = Finding {
                world: history.world.name,
                episode: history.episode,
                operation,
                what,
                dn,
                theirs,
                ours,
                request: request.to_string(),
            };
            let key =
                [&finding.what, &finding.dn, &finding.theirs, &finding.ours].map(String::clone);
            if operation == "contents" && !history.seen.insert(key) {
                continue;
            }
            match self.reason(history, &finding) {
                Some(reason) => *self.reasons.entry(reason).or_default() += 1,
                None => self.findings.push(finding),
            }
        }
        is_same
    }

    /// Returns the reason of a difference, if the stored entries or the shown one explain it.
    fn reason(&mut self, history: &mut History, finding: &Finding) -> Option<&'static str> {
        self.look_above(history)?;
        if history.world.has("dynlist")
            && let Some(dn) = deciding_entry(finding)
        {
            let is_managed = finding.request.contains(MANAGE_DSA_IT);
            let shown = ShownEntry {
                states: &history.states,
                theirs: shown(&mut self.theirs, &dn, is_managed)?,
                ours: shown(&mut self.ours, &dn, is_managed)?,
            };
            if self.is_verbose {
                println!(
                    "  shown     {:?}\n  ours      {:?}",
                    shown.theirs, shown.ours
                );
            }
            return shown::explanation(&shown, finding);
        }
        let anonymous = history.passwords.anonymous(finding);
        anonymous.or_else(|| explanation(history.world, &history.states, finding))
    }

    /// Reads the groups of those whose URLs have bases above the database.
    fn look_above(&mut self, history: &mut History) -> Option<()> {
        let states = &mut history.states;
        if !history.world.has("dynlist") || !states.above.is_empty() {
            return Some(());
        }
        for group in states.groups_above() {
            let entry = shown(&mut self.theirs, &group, false)?;
            let groups = entry.get("memberof").into_iter().flatten();
            let groups = groups.map(|name| normal(&String::from_utf8_lossy(name)));
            states.above.insert(normal(&group), groups.collect());
        }
        Some(())
    }

    /// Waits until slapd has changed the references of all renamed and deleted entries. It does so
    /// in the order of the requests, so the last reference tells. Now and then its task sleeps
    /// until the next request. So there is more than one.
    fn wait_for_references(&mut self, world: &'static World) -> Option<()> {
        for _ in 0..RINGS {
            let new = self.ring(world)?;
            let begun = Instant::now();
            while begun.elapsed() < LATE {
                if self.is_watched(world, &new)? {
                    return Some(());
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        panic!("slapd changes no references: {}", world.name);
    }

    /// Renames an entry that another one refers to. Returns its new name.
    fn ring(&mut self, world: &'static World) -> Option<String> {
        let bell = self.bells.entry(world.name).or_default();
        let name = |number: usize| format!("cn=bell{},{}", number % 2, world.suffix());
        let (old, new) = (name(*bell), name(*bell + 1));
        *bell += 1;
        let rdn = new.split(',').next().unwrap_or_default().to_owned();
        let ring = rename(Requester::Root, &old, &rdn, true, None);
        for clients in [&mut self.theirs, &mut self.ours] {
            let answer = clients.ask(&ring)?;
            assert_eq!(answer.code, Some(0), "{old}: {answer:?}");
        }
        Some(new)
    }

    /// Returns true if slapd's reference to the renamed entry has the new name.
    fn is_watched(&mut self, world: &'static World, new: &str) -> Option<bool> {
        let watch = format!("cn=watch,{}", world.suffix());
        let look = search(Requester::Root, &watch, 0, everything(), &["owner"]);
        let answer = self.theirs.ask(&look)?;
        let mut owners = answer
            .entries
            .iter()
            .filter_map(|(_, entry)| entry.get("owner"));
        Some(owners.any(|owner| owner.iter().any(|value| value == new.as_bytes())))
    }

    /// Removes the entries of a history from both servers, leaves first.
    fn end(&mut self, world: &'static World) -> Option<()> {
        for clients in [&mut self.theirs, &mut self.ours] {
            clients.end_sessions();
            for _ in 0..6 {
                let mut found = names(world, &by_name(&clients.ask(&dump(world))?));
                // A name is longer than that of its parent.
                found.sort_by_key(|dn| std::cmp::Reverse(dn.len()));
                for dn in &found {
                    let mut request = delete(Requester::Root, dn);
                    request.controls.push(Control::manage_dsa_it());
                    clients.ask(&request)?;
                }
                if found.is_empty() {
                    break;
                }
            }
            // References to folders may have been stored there.
            for container in CONTAINERS {
                let dn = format!("ou={container},{}", world.suffix());
                let change = (REPLACE, "description".to_owned(), Vec::new());
                clients.ask(&modify(Requester::Root, &dn, &[change]))?;
            }
        }
        if world.is_late {
            self.wait_for_references(world)?;
        }
        Some(())
    }
}

/// A history on its way.
struct History {
    world: &'static World,
    episode: u64,
    random: Random,
    states: States,
    /// Differences of contents that were noted.
    seen: BTreeSet<[String; 4]>,
    passwords: Passwords,
}

impl History {
    fn next(&mut self, at: usize) -> Ask {
        let names = names(self.world, &self.states.theirs);
        let is_about_passwords = match self.world.style {
            Style::Entries => false,
            Style::Passwords => true,
            Style::Mixed => at >= ENTRIES && self.random.chance(35),
        };
        if is_about_passwords {
            return self
                .passwords
                .ask(self.world, &self.states, &mut self.random);
        }
        let mut material = Material {
            random: &mut self.random,
            world: self.world,
            names: &names,
        };
        Ask::of(match at {
            0..ENTRIES => material.add(Requester::Root),
            _ => material.request(),
        })
    }
}

/// Returns an entry as a server shows it.
fn shown(clients: &mut Clients, dn: &str, is_managed: bool) -> Option<Attributes> {
    let mut entry = Attributes::new();
    // A search for memberOf too would show members of members.
    for wanted in ["*", "memberOf"] {
        let mut look = search(Requester::Root, dn, 0, everything(), &[wanted]);
        if is_managed {
            look.controls.push(Control::manage_dsa_it());
        }
        let answer = clients.ask(&look)?;
        entry.extend(answer.entries.into_iter().flat_map(|(_, part)| part));
    }
    Some(entry)
}

/// The names of the entries below the folders of a world.
fn names(world: &World, entries: &Entries) -> Vec<String> {
    let levels = |dn: &str| dn.matches(',').count();
    let home = levels(&world.suffix()) + 1;
    let below = entries.keys().filter(|dn| levels(dn) > home);
    below.cloned().collect()
}

/// All stored entries of a world.
fn dump(world: &World) -> Request {
    let mut request = search(
        Requester::Root,
        &world.suffix(),
        2,
        everything(),
        &["*", "+"],
    );
    request.controls.push(Control::manage_dsa_it());
    request
}

/// A name, and attributes with their values.
type NewEntry = (String, Vec<(String, Vec<String>)>);

/// The entries that stay in a world.
fn first_entries(world: &World) -> Vec<NewEntry> {
    let suffix = world.suffix();
    let entry = |dn: &str, class: &str, more: &[(&str, &str)]| {
        let (naming, id) = dn
            .split_once(',')
            .unwrap_or((dn, ""))
            .0
            .split_once('=')
            .unwrap_or((dn, ""));
        let mut entry = vec![("objectClass".to_owned(), vec![class.to_owned()])];
        entry.push((naming.to_owned(), vec![id.to_owned()]));
        for (name, value) in more {
            entry.push(((*name).to_owned(), vec![(*value).to_owned()]));
        }
        (dn.to_owned(), entry)
    };
    let mut entries = vec![entry(&suffix, "domain", &[])];
    for container in CONTAINERS {
        entries.push(entry(
            &format!("ou={container},{suffix}"),
            "organizationalUnit",
            &[],
        ));
    }
    if world.is_late {
        let bell = format!("cn=bell0,{suffix}");
        entries.push(entry(&bell, "device", &[]));
        entries.push(entry(
            &format!("cn=watch,{suffix}"),
            "device",
            &[("owner", &bell)],
        ));
    }
    entries
}
