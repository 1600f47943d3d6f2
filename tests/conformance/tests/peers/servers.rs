//! Servers on free ports with the same data, indexes and rights.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fulgurite_conformance::HeldPort;
use fulgurite_testkit::run_bounded;

use crate::data::SUFFIX;

/// Name of the identity that may do everything.
pub(crate) const ROOT_DN: &str = "cn=admin,dc=example,dc=org";

/// Its password.
pub(crate) const ROOT_PASSWORD: &str = "root secret";

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The same indexes on both sides, so that neither answers by luck of a scan.
const INDEXES: &[(&str, &str)] = &[
    ("objectClass", "eq"),
    ("uid", "eq,pres,sub"),
    ("mail", "eq,pres,sub"),
    ("cn", "eq,sub"),
    ("sn", "eq,sub"),
    ("givenName", "eq,sub"),
    ("member", "eq,pres"),
    ("uniqueMember", "eq,pres"),
    ("memberUid", "eq,pres"),
    ("uidNumber", "eq,pres"),
    ("gidNumber", "eq,pres"),
    ("entryUUID", "eq"),
    ("entryCSN", "eq"),
];

/// A server of this test; it ends with the value.
pub(crate) struct Server {
    name: &'static str,
    process: Child,
    port: HeldPort,
    log: PathBuf,
}

impl Server {
    /// Debian's slapd from `build/slapd`, its data loaded by slapadd.
    pub(crate) fn slapd(folder: &Path, ldif: &Path) -> Server {
        Self::slapd_of(folder, ldif, Slapd::configuration)
    }

    /// The same with these lines of configuration for a plain database.
    pub(crate) fn slapd_with(folder: &Path, ldif: &Path, lines: &str) -> Server {
        Self::slapd_of(folder, ldif, |slapd, data| slapd.plain(data, lines))
    }

    fn slapd_of(
        folder: &Path,
        ldif: &Path,
        configured: impl Fn(&Slapd, &Path) -> String,
    ) -> Server {
        let slapd = Slapd::find();
        let data = folder.join("data");
        fs::create_dir_all(&data).expect("make slapd's folder");
        let configuration = folder.join("slapd.conf");
        fs::write(&configuration, configured(&slapd, &data)).expect("write slapd.conf");
        let mut load = slapd.command("slapadd");
        load.args(["-q", "-f"])
            .arg(&configuration)
            .arg("-l")
            .arg(ldif);
        let loaded = run_bounded(&mut load, PATIENCE);
        assert!(loaded.success(), "slapadd: {loaded:?}");
        let mut command = slapd.command("slapd");
        command.args(["-d", "0", "-f"]).arg(&configuration);
        Self::start("slapd", command, folder, |port| {
            vec!["-h".into(), format!("ldap://127.0.0.1:{port}/")]
        })
    }

    /// The server under test: ours, unless the test itself is tested.
    pub(crate) fn tested(folder: &Path, ldif: &Path) -> Server {
        match std::env::var("FULGURITE_TEST_PEERS").as_deref() {
            Ok("slapd") => Self::slapd(folder, ldif),
            _ => Self::ours(folder, ldif),
        }
    }

    /// The server under test with the configuration of [`Server::slapd_with`].
    pub(crate) fn tested_with(folder: &Path, ldif: &Path, lines: &str) -> Server {
        if std::env::var("FULGURITE_TEST_PEERS").as_deref() == Ok("slapd") {
            return Self::slapd_with(folder, ldif, lines);
        }
        let data = folder.join("data");
        fs::create_dir_all(&data).expect("make our folder");
        let configuration = folder.join("slapd.conf");
        fs::write(&configuration, Slapd::find().plain(&data, lines)).expect("write slapd.conf");
        let program = fulgurite_conformance::program();
        let mut load = Command::new(program);
        load.args(["slapadd", "-q", "-f"])
            .arg(&configuration)
            .arg("-l")
            .arg(ldif);
        let loaded = run_bounded(&mut load, PATIENCE);
        assert!(loaded.success(), "fulgurite slapadd: {loaded:?}\n{lines}");
        let mut command = Command::new(program);
        command.args(["serve", "--config"]).arg(&configuration);
        Self::start("fulgurite", command, folder, |port| {
            vec!["--listen".into(), format!("ldap://127.0.0.1:{port}")]
        })
    }

