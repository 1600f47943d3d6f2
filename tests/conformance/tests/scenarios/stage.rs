//! Where a scenario takes place.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fulgurite_conformance::HeldPort;
use fulgurite_testkit::{Ended, Scratch, run_bounded, run_fed};
use rustix::process::{Pid, Signal, kill_process};

use crate::data::{PASSWORD, ROOT, SUFFIX};

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The result of a program.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Returns the output, if the program succeeded.
    #[track_caller]
    pub(crate) fn well(self) -> String {
        assert_eq!(self.status, 0, "{self:?}");
        self.out
    }

    /// Returns the messages, if the program ended with this status.
    #[track_caller]
    pub(crate) fn with_status(self, status: i32) -> String {
        assert_eq!(self.status, status, "{self:?}");
        self.out + &self.err
    }
}

/// Returns true if our server runs.
pub(crate) fn is_ours() -> bool {
    std::env::var("FULGURITE_TEST_SCENARIOS").as_deref() != Ok("slapd")
}

/// A folder with a slapd.conf and what belongs to it.
pub(crate) struct Stage {
    scratch: Scratch,
    program: PathBuf,
    libraries: Option<PathBuf>,
    distribution: PathBuf,
    /// Variables of the server's environment.
    variables: Vec<(&'static str, PathBuf)>,
}

impl Stage {
    /// An empty stage.
    pub(crate) fn new(label: &str) -> Stage {
        let scratch = Scratch::new(&format!("scenario-{label}"));
        let distribution = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/slapd");
        assert!(
            distribution.join("usr/sbin/slapd").exists(),
            "slapd is missing: run `make test`, or scripts/setup.sh, which unpacks it into build/slapd"
        );
        let distribution = distribution
            .canonicalize()
            .expect("the path of build/slapd");
        let (program, libraries) = if !is_ours() {
            original(&distribution)
        } else {
            let link = scratch.join("slapd");
            std::os::unix::fs::symlink(fulgurite_conformance::program(), &link).expect("a link");
            (link, None)
        };
        Stage {
            scratch,
            program,
            libraries,
            distribution,
            variables: Vec::new(),
        }
    }

    /// Where Debian's files are.
    pub(crate) fn distribution(&self) -> String {
        self.distribution.display().to_string()
    }

    /// The same stage with Debian's slapd on it, whatever is tested.
    pub(crate) fn with_original(label: &str) -> Stage {
        let mut stage = Stage::new(label);
        (stage.program, stage.libraries) = original(&stage.distribution);
        stage
    }

    /// The same stage with slapd 2.4 of Debian 11 on it, if that is unpacked.
    pub(crate) fn with_older(label: &str) -> Option<Stage> {
        let mut stage = Stage::new(label);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/slapd-2.4/root");
        stage.distribution = root.canonicalize().ok()?;
        (stage.program, stage.libraries) = original(&stage.distribution);
        Some(stage)
    }

    /// Adds a variable to the environment of the server and its tools.
    pub(crate) fn set(&mut self, name: &'static str, value: PathBuf) {
        self.variables.push((name, value));
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// A path in the folder, as text.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Writes a file into the folder.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).expect("write a file");
        self.text(name)
    }

    /// Writes `slapd.conf`: what every one has, then `lines`.
    pub(crate) fn configure(&self, lines: &str) {
        let root = self.distribution.display();
        let includes: String = ["core", "cosine", "inetorgperson", "nis", "openldap"]
            .map(|name| format!("include {root}/etc/ldap/schema/{name}.schema\n"))
            .concat();
        let (pid, args) = (self.text("slapd.pid"), self.text("slapd.args"));
        let text = format!(
            "{includes}modulepath {root}/usr/lib/ldap\nmoduleload back_mdb.so\npidfile {pid}\nargsfile {args}\n{lines}"
        );
        self.file("slapd.conf", &text);
    }

    /// The lines of a database below `suffix`, in a new folder.
    pub(crate) fn database(&self, name: &str, suffix: &str, more: &str) -> String {
        let folder = self.path(name);
        fs::create_dir_all(&folder).expect("make a database's folder");
        format!(
            "database mdb\nmaxsize 33554432\nsuffix \"{suffix}\"\nrootdn \"{ROOT}\"\nrootpw {PASSWORD}\ndirectory {}\n\
             index objectClass eq\n{more}\n",
            folder.display()
        )
    }

