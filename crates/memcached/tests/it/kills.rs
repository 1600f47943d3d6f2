//! A server that is killed has all that it answered for.

use std::process::Command;
use std::thread;
use std::time::Duration;

use fulgurite_memcached::{Address, Durability, Options, Server};
use fulgurite_testkit::{Random, Scratch, quick_or_long, seed};

use crate::world::{Client, Running, Spawned, options};

/// The folder of the child's server, in its environment.
const FOLDER: &str = "FULGURITE_MEMCACHED_CHILD";

const CLIENTS: usize = 4;

/// Serves in a child process, which the test below kills. Without the variable it does nothing.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = std::path::PathBuf::from(folder);
    let server = Server::open(&Options {
        listen: vec![Address::Unix(folder.join("socket"))],
        durability: Durability::Full,
        threads: 2,
        ..options(&folder.join("data"))
    });
    server.expect("a server").run(false).expect("no error");
}

pub(crate) fn start_child(folder: &std::path::Path) -> Spawned {
    let own = std::env::current_exe().expect("a program");
    let mut command = Command::new(own);
    let command = command.args(["--exact", "kills::child"]);
    Spawned::start(command.env(FOLDER, folder), folder.join("socket"))
}

/// Stores numbered values until the server is gone. Returns the number of answers.
fn store_until_killed(folder: &std::path::Path, client: usize, first: usize) -> usize {
    use std::io::{Read as _, Write as _};
    let stream = std::os::unix::net::UnixStream::connect(folder.join("socket"));
    let mut stream = stream.expect("a connection");
    let mut next = first;
    loop {
        let set = format!("set c{client}-{next} 0 0 8\r\n{next:08}\r\n");
        let mut answer = [0; 8];
        let sent = stream.write_all(set.as_bytes());
        if sent.and_then(|()| stream.read_exact(&mut answer)).is_err() {
            return next;
        }
        assert_eq!(&answer, b"STORED\r\n");
        next += 1;
    }
}

#[test]
fn everything_answered_is_there_after_kills() {
    let seed = seed("everything_answered_is_there_after_kills", 1);
    let mut random = Random::new(seed);
    let scratch = Scratch::new("memcached");
    let mut answered = [0; CLIENTS];
    for _ in 0..quick_or_long(4, 100) {
        let child = start_child(scratch.path());
        thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| {
                    let (folder, first) = (scratch.path(), answered[client]);
                    scope.spawn(move || store_until_killed(folder, client, first))
                })
                .collect();
            thread::sleep(Duration::from_millis(random.between(50, 400) as u64));
            drop(child);
            for (client, thread) in clients.into_iter().enumerate() {
                answered[client] = thread.join().expect("a client");
            }
        });
        let server = Running::start(&options(&scratch.join("data")));
        let mut client: Client = server.client();
        for (number, count) in answered.iter().enumerate() {
            for at in 0..*count {
                let expected = format!("VA 8\r\n{at:08}\r\n");
                assert_eq!(client.ask(format!("mg c{number}-{at} v\r\n")), expected);
            }
        }
    }
    assert!(answered.iter().sum::<usize>() > 0);
}