    /// Our server, its data loaded by `fulgurite load`.
    fn ours(folder: &Path, ldif: &Path) -> Server {
        let data = folder.join("data");
        fs::create_dir_all(folder).expect("make our folder");
        let password = folder.join("root-password");
        fs::write(&password, ROOT_PASSWORD).expect("write the password file");
        let program = fulgurite_conformance::program();
        let mut load = Command::new(program);
        // Like slapadd, the load names the root as the creator of everything.
        load.env("FULGURITE_ROOT_DN", ROOT_DN);
        load.args(["load", "--suffix", SUFFIX, "--data"])
            .arg(&data)
            .arg(ldif);
        let loaded = run_bounded(&mut load, PATIENCE);
        assert!(loaded.success(), "fulgurite load: {loaded:?}");
        let mut command = Command::new(program);
        command
            .args(["serve", "--suffix", SUFFIX, "--root-dn", ROOT_DN, "--data"])
            .arg(&data);
        command.arg("--root-password-file").arg(&password);
        Self::start("fulgurite", command, folder, |port| {
            vec!["--listen".into(), format!("ldap://127.0.0.1:{port}")]
        })
    }

    fn start(
        name: &'static str,
        mut command: Command,
        folder: &Path,
        listen: impl Fn(u16) -> Vec<String>,
    ) -> Server {
        let port = HeldPort::new();
        let log = folder.join("log");
        let output = fs::File::create(&log).expect("make the log");
        command.args(listen(port.number())).stdin(Stdio::null());
        command
            .stdout(output.try_clone().expect("share the log"))
            .stderr(output);
        let process = command
            .spawn()
            .unwrap_or_else(|error| panic!("start {name}: {error}"));
        let mut server = Server {
            name,
            process,
            port,
            log,
        };
        server.wait_until_it_listens();
        server
    }