    /// The usual configuration with one database.
    pub(crate) fn usual(label: &str, more: &str) -> Stage {
        let stage = Stage::new(label);
        stage.configure(&stage.database("db", SUFFIX, more));
        stage
    }

    /// The usual configuration, and `ldif` in its database.
    pub(crate) fn loaded(label: &str, more: &str, ldif: &str) -> Stage {
        let stage = Stage::usual(label, more);
        stage.add(ldif).well();
        stage
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(libraries) = &self.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    /// Returns a directive for databases of slapd: it does not wait for the disk. A program that
    /// is killed loses nothing by that. Our server waits in all tests.
    pub(crate) fn unsynced(&self) -> &'static str {
        match self.libraries {
            Some(_) => "dbnosync\n",
            None => "",
        }
    }

    /// Runs `slapd -T<mode>`, reading slapd.conf.
    pub(crate) fn tool(&self, mode: &str, arguments: &[&str], input: &str) -> Ran {
        let mut command = self.command();
        command.arg(format!("-T{mode}"));
        if mode != "passwd" {
            command.arg("-f").arg(self.path("slapd.conf"));
        }
        ran(command.args(arguments), input)
    }

    /// Runs `slapd -T<mode>`, reading a configuration directory.
    pub(crate) fn tool_by_directory(&self, mode: &str, folder: &str, arguments: &[&str]) -> Ran {
        let mut command = self.command();
        command.arg(format!("-T{mode}")).args(["-F", folder]);
        ran(command.args(arguments), "")
    }

    /// Runs `slapd` itself to its end.
    pub(crate) fn slapd(&self, arguments: &[&str]) -> Ran {
        let mut command = self.command();
        ran(
            command
                .arg("-f")
                .arg(self.path("slapd.conf"))
                .args(arguments),
            "",
        )
    }

    /// slapadd of some text.
    pub(crate) fn add(&self, ldif: &str) -> Ran {
        let file = self.file("add.ldif", ldif);
        self.tool("a", &["-l", &file], "")
    }

    /// slapcat.
    pub(crate) fn cat(&self) -> String {
        self.tool("c", &[], "").well()
    }

    /// Starts the server.
    pub(crate) fn start(&self) -> Running<'_> {
        self.start_at(&[])
    }

