//! Several databases in one server: an update of one waits for no other.

use std::path::Path;
use std::sync::Arc;

use fulgurite_client::Client;
use fulgurite_config::{Layer, Settings};
use fulgurite_conformance::{PASSWORD, ROOT, RunningServer, SUFFIX, fulgurite, path, run};
use fulgurite_ldap::{AddRequest, LdapResult, PartialAttribute, Request, Scope};
use fulgurite_store::{Store, StoreOptions};
use rustix::process::Signal;
use tempfile::TempDir;

const PARTNER: &str = "o=Partner";

/// Makes two durable databases with one root. Returns the file of the settings.
fn two_databases(folder: &Path) -> &'static str {
    let write = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        path(&file)
    };
    let password = write("password", PASSWORD);
    let database = |suffix: &str, data: &str| {
        format!(
            "[[database]]\nsuffix = \"{suffix}\"\ndata = \"{}\"\n\
             root.dn = \"{ROOT}\"\nroot.password_file = \"{password}\"\n",
            path(&folder.join(data))
        )
    };
    let config = database(SUFFIX, "example") + &database(PARTNER, "partner");
    let config = write("two.toml", &config);
    for (suffix, entry) in [
        (SUFFIX, "objectClass: domain\ndc: example\n"),
        (PARTNER, "objectClass: organization\no: Partner\n"),
    ] {
        let ldif = write("top.ldif", &format!("dn: {suffix}\n{entry}"));
        let load = [
            "load", "--quiet", "--config", config, "--suffix", suffix, ldif,
        ];
        let loaded = run(&load);
        assert!(loaded.status.success(), "{loaded:?}");
    }
    config
}

fn serve(config: &str) -> RunningServer {
    let listen = ["--listen", "ldap://127.0.0.1:0"];
    RunningServer::start(fulgurite().args(["serve", "--config", config]).args(listen))
}

/// Opens the second store in this process, for its lock.
fn open_partner(config: &str, folder: &Path) -> Store {
    let layer = Layer::from_file(Path::new(config)).unwrap();
    let schema = fulgurite_server::schema(&Settings::new(layer).unwrap()).unwrap();
    let folder = folder.join("partner");
    Store::open(&folder, &StoreOptions::default(), Arc::new(schema)).unwrap()
}

fn send_add(client: &mut Client, name: &str, suffix: &str) -> u32 {
    let dn = format!("cn={name},{suffix}");
    let (class, cn): ([&[u8]; 1], _) = ([b"organizationalRole"], [name.as_bytes()]);
    let attributes = vec![
        PartialAttribute::new("objectClass", &class),
        PartialAttribute::new("cn", &cn),
    ];
    let dn = dn.as_bytes();
    let request = Request::Add(AddRequest { dn, attributes });
    client.send(&request, &[]).unwrap()
}

/// Receives the next response, which must be the success of this request.
#[track_caller]
fn expect_success(client: &mut Client, id: u32) {
    let message = client.receive().unwrap();
    let result = message.response.result();
    assert!(result.is_some_and(LdapResult::is_success), "{message:?}");
    assert_eq!(message.id, id);
}

#[test]
fn a_database_whose_writer_waits_holds_up_no_other() {
    let folder = TempDir::new().unwrap();
    let config = two_databases(folder.path());
    let serving = serve(config);
    let partner = open_partner(config, folder.path());
    let held = partner.write().unwrap();
    let mut client = serving.root_client();
    let waiting = ["a", "b"].map(|name| send_add(&mut client, name, PARTNER));
    for name in ["a", "b", "c"] {
        let added = send_add(&mut client, name, SUFFIX);
        expect_success(&mut client, added);
    }
    let mut other = serving.root_client();
    let added = send_add(&mut other, "d", SUFFIX);
    expect_success(&mut other, added);
    drop(held);
    for id in waiting {
        expect_success(&mut client, id);
    }
    serving.stop();
}

#[test]
fn a_stop_waits_for_the_writers_of_all_databases() {
    let folder = TempDir::new().unwrap();
    let config = two_databases(folder.path());
    let serving = serve(config);
    let partner = open_partner(config, folder.path());
    let held = partner.write().unwrap();
    let mut client = serving.root_client();
    let waiting = send_add(&mut client, "late", PARTNER);
    // Now the server has read the update before it too.
    let added = send_add(&mut client, "early", SUFFIX);
    expect_success(&mut client, added);
    serving.signal(Signal::TERM);
    drop(held);
    expect_success(&mut client, waiting);
    let (status, log) = serving.wait();
    assert!(status.success(), "{status} {log:?}");
    let serving = serve(config);
    let dn = format!("cn=late,{PARTNER}");
    let mut client = serving.root_client();
    let found = client.search(&dn, Scope::Base, "(objectClass=*)", &["1.1"]);
    assert_eq!(found.unwrap().entries.len(), 1);
    serving.stop();
}
