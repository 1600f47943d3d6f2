//! `mdb_stat`: its man page says what it does.

fn main() -> std::process::ExitCode {
    fulgurite_lmdb_tools::stat()
}