    /// Starts the server, listening at more URLs than a port.
    pub(crate) fn start_at(&self, more: &[&str]) -> Running<'_> {
        self.start_by(["-f", &self.text("slapd.conf")], more)
    }

    /// Starts the server by a configuration directory.
    pub(crate) fn start_by_directory(&self, folder: &str) -> Running<'_> {
        self.start_by(["-F", folder], &[])
    }

    /// Starts the server with a configuration.
    pub(crate) fn start_by(&self, configuration: [&str; 2], more: &[&str]) -> Running<'_> {
        self.start_with(&configuration, more)
    }

    /// Starts the server with a file, a directory or both.
    pub(crate) fn start_with(&self, configuration: &[&str], more: &[&str]) -> Running<'_> {
        let port = HeldPort::new();
        let address = port.address();
        let url = format!("ldap://{address}/");
        let urls = [&[url.as_str()], more].concat().join(" ");
        let log = fs::File::create(self.path("log")).expect("make the log");
        let mut command = self.command();
        command.arg("-s0").args(configuration);
        command
            .args(["-h", &urls, "-d", "stats"])
            .stdin(Stdio::null());
        command
            .stdout(log.try_clone().expect("share the log"))
            .stderr(log);
        let mut child = command.spawn().expect("start the server");
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            let ended = child.try_wait().expect("look after the server");
            assert!(
                ended.is_none() && begun.elapsed() < PATIENCE,
                "the server does not listen:\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        Running {
            stage: self,
            child: Some(child),
            url,
            _port: port,
        }
    }

    /// Starts the server without a level: it goes into the background, and the call ends when it
    /// serves. The port at which it does.
    pub(crate) fn start_in_background(&self) -> HeldPort {
        let port = HeldPort::new();
        let url = format!("ldap://{}/", port.address());
        let mut command = self.command();
        command
            .arg("-f")
            .arg(self.path("slapd.conf"))
            .args(["-h", &url]);
        // Its output is a file: a pipe would be held open by the one in the background.
        let log = fs::File::create(self.path("log")).expect("make the log");
        command
            .stdin(Stdio::null())
            .stderr(log.try_clone().expect("share the log"))
            .stdout(log);
        let status = command.status().expect("start the server");
        assert!(status.success(), "{status}: {}", self.log());
        port
    }

    /// Ends the server that runs in the background, by its pid file, which goes with it.
    pub(crate) fn stop_in_background(&self) {
        let pid = fs::read_to_string(self.path("slapd.pid")).expect("the pid file");
        let pid = pid.trim().parse().ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process id"), Signal::INT).expect("send a signal");
        let begun = Instant::now();
        while self.path("slapd.pid").exists() {
            assert!(begun.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the server's output so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

fn original(distribution: &Path) -> (PathBuf, Option<PathBuf>) {
    let libraries = fs::read_dir(distribution.join("usr/lib")).expect("slapd's libraries");
    let mut libraries = libraries.filter_map(Result::ok).map(|entry| entry.path());
    let libraries = libraries.find(|path| path.to_string_lossy().ends_with("-linux-gnu"));
    (distribution.join("usr/sbin/slapd"), libraries)
}

/// A running server; killed if a scenario fails to stop it.
pub(crate) struct Running<'s> {
    stage: &'s Stage,
    child: Option<Child>,
    pub(crate) url: String,
    _port: HeldPort,
}

impl Running<'_> {
    /// Runs one of the ldap-utils with these options, anonymously.
    pub(crate) fn client(&self, program: &str, arguments: &[&str], input: &str) -> Ran {
        let mut command = Command::new(program);
        command.args(["-x", "-H", &self.url]).args(arguments);
        ran(&mut command, input)
    }

    /// Returns true if the server has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        let ended = self.child.as_mut().map(std::process::Child::try_wait);
        ended.is_none_or(|ended| ended.expect("look after the server").is_some())
    }

    /// Kills the server, which has no time to end well.
    pub(crate) fn kill(mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("kill the server");
            child.wait().expect("wait for the server");
        }
    }

    /// With an identity.
    pub(crate) fn client_as(
        &self,
        (name, password): (&str, &str),
        program: &str,
        arguments: &[&str],
        input: &str,
    ) -> Ran {
        let who = ["-D", name, "-w", password];
        self.client(program, &[&who[..], arguments].concat(), input)
    }

    /// As the root.
    pub(crate) fn root(&self, program: &str, arguments: &[&str], input: &str) -> Ran {
        self.client_as((ROOT, PASSWORD), program, arguments, input)
    }

    /// An anonymous search below the suffix, as LDIF.
    #[track_caller]
    pub(crate) fn search(&self, arguments: &[&str]) -> String {
        let usual = ["-LLL", "-b", SUFFIX];
        self.client("ldapsearch", &[&usual[..], arguments].concat(), "")
            .well()
    }

    /// Stops the server as scripts do; it has to end well.
    pub(crate) fn stop(mut self) {
        let mut child = self.child.take().expect("it runs");
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process id"), Signal::HUP).expect("send a signal");
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("wait for the server") {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                let _ = child.kill();
                panic!("the server does not end:\n{}", self.stage.log());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(status.code(), Some(0), "{}", self.stage.log());
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Runs a program to its end.
pub(crate) fn ran(command: &mut Command, input: &str) -> Ran {
    let (ended, out, err) = if input.is_empty() {
        let outcome = run_bounded(command, PATIENCE);
        (outcome.ended, outcome.stdout, outcome.stderr)
    } else {
        let outcome = run_fed(command, input.as_bytes().to_vec(), PATIENCE);
        let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        (outcome.ended, text(&outcome.stdout), text(&outcome.stderr))
    };
    let Ended::Exit(status) = ended else {
        panic!("{command:?} did not end: {ended:?}\n{out}\n{err}");
    };
    Ran { status, out, err }
}
