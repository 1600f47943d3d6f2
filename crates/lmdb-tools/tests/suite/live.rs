//! Environments that other processes have open.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fulgurite_testkit::{Ended, Scratch, fixture};

use crate::tools::{Side, command, compare, directory, output, run, shown};

#[test]
fn readers_of_both_sides_are_listed_alike() {
    let scratch = Scratch::new("readers");
    let dir = fixture("overflow").copy_to(&scratch);
    let copies = [Side::Ours, Side::Theirs, Side::Ours].map(|side| BlockedCopy::start(side, &dir));
    for options in ["-r", "-er", "-rr", "-rf"] {
        compare("mdb_stat", &[options, "."], &dir);
    }
    let listed = output(Side::Ours, "mdb_stat", &["-r", "."], &dir, b"");
    let listed = String::from_utf8(listed).expect("text");
    for copy in &copies {
        assert!(
            listed.contains(&format!("{:>10} ", copy.0.id())),
            "{listed}"
        );
    }
    drop(copies);
}

#[test]
fn readers_that_died_are_cleared() {
    let scratch = Scratch::new("stale");
    let dir = fixture("overflow").copy_to(&scratch);
    // Another live process keeps the lock file from being made anew.
    let witness = BlockedCopy::start(Side::Theirs, &dir);
    for side in [Side::Ours, Side::Theirs] {
        drop(BlockedCopy::start(side, &dir));
    }
    let listed = run(Side::Ours, "mdb_stat", &["-rr", "."], &dir, b"");
    let listed = String::from_utf8(listed.stdout).expect("text");
    assert!(
        listed.contains("\n  2 stale readers cleared.\n"),
        "{listed}"
    );
    assert!(
        listed.ends_with('\n') && listed.lines().count() == 8,
        "{listed}"
    );
    compare("mdb_stat", &["-rr", "."], &dir);
    drop(witness);
}

#[test]
fn a_signal_ends_a_copy_and_nothing_is_left() {
    let scratch = Scratch::new("signalled");
    let dir = fixture("overflow").copy_to(&scratch);
    for signal in ["-TERM", "-INT", "-HUP"] {
        let mut copy = BlockedCopy::start(Side::Ours, &dir);
        copy.send(signal);
        let mut rest = Vec::new();
        copy.0
            .stdout
            .take()
            .expect("piped")
            .read_to_end(&mut rest)
            .expect("read");
        let mut said = String::new();
        copy.0
            .stderr
            .take()
            .expect("piped")
            .read_to_string(&mut said)
            .expect("read");
        assert_eq!(
            said,
            "mdb_copy: copying failed, error 125 (Operation canceled)\n"
        );
        assert_eq!(copy.0.wait().expect("wait").code(), Some(1));
        assert!(rest.len() < fs::metadata(dir.join("data.mdb")).expect("metadata").len() as usize);
    }
}

#[test]
fn readers_that_go_away_end_tools_quietly() {
    let scratch = Scratch::new("closed-pipe");
    let dir = fixture("overflow").copy_to(&scratch);
    for (tool, words, said) in [
        (
            "mdb_copy",
            &["."][..],
            "mdb_copy: copying failed, error 32 (Broken pipe)\n",
        ),
        (
            "mdb_copy",
            &["-c", "."],
            "mdb_copy: copying failed, error 32 (Broken pipe)\n",
        ),
        ("mdb_dump", &["."], "mdb_dump: .: Broken pipe\n"),
    ] {
        let mut child = command(Side::Ours, tool, words, &dir);
        let mut child = child
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start");
        drop(child.stdout.take());
        let outcome = child.wait_with_output().expect("wait");
        assert_eq!(String::from_utf8_lossy(&outcome.stderr), said);
        assert_eq!(outcome.status.code(), Some(1));
    }
}

