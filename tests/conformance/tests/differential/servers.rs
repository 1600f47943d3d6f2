//! The same slapd.conf for Debian's slapd and for our `slapd`.

use std::fmt::Write as _;
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fulgurite_conformance::HeldPort;
use fulgurite_testkit::run_bounded;

use crate::values::{ATTRIBUTES, Kind};

/// Names and passwords of those who ask.
pub(crate) const ROOT_DN: &str = "cn=admin,dc=example,dc=org";
pub(crate) const ROOT_PASSWORD: &str = "root secret";
pub(crate) const USER_DN: &str = "uid=ada,ou=People,dc=example,dc=org";
pub(crate) const USER_PASSWORD: &str = "ada secret";

const PATIENCE: Duration = Duration::from_secs(60);

/// The first content of both databases.
pub(crate) const DATA: &str = "\
dn: dc=example,dc=org
objectClass: organization
objectClass: dcObject
o: Example
dc: example

dn: ou=People,dc=example,dc=org
objectClass: organizationalUnit
ou: People

dn: uid=ada,ou=People,dc=example,dc=org
objectClass: inetOrgPerson
cn: Ada Lovelace
sn: Lovelace
uid: ada
mail: ada@example.org
userPassword: ada secret
authzTo: dn.exact:uid=bob,ou=People,dc=example,dc=org

dn: uid=bob,ou=People,dc=example,dc=org
objectClass: inetOrgPerson
cn: Bob
sn: Builder
uid: bob
userPassword: secret

dn: cn=editors,dc=example,dc=org
objectClass: groupOfNames
cn: editors
member: uid=ada,ou=People,dc=example,dc=org

dn: ou=Work,dc=example,dc=org
objectClass: organizationalUnit
ou: Work
";

/// An entry with every attribute that requests use. slapd numbers an attribute when it first stores
/// one. If that update fails, slapd keeps the number in use but forgets its attribute. From then on
/// it returns one attribute under the name of another.
fn everything() -> String {
    let value = |kind| match kind {
        Kind::Number => "1",
        Kind::Phone => "+1 555 0100",
        Kind::Name => "dc=example,dc=org",
        Kind::Country => "DE",
        Kind::Url => "ldap://other.example/dc=x",
        _ => "abc",
    };
    let mut text = "\ndn: cn=everything,dc=example,dc=org\nobjectClass: device\n\
                    objectClass: extensibleObject\ncn: everything\n"
        .to_owned();
    let rest = ATTRIBUTES
        .iter()
        .filter(|(name, _)| !["objectClass", "cn"].contains(name));
    for (name, kind) in rest {
        let _ = writeln!(text, "{name}: {}", value(*kind));
    }
    text
}

/// Rules that let three identities do different things.
const RULES: &str = "\
access to attrs=userPassword
  by self =wx
  by group.exact=\"cn=editors,dc=example,dc=org\" write
  by anonymous auth
  by * none
access to attrs=description val.regex=\"^secret\" by users read by * none
access to attrs=homePhone,employeeType by users compare by * none
access to attrs=telephoneNumber by users search by anonymous disclose
access to dn.regex=\"^ou=n([0-9])[0-9]*,\" attrs=entry,children
  by dn.exact=\"uid=bob,ou=People,dc=example,dc=org\" write
  by users read
access to filter=\"(objectClass=device)\" by users read by * none
access to dn.subtree=\"ou=Work,dc=example,dc=org\" attrs=title,l
  by dnattr=owner write
  by users +rscxd
  by * break
access to *
  by users write
  by anonymous read
";

/// The files with which both servers begin.
pub(crate) struct Setup {
    /// Returns slapd.conf. Given are Debian's files, the folder of the databases, and true for
    /// Debian's slapd.
    pub(crate) configuration: fn(&Path, &Path, bool) -> String,
    /// Folders of databases, below that of all.
    pub(crate) databases: Vec<String>,
    /// The content of the first database.
    pub(crate) ldif: String,
}

impl Setup {
    /// One database without overlays but sssvlv.
    pub(crate) fn plain() -> Setup {
        Setup {
            configuration: |root, data, _| text(root, data),
            databases: Vec::new(),
            ldif: DATA.to_owned() + &everything(),
        }
    }
}

