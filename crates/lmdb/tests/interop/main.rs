//! Both libraries at once: eight processes, with LMDB and with ours, write and read one live
//! environment. Some of them are killed.
//!
//! ```text
//!                 kills, starts again, tells them to stop
//!   this test  ------------------------------------------->  8 x `torture`, each with one library
//!                                                                |
//!        judges what is left: both libraries, our checker        v
//!   ------------------------------------------------->   one environment
//! ```
//!
//! `torture.h` and `torture.c` of the testkit state the invariants. Each process checks all of
//! them, and exits with another status than 0 when one is violated. `FULGURITE_TEST_LONG=1` makes
//! it last a minute instead of seconds, and `FULGURITE_INTEROP_LIBRARY` names the library to test
//! in place of ours.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fulgurite::check::check_file;
use fulgurite_testkit::{
    Random, Scratch, quick_or_long, reference_libraries, run_bounded, seed, torture_program,
};

/// How long anything may take that ends by itself.
const LIMIT: Duration = Duration::from_secs(60);

/// The task of a process, and its library.
struct Role {
    words: Vec<String>,
    library: PathBuf,
}

/// A role and the process that plays it now.
struct Worker {
    role: Role,
    child: Child,
    lives: usize,
    said: PathBuf,
}

/// The environment, and what befalls its users.
struct WorkerPool {
    dir: Scratch,
    random: Random,
    options: Vec<String>,
}

#[test]
fn libraries_share_an_environment_while_processes_are_killed() {
    let (ours, real) = (our_library(), reference_libraries());
    let (debian, newest) = (&real[0], real.last().expect("one library"));
    let roles = vec![
        role("write 0 nested", &ours),
        role("write 1 nested nometasync", &ours),
        role("write 2 nested", debian),
        role("write 3 nested", newest),
        role("write 4 notls", &ours),
        role("read notls", &ours),
        role("read", debian),
        role("read notls", newest),
    ];
    play("interop", roles, "", quick_or_long(6, 60));
}

#[test]
fn libraries_share_an_environment_that_is_written_through_the_map() {
    let (ours, real) = (our_library(), reference_libraries());
    let roles = vec![
        role("write 0", &ours),
        role("write 1", &real[0]),
        role("write 2 notls", real.last().expect("one library")),
        role("write 3", &ours),
        role("read", &ours),
        role("read notls", &real[0]),
    ];
    play("interop-writemap", roles, "writemap", quick_or_long(2, 20));
}

/// Lets the roles play for some seconds, then judges what is left.
fn play(name: &str, roles: Vec<Role>, options: &str, seconds: u64) {
    let mut pool = WorkerPool {
        dir: Scratch::new(name),
        random: Random::new(seed(name, 1)),
        options: options.split_whitespace().map(str::to_owned).collect(),
    };
    let libraries: Vec<PathBuf> = roles.iter().map(|role| role.library.clone()).collect();
    pool.ask(&libraries[0], "init");
    let mut workers: Vec<Worker> = roles.into_iter().map(|role| pool.enter(role)).collect();
    let (end, mut killed) = (Instant::now() + Duration::from_secs(seconds), 0);
    while Instant::now() < end {
        sleep(Duration::from_millis(pool.random.between(10, 150) as u64));
        killed += pool.kill_some(&mut workers);
        for worker in &mut workers {
            pool.revive(worker);
        }
    }
    File::create(pool.dir.join("stop")).expect("tell the processes to stop");
    workers.iter_mut().for_each(Worker::wait_end);
    let lives: usize = workers.iter().map(|worker| worker.lives).sum();
    let steps = pool.judge(&libraries);
    println!("{name}: {seconds} s, {lives} lives, {killed} killed from outside, steps: {steps}");
}

impl WorkerPool {
    /// Starts a role's first process.
    fn enter(&mut self, role: Role) -> Worker {
        let said = self.dir.join(&role.words.join("-"));
        Worker {
            child: self.start(&role, &said),
            role,
            lives: 1,
            said,
        }
    }

