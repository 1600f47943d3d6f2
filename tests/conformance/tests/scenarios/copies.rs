//! Copies of Debian's slapd: our server is the consumer, whatever happens to either side.
//!
//! Two dumps are equal if their sorted entries are, with UUIDs, stamps and the state of the suffix.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use fulgurite_client::{Change, Client, PartialAttribute};
use fulgurite_conformance::HeldPort;
use fulgurite_testkit::{Random, seed};

use crate::data::{PASSWORD, ROOT, SUFFIX};
use crate::stage::{Running, Stage};

/// How long a consumer may need.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// The provider's database.
pub(crate) const INDEXES: &str = "index entryCSN,entryUUID eq\n";

/// A provider of slapd.
pub(crate) struct Provider {
    pub(crate) stage: Stage,
    pub(crate) port: HeldPort,
}

impl Provider {
    /// Configures a provider with lines of its overlay, and loads the top of the tree.
    pub(crate) fn new(label: &str, overlay: &str) -> Provider {
        let stage = Stage::with_original(&format!("{label}-provider"));
        let overlay = format!("{INDEXES}limits * size=unlimited\noverlay syncprov\n{overlay}");
        let database = stage.database("db", SUFFIX, &overlay);
        stage.configure(&format!("moduleload syncprov.so\nserverID 1\n{database}"));
        let port = HeldPort::new();
        let provider = Provider { stage, port };
        provider.stage.add(&top()).well();
        provider
    }

