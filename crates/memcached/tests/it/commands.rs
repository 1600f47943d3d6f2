//! Commands and what they leave behind.

use std::sync::atomic::{AtomicBool, Ordering};

use fulgurite_memcached::{Durability, Options};
use fulgurite_testkit::{Scratch, quick_or_long};

use crate::world::{Running, options, wait_until};

#[test]
fn values_survive_a_restart_with_their_numbers() {
    for durability in [Durability::None, Durability::Meta, Durability::Full] {
        let scratch = Scratch::new("memcached");
        let options = Options {
            durability,
            ..options(scratch.path())
        };
        let server = Running::start(&options);
        let mut client = server.client();
        assert_eq!(
            client.ask("set a 7 0 3\r\nabc\r\nset b 0 100 1\r\nx\r\n"),
            "STORED\r\nSTORED\r\n"
        );
        let before = client.ask("gets a\r\nmg b v c f\r\n");
        assert!(before.starts_with("VALUE a 7 3 "), "{before}");
        drop(server);
        let server = Running::start(&options);
        let mut client = server.client();
        assert_eq!(client.ask("gets a\r\nmg b v c f\r\n"), before);
        // A number is never given twice.
        let number = |answer: &str| -> u64 {
            let line = answer.lines().next().unwrap_or_default();
            line.rsplit(' ')
                .next()
                .and_then(|word| word.parse().ok())
                .expect("a number")
        };
        let old = number(&before);
        client.ask("set a 7 0 3\r\nabc\r\n");
        assert!(number(&client.ask("gets a\r\n")) > old + 1);
    }
}

#[test]
fn expired_items_are_gone_at_once_and_swept_later() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&options(scratch.path()));
    let mut client = server.client();
    for number in 0..300 {
        client.ask(format!("set k{number} 0 -1 1\r\nx\r\n"));
    }
    client.ask("set stays 0 100 1\r\nx\r\nset touched 0 100 1\r\nx\r\ntouch touched -1\r\n");
    assert_eq!(client.ask("get k1 k299 touched\r\n"), "END\r\n");
    wait_until(|| client.figure("curr_items") == 1);
    assert_eq!(
        client.ask("get stays\r\n"),
        "VALUE stays 0 1\r\nx\r\nEND\r\n"
    );
    assert_eq!(client.ask("add k1 0 0 1\r\ny\r\n"), "STORED\r\n");
}

#[test]
fn an_item_without_expiry_outlives_its_old_one() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&options(scratch.path()));
    let mut client = server.client();
    client.ask("set a 0 1 1\r\nx\r\nset a 0 0 1\r\ny\r\nset b 0 1 1\r\nx\r\ntouch b 0\r\n");
    client.ask("set c 0 1 1\r\nx\r\n");
    wait_until(|| client.ask("get c\r\n") == "END\r\n");
    wait_until(|| client.figure("curr_items") == 2);
    let expected = "VALUE a 0 1\r\ny\r\nVALUE b 0 1\r\nx\r\nEND\r\n";
    assert_eq!(client.ask("get a b c\r\n"), expected);
}

#[test]
fn a_flush_hides_all_items_and_survives_a_restart() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&options(scratch.path()));
    let mut client = server.client();
    for number in 0..1000 {
        client.send(format!("set k{number} 0 0 1 noreply\r\nx\r\n").as_bytes());
    }
    assert_eq!(
        client.ask("flush_all\r\nget k5\r\nset k5 0 0 1\r\ny\r\n"),
        "OK\r\nEND\r\nSTORED\r\n"
    );
    drop(server);
    let server = Running::start(&options(scratch.path()));
    let mut client = server.client();
    assert_eq!(
        client.ask("get k4 k5 k6\r\n"),
        "VALUE k5 0 1\r\ny\r\nEND\r\n"
    );
    wait_until(|| client.figure("curr_items") == 1);
    // A flush to come takes what was stored before its time.
    assert_eq!(
        client.ask("flush_all 1\r\nget k5\r\n"),
        "OK\r\nVALUE k5 0 1\r\ny\r\nEND\r\n"
    );
    wait_until(|| client.ask("get k5\r\n") == "END\r\n");
    assert_eq!(
        client.ask("set k5 0 0 1\r\ny\r\nget k5\r\n"),
        "STORED\r\nVALUE k5 0 1\r\ny\r\nEND\r\n"
    );
}

/// A flush that another thread's commit takes back would show the item again.
#[test]
fn a_flush_holds_while_other_threads_commit() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&Options {
        threads: 4,
        ..options(scratch.path())
    });
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let mut client = server.client();
            let is_over = &is_over;
            scope.spawn(move || {
                let sets = format!("set w{writer} 0 0 1\r\nx\r\n");
                while !is_over.load(Ordering::Relaxed) {
                    client.ask(&sets);
                }
            });
        }
        let mut client = server.client();
        for round in 0..quick_or_long(3_000, 100_000) {
            assert_eq!(client.ask("set a 0 0 1\r\nx\r\n"), "STORED\r\n");
            assert_eq!(client.ask("flush_all\r\n"), "OK\r\n");
            let answer = client.ask("get a\r\n");
            if answer != "END\r\n" {
                is_over.store(true, Ordering::Relaxed);
                panic!("round {round}: {answer}");
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_full_cache_keeps_what_is_used() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&Options {
        bytes_max: 1 << 20,
        ..options(scratch.path())
    });
    let mut client = server.client();
    let value = "v".repeat(1000);
    client.ask(format!("set hot 0 0 1000\r\n{value}\r\n"));
    for number in 0..8000 {
        client.ask(format!("set k{number} 0 0 1000\r\n{value}\r\n"));
        if number % 10 == 0 {
            assert!(
                client.ask("get hot\r\n").starts_with("VALUE hot"),
                "after {number}"
            );
        }
    }
    let (items, bytes) = (client.figure("curr_items"), client.figure("bytes"));
    assert!(bytes <= 1 << 20, "{bytes}");
    assert!(items > 300, "{items}");
    assert!(client.figure("evictions") > 7000);
}

