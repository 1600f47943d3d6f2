//! Rust sources as the checks need them: the files of a crate, their modules and their imports.
//!
//! The reader works on syntax alone. It does not see names that a macro builds, nor methods called
//! on a value whose type another file defines.

mod graph;
mod imports;
mod module_path;

pub(crate) use graph::strong_components;
pub(crate) use imports::{CrateImports, is_test, read_crate};
pub(crate) use module_path::is_test_file;
