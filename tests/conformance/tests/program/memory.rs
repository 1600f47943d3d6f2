//! The memory of a server at rest.

use std::fs;

use fulgurite_client::Client;
use fulgurite_conformance::{LoadedStore, RunningServer, SUFFIX};

/// Without passwords, so that binds as unknown names are verified by the default scheme, Argon2.
const NO_PASSWORDS: &[u8] = b"dn: dc=example,dc=com\n\
    objectClass: organization\n\
    objectClass: dcObject\n\
    dc: example\n\
    o: Example\n";

/// Each check by Argon2 fills 19 MiB; this is below the blocks of one thread.
const GROWTH_KIB_MAX: u64 = 8 << 10;

/// Returns the memory that belongs to no file, in KiB.
fn anonymous_kib(server: &RunningServer) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let size = line.and_then(|line| line.trim().strip_suffix(" kB"));
    size.expect("a size").parse().unwrap()
}

fn bind_as_unknown(client: &mut Client, number: usize) {
    let name = format!("uid=nobody{number},{SUFFIX}");
    let result = client.bind(&name, b"guess".as_slice()).unwrap();
    assert!(!result.is_success(), "{result:?}");
}

#[test]
fn verified_passwords_leave_no_memory_behind() {
    let loaded = LoadedStore::from_ldif(NO_PASSWORDS);
    let serving = loaded.serve(&[]);
    let before = anonymous_kib(&serving);
    let clients: Vec<Client> = (0..4).map(|_| serving.client()).collect();
    std::thread::scope(|scope| {
        for mut client in clients {
            scope.spawn(move || {
                (0..5).for_each(|number| bind_as_unknown(&mut client, number));
            });
        }
    });
    let after = anonymous_kib(&serving);
    serving.stop();
    assert!(
        after < before + GROWTH_KIB_MAX,
        "{before} KiB before, {after} KiB after"
    );
}
