//! Flags of `fulgurite apply`.

use std::path::PathBuf;

use clap::Args;

use super::server::ServerFlags;

/// Bring entries of a running server to the state that a file describes
///
/// Adds what is missing, and changes only what differs. Attributes that the file does not mention
/// stay as they are. A second run finds nothing to do. The file is LDIF, with entries or changes,
/// or YAML.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite apply people.yaml --dry-run\n  fulgurite apply people.yaml --delete\n\nA file in YAML:\n  - dn: uid=ada,ou=people,dc=example,dc=com\n    objectClass: inetOrgPerson\n    cn: Ada Lovelace\n    sn: Lovelace\n    mail: [ada@example.com, al@example.com]\n    title: null\n  - dn: uid=bob,ou=people,dc=example,dc=com\n    state: absent"
)]
pub(crate) struct Apply {
    /// LDIF or YAML (*.yaml, *.yml); `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Read YAML, whatever the name of the file
    #[arg(long)]
    pub(crate) yaml: bool,
    /// Write the changes as LDIF to standard output, and make none
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
    /// Delete entries that the file says are absent
    #[arg(long)]
    pub(crate) delete: bool,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
}