    pub(crate) fn start(&self) -> Running<'_> {
        let url = format!("ldap://127.0.0.1:{}/", self.port);
        let running = self.stage.start_at(&[&url]);
        let begun = Instant::now();
        while std::net::TcpStream::connect(self.port.address()).is_err() {
            assert!(begun.elapsed() < PATIENCE, "the provider does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        running
    }

    /// Returns the line of a consumer of this provider.
    pub(crate) fn syncrepl(&self, more: &str) -> String {
        format!(
            "syncrepl rid=7 provider=ldap://127.0.0.1:{} searchbase=\"{SUFFIX}\" bindmethod=simple \
             binddn=\"{ROOT}\" credentials={PASSWORD} retry=\"1 +\" {more}\n",
            self.port
        )
    }
}

/// Configures a consumer.
fn consumer(label: &str, line: &str) -> Stage {
    let stage = Stage::new(&format!("{label}-consumer"));
    let database = stage.database("db", SUFFIX, &format!("{INDEXES}{line}"));
    stage.configure(&database);
    stage
}

/// The top of the tree.
pub(crate) fn top() -> String {
    let mut text = format!(
        "dn: {SUFFIX}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: Example\n\n"
    );
    for unit in ["a", "b", "c"] {
        text += &format!("dn: ou={unit},{SUFFIX}\nobjectClass: organizationalUnit\nou: {unit}\n\n");
    }
    text
}

/// The entries of a dump, each with its lines sorted.
pub(crate) fn entries(dump: &str) -> BTreeSet<String> {
    let unfolded = dump.replace("\n ", "");
    let entries = unfolded
        .split("\n\n")
        .filter(|entry| !entry.trim().is_empty());
    entries
        .map(|entry| {
            let mut lines: Vec<&str> = entry.lines().filter(|line| !line.is_empty()).collect();
            lines.sort_unstable();
            lines.join("\n")
        })
        .collect()
}

/// Returns the state of a server as its suffix entry tells it.
pub(crate) fn state(server: &Running<'_>) -> String {
    // Glue is shown with the ManageDsaIT control only.
    let arguments = ["-LLL", "-M", "-b", SUFFIX, "-s", "base", "contextCSN"];
    let ran = server.client_as((ROOT, PASSWORD), "ldapsearch", &arguments, "");
    let lines = ran
        .out
        .lines()
        .filter(|line| line.starts_with("contextCSN"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Waits until the consumer has the state of the provider.
pub(crate) fn wait_for(provider: &Running<'_>, consumer: &Running<'_>, stage: &Stage) {
    let begun = Instant::now();
    loop {
        let (theirs, ours) = (state(provider), state(consumer));
        if !theirs.is_empty() && theirs == ours {
            return;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "provider {theirs}, consumer {ours}\n{}",
            log_of(stage)
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the lines of a consumer's log about its providers.
pub(crate) fn log_of(stage: &Stage) -> String {
    let log = stage.log();
    let lines = log.lines().filter(|line| line.contains("syncrepl"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Compares the dumps of two stopped servers.
fn assert_equal(provider: &Stage, consumer: &Stage) {
    assert_equal_dumps(&provider.cat(), &consumer.cat(), consumer);
}

/// Compares the dumps of two stopped servers, but for the vectors.
///
/// A slapd that is provider and consumer stores its vector with each cookie that it gets. This can
/// replace its newest CSN by an older one. So compare [`state`] before the stop.
fn assert_equal_content(provider: &Stage, consumer: &Stage) {
    let content = |dump: String| {
        let lines = dump.lines().filter(|line| !line.starts_with("contextCSN:"));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_equal_dumps(&content(provider.cat()), &content(consumer.cat()), consumer);
}

/// Compares two dumps, the second of which is that of `consumer`.
pub(crate) fn assert_equal_dumps(provider: &str, dump: &str, consumer: &Stage) {
    let (theirs, ours) = (entries(provider), entries(dump));
    let missing: Vec<_> = theirs.difference(&ours).collect();
    let extra: Vec<_> = ours.difference(&theirs).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "missing {missing:#?}\nnot at the provider {extra:#?}\n{}",
        log_of(consumer)
    );
    assert!(theirs.len() > 3, "there is something to compare");
}

/// Random updates of the provider, by one client.
pub(crate) struct Updates {
    client: Client,
    random: Random,
    next: u32,
    /// The names of entries, parents before children.
    names: Vec<String>,
}

impl Updates {
    pub(crate) fn new(provider: &Provider, random: Random) -> Updates {
        let mut client = Client::connect(provider.port.address()).expect("connect");
        let bound = client.bind(ROOT, PASSWORD.as_bytes()).expect("bind");
        assert!(bound.is_success(), "{bound:?}");
        Updates {
            client,
            random,
            next: 0,
            names: Vec::new(),
        }
    }

    /// Connects again to a provider that was started again.
    pub(crate) fn reconnect(&mut self, provider: &Provider) {
        self.client = Client::connect(provider.port.address()).expect("connect");
        let bound = self.client.bind(ROOT, PASSWORD.as_bytes()).expect("bind");
        assert!(bound.is_success(), "{bound:?}");
    }

    fn below(&mut self, count: usize) -> usize {
        self.random.below(count)
    }

    fn some_parent(&mut self) -> String {
        if self.names.is_empty() || self.below(3) > 0 {
            let unit = ["a", "b", "c"][self.below(3)];
            return format!("ou={unit},{SUFFIX}");
        }
        let at = self.below(self.names.len());
        self.names[at].clone()
    }

    pub(crate) fn run(&mut self, count: usize) {
        for _ in 0..count {
            match self.below(10) {
                0..4 => self.add(),
                4..7 => self.modify(),
                7..9 => self.rename(),
                _ => self.delete(),
            }
        }
    }

    fn add(&mut self) {
        self.next += 1;
        let (number, parent) = (self.next, self.some_parent());
        let name = format!("cn=n{number},{parent}");
        let cn = format!("n{number}");
        let binary: Vec<u8> = (0..self.below(400))
            .map(|at| (at * 7 % 256) as u8)
            .collect();
        let mut attributes = vec![PartialAttribute::new(
            "objectClass",
            &[b"inetOrgPerson" as &[u8]],
        )];
        let values: [&[u8]; 1] = [cn.as_bytes()];
        attributes.push(PartialAttribute::new("cn", &values));
        attributes.push(PartialAttribute::new("sn", &values));
        let photo: [&[u8]; 1] = [&binary];
        if !binary.is_empty() {
            attributes.push(PartialAttribute::new("jpegPhoto", &photo));
        }
        let done = self.client.add(&name, &attributes).expect("an answer");
        assert!(done.is_success(), "{name}: {done:?}");
        self.names.push(name);
    }

    fn modify(&mut self) {
        if self.names.is_empty() {
            return self.add();
        }
        let at = self.below(self.names.len());
        let name = self.names[at].clone();
        let text = format!("value {} \u{e4}", self.random.below(1000));
        let large = "x".repeat(self.below(20_000));
        let one: [&[u8]; 1] = [text.as_bytes()];
        let two: [&[u8]; 2] = [text.as_bytes(), b"second"];
        let big: [&[u8]; 1] = [large.as_bytes()];
        let changes = match self.below(5) {
            0 => vec![Change::replace("description", &one)],
            1 => vec![
                Change::replace("description", &two),
                Change::replace("title", &one),
            ],
            2 => vec![Change::replace("description", &[])],
            3 if !large.is_empty() => vec![Change::replace("carLicense", &big)],
            _ => vec![Change::replace("telephoneNumber", &[b"1 2 3" as &[u8]])],
        };
        let done = self.client.modify(&name, &changes).expect("an answer");
        assert!(done.is_success(), "{name}: {done:?}");
    }

    /// Renames an entry, or moves it with everything below it.
    fn rename(&mut self) {
        if self.names.is_empty() {
            return self.add();
        }
        let at = self.below(self.names.len());
        let name = self.names[at].clone();
        let parent = self.some_parent();
        if parent == name || parent.ends_with(&format!(",{name}")) {
            return self.modify();
        }
        self.next += 1;
        let rdn = format!("cn=r{}", self.next);
        let deletes = self.below(2) == 0;
        let done = self.client.modify_dn(&name, &rdn, deletes, Some(&parent));
        let done = done.expect("an answer");
        assert!(done.is_success(), "{name} below {parent}: {done:?}");
        let new = format!("{rdn},{parent}");
        let below = format!(",{name}");
        for held in &mut self.names {
            if *held == name {
                held.clone_from(&new);
            } else if let Some(leaf) = held.strip_suffix(&below) {
                *held = format!("{leaf},{new}");
            }
        }
    }

    /// Deletes a leaf.
    fn delete(&mut self) {
        if self.names.is_empty() {
            return;
        }
        let at = self.below(self.names.len());
        let name = self.names[at].clone();
        let below = format!(",{name}");
        if self.names.iter().any(|held| held.ends_with(&below)) {
            return self.rename();
        }
        let done = self.client.delete(&name).expect("an answer");
        assert!(done.is_success(), "{name}: {done:?}");
        self.names.remove(at);
    }
}

/// The settings of the provider: with or without a log of its session.
const OVERLAYS: [(&str, &str); 2] = [
    ("plain", "syncprov-checkpoint 1 1\n"),
    ("log", "syncprov-checkpoint 1 1\nsyncprov-sessionlog 1000\n"),
];

#[test]
fn a_copy_follows_its_provider() {
    let seed = seed("copies", 4533);
    for (overlay, lines) in OVERLAYS {
        for mode in [
            "type=refreshAndPersist",
            "type=refreshOnly interval=00:00:00:01",
        ] {
            let label = format!("copy-{overlay}-{}", mode.len());
            println!("seed {seed}, {label}");
            let provider = Provider::new(&label, lines);
            let copy = consumer(&label, &provider.syncrepl(mode));
            let theirs = provider.start();
            let mut updates = Updates::new(&provider, Random::new(seed));
            updates.run(60);
            let ours = copy.start();
            wait_for(&theirs, &ours, &copy);
            for _ in 0..3 {
                updates.run(40);
                wait_for(&theirs, &ours, &copy);
            }
            drop(updates);
            ours.stop();
            theirs.stop();
            assert_equal(&provider.stage, &copy);
        }
    }
}

#[test]
fn a_copy_survives_the_death_of_either_side() {
    let seed = seed("copies", 4533);
    for (overlay, lines) in OVERLAYS {
        let label = format!("killed-{overlay}");
        println!("seed {seed}, {label}");
        let provider = Provider::new(&label, lines);
        let copy = consumer(&label, &provider.syncrepl("type=refreshAndPersist"));
        let mut theirs = provider.start();
        let mut ours = copy.start();
        let mut updates = Updates::new(&provider, Random::new(seed));
        for round in 0..6 {
            updates.run(25);
            if round % 2 == 0 {
                ours.kill();
                updates.run(15);
                ours = copy.start();
            } else {
                theirs.kill();
                theirs = provider.start();
                updates.reconnect(&provider);
                updates.run(5);
            }
        }
        wait_for(&theirs, &ours, &copy);
        drop(updates);
        ours.stop();
        theirs.stop();
        assert_equal(&provider.stage, &copy);
    }
}

#[test]
fn a_copy_sends_updates_to_its_provider() {
    let provider = Provider::new("shadow", "");
    let line = provider.syncrepl("type=refreshAndPersist");
    let copy = consumer(
        "shadow",
        &format!("{line}updateref ldap://provider.example:389\n"),
    );
    let theirs = provider.start();
    let ours = copy.start();
    wait_for(&theirs, &ours, &copy);
    let entry = format!("dn: ou=new,{SUFFIX}\nobjectClass: organizationalUnit\nou: new\n");
    let refused = ours.root("ldapadd", &[], &entry).with_status(10);
    let target = format!("ldap://provider.example:389/ou=new,{SUFFIX}");
    assert!(refused.contains(&target), "{refused}");
    let refused = ours.client("ldapadd", &[], &entry).with_status(8);
    assert!(
        refused.contains("modifications require authentication"),
        "{refused}"
    );
    // Existence does not matter.
    let delete = format!("ou=none,{SUFFIX}");
    let refused = ours
        .root("ldapdelete", &["-M", &delete], "")
        .with_status(10);
    assert!(
        refused.contains("ldap://provider.example:389/ou=none"),
        "{refused}"
    );
    ours.stop();
    theirs.stop();
    let alone = consumer("alone", &line);
    let ours = alone.start();
    let refused = ours.root("ldapadd", &[], &entry).with_status(53);
    assert!(
        refused.contains("shadow context; no update referral"),
        "{refused}"
    );
    ours.stop();
}

#[test]
fn a_part_of_the_tree_has_glue_above_it() {
    let seed = seed("copies", 4533);
    let provider = Provider::new("part", "syncprov-checkpoint 1 1\n");
    let more = "type=refreshAndPersist filter=\"(objectClass=person)\"";
    let copy = consumer("part", &provider.syncrepl(more));
    let theirs = provider.start();
    let ours = copy.start();
    let mut updates = Updates::new(&provider, Random::new(seed));
    updates.run(80);
    wait_for(&theirs, &ours, &copy);
    let people = ["-LLL", "-b", SUFFIX, "(objectClass=person)", "*", "+"];
    let found = |server: &Running<'_>| {
        let text = server.root("ldapsearch", &people, "").well();
        let lines = text.replace("\n ", "");
        let lines = lines
            .lines()
            .filter(|line| !line.starts_with("hasSubordinates"));
        entries(&lines.collect::<Vec<_>>().join("\n"))
    };
    assert_eq!(found(&theirs), found(&ours));
    let visible = ours
        .root("ldapsearch", &["-LLL", "-b", SUFFIX, "(ou=*)"], "")
        .well();
    assert_eq!(visible, "", "glue is not shown");
    drop(updates);
    ours.stop();
    theirs.stop();
    assert!(copy.cat().contains("structuralObjectClass: glue"));
}

/// A provider whose access log is followed, and a consumer of it.
fn logged(label: &str) -> (Provider, Stage) {
    let stage = Stage::with_original(&format!("{label}-provider"));
    let log = "index entryCSN,reqStart,reqResult eq\nlimits * size=unlimited\n\
               overlay syncprov\nsyncprov-nopresent TRUE\nsyncprov-reloadhint TRUE\n";
    let log = stage
        .database("logdb", "cn=log", log)
        .replace("rootpw secret\n", "");
    let data = format!(
        "{INDEXES}limits * size=unlimited\noverlay syncprov\nsyncprov-checkpoint 1 1\n\
         overlay accesslog\nlogdb cn=log\nlogops writes\nlogsuccess TRUE\n"
    );
    let data = stage.database("db", SUFFIX, &data);
    stage.configure(&format!(
        "moduleload syncprov.so\nmoduleload accesslog.so\nserverID 1\n{log}{data}"
    ));
    let port = HeldPort::new();
    let provider = Provider { stage, port };
    let file = provider.stage.file("top.ldif", &top());
    provider
        .stage
        .tool("a", &["-b", SUFFIX, "-l", &file], "")
        .well();
    let line = provider.syncrepl(
        "type=refreshAndPersist syncdata=accesslog logbase=cn=log \
         logfilter=\"(&(objectClass=auditWriteObject)(reqResult=0))\"",
    );
    (provider, consumer(label, &line))
}

#[test]
fn a_copy_follows_the_log_of_its_provider() {
    let seed = seed("copies by log", 4533);
    let (provider, copy) = logged("delta");
    let theirs = provider.start();
    let mut ours = copy.start();
    wait_for(&theirs, &ours, &copy);
    let mut updates = Updates::new(&provider, Random::new(seed));
    for _ in 0..3 {
        updates.run(40);
        wait_for(&theirs, &ours, &copy);
    }
    ours.kill();
    updates.run(20);
    ours = copy.start();
    wait_for(&theirs, &ours, &copy);
    drop(updates);
    ours.stop();
    theirs.stop();
    let theirs = provider.stage.tool("c", &["-b", SUFFIX], "").well();
    let (theirs, ours) = (entries(&theirs), entries(&copy.cat()));
    let log = copy.log();
    assert_eq!(theirs, ours, "{log}");
    assert!(!log.contains("reading the entries again"), "{log}");
}

/// A server of ours that has a provider, and is one.
struct Node {
    stage: Stage,
    url: String,
    _port: HeldPort,
}

impl Node {
    fn new(label: &str) -> Node {
        let port = HeldPort::new();
        Node {
            stage: Stage::new(label),
            url: format!("ldap://{}/", port.address()),
            _port: port,
        }
    }

    /// Configures the node with the number of its server, if it has one, and lines of its database.
    fn configure(&self, number: Option<u16>, lines: &str) {
        let module = self.stage.distribution();
        let number = number.map_or_else(String::new, |number| format!("serverID {number}\n"));
        let lines = format!("{INDEXES}limits * size=unlimited\n{lines}");
        let database = self.stage.database("db", SUFFIX, &lines);
        self.stage.configure(&format!(
            "modulepath {module}/usr/lib/ldap\nmoduleload syncprov.so\n{number}{database}"
        ));
    }

    fn start(&self) -> Running<'_> {
        self.stage.start_at(&[&self.url])
    }
}

/// Returns the line of a consumer of a provider.
fn consumer_of(url: &str, rid: u16) -> String {
    format!(
        "syncrepl rid={rid} provider={url} searchbase=\"{SUFFIX}\" bindmethod=simple \
         binddn=\"{ROOT}\" credentials={PASSWORD} retry=\"1 +\" type=refreshAndPersist\n"
    )
}

#[test]
fn a_copy_is_a_provider_for_others() {
    let seed = seed("cascade", 4533);
    for last_is_ours in [false, true] {
        let label = format!("cascade-{last_is_ours}");
        println!("seed {seed}, {label}");
        let provider = Provider::new(&label, "syncprov-checkpoint 1 1\n");
        let middle = Node::new(&format!("{label}-middle"));
        let line = provider.syncrepl("type=refreshAndPersist");
        middle.configure(None, &format!("{line}overlay syncprov\n"));
        let last = match last_is_ours {
            true => Stage::new(&format!("{label}-last")),
            false => Stage::with_original(&format!("{label}-last")),
        };
        let lines = format!("{INDEXES}{}", consumer_of(&middle.url, 8));
        last.configure(&last.database("db", SUFFIX, &lines));
        let theirs = provider.start();
        let mut updates = Updates::new(&provider, Random::new(seed));
        updates.run(40);
        let mut ours = middle.start();
        let behind = last.start();
        wait_for(&theirs, &behind, &last);
        for round in 0..4 {
            updates.run(30);
            if round % 2 == 1 {
                ours.kill();
                updates.run(15);
                ours = middle.start();
            }
            wait_for(&theirs, &behind, &last);
        }
        // A consumer that was away gets what the log of the copy has.
        behind.stop();
        updates.run(30);
        wait_for(&theirs, &ours, &middle.stage);
        let behind = last.start();
        wait_for(&theirs, &behind, &last);
        drop(updates);
        behind.stop();
        ours.stop();
        theirs.stop();
        assert_equal(&provider.stage, &middle.stage);
        assert_equal(&provider.stage, &last);
    }
}

/// Updates of one of several providers, in its part of the tree and of a shared entry.
fn write_at(server: &Running<'_>, node: usize, round: u32) {
    let own = format!("ou={},{SUFFIX}", ["a", "b"][node]);
    let mut text = String::new();
    for number in 0..6 {
        let name = format!("cn=n{round}-{number},{own}");
        text += &format!("dn: {name}\nchangetype: add\nobjectClass: person\nsn: {number}\n\n");
    }
    text += &format!("dn: cn=n{round}-1,{own}\nchangetype: delete\n\n");
    text += &format!(
        "dn: cn=n{round}-2,{own}\nchangetype: modrdn\nnewrdn: cn=r{node}-{round}\ndeleteoldrdn: 1\n\
         newsuperior: ou=c,{SUFFIX}\n\n"
    );
    // The later of both changes wins at each server.
    text += &format!(
        "dn: ou=c,{SUFFIX}\nchangetype: modify\nreplace: description\n\
         description: {node} {round}\n-\n\n"
    );
    server.root("ldapmodify", &[], &text).well();
}

/// Two providers of each other, where `other_is_ours` says which server the second is.
fn two_providers(label: &str, other_is_ours: bool) {
    let mut nodes = [
        Node::new(&format!("{label}-1")),
        Node::new(&format!("{label}-2")),
    ];
    if !other_is_ours {
        nodes[1].stage = Stage::with_original(&format!("{label}-2"));
    }
    for (at, number) in [(0, 1), (1, 2)] {
        let lines = consumer_of(&nodes[1 - at].url, 10 + number);
        let more = "multiprovider on\noverlay syncprov\nsyncprov-checkpoint 1 1\n";
        nodes[at].configure(Some(number), &format!("{lines}{more}"));
    }
    let file = nodes[0].stage.file("top.ldif", &top());
    let added = nodes[0]
        .stage
        .tool("a", &["-w", "-S", "1", "-l", &file], "");
    added.well();
    let (mut one, mut two) = (nodes[0].start(), nodes[1].start());
    wait_for(&one, &two, &nodes[1].stage);
    for round in 0..4 {
        write_at(&one, 0, 2 * round);
        write_at(&two, 1, 2 * round);
        match round {
            1 => {
                one.kill();
                write_at(&two, 1, 2 * round + 1);
                one = nodes[0].start();
            }
            2 => {
                two.stop();
                write_at(&one, 0, 2 * round + 1);
                two = nodes[1].start();
            }
            _ => {}
        }
        wait_for(&one, &two, &nodes[1].stage);
    }
    assert!(state(&one).contains("#001#") && state(&one).contains("#002#"));
    one.stop();
    two.stop();
    assert_equal_content(&nodes[0].stage, &nodes[1].stage);
    if other_is_ours {
        assert_equal(&nodes[0].stage, &nodes[1].stage);
    }
}

#[test]
fn two_of_our_servers_are_providers_of_each_other() {
    two_providers("both-ours", true);
}

#[test]
fn our_server_and_slapd_are_providers_of_each_other() {
    two_providers("mixed", false);
}

#[test]
fn a_dump_of_a_copy_continues_where_it_was() {
    let seed = seed("dumped copy", 4533);
    let provider = Provider::new(
        "dumped",
        "syncprov-checkpoint 1 1\nsyncprov-sessionlog 1000\n",
    );
    let line = provider.syncrepl("type=refreshAndPersist");
    let before = Stage::with_original("dumped-before");
    before.configure(&before.database("db", SUFFIX, &format!("{INDEXES}{line}")));
    let theirs = provider.start();
    let mut updates = Updates::new(&provider, Random::new(seed));
    updates.run(60);
    let slapd = before.start();
    wait_for(&theirs, &slapd, &before);
    slapd.stop();
    let dump = before.cat();
    let context = dump.lines().find(|line| line.starts_with("contextCSN: "));
    let context = context.expect("the state of the copy").to_owned();
    let after = consumer("dumped", &line);
    after.add(&dump).well();
    assert!(after.cat().contains(&context), "{context}");
    updates.run(20);
    let ours = after.start();
    wait_for(&theirs, &ours, &after);
    drop(updates);
    ours.stop();
    theirs.stop();
    assert_equal(&provider.stage, &after);
}
