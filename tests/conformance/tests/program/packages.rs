//! The package for Debian and the image for containers, made of the program under test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fulgurite_conformance::{TIMEOUT, program};
use fulgurite_testkit::{Ended, run_bounded};
use tempfile::TempDir;

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output();
    found.is_ok_and(|output| output.status.success())
}

/// Returns the output of a program that succeeds.
fn output(command: &mut Command) -> String {
    let outcome = run_bounded(command, 10 * TIMEOUT);
    assert!(outcome.success(), "{outcome:?}");
    outcome.stdout
}

#[test]
fn the_debian_package_has_a_program_that_sets_a_directory_up() {
    if !["dpkg-deb", "objcopy", "strip"].into_iter().all(is_there) {
        eprintln!("skipped: there is no dpkg-deb or no binutils");
        return;
    }
    let folder = TempDir::new().expect("make a directory");
    let dist = folder.path().join("dist");
    let mut pack = Command::new(tree().join("scripts/package.sh"));
    pack.arg("deb").arg(program()).arg(&dist);
    output(
        pack.env("COMPRESSION", "none")
            .env("SOURCE_DATE_EPOCH", "1700000000"),
    );
    let names = fs::read_dir(&dist).expect("the folder").map(|file| {
        let name = file.expect("a file").file_name();
        name.into_string().expect("UTF-8")
    });
    let (packages, others): (Vec<String>, Vec<String>) =
        names.partition(|name| name.ends_with(".deb"));
    let [package] = &packages[..] else {
        panic!("{packages:?}");
    };
    let [symbols] = &others[..] else {
        panic!("{others:?}");
    };
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        package.starts_with(&format!("fulgurite_{version}_")),
        "{package}"
    );
    assert!(symbols.ends_with(".debug"), "{symbols}");

    let package = dist.join(package);
    let control = output(Command::new("dpkg-deb").arg("--field").arg(&package));
    assert!(control.contains("Depends: libc6 (>= 2."), "{control}");
    let root = folder.path().join("root");
    output(
        Command::new("dpkg-deb")
            .arg("--extract")
            .args([&package, &root]),
    );
    for name in [
        "usr/lib/systemd/system/fulgurite.service",
        "usr/lib/sysusers.d/fulgurite.conf",
        "usr/lib/tmpfiles.d/fulgurite.conf",
        "usr/share/man/man1/fulgurite-serve.1.gz",
        "usr/share/man/man5/fulgurite.toml.5.gz",
        "usr/share/bash-completion/completions/fulgurite",
        "usr/share/zsh/vendor-completions/_fulgurite",
        "usr/share/fish/vendor_completions.d/fulgurite.fish",
        "usr/share/doc/fulgurite/docs/settings.md",
        "usr/share/doc/fulgurite/examples/fulgurite.toml",
        "usr/share/doc/fulgurite/copyright",
    ] {
        assert!(root.join(name).is_file(), "{name}");
    }

    // The program of the package, stripped, works from where it is.
    let installed = root.join("usr/bin/fulgurite");
    let size = |path: &Path| fs::metadata(path).expect("a file").len();
    assert!(
        size(&installed) < size(program()),
        "the program is not stripped"
    );
    let said = output(Command::new(&installed).arg("--version"));
    assert_eq!(said.trim(), format!("fulgurite {version}"));
    let mut setup = Command::new(&installed);
    setup.args(["setup", "--yes", "--suffix", "dc=example,dc=org", "--root"]);
    output(setup.arg(&root));
    assert!(root.join("etc/fulgurite/fulgurite.toml").is_file());
    assert!(root.join("etc/fulgurite/tls/server-key.pem").is_file());
    // Unit, user and folders are those of the package.
    for name in ["systemd", "sysusers.d", "tmpfiles.d"] {
        assert!(!root.join("etc").join(name).exists(), "{name}");
    }
}

#[test]
fn the_steps_of_the_image_work() {
    let mut check = Command::new(tree().join("packaging/container/check.sh"));
    let outcome = run_bounded(check.arg(program()), 10 * TIMEOUT);
    if outcome.ended == Ended::Exit(77) {
        eprintln!("skipped: {}", outcome.stderr);
        return;
    }
    assert!(outcome.success(), "{outcome:?}");
}

#[test]
fn the_unit_of_systemd_is_understood() {
    if !is_there("systemd-analyze") {
        eprintln!("skipped: there is no systemd-analyze");
        return;
    }
    // The verification also looks for the program and the pages.
    let folder = TempDir::new().expect("make a directory");
    let unit = fs::read_to_string(tree().join("packaging/systemd/fulgurite.service"));
    let unit = unit.expect("the unit");
    let lines = unit
        .lines()
        .filter(|line| !line.starts_with("Documentation="));
    let text: String = lines
        .map(|line| line.replace("/usr/bin/fulgurite", "/bin/true") + "\n")
        .collect();
    let file = folder.path().join("fulgurite.service");
    fs::write(&file, text).expect("write the unit");
    let mut verify = Command::new("systemd-analyze");
    let outcome = run_bounded(verify.arg("verify").arg(&file), TIMEOUT);
    assert!(
        !outcome.stderr.contains("fulgurite.service:"),
        "{outcome:?}"
    );
}
