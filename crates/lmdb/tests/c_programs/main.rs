//! The parts that C programs use: the header, the symbols, the installed library, shared and
//! static.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// The functions of the interface.
const FUNCTIONS: &str = "
    mdb_cmp mdb_cursor_close mdb_cursor_count mdb_cursor_dbi mdb_cursor_del mdb_cursor_get mdb_cursor_open
    mdb_cursor_put mdb_cursor_renew mdb_cursor_txn mdb_dbi_close mdb_dbi_flags mdb_dbi_open mdb_dcmp mdb_del mdb_drop
    mdb_env_close mdb_env_copy mdb_env_copy2 mdb_env_copyfd mdb_env_copyfd2 mdb_env_create mdb_env_get_fd
    mdb_env_get_flags mdb_env_get_maxkeysize mdb_env_get_maxreaders mdb_env_get_path mdb_env_get_userctx mdb_env_info
    mdb_env_open mdb_env_set_assert mdb_env_set_flags mdb_env_set_mapsize mdb_env_set_maxdbs mdb_env_set_maxreaders
    mdb_env_set_userctx mdb_env_stat mdb_env_sync mdb_get mdb_put mdb_reader_check mdb_reader_list mdb_set_compare
    mdb_set_dupsort mdb_set_relctx mdb_set_relfunc mdb_stat mdb_strerror mdb_txn_abort mdb_txn_begin mdb_txn_commit
    mdb_txn_env mdb_txn_id mdb_txn_renew mdb_txn_reset mdb_version";
/// Functions that old programs import in addition.
const LEAKED: &str = "
    mdb_mid2l_append mdb_mid2l_insert mdb_mid2l_search mdb_midl_alloc mdb_midl_append mdb_midl_append_list
    mdb_midl_append_range mdb_midl_free mdb_midl_need mdb_midl_search mdb_midl_shrink mdb_midl_sort mdb_midl_xmerge";

/// Installing rebuilds the library in its place. For a moment there is none, and the linker would
/// take the system's.
static BUILT: RwLock<()> = RwLock::new(());

/// The library, which stays where it is for as long as the guard lives.
fn library() -> (PathBuf, RwLockReadGuard<'static, ()>) {
    // A test that failed has not spoilt it.
    let guard = BUILT.read().unwrap_or_else(PoisonError::into_inner);
    let test = std::env::current_exe().unwrap();
    let library = test.with_file_name("liblmdb.so");
    assert!(library.exists(), "{} is not built", library.display());
    (library, guard)
}

fn crate_path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

/// Runs a program, which must succeed; returns what it printed.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{text}\n{errors}");
    text
}

fn symbols(option: &str, path: &Path) -> Vec<String> {
    let listed = run(Command::new("nm")
        .args([option, "--defined-only", "--extern-only"])
        .arg(path));
    let mut names: Vec<String> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .map(str::to_owned)
        .collect();
    names.sort_unstable();
    names
}

fn interface() -> Vec<String> {
    let both = FUNCTIONS
        .split_whitespace()
        .chain(LEAKED.split_whitespace());
    let mut names: Vec<String> = both.map(str::to_owned).collect();
    names.sort_unstable();
    names
}

#[test]
fn the_library_exports_the_interface_and_nothing_else() {
    let (library, _built) = library();
    let exported = symbols("--dynamic", &library);
    let (extra, names): (Vec<_>, Vec<_>) = exported
        .into_iter()
        .partition(|name| name.starts_with("fulgurite_"));
    assert_eq!(names, interface());
    let header = std::fs::read_to_string(crate_path("include/lmdb.h")).unwrap();
    for name in extra
        .iter()
        .map(String::as_str)
        .chain(FUNCTIONS.split_whitespace())
    {
        assert!(
            header.contains(&format!("{name}(")),
            "{name} is not in the header"
        );
    }
}

/// A folder where linker and loader find the library.
fn linkable() -> (tempfile::TempDir, RwLockReadGuard<'static, ()>) {
    let folder = tempfile::tempdir().unwrap();
    let (library, built) = library();
    for name in ["liblmdb.so", "liblmdb.so.0"] {
        std::os::unix::fs::symlink(&library, folder.path().join(name)).unwrap();
    }
    (folder, built)
}