    /// Kills a random worker; rarely all of them, so that the next one finds an environment that
    /// nobody has open.
    fn kill_some(&mut self, workers: &mut [Worker]) -> usize {
        let one = self.random.below(workers.len());
        let victims = match self.random.below(40) {
            0 => workers,
            1..20 => &mut workers[one..=one],
            _ => &mut [],
        };
        for worker in &mut *victims {
            worker.child.kill().expect("kill a process");
        }
        victims.len()
    }

    /// Starts a worker again that was killed, by us or by itself.
    fn revive(&mut self, worker: &mut Worker) {
        if let Some(status) = worker.child.try_wait().expect("wait for a process") {
            worker.accept(status, "ended");
            worker.child = self.start(&worker.role, &worker.said);
            worker.lives += 1;
        }
    }

    fn start(&mut self, role: &Role, said: &Path) -> Child {
        let mut words = role.words.clone();
        let seed_at = if words[0] == "write" { 2 } else { 1 };
        words.insert(seed_at, (self.random.bits() >> 1).to_string());
        let messages = File::options()
            .create(true)
            .append(true)
            .open(said)
            .expect("open a file for messages");
        Command::new(torture_program())
            .arg(&role.library)
            .arg(self.dir.path())
            .args(words)
            .args(&self.options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(messages)
            .spawn()
            .expect("start a process")
    }

    /// Lets a process do something that ends by itself, and must end well; returns what it prints.
    fn ask(&self, library: &Path, what: &str) -> String {
        let mut command = Command::new(torture_program());
        command.arg(library).arg(self.dir.path()).arg(what);
        let outcome = run_bounded(command.args(&self.options), LIMIT);
        assert!(
            outcome.success(),
            "{what} on {}: {outcome:?}",
            library.display()
        );
        outcome.stdout
    }

    /// All libraries must find the same content, and our checker a sound file in which every page
    /// is accounted for. Returns the steps of all writers.
    fn judge(&self, libraries: &[PathBuf]) -> String {
        let steps = self.ask(&libraries[0], "verify");
        let dump = self.ask(&libraries[0], "dump");
        for library in &libraries[1..] {
            assert_eq!(self.ask(library, "verify"), steps, "{}", library.display());
            assert_eq!(self.ask(library, "dump"), dump, "{}", library.display());
        }
        let report = check_file(&self.dir.join("data.mdb")).expect("check the file");
        assert!(report.is_sound(), "{:#?}", report.findings);
        assert!(steps.bytes().any(|b| (b'1'..=b'9').contains(&b)), "{steps}");
        steps
    }
}

impl Worker {
    /// Waits for the end that follows the file `stop`.
    fn wait_end(&mut self) {
        let limit = Instant::now() + LIMIT;
        loop {
            match self.child.try_wait().expect("wait for a process") {
                Some(status) if status.success() => return,
                Some(status) => return self.accept(status, "ended"),
                None if Instant::now() > limit => self.fail("does not stop"),
                None => sleep(Duration::from_millis(5)),
            }
        }
    }

    /// No other end is accepted than SIGKILL.
    fn accept(&self, status: ExitStatus, what: &str) {
        if status.signal() != Some(9) {
            self.fail(&format!("{what}: {status}"));
        }
    }

    fn fail(&self, what: &str) -> ! {
        let said = fs::read_to_string(&self.said).unwrap_or_default();
        let (words, library) = (self.role.words.join(" "), self.role.library.display());
        panic!("{words} on {library}, life {}: {what}\n{said}", self.lives);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn role(words: &str, library: &Path) -> Role {
    Role {
        words: words.split(' ').map(str::to_owned).collect(),
        library: library.to_owned(),
    }
}

/// The library that cargo built with this test.
fn our_library() -> PathBuf {
    if let Some(path) = std::env::var_os("FULGURITE_INTEROP_LIBRARY") {
        return path.into();
    }
    let program = std::env::current_exe().expect("the path of this program");
    program.with_file_name("liblmdb.so")
}