/// A server of this test; it ends with the value.
pub(crate) struct Server {
    process: Child,
    port: HeldPort,
}

impl Server {
    /// Debian's slapd from `build/slapd`.
    pub(crate) fn slapd(folder: &Path, setup: &Setup) -> Server {
        let root = slapd_root();
        let library = fs::read_dir(root.join("usr/lib"))
            .expect("slapd's libraries")
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .find(|path| path.to_string_lossy().ends_with("-linux-gnu"))
            .expect("slapd's own libraries");
        let command = |tool: &str| {
            let mut command = Command::new(root.join("usr/sbin").join(tool));
            command.env("LD_LIBRARY_PATH", &library);
            command
        };
        Self::start(folder, setup, true, command)
    }

    /// The server under test: ours, unless the test itself is tested.
    pub(crate) fn tested(folder: &Path, setup: &Setup) -> Server {
        if std::env::var("FULGURITE_TEST_PEERS").as_deref() == Ok("slapd") {
            return Self::slapd(folder, setup);
        }
        let command = |tool: &str| {
            let mut command = Command::new(fulgurite_conformance::program());
            command.arg(tool);
            command
        };
        Self::start(folder, setup, false, command)
    }

    fn start(
        folder: &Path,
        setup: &Setup,
        is_original: bool,
        command: impl Fn(&str) -> Command,
    ) -> Server {
        let data = folder.join("data");
        fs::create_dir_all(&data).expect("make the folder");
        for database in &setup.databases {
            fs::create_dir(data.join(database)).expect("make the folder of a database");
        }
        let configuration = folder.join("slapd.conf");
        let text = (setup.configuration)(&slapd_root(), &data, is_original);
        fs::write(&configuration, text).expect("write slapd.conf");
        let ldif = folder.join("data.ldif");
        fs::write(&ldif, &setup.ldif).expect("write the data");
        let mut load = command("slapadd");
        load.args(["-q", "-f"])
            .arg(&configuration)
            .arg("-l")
            .arg(&ldif);
        let loaded = run_bounded(&mut load, PATIENCE);
        assert!(loaded.success(), "slapadd: {loaded:?}");
        let port = HeldPort::new();
        let address = port.address();
        let log = folder.join("log");
        let output = fs::File::create(&log).expect("make the log");
        let mut serve = command("slapd");
        serve
            .args(["-d", "0", "-f"])
            .arg(&configuration)
            .args(["-h", &format!("ldap://{address}/")])
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("share the log"))
            .stderr(output);
        let process = serve.spawn().expect("start the server");
        let mut server = Server { process, port };
        server.wait_until_it_listens(&log);
        server
    }

    fn wait_until_it_listens(&mut self, log: &Path) {
        let started = Instant::now();
        while TcpStream::connect(self.port.address()).is_err() {
            let ended = self.process.try_wait().expect("look after the server");
            assert!(
                ended.is_none() && started.elapsed() < PATIENCE,
                "it does not listen:\n{}",
                fs::read_to_string(log).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.port.address()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already; then there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn slapd_root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/slapd");
    assert!(
        root.join("usr/sbin/slapd").exists(),
        "slapd is missing: run `make test`, or scripts/setup.sh, which unpacks it into build/slapd"
    );
    root.canonicalize().expect("the path of build/slapd")
}

fn text(root: &Path, data: &Path) -> String {
    let root = root.display();
    let schemas = ["core", "cosine", "inetorgperson", "nis"]
        .map(|name| format!("include {root}/etc/ldap/schema/{name}.schema\n"))
        .concat();
    let indexes = "index objectClass,uid,uidNumber,gidNumber,member,manager eq\nindex cn,sn,mail,description eq,sub,pres\n";
    format!(
        "{schemas}modulepath {root}/usr/lib/ldap\nmoduleload back_mdb.so\nmoduleload sssvlv.so\nauthz-policy to\n\
         {RULES}database mdb\nmaxsize 1073741824\ndbnosync\nsuffix \"dc=example,dc=org\"\nrootdn \"{ROOT_DN}\"\n\
         rootpw \"{ROOT_PASSWORD}\"\ndirectory {}\n{indexes}overlay sssvlv\n",
        data.display()
    )
}
