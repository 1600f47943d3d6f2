//! `mdb_dump`, as in its man page.

fn main() -> std::process::ExitCode {
    fulgurite_lmdb_tools::dump()
}
