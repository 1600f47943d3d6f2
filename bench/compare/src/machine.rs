//! Where and with what the figures were found.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Lines about the machine, the project and the command.
pub(crate) fn circumstances(project: &Path, memory: &Path, disk: &Path) -> Vec<(String, String)> {
    let line = |name: &str, text: String| (name.to_owned(), text);
    vec![
        line("machine", machine()),
        line("load when begun", first_words("/proc/loadavg", 3)),
        line("memory for stores", file_system(memory)),
        line("disk for stores", file_system(disk)),
        line(
            "project",
            output(
                Command::new("git")
                    .args(["log", "-1", "--format=%h, %cs"])
                    .current_dir(project),
            ),
        ),
        line("compiler", output(Command::new("rustc").arg("--version"))),
        line("command", std::env::args().collect::<Vec<_>>().join(" ")),
        line(
            "day",
            output(Command::new("date").args(["-u", "+%F %R UTC"])),
        ),
    ]
}

fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find(|line| line.starts_with("model name"))
        .and_then(|line| line.split_once(':'))
        .map_or("unknown processor", |(_, model)| model.trim());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kibibytes: u64 = memory
        .split_whitespace()
        .nth(1)
        .and_then(|number| number.parse().ok())
        .unwrap_or(0);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{model}, {cores} cores, {} GiB, Linux {}",
        kibibytes >> 20,
        kernel.trim()
    )
}

fn first_words(path: &str, count: usize) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace()
        .take(count)
        .collect::<Vec<_>>()
        .join(" ")
}

fn file_system(path: &Path) -> String {
    output(
        Command::new("df")
            .args(["--output=fstype,target"])
            .arg(path),
    )
    .lines()
    .next_back()
    .unwrap_or("unknown")
    .to_owned()
}

fn output(command: &mut Command) -> String {
    let Ok(output) = command.output() else {
        return "unknown".to_owned();
    };
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Code and constants of a shared library, as `size` counts them; of Berkeley DB's own, not its
/// adapter's.
pub(crate) fn code_bytes(engine: &str, library: &Path, project: &Path) -> Option<u64> {
    let berkeley =
        crate::engines::library_folders(project).map(|folder| folder.join("libdb-5.3.so"));
    let library = match engine {
        name if name.starts_with("berkeley") => berkeley.into_iter().find(|path| path.exists())?,
        _ => library.to_owned(),
    };
    if library.as_os_str().is_empty() {
        return None;
    }
    let text = output(Command::new("size").arg(library));
    let numbers = text.lines().nth(1)?;
    numbers.split_whitespace().next()?.parse().ok()
}

/// Returns the version that a server reports.
pub(crate) fn server_version(name: &str, project: &Path) -> String {
    match name {
        "fulgurite" => {
            output(Command::new(project.join("target/release/fulgurite")).arg("--version"))
        }
        "389-ds" => {
            let root = crate::folders::ds389_root(project);
            let said = output(Command::new("strings").arg(root.join("usr/sbin/ns-slapd")));
            let found = said.lines().find(|line| line.starts_with("389-Directory/"));
            found.unwrap_or("389-Directory").to_owned()
        }
        "echo" => "reads requests, writes fixed answers".to_owned(),
        _ => {
            let root = crate::folders::slapd_root(project, name != "slapd");
            let mut command = Command::new(root.join("usr/sbin/slapd"));
            let libraries = crate::folders::library_path(&root);
            command.arg("-VV").env("LD_LIBRARY_PATH", libraries);
            let said = command
                .output()
                .map(|output| output.stderr)
                .unwrap_or_default();
            let text = String::from_utf8_lossy(&said).into_owned();
            let words = text
                .split("slapd ")
                .nth(1)
                .and_then(|rest| rest.split_whitespace().next());
            format!("slapd {}", words.unwrap_or("unknown"))
        }
    }
}
