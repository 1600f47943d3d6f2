//! A store that a test loads and serves.

use crate::server::RunningServer;
use crate::{PASSWORD, ROOT, SUFFIX, fulgurite, path, run};
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// A folder with a loaded store; the folder goes with the value.
pub struct LoadedStore {
    /// The folder: the LDIF, the root password and `data`.
    pub root: TempDir,
}

impl LoadedStore {
    /// Generates an organisation of `users` people and loads it.
    ///
    /// # Panics
    /// If the program fails.
    #[must_use]
    pub fn generated(users: u32) -> LoadedStore {
        let ldif = run(&[
            "generate",
            "--users",
            &users.to_string(),
            "--suffix",
            SUFFIX,
        ]);
        assert!(ldif.status.success(), "{ldif:?}");
        LoadedStore::from_ldif(&ldif.stdout)
    }

    /// Loads these records into a new store.
    ///
    /// # Panics
    /// If the program fails.
    #[must_use]
    pub fn from_ldif(ldif: &[u8]) -> LoadedStore {
        let root = TempDir::new().expect("make a directory");
        let file = root.path().join("all.ldif");
        std::fs::write(&file, ldif).expect("write LDIF");
        std::fs::write(root.path().join("password"), PASSWORD).expect("write the password");
        let loaded = LoadedStore { root };
        let output = run(&[
            "load",
            "--quiet",
            "--data",
            loaded.data_str(),
            "--suffix",
            SUFFIX,
            path(&file),
        ]);
        assert!(output.status.success(), "{output:?}");
        loaded
    }

    /// Returns the folder of the store.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// Returns the folder of the store as an argument.
    #[must_use]
    pub fn data_str(&self) -> &'static str {
        path(&self.data())
    }

    /// Serves the store at a port that the system chooses.
    #[must_use]
    pub fn serve(&self, more: &[&str]) -> RunningServer {
        RunningServer::start(self.serve_command("ldap://127.0.0.1:0").args(more))
    }

    /// Returns the command that serves the store at `url`.
    #[must_use]
    pub fn serve_command(&self, url: &str) -> Command {
        let mut command = fulgurite();
        command
            .args([
                "serve",
                "--data",
                self.data_str(),
                "--suffix",
                SUFFIX,
                "--listen",
                url,
            ])
            .args(["--root-dn", ROOT, "--root-password-file"])
            .arg(self.root.path().join("password"));
        command
    }
}
