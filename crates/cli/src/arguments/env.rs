//! Flags of `fulgurite env`: one sub-command per tool for an environment's administrator.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Look after an environment: a store of this program's, or any other with LMDB's files
///
/// All of these work beside programs that have the environment open, those with the original library included.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Env {
    #[command(subcommand)]
    pub(crate) tool: EnvTool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EnvTool {
    Stat(Stat),
}

/// Print what an environment holds: sizes, databases, free pages, readers
///
/// Shows one snapshot; nothing is changed, and nobody waits for it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite env stat /var/lib/fulgurite")]
pub(crate) struct Stat {
    #[command(flatten)]
    pub(crate) environment: EnvironmentPath,
}

/// Which environment a tool is about.
#[derive(Debug, Args)]
pub(crate) struct EnvironmentPath {
    /// Directory of the environment, or its data file if that lies alone
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
}
