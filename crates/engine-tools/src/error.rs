//! Errors of the tools.

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
        /// The engine's error.
        source: fulgurite::OpenError,
    },
    /// Reading the environment failed.
    #[error(transparent)]
    Engine(#[from] fulgurite::Error),
    /// The environment could not be checked.
    #[error(transparent)]
    Check(#[from] fulgurite::check::CheckError),
    /// Nothing could be salvaged.
    #[error(transparent)]
    Salvage(#[from] fulgurite::salvage::SalvageError),
    /// The directory for a new environment cannot be made.
    #[error("cannot make {}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The directory for a new environment is not empty.
    #[error("{} is not empty; name a new directory", .0.display())]
    NotEmpty(PathBuf),
    /// The salvaged environment fails its check.
    #[error("{} does not pass its check: do not use it", .0.display())]
    Unsound(PathBuf),
    /// The text could not be written.
    #[error("cannot write")]
    Output(#[from] io::Error),
}