#[test]
fn a_full_cache_may_refuse_instead() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&Options {
        bytes_max: 1 << 18,
        no_eviction: true,
        ..options(scratch.path())
    });
    let mut client = server.client();
    let value = "v".repeat(1000);
    let set = |number: usize| format!("set k{number} 0 0 1000\r\n{value}\r\n");
    let refused = (0..1000).find(|number| client.ask(set(*number)) != "STORED\r\n");
    let refused = refused.expect("a refusal");
    let answer = "SERVER_ERROR out of memory storing object\r\n";
    assert_eq!(client.ask(set(refused)), answer);
    assert!(client.ask("get k0\r\n").starts_with("VALUE k0"));
    for number in 0..refused / 2 {
        client.ask(format!("delete k{number}\r\n"));
    }
    assert_eq!(client.ask(set(refused)), "STORED\r\n");
}

#[test]
fn values_have_the_length_that_is_set() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&Options {
        value_max: 3 << 20,
        ..options(scratch.path())
    });
    let mut client = server.client();
    let value = vec![b'x'; 3 << 20];
    let set = [b"set a 0 0 3145728\r\n", value.as_slice(), b"\r\n"].concat();
    assert_eq!(client.ask(set), "STORED\r\n");
    let answer = client.ask_bytes(b"get a a a\r\n");
    assert_eq!(
        answer.len(),
        3 * ("VALUE a 0 3145728\r\n\r\n".len() + value.len()) + 5
    );
    let longer = [b"ms a 3145729\r\n", value.as_slice(), b"x\r\n"].concat();
    assert_eq!(
        client.ask(longer),
        "SERVER_ERROR object too large for cache\r\n"
    );
    // The older value would be out of date.
    assert_eq!(client.ask("get a\r\n"), "END\r\n");
}

#[test]
fn clients_see_each_others_changes_at_once() {
    let scratch = Scratch::new("memcached");
    for durability in [Durability::None, Durability::Full] {
        let server = Running::start(&Options {
            threads: 3,
            durability,
            ..options(scratch.path())
        });
        let mut clients: Vec<_> = (0..6).map(|_| server.client()).collect();
        for round in 0..50 {
            let writer = round % clients.len();
            let set = format!("set a 0 0 2\r\n{:02}\r\n", round);
            assert_eq!(clients[writer].ask(set), "STORED\r\n");
            for client in &mut clients {
                assert_eq!(
                    client.ask("get a\r\n"),
                    format!("VALUE a 0 2\r\n{round:02}\r\nEND\r\n")
                );
            }
        }
    }
}

#[test]
fn a_no_op_is_answered_also_with_words() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&options(scratch.path()));
    let mut client = server.client();
    client.send(b"mn x\r\nmn\r\nquit\r\n");
    assert_eq!(client.rest(), b"MN\r\nMN\r\n");
}

#[test]
fn statistics_count() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&options(scratch.path()));
    let mut client = server.client();
    client.ask("set a 0 0 1\r\n1\r\nget a b\r\nincr a 1\r\ndelete a\r\ndelete a\r\ntouch a 0\r\n");
    for (name, value) in [
        ("cmd_set", 1),
        ("get_hits", 1),
        ("get_misses", 1),
        ("incr_hits", 1),
        ("delete_hits", 1),
        ("delete_misses", 1),
        ("touch_misses", 1),
        ("curr_items", 0),
        ("curr_connections", 1),
    ] {
        assert_eq!(client.figure(name), value, "{name}");
    }
    assert_eq!(client.ask("stats reset\r\n"), "RESET\r\n");
    assert_eq!(client.figure("cmd_set"), 0);
    assert!(
        client
            .ask("stats settings\r\n")
            .contains("STAT durability none\r\n")
    );
}

#[test]
fn tools_work_on_the_environment_meanwhile() {
    let scratch = Scratch::new("memcached");
    let server = Running::start(&options(scratch.path()));
    let mut client = server.client();
    client.ask("set a 0 0 1\r\nx\r\n");
    let environment = fulgurite::Environment::options()
        .read_only(true)
        .open(scratch.path())
        .expect("a second handle");
    let copy = Scratch::new("copy");
    environment.copy_to_path(copy.path(), true).expect("a copy");
    drop(environment);
    let second = Running::start(&options(copy.path()));
    assert_eq!(
        second.client().ask("get a\r\n"),
        "VALUE a 0 1\r\nx\r\nEND\r\n"
    );
}
