//! Whole servers: our own, memcached and Redis.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::client::Protocol;
use crate::directory::free_port;
use crate::folders::library_path;

/// A server that is a whole program.
#[derive(Debug, Clone, Copy)]
pub(super) struct WholeServer {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) tuning: &'static str,
    pub(super) protocol: Protocol,
    /// True if each answer waits for the disk.
    pub(super) is_durable: bool,
    /// The folder below build/ where its package is unpacked; none is our own program.
    unpacked: Option<&'static str>,
    program: &'static str,
    arguments: &'static [&'static str],
    /// The flag before the folder of its files, if it has one.
    folder_flag: Option<&'static str>,
    /// The flag that prints its version.
    version_flag: &'static str,
}

/// The name of memcached in results.
pub(crate) const MEMCACHED: &str = "memcached";

/// Returns true if there is a server of that name.
#[cfg(test)]
pub(crate) fn is_server(name: &str) -> bool {
    SERVERS.iter().any(|server| server.name == name)
}

/// All of them.
pub(super) const SERVERS: &[WholeServer] = &[
    WholeServer {
        name: MEMCACHED,
        title: MEMCACHED,
        tuning: "-t 4 -m 1024; keeps all in memory",
        protocol: Protocol::Memcached,
        is_durable: false,
        unpacked: Some("memcached"),
        program: "memcached",
        arguments: &[
            "-l",
            "127.0.0.1",
            "-U",
            "0",
            "-t",
            "4",
            "-m",
            "1024",
            "-u",
            "root",
            "-p",
        ],
        folder_flag: None,
        version_flag: "-V",
    },
    WholeServer {
        name: "fulgurite-memcached",
        title: "fulgurite memcached",
        tuning: "--threads 1 --durability none",
        protocol: Protocol::Memcached,
        is_durable: false,
        unpacked: None,
        program: "fulgurite",
        arguments: &[
            "memcached",
            "--threads",
            "1",
            "--durability",
            "none",
            "--listen",
        ],
        folder_flag: Some("--data"),
        version_flag: "--version",
    },
    WholeServer {
        name: "fulgurite-memcached-full",
        title: "fulgurite memcached, durable",
        tuning: "--threads 1 --durability full",
        protocol: Protocol::Memcached,
        is_durable: true,
        unpacked: None,
        program: "fulgurite",
        arguments: &[
            "memcached",
            "--threads",
            "1",
            "--durability",
            "full",
            "--listen",
        ],
        folder_flag: Some("--data"),
        version_flag: "--version",
    },
    WholeServer {
        name: "redis-always",
        title: "Redis, durable",
        tuning: "appendonly yes, appendfsync always, no snapshots",
        protocol: Protocol::Redis,
        is_durable: true,
        unpacked: Some("redis"),
        program: "redis-server",
        arguments: &[
            "--save",
            "",
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
            "--bind",
            "127.0.0.1",
            "--port",
        ],
        folder_flag: Some("--dir"),
        version_flag: "--version",
    },
];

impl WholeServer {
    /// Returns the command that serves, and its port.
    pub(super) fn command(
        &self,
        project: &Path,
        folder: &Path,
    ) -> Result<(Command, Option<u16>), String> {
        let port = free_port().map_err(|error| error.to_string())?;
        let mut command = self.bare(project)?;
        command.args(self.arguments);
        match self.unpacked {
            None => command.arg(format!("127.0.0.1:{port}")),
            Some(_) => command.arg(port.to_string()),
        };
        if let Some(flag) = self.folder_flag {
            command.arg(flag).arg(folder);
        }
        Ok((command, Some(port)))
    }

    /// The program, unpacked, installed or built.
    fn bare(&self, project: &Path) -> Result<Command, String> {
        let Some(unpacked) = self.unpacked else {
            let program = project.join("target/release").join(self.program);
            return match program.exists() {
                true => Ok(Command::new(program)),
                false => Err("cargo build --release -p fulgurite-cli makes it".to_owned()),
            };
        };
        let root = project.join("build").join(unpacked).join("root");
        let programs = [
            root.join("usr/bin").join(self.program),
            PathBuf::from("/usr/bin").join(self.program),
        ];
        let program = programs.iter().find(|program| program.exists());
        let program = program.ok_or_else(|| format!("there is no {}", self.program))?;
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", library_path(&root));
        Ok(command)
    }

    /// The version that the program reports.
    pub(super) fn version(&self, project: &Path) -> String {
        let output = self
            .bare(project)
            .map(|mut command| command.arg(self.version_flag).output());
        let text = output.map(|output| {
            output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        });
        text.ok().and_then(Result::ok).unwrap_or_default()
    }
}
