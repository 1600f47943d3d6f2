//! `fulgurite status` and `fulgurite log` at running servers.

use std::process::{Command, Output};

use fulgurite_client::Scope;
use fulgurite_conformance::{
    LoadedStore, PASSWORD, ROOT, RunningServer, SUFFIX, failure, fulgurite, path,
};
use tempfile::TempDir;

fn status(arguments: &[&str]) -> Output {
    fulgurite()
        .arg("status")
        .args(arguments)
        .output()
        .expect("run the program")
}

#[test]
fn one_screen_tells_the_state() {
    let loaded = LoadedStore::generated(30);
    let mut command = loaded.serve_command("ldap://127.0.0.1:0");
    let serving = RunningServer::start(command.env("FULGURITE_MONITOR", "true"));
    let mut client = serving.client();
    for _ in 0..7 {
        client
            .search(SUFFIX, Scope::Base, "(objectClass=*)", &[])
            .expect("a search");
    }
    let url = format!("ldap://{}", serving.address);
    let password = loaded.root.path().join("password");
    let bound = [
        "--url",
        &url,
        "--as",
        ROOT,
        "--password-file",
        path(&password),
    ];
    let output = status(&bound);
    let text = String::from_utf8(output.stdout).expect("text");
    // The disk of the machine may be full.
    let warnings = |text: &str| {
        let lines = text.lines().filter(|line| line.starts_with("warning: "));
        lines.filter(|line| !line.contains("Disk of ")).count()
    };
    assert_eq!(warnings(&text), 0, "{text}");
    assert_eq!(
        output.status.code() == Some(0),
        text.ends_with("\nall is well\n")
    );
    for part in [
        &format!("Fulgurite {} at {url}\n", env!("CARGO_PKG_VERSION")),
        "\nup  ",
        "\nconnections  2 open",
        &format!("\ndatabase     {SUFFIX}  ("),
        " % of its maximum size: ",
    ] {
        assert!(text.contains(part), "{part:?} is missing:\n{text}");
    }
    let output = status(&[&bound[..], &["--json"]].concat());
    let read: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(read["databases"][0]["suffix"], SUFFIX);
    let search = read["operations"].as_array().expect("operations").iter();
    let mut search = search.filter(|one| one["operation"] == "Search");
    let completed = search.next().expect("searches")["completed"].as_u64();
    assert!(completed >= Some(7), "{completed:?}");
    serving.stop();
    let (code, message) = failure(&status(&bound));
    assert_eq!(code, 2, "{message}");
    assert!(
        message.contains(&format!("cannot reach {url}")),
        "{message}"
    );
}

#[test]
fn top_shows_operations_and_clients_of_an_interval() {
    let loaded = LoadedStore::generated(5);
    let mut command = loaded.serve_command("ldap://127.0.0.1:0");
    let serving = RunningServer::start(command.env("FULGURITE_MONITOR", "true"));
    let url = format!("ldap://{}", serving.address);
    let password = loaded.root.path().join("password");
    let watch = |more: &[&str]| {
        let mut top = fulgurite();
        top.args(["top", "-H", &url, "-D", ROOT, "-y", path(&password)]);
        top.args(["--once", "--interval", "2"]).args(more);
        top.stdout(std::process::Stdio::piped());
        top.spawn().expect("run the program")
    };
    let mut watching = watch(&["--json"]);
    let mut client = serving.client();
    while watching.try_wait().expect("wait").is_none() {
        client
            .search(SUFFIX, Scope::Base, "(objectClass=*)", &[])
            .expect("a search");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let output = watching.wait_with_output().expect("the end");
    assert!(output.status.success(), "{output:?}");
    let read: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let clients = read["clients"].as_array().expect("clients");
    let names: Vec<&str> = clients
        .iter()
        .filter_map(|one| one["identity"].as_str())
        .collect();
    assert!(names.contains(&ROOT) && names.contains(&""), "{read}");
    let done = |one: &serde_json::Value| one["completed"].as_u64().unwrap_or(0);
    assert!(clients.iter().any(|one| done(one) > 0), "{read}");
    let output = watch(&[]).wait_with_output().expect("the end");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains(" connections, "), "{text}");
    assert!(text.contains(&format!("  {ROOT}\n")), "{text}");
    drop(client);
    serving.stop();
}

#[test]
fn without_a_monitor_there_is_a_warning() {
    let loaded = LoadedStore::generated(5);
    let serving = loaded.serve(&[]);
    let output = status(&["--url", &format!("ldap://{}", serving.address)]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("warning: cn=Monitor cannot be read"),
        "{text}"
    );
    serving.stop();
}

#[test]
fn the_log_of_a_server_with_a_configuration_directory_changes() {
    let folder = TempDir::new().expect("make a directory");
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("db")).expect("make a directory");
    std::fs::create_dir(at("slapd.d")).expect("make a directory");
    let configuration = format!(
        "database config\nrootpw {PASSWORD}\ndatabase mdb\nsuffix cn=x\ndirectory {}\n",
        at("db").display()
    );
    std::fs::write(at("slapd.conf"), configuration).expect("write the configuration");
    std::fs::write(at("password"), PASSWORD).expect("write the password");
    let mut convert = fulgurite();
    convert.args(["slaptest", "-Q", "-u", "-f"]);
    let convert = convert.arg(at("slapd.conf")).arg("-F").arg(at("slapd.d"));
    assert!(convert.status().expect("slaptest").success());
    let socket = at("ldapi").display().to_string().replace('/', "%2F");
    let url = format!("ldapi://{socket}");
    let mut server = fulgurite();
    server
        .args(["slapd", "-d", "0", "-h", &url, "-F"])
        .arg(at("slapd.d"));
    let mut server = server.spawn().expect("start the server");
    while !at("ldapi").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let change = |arguments: &[&str]| {
        let mut command: Command = fulgurite();
        command.arg("log").args(arguments);
        command.args(["--url", &url, "--as", "cn=config", "--password-file"]);
        let output = command
            .arg(at("password"))
            .output()
            .expect("run the program");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    assert_eq!(change(&["operations", "on"]), "olcLogLevel: Stats\n");
    assert_eq!(change(&["level", "debug"]), "olcLogLevel: Config Stats\n");
    assert_eq!(change(&["operations", "off"]), "olcLogLevel: Config\n");
    assert_eq!(change(&["level", "info"]), "olcLogLevel: 0\n");
    let pid = rustix::process::Pid::from_child(&server);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("send a signal");
    assert!(server.wait().expect("the end").success());
}

#[test]
fn a_server_with_a_file_says_how_to_change_its_log() {
    let loaded = LoadedStore::generated(5);
    let serving = loaded.serve(&[]);
    let url = format!("ldap://{}", serving.address);
    let mut command = fulgurite();
    command.args([
        "log",
        "operations",
        "on",
        "--url",
        &url,
        "--as",
        ROOT,
        "--password-file",
    ]);
    let output = command.arg(loaded.root.path().join("password")).output();
    let (code, message) = failure(&output.expect("run the program"));
    assert_eq!(code, 1, "{message}");
    assert!(message.contains("cn=config"), "{message}");
    serving.stop();
}
