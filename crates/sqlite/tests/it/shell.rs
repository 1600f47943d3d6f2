//! The `sqlite3` program with the extension.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns the extension of this build.
fn extension() -> PathBuf {
    let test = std::env::current_exe().expect("the test's path");
    test.with_file_name("libfulgurite_sqlite.so")
}

/// Runs statements, and returns what the program prints, with its errors.
///
/// An error has the form `error: TEXT (CODE)`, without the number of its line.
#[track_caller]
pub(crate) fn run(database: &str, statements: &str) -> String {
    let mut child = Command::new("sqlite3")
        .args(["-batch", database])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sqlite3, which scripts/setup.sh installs");
    let mut input = child.stdin.take().expect("its input");
    let script = format!(
        ".load {} sqlite3_fulguritesqlite_init\n{statements}",
        extension().display()
    );
    let writer = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let output = child.wait_with_output().expect("its output");
    writer.join().expect("the writer").expect("all statements");
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "sqlite3 ended with {code:?}");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        match line
            .split_once(" near line ")
            .and_then(|(_, rest)| rest.split_once(": "))
        {
            Some((_, error)) => text += &format!("error: {error}\n"),
            None => text += &format!("{line}\n"),
        }
    }
    text
}