    fn wait_until_it_listens(&mut self) {
        let started = Instant::now();
        while TcpStream::connect(self.port.address()).is_err() {
            let ended = self.process.try_wait().expect("look after the server");
            let late = started.elapsed() > PATIENCE;
            assert!(
                ended.is_none() && !late,
                "{} does not listen:\n{}",
                self.name,
                self.log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// One of the two from a slapd.conf with these of OpenLDAP's schema files and one more, its
    /// store empty.
    pub(crate) fn configured(ours: bool, folder: &Path, schemas: &[&str], more: &Path) -> Server {
        let slapd = Slapd::find();
        let data = folder.join("data");
        fs::create_dir_all(&data).expect("make the folder of the store");
        let root = slapd.root.display();
        let mut text: String = schemas
            .iter()
            .map(|name| format!("include {root}/etc/ldap/schema/{name}.schema\n"))
            .collect();
        text += &format!("include {}\n", more.display());
        if !ours {
            text += &format!("modulepath {root}/usr/lib/ldap\nmoduleload back_mdb.so\n");
        }
        text += &format!(
            "database mdb\nmaxsize 1073741824\ndbnosync\nsuffix \"{SUFFIX}\"\nrootdn \"{ROOT_DN}\"\n\
             rootpw \"{ROOT_PASSWORD}\"\ndirectory {}\n",
            data.display()
        );
        let configuration = folder.join("slapd.conf");
        fs::write(&configuration, text).expect("write slapd.conf");
        let (name, mut command) = if ours {
            let mut command = Command::new(fulgurite_conformance::program());
            command.arg("slapd");
            ("fulgurite", command)
        } else {
            ("slapd", slapd.command("slapd"))
        };
        command.args(["-d", "0", "-f"]).arg(&configuration);
        Self::start(name, command, folder, |port| {
            vec!["-h".into(), format!("ldap://127.0.0.1:{port}/")]
        })
    }

    /// One of the two from a slapd.conf that begins with `global`, at every door there is.
    pub(crate) fn with_doors(
        ours: bool,
        folder: &Path,
        ldif: &Path,
        global: &str,
    ) -> (Server, Doors) {
        let slapd = Slapd::find();
        let data = folder.join("data");
        fs::create_dir_all(&data).expect("make the folder of the store");
        let configuration = folder.join("slapd.conf");
        fs::write(
            &configuration,
            format!("{global}{}", slapd.plain(&data, "")),
        )
        .expect("write slapd.conf");
        let command = |name: &str| match ours {
            true => {
                let mut command = Command::new(fulgurite_conformance::program());
                command.arg(name);
                command
            }
            false => slapd.command(name),
        };
        let mut load = command("slapadd");
        load.args(["-q", "-f"])
            .arg(&configuration)
            .arg("-l")
            .arg(ldif);
        let loaded = run_bounded(&mut load, PATIENCE);
        assert!(loaded.success(), "slapadd: {loaded:?}");
        let socket = folder.join("ldapi").display().to_string();
        let port = HeldPort::new();
        let mut doors = Doors {
            plain: String::new(),
            tls: format!("ldaps://{}/", port.address()),
            _port: port,
            socket: format!("ldapi://{}/", socket.replace('/', "%2F")),
        };
        let mut serve = command("slapd");
        serve.args(["-d", "0", "-f"]).arg(&configuration);
        let name = if ours { "fulgurite" } else { "slapd" };
        let server = Self::start(name, serve, folder, |port| {
            let urls = format!("{} {} ldap://127.0.0.1:{port}/", doors.tls, doors.socket);
            vec!["-h".into(), urls]
        });
        doors.plain = format!("ldap://{}/", server.port.address());
        (server, doors)
    }

    /// Runs one of the server's tools under its configuration. Returns the tool's output and
    /// status.
    pub(crate) fn tool(&self, program: &str, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = if self.name == "slapd" {
            Slapd::find().command(program)
        } else {
            let mut command = Command::new(fulgurite_conformance::program());
            command.arg(program);
            command
        };
        command
            .arg("-f")
            .arg(self.log.with_file_name("slapd.conf"))
            .args(arguments);
        let outcome = run_bounded(&mut command, PATIENCE);
        let status = match outcome.ended {
            fulgurite_testkit::Ended::Exit(status) => Some(status),
            _ => None,
        };
        (status, format!("{}{}", outcome.stdout, outcome.stderr))
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// The kind of the server.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The output so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already; then there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The ways in.
pub(crate) struct Doors {
    pub(crate) plain: String,
    pub(crate) tls: String,
    _port: HeldPort,
    pub(crate) socket: String,
}

/// slapd's files, unpacked but not installed.
struct Slapd {
    root: PathBuf,
    libraries: PathBuf,
}

impl Slapd {
    fn find() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/slapd");
        assert!(
            root.join("usr/sbin/slapd").exists(),
            "slapd is missing: run `make test`, or scripts/setup.sh, which unpacks it into build/slapd"
        );
        let root = root.canonicalize().expect("the path of build/slapd");
        // libslapi is in the folder of the machine's architecture.
        let libraries = fs::read_dir(root.join("usr/lib")).expect("slapd's libraries");
        let mut libraries = libraries.filter_map(Result::ok).map(|entry| entry.path());
        let libraries = libraries.find(|path| path.to_string_lossy().ends_with("-linux-gnu"));
        Self {
            libraries: libraries.expect("slapd's own libraries"),
            root,
        }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.root.join("usr/sbin").join(program));
        command.env("LD_LIBRARY_PATH", &self.libraries);
        command
    }

    /// One database without indexes.
    fn plain(&self, data: &Path, lines: &str) -> String {
        let root = self.root.display();
        let schemas = ["core", "cosine", "inetorgperson", "nis"];
        let schemas = schemas
            .map(|name| format!("include {root}/etc/ldap/schema/{name}.schema\n"))
            .concat();
        format!(
            "{schemas}modulepath {root}/usr/lib/ldap\nmoduleload back_mdb.so\n\
             database mdb\nmaxsize 104857600\ndbnosync\nsuffix \"{SUFFIX}\"\nrootdn \"{ROOT_DN}\"\n\
             rootpw \"{ROOT_PASSWORD}\"\ndirectory {}\n{lines}",
            data.display()
        )
    }

    fn configuration(&self, data: &Path) -> String {
        let root = self.root.display();
        let schemas = ["core", "cosine", "inetorgperson", "nis"];
        let schemas = schemas
            .map(|name| format!("include {root}/etc/ldap/schema/{name}.schema\n"))
            .concat();
        let indexes: String = INDEXES
            .iter()
            .map(|(name, kinds)| format!("index {name} {kinds}\n"))
            .collect();
        format!(
            "{schemas}modulepath {root}/usr/lib/ldap\nmoduleload back_mdb.so\nmoduleload sssvlv.so\n\
             access to attrs=userPassword by * auth\naccess to * by * read\n\
             database mdb\nmaxsize 1073741824\ndbnosync\nsuffix \"{SUFFIX}\"\nrootdn \"{ROOT_DN}\"\n\
             rootpw \"{ROOT_PASSWORD}\"\ndirectory {}\n{indexes}\
             overlay sssvlv\nsssvlv-max 1000\nsssvlv-maxperconn 1000\n",
            data.display()
        )
    }
}
