//! A server under the conditions of real life: many clients, slow ones, wrong ones, signals.

use std::time::{Duration, Instant};

use fulgurite_client::{Client, ClientError};
use fulgurite_conformance::{LoadedStore, ROOT, RunningServer, SUFFIX, TIMEOUT, fulgurite};
use fulgurite_ldap::{
    AddRequest, Assertion, Filter, LdapResult, PartialAttribute, Request, Response, ResultCode,
    Scope, SearchRequest,
};
use fulgurite_server::raise_descriptor_limit;
use fulgurite_testkit::run_bounded;
use fulgurite_torture::wire::fuzz_server;
use rustix::process::Signal;

fn search_all() -> Request<'static> {
    Request::Search(SearchRequest::new(
        SUFFIX,
        Scope::Subtree,
        Filter::Present(b"objectClass"),
    ))
}

fn search_uid(uid: &str) -> Request<'_> {
    let filter = Filter::Equality(Assertion {
        attribute: b"uid",
        value: uid.as_bytes(),
    });
    Request::Search(SearchRequest::new(SUFFIX, Scope::Subtree, filter))
}

/// Sends a request to add an organizationalRole.
fn send_add(client: &mut Client, name: &str) -> Result<u32, ClientError> {
    let dn = format!("cn={name},{SUFFIX}");
    let (class, cn): ([&[u8]; 1], _) = ([b"organizationalRole"], [name.as_bytes()]);
    let attributes = vec![
        PartialAttribute::new("objectClass", &class),
        PartialAttribute::new("cn", &cn),
    ];
    client.send(
        &Request::Add(AddRequest {
            dn: dn.as_bytes(),
            attributes,
        }),
        &[],
    )
}

fn finds(client: &mut Client, uid: &str) -> bool {
    let outcome = client
        .search(SUFFIX, Scope::Subtree, &format!("(uid={uid})"), &[])
        .unwrap();
    assert!(outcome.result.is_success(), "{outcome:?}");
    outcome.entries.len() == 1
}

#[test]
fn the_log_names_missing_indexes_once() {
    let loaded = LoadedStore::generated(1200);
    let serving = loaded.serve(&[]);
    let mut client = serving.client();
    for filter in ["(employeeNumber=7)", "(employeeNumber=8)", "(uid=user.7)"] {
        let outcome = client.search(SUFFIX, Scope::Subtree, filter, &[]).unwrap();
        assert_eq!(outcome.entries.len(), 1, "{filter}");
    }
    let log = serving.stop();
    let missing = log.iter().filter(|line| line.contains("missing index"));
    let missing: Vec<&String> = missing.collect();
    assert!(
        matches!(missing[..], [line] if line.contains("missing index employeeNumber:eq: a search looked at 12")),
        "{log:?}"
    );
}

#[test]
fn a_thousand_connections_at_once() {
    let descriptors = raise_descriptor_limit().unwrap_or(u64::MAX);
    assert!(
        descriptors > 2100,
        "the hard limit of descriptors is {descriptors}"
    );
    let loaded = LoadedStore::generated(1000);
    let serving = loaded.serve(&[]);
    let mut clients: Vec<Client> = (0..1000).map(|_| serving.client()).collect();
    let names: Vec<String> = (1..=1000).map(|number| format!("user.{number}")).collect();
    for (client, name) in clients.iter_mut().zip(&names) {
        client.send(&search_uid(name), &[]).unwrap();
    }
    for (client, name) in clients.iter_mut().zip(&names) {
        let message = client.receive().unwrap();
        let Response::SearchEntry(entry) = &message.response else {
            panic!("{:?}", message.response);
        };
        let dn = format!("uid={name},ou=people,{SUFFIX}");
        assert_eq!(String::from_utf8_lossy(entry.dn), dn);
    }
    serving.stop();
}

