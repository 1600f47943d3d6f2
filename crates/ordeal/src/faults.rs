//! Every system call of a history fails.

/// What to try, and for how long.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// What all choices follow from; a fresh one each time if not given
    #[arg(long)]
    pub seed: Option<u64>,
}

/// Runs the ordeal and prints what was tried.
/// # Errors
/// The first thing that the store did not survive, with all that is needed to repeat it.
pub fn run(options: &Options) -> anyhow::Result<()> {
    anyhow::bail!("not built yet: {options:?}")
}