/// The original stores pairs whose value follows from the key, in many transactions. Our tool
/// copies meanwhile.
#[test]
fn copies_are_whole_while_the_original_writes() {
    let scratch = Scratch::new("busy");
    let dir = directory(&scratch, "source");
    output(Side::Theirs, "mdb_load", &["-T", "."], &dir, b"0\n0\n");
    let items: String = (0..20_000)
        .map(|item| format!("{item:x}\n{item:x}{item:X}\n"))
        .collect();
    let copies = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            run(
                Side::Theirs,
                "mdb_load",
                &["-T", "."],
                &dir,
                items.as_bytes(),
            )
        });
        let mut copies = 0;
        while !writer.is_finished() && copies < 40 {
            let to = directory(&scratch, format!("copy-{copies}"));
            let to = to.to_str().expect("a path of text");
            let options = if copies % 2 == 0 {
                &["-c", ".", to][..]
            } else {
                &[".", to]
            };
            output(Side::Ours, "mdb_copy", options, &dir, b"");
            copies += 1;
        }
        let written = writer.join().expect("the writer");
        assert!(written.stderr.is_empty(), "{}", shown(&written));
        copies
    });
    assert!(copies > 0);
    for copy in 0..copies {
        let dir = directory(&scratch, format!("copy-{copy}"));
        let dump = output(Side::Theirs, "mdb_dump", &["-p", "."], &dir, b"");
        let dump = String::from_utf8(dump).expect("text");
        let items: Vec<&str> = dump
            .lines()
            .filter_map(|line| line.strip_prefix(' '))
            .collect();
        // A transaction has a hundred items, and there was one before.
        assert_eq!(
            items.len() / 2 % 100,
            usize::from(items.len() == 2),
            "{copy}"
        );
        for pair in items.chunks(2).filter(|pair| pair != &["0", "0"]) {
            assert_eq!(pair[1], [pair[0], &pair[0].to_uppercase()].concat());
        }
        output(Side::Theirs, "mdb_stat", &["-efffa", "."], &dir, b"");
    }
}

#[test]
fn reading_needs_no_lock_file_and_leaves_data_alone() {
    let scratch = Scratch::new("untouched");
    let dir = fixture("named").copy_to(&scratch);
    let before = fs::read(dir.join("data.mdb")).expect("read");
    for (tool, words) in [
        ("mdb_stat", "-efffrra"),
        ("mdb_dump", "-a"),
        ("mdb_copy", "-c"),
    ] {
        let outcome = run(Side::Ours, tool, &[words, "."], &dir, b"");
        assert_eq!(outcome.ended, Ended::Exit(0));
        assert!(fs::read(dir.join("data.mdb")).expect("read") == before);
    }
}

/// A copy that waits for a reader of its pipe and pins a snapshot meanwhile. Killed when dropped.
struct BlockedCopy(Child);

impl BlockedCopy {
    fn start(side: Side, dir: &Path) -> BlockedCopy {
        let mut copy = command(side, "mdb_copy", &["."], dir);
        let copy = copy.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut copy = BlockedCopy(copy.spawn().expect("start mdb_copy"));
        // After the first byte the snapshot is pinned, and the pipe is too small for all of it.
        let output = copy.0.stdout.as_mut().expect("piped");
        output.read_exact(&mut [0]).expect("read the first octet");
        let patience = Instant::now() + Duration::from_secs(20);
        let mut asleep = 0;
        while asleep < 3 {
            assert!(
                Instant::now() < patience,
                "mdb_copy does not wait for its reader"
            );
            thread::sleep(Duration::from_millis(3));
            asleep = if copy.is_asleep() { asleep + 1 } else { 0 };
        }
        copy
    }

    fn is_asleep(&self) -> bool {
        let state = fs::read_to_string(format!("/proc/{}/stat", self.0.id()));
        state.is_ok_and(|state| state.contains(") S "))
    }

    fn send(&self, signal: &str) {
        let process = self.0.id().to_string();
        let status = Command::new("kill").args([signal, &process]).status();
        assert!(status.expect("run kill").success());
    }
}

impl Drop for BlockedCopy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
