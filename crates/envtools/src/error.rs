//! What keeps a tool from doing its work.

use std::io;
use std::path::PathBuf;

/// Why a tool gave up.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The environment could not be opened.
    #[error("cannot open {}", path.display())]
    Open {
        /// Its path, as it was given.
        path: PathBuf,
        /// What the engine said.
        source: fulgurite::OpenError,
    },
    /// Reading the environment failed.
    #[error(transparent)]
    Engine(#[from] fulgurite::Error),
    /// The text could not be written.
    #[error("cannot write")]
    Output(#[from] io::Error),
}
