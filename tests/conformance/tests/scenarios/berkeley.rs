//! `fulgurite migrate` and `import` read databases of hdb and bdb through `db5.3_dump`.
//!
//! The files are those that `db5.3_dump` of Debian printed for databases of slapd 2.4.57, and that
//! slapd's slapcat. A script in the place of the program prints them, so no machine needs it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::stage::{Ran, Stage, ran};

const SUFFIX: &str = "dc=example,dc=com";

/// A folder with a database, a configuration and the script.
struct Old {
    folder: tempfile::TempDir,
}

/// The rows of a database's files, and what slapcat of slapd prints.
struct Recorded {
    backend: &'static str,
    entries: &'static str,
    names: &'static str,
    slapcat: &'static str,
}

const HDB: Recorded = Recorded {
    backend: "hdb",
    entries: include_str!("berkeley/hdb-id2entry.txt"),
    names: include_str!("berkeley/hdb-dn2id.txt"),
    slapcat: include_str!("berkeley/hdb.ldif"),
};

const BDB: Recorded = Recorded {
    backend: "bdb",
    entries: include_str!("berkeley/bdb-id2entry.txt"),
    names: include_str!("berkeley/bdb-dn2id.txt"),
    slapcat: include_str!("berkeley/bdb.ldif"),
};

impl Old {
    fn new(recorded: &Recorded) -> Old {
        let folder = tempfile::tempdir().expect("a folder");
        let old = Old { folder };
        for name in ["db", "bin"] {
            fs::create_dir(old.path(name)).expect("a folder");
        }
        for (name, rows) in [("id2entry", recorded.entries), ("dn2id", recorded.names)] {
            let file = old.path(&format!("db/{name}.bdb"));
            fs::write(&file, rows).expect("a file");
        }
        let script = old.path("bin/db5.3_dump");
        fs::write(&script, "#!/bin/sh\nexec /bin/cat \"$1\"\n").expect("a file");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a mode");
        // The configuration brings its own definitions, as that of slapd's package does.
        let stage = Stage::new("berkeley");
        let schema = PathBuf::from(stage.distribution()).join("etc/ldap/schema");
        let text = format!(
            "include {2}/core.schema\ninclude {2}/cosine.schema\n\
             include {2}/inetorgperson.schema\nmoduleload back_{0}\ndatabase {0}\nsuffix {SUFFIX}\nrootdn cn=admin,{SUFFIX}\n\
             directory {1}\ncachesize 5\ndbconfig set_cachesize 0 1048576 1\nindex uid eq\n",
            recorded.backend,
            old.text("db"),
            schema.display()
        );
        fs::write(old.path("slapd.conf"), text).expect("a file");
        old
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn run(&self, programs: &str, arguments: &[&str]) -> Ran {
        let mut command = Command::new(fulgurite_conformance::program());
        let command = command.env("PATH", self.path(programs)).args(arguments);
        ran(command, "")
    }

    fn migrate(&self, to: &str) -> Ran {
        let (conf, to) = (self.text("slapd.conf"), self.text(to));
        self.run("bin", &["migrate", "-f", &conf, "--to", &to])
    }
}

#[test]
fn databases_are_copied_and_compared() {
    for recorded in [HDB, BDB] {
        let old = Old::new(&recorded);
        let said = old.migrate("new").well();
        let count = recorded.slapcat.lines();
        let count = count.filter(|line| line.starts_with("dn:")).count();
        let copied = format!("{count} entries copied and compared, 0 differ");
        assert!(said.contains(&copied), "{said}");
        let config = old.text("new/slapd.d");
        let ours = old.run("bin", &["slapcat", "-F", &config]).well();
        // Releases fold long lines at other columns.
        let unfolded = |text: &str| text.replace("\n ", "");
        assert_eq!(unfolded(&ours), unfolded(recorded.slapcat));
        // With the schema and the indexes of the configuration.
        let (conf, from, data) = (old.text("slapd.conf"), old.text("db"), old.text("data"));
        let flags = ["import", "--from", &from, "--data", &data, "-f", &conf];
        let summary = old.run("bin", &flags);
        assert_eq!(summary.status, 0, "{summary:?}");
        let imported = format!("{count} entries found, {count} imported, 0 skipped");
        assert!(summary.err.contains(&imported), "{summary:?}");
    }
}

#[test]
fn what_cannot_be_read_is_an_error_with_a_way_out() {
    let old = Old::new(&HDB);
    let (conf, from, data) = (old.text("slapd.conf"), old.text("db"), old.text("data"));
    let import = |programs: &str| {
        let flags = ["import", "--from", &from, "--data", &data, "-f", &conf];
        let refused = old.run(programs, &flags);
        assert_ne!(refused.status, 0, "{refused:?}");
        assert!(!old.path("data/data.mdb").exists(), "{refused:?}");
        refused.err
    };
    let missing = import("db");
    assert!(
        missing.contains("db5.3-util") && missing.contains("slapcat -b SUFFIX -l data.ldif"),
        "{missing}"
    );
    // The slot of a server that has not closed the database.
    let mut alock = vec![0_u8; 2048];
    alock[1024..1028].copy_from_slice(&0x1234_5678_u32.to_ne_bytes());
    alock[1032..1036].copy_from_slice(&2_u32.to_ne_bytes());
    fs::write(old.path("db/alock"), &alock).expect("a file");
    let open = import("bin");
    assert!(
        open.contains("has not closed the database. Stop slapd"),
        "{open}"
    );
    alock[1032] = 0;
    fs::write(old.path("db/alock"), &alock).expect("a file");
    let entries = old.path("db/id2entry.bdb");
    // Half a file, a damaged record, a record less.
    let half = HDB.entries.len() / 2;
    fs::write(&entries, &HDB.entries[..half]).expect("a file");
    let ends = import("bin");
    assert!(ends.contains("db5.3_dump cannot read it"), "{ends}");
    fs::write(&entries, HDB.entries.replacen(" 0b22", " 0b23", 1)).expect("a file");
    let damaged = import("bin");
    assert!(
        damaged.contains("entry 2: its record is damaged"),
        "{damaged}"
    );
    let lines: Vec<&str> = HDB.entries.lines().collect();
    let end = lines.len() - 3;
    let less = [&lines[..end], &["DATA=END"]].concat().join("\n") + "\n";
    fs::write(&entries, less).expect("a file");
    let lost = import("bin");
    assert!(lost.contains("entry is missing"), "{lost}");
}