/// Compiles a program of `tests/c` without a warning, links it, and runs it on an empty directory.
fn compile_and_run(compiler: &[&str], source: &str, variables: &[(&str, &str)]) {
    let (work, _built) = linkable();
    let program = work.path().join("program");
    run(Command::new(compiler[0])
        .args(&compiler[1..])
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(crate_path("include"))
        .arg(crate_path("tests/c").join(source))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(work.path())
        .arg("-llmdb"));
    let data = work.path().join("data");
    std::fs::create_dir(&data).unwrap();
    run(Command::new(&program)
        .arg(&data)
        .envs(variables.iter().copied())
        .env("LD_LIBRARY_PATH", work.path()));
}

#[test]
fn a_program_with_every_name_compiles_as_c_and_as_cplusplus() {
    let compilers: [&[&str]; 4] = [
        &["cc", "-std=c99"],
        &["cc", "-std=c11"],
        &["c++", "-x", "c++", "-std=c++98"],
        &["c++", "-x", "c++", "-std=c++17"],
    ];
    for compiler in compilers {
        compile_and_run(compiler, "names.c", &[]);
    }
}

#[test]
fn functions_beyond_lmdb_work_from_c() {
    compile_and_run(&["cc", "-std=c99"], "extra.c", &[]);
    compile_and_run(
        &["cc", "-std=c99", "-DBY_VARIABLE"],
        "extra.c",
        &[("FULGURITE_GROW", "1")],
    );
}

#[test]
fn c_programs_set_policies_for_long_readers() {
    compile_and_run(&["cc", "-std=c99"], "long_readers.c", &[]);
}

#[test]
fn habits_of_programs_work() {
    compile_and_run(&["cc", "-std=gnu11"], "habits.c", &[]);
}

#[test]
fn an_installed_library_is_found_and_linked_shared_and_static() {
    let work = tempfile::tempdir().unwrap();
    // Installed into a package's root: the files' contents speak of where they will be in the end.
    let root = work.path().join("root");
    let prefix = "/opt/lmdb";
    let building = BUILT.write().unwrap_or_else(PoisonError::into_inner);
    run(Command::new(crate_path("../../scripts/install-lmdb.sh"))
        .arg(prefix)
        .env("DESTDIR", &root)
        .env("PROFILE", "dev"));
    drop(building);
    let installed = root.join("opt/lmdb");
    let config = |options: &[&str]| {
        let answer = run(Command::new("pkg-config")
            .args(options)
            .arg("lmdb")
            .env("PKG_CONFIG_PATH", installed.join("lib/pkgconfig"))
            .env("PKG_CONFIG_SYSROOT_DIR", &root));
        answer
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(config(&["--modversion"]), ["0.9.36"]);
    assert_eq!(config(&["--variable=prefix"]).len(), 1);
    let source = crate_path("tests/c/names.c");
    let build = |name: &str, flags: Vec<String>| {
        let program = work.path().join(name);
        run(Command::new("cc")
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .args(flags));
        let data = work.path().join(format!("{name}.data"));
        std::fs::create_dir(&data).unwrap();
        run(Command::new(&program)
            .arg(&data)
            .env("LD_LIBRARY_PATH", installed.join("lib")));
        run(Command::new("readelf").arg("-d").arg(&program))
    };
    let shared = build("shared", config(&["--cflags", "--libs"]));
    assert!(shared.contains("[liblmdb.so.0]"), "{shared}");
    let mut flags = config(&["--cflags"]);
    flags.push(
        installed
            .join("lib/liblmdb.a")
            .to_string_lossy()
            .into_owned(),
    );
    let private = config(&["--libs", "--static"]);
    flags.extend(private.into_iter().filter(|flag| flag != "-llmdb"));
    let stand_alone = build("static", flags);
    assert!(!stand_alone.contains("liblmdb"), "{stand_alone}");
    let mut shown = symbols("--extern-only", &installed.join("lib/liblmdb.a"));
    shown.retain(|name| !name.starts_with("fulgurite_"));
    assert_eq!(shown, interface());
}