#[test]
fn a_client_that_does_not_read_holds_up_nobody() {
    let loaded = LoadedStore::generated(5000);
    let serving = loaded.serve(&["--threads", "1", "--size-limit", "unlimited"]);
    let mut slow: Vec<Client> = (0..20).map(|_| serving.client()).collect();
    for client in &mut slow {
        for _ in 0..5 {
            client.send(&search_all(), &[]).unwrap();
        }
    }
    // While they do not read, others are answered, and updates are made.
    let mut client = serving.root_client();
    let begun = Instant::now();
    for number in 1..200 {
        assert!(finds(&mut client, &format!("user.{number}")));
    }
    send_add(&mut client, "new").unwrap();
    let added = client.receive().unwrap();
    assert!(
        added.response.result().is_some_and(LdapResult::is_success),
        "{added:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
    // The answers are complete once the client reads them.
    let mut client = slow.swap_remove(0);
    let mut done = 0;
    let mut entries = 0;
    while done < 5 {
        match client.receive().unwrap().response {
            Response::SearchDone(result) => {
                assert!(result.is_success(), "{result:?}");
                done += 1;
            }
            _ => entries += 1,
        }
    }
    assert!(entries >= 5 * 5000, "{entries}");
    serving.stop();
}

#[test]
fn a_running_search_can_be_abandoned() {
    let loaded = LoadedStore::generated(5000);
    let serving = loaded.serve(&["--size-limit", "unlimited"]);
    let mut client = serving.client();
    let searches: Vec<u32> = (0..4)
        .map(|_| client.send(&search_all(), &[]).unwrap())
        .collect();
    for id in searches {
        client.abandon(id).unwrap();
    }
    let last = client.send(&search_uid("user.1"), &[]).unwrap();
    let mut others = 0;
    loop {
        let message = client.receive().unwrap();
        match message.response {
            Response::SearchDone(_) if message.id == last => break,
            _ => others += 1,
        }
    }
    assert!(
        others < 4 * 5000,
        "all of the abandoned searches ran to their end"
    );
    serving.stop();
}

#[test]
fn updates_keep_their_order_and_are_seen_once_acknowledged() {
    let loaded = LoadedStore::generated(10);
    let serving = loaded.serve(&[]);
    let mut client = serving.root_client();
    let (mut adds, mut searches) = (Vec::new(), 0);
    let filter = || Filter::Present(b"objectClass");
    for number in 0..20 {
        let name = format!("c{number}");
        adds.push(send_add(&mut client, &name).unwrap());
        // Operations run concurrently: this one may be faster than the add before it.
        let dn = format!("cn={name},{SUFFIX}");
        let search = SearchRequest::new(&dn, Scope::Base, filter());
        client.send(&Request::Search(search), &[]).unwrap();
        searches += 1;
    }
    let mut answered = Vec::new();
    while answered.len() < adds.len() || searches > 0 {
        let message = client.receive().unwrap();
        let Some(result) = message.response.result() else {
            continue;
        };
        if adds.contains(&message.id) {
            assert!(result.is_success(), "{result:?}");
            answered.push(message.id);
        } else {
            let codes = [ResultCode::Success, ResultCode::NoSuchObject];
            assert!(codes.contains(&result.code), "{result:?}");
            searches -= 1;
        }
    }
    assert_eq!(answered, adds, "updates are answered in their order");
    for number in 0..20 {
        let dn = format!("cn=c{number},{SUFFIX}");
        let found = client.search(&dn, Scope::Base, "(objectClass=*)", &[]);
        assert_eq!(found.unwrap().entries.len(), 1, "{dn}");
    }
    serving.stop();
}

#[test]
fn signals_end_the_server_and_clients_are_told() {
    let loaded = LoadedStore::generated(10);
    for signal in [Signal::TERM, Signal::INT] {
        let serving = loaded.serve(&[]);
        let mut idle = serving.client();
        assert!(finds(&mut idle, "user.1"));
        serving.signal(Signal::HUP);
        assert!(finds(&mut idle, "user.2"), "SIGHUP changes nothing");
        let begun = Instant::now();
        serving.signal(signal);
        let told = idle.receive().map(|message| message.id);
        assert!(
            matches!(told, Err(ClientError::Disconnected(_))),
            "{told:?}"
        );
        let (status, log) = serving.wait();
        assert!(status.success(), "{status} {log:?}");
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn a_signal_right_after_the_start_is_heard() {
    let loaded = LoadedStore::generated(1);
    for _ in 0..20 {
        loaded.serve(&[]).stop();
    }
}

#[test]
fn operations_are_logged_on_request_and_passwords_never() {
    let loaded = LoadedStore::generated(10);
    let serving = loaded.serve(&["--log-operations"]);
    let mut client = serving.root_client();
    assert!(finds(&mut client, "user.7"));
    let _ = client
        .search(SUFFIX, Scope::Subtree, "(userPassword=pw.1)", &["cn", "sn"])
        .unwrap();
    let log = serving.stop().join("\n");
    assert!(
        log.contains(&format!(
            "op=0 BIND dn=\"{ROOT}\" method=128 RESULT tag=97 err=0"
        )),
        "{log}"
    );
    assert!(
        log.contains("filter=\"(uid=user.7)\" RESULT tag=101 err=0"),
        "{log}"
    );
    assert!(
        log.contains("filter=\"(userPassword=...)\" attrs=\"cn sn\""),
        "{log}"
    );
    assert!(!log.contains("secret") && !log.contains("pw.1"), "{log}");
}

#[test]
fn a_hundred_thousand_damaged_messages() {
    let loaded = LoadedStore::generated(200);
    let serving = loaded.serve(&[]);
    let begun = Instant::now();
    let report = fuzz_server(serving.address, 20_261_121, 100_000);
    assert!(report.passed(), "{report:?}");
    assert!(report.messages >= 100_000, "{report:?}");
    assert!(finds(&mut serving.client(), "user.7"));
    assert!(begun.elapsed() < 2 * TIMEOUT, "{:?}", begun.elapsed());
    serving.stop();
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let loaded = LoadedStore::generated(10);
    for round in 0..5 {
        let serving = loaded.serve(&[]);
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let client = serving.root_client();
                std::thread::spawn(move || add_until_killed(client, round, writer))
            })
            .collect();
        std::thread::sleep(Duration::from_millis(150 + 70 * round));
        serving.signal(Signal::KILL);
        let acknowledged: Vec<String> = writers
            .into_iter()
            .flat_map(|writer| writer.join().unwrap())
            .collect();
        assert!(!acknowledged.is_empty());
        drop(serving);
        let serving = loaded.serve(&[]);
        let mut client = serving.client();
        for dn in acknowledged {
            let found = client
                .search(&dn, Scope::Base, "(objectClass=*)", &["1.1"])
                .unwrap();
            assert_eq!(found.entries.len(), 1, "{dn} was acknowledged and is lost");
        }
        serving.stop();
    }
}

/// Adds entries, several outstanding at a time; gives the names of those acknowledged.
fn add_until_killed(mut client: Client, round: u64, writer: u32) -> Vec<String> {
    const OUTSTANDING: usize = 8;
    let mut waiting: Vec<(u32, String)> = Vec::new();
    let mut acknowledged = Vec::new();
    for number in 0.. {
        let name = format!("r{round}w{writer}n{number}");
        let Ok(id) = send_add(&mut client, &name) else {
            break;
        };
        waiting.push((id, format!("cn={name},{SUFFIX}")));
        if waiting.len() < OUTSTANDING {
            continue;
        }
        let Ok(message) = client.receive() else { break };
        let result = message.response.result().expect("the result of an add");
        assert!(result.is_success(), "{result:?}");
        let place = waiting
            .iter()
            .position(|(id, _)| *id == message.id)
            .expect("an id of ours");
        acknowledged.push(waiting.swap_remove(place).1);
    }
    acknowledged
}

/// The store knows its suffix, so nobody has to repeat it.
#[test]
fn the_suffix_comes_from_the_store() {
    let loaded = LoadedStore::generated(3);
    let mut command = fulgurite();
    command.args(["serve", "--data", loaded.data_str()]);
    command.args(["--listen", "ldap://127.0.0.1:0"]);
    let serving = RunningServer::start(&mut command);
    let mut client = serving.client();
    let filter = "(objectClass=*)";
    let dse = client
        .search("", Scope::Base, filter, &["namingContexts"])
        .unwrap();
    let names: Vec<_> = dse
        .entries
        .iter()
        .filter_map(|entry| entry.first("namingContexts"))
        .collect();
    assert_eq!(names, [SUFFIX]);
    let found = client.search(SUFFIX, Scope::Base, filter, &[]).unwrap();
    assert_eq!(found.entries.len(), 1);
    // Also behind a reload.
    serving.signal(Signal::HUP);
    let found = client.search(SUFFIX, Scope::Base, filter, &[]).unwrap();
    assert_eq!(found.entries.len(), 1);
    let log = serving.stop();
    assert!(!log.iter().any(|line| line.contains("ERROR")), "{log:?}");
}

/// A mistaken path is no silent beginning.
#[test]
fn a_missing_data_directory_is_named_before_it_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("wrong");
    let data = data.to_str().expect("a path");
    let mut command = fulgurite();
    command.args(["serve", "--data", data, "--suffix", SUFFIX]);
    command.args(["--listen", "ldap://127.0.0.1:0"]);
    let server = RunningServer::start(&mut command);
    let warned = |line: &String| line.contains("WARN") && line.contains(data);
    assert!(
        server.said_first().iter().any(warned),
        "{:?}",
        server.said_first()
    );
    server.stop();
    // Without the suffix, there is nothing to serve.
    let other = folder.path().join("other");
    let mut command = fulgurite();
    command.arg("serve").arg("--data").arg(&other);
    let refused = run_bounded(command.args(["--listen", "ldap://127.0.0.1:0"]), TIMEOUT);
    assert!(!refused.success());
    assert!(refused.stderr.contains("give --suffix DN"), "{refused:?}");
    assert!(!other.exists(), "a refused start leaves no folder");
}
