//! The crates that each crate may use: the plan of ARCHITECTURE.md as a table.

use serde_json::Value;

/// Crates (by folder) and the workspace crates they may depend on. Dev-dependencies are free.
const ARROWS: &[(&str, &[&str])] = &[
    // the engine's column
    ("os", &[]),
    ("format", &[]),
    ("engine", &["os", "format"]),
    ("lmdb", &["engine"]),
    ("terminal", &[]), // what all programs share
    ("lmdb-tools", &["engine", "terminal"]),
    ("engine-tools", &["engine", "terminal"]),
    ("net", &[]), // what both servers share
    ("memcached", &["engine", "net"]),
    // the directory's column, from the bytes up
    ("policy", &[]), // plain data
    ("ber", &[]),
    ("ldap", &["ber"]),
    ("ldif", &[]),
    ("schema", &["ldap"]),
    ("access", &["ldap", "schema"]),
    ("auth", &["policy"]),
    ("store", &["engine", "schema", "ber", "policy"]), // the directory's use of the engine
    ("sqlite", &["engine", "ldap", "schema", "store"]),
    ("openldap-mdb", &["engine"]), // reads OpenLDAP's databases
    ("cluster", &[]),              // values without I/O
    (
        "directory",
        &[
            "ldap", "ldif", "schema", "access", "auth", "store", "policy", "cluster",
        ],
    ),
    ("client", &["ldap"]),
    ("etcd", &["cluster"]),
    ("cluster-driver", &["cluster"]), // it knows a log by its trait
    ("cluster-peers", &["cluster", "cluster-driver"]),
    ("console", &["client", "ldap"]),
    ("replica", &["auth", "ldap", "policy"]),
    // A directory of cn=config is LDIF.
    ("config", &["ldif", "policy"]),
    (
        "server",
        &[
            "access",
            "auth",
            "client",
            "cluster",
            "cluster-driver",
            "cluster-peers",
            "config",
            "console",
            "directory",
            "etcd",
            "ldap",
            "net",
            "os",
            "policy",
            "replica",
            "schema",
            "store",
        ],
    ),
    (
        "directory-tools",
        &[
            "directory",
            "ldap",
            "store",
            "openldap-mdb",
            "schema",
            "ldif",
            "terminal",
        ],
    ),
    (
        "cli",
        // The tools of slapd put directories, filters and stores together themselves.
        &[
            "server",
            "directory-tools",
            "engine-tools",
            "memcached",
            "config",
            "directory",
            "access",
            "auth",
            "client",
            "cluster",
            "etcd",
            "schema",
            "ldap",
            "ldif",
            "store",
            "terminal",
        ],
    ),
];

/// Members that may name anything, and that nothing but tests may name.
const FREE: &[&str] = &[
    "testkit",
    "cluster-testkit",
    "torture",
    "xtask",
    "compare",
    "load",
    "fuzz",
    "conformance",
];

/// Every arrow in `cargo metadata`'s answer that the table does not have.
pub(crate) fn faults(metadata: &Value) -> Vec<String> {
    let packages: Vec<Member> = array(metadata, "packages")
        .iter()
        .filter_map(Member::read)
        .collect();
    let folder_of = |name: &str| {
        packages
            .iter()
            .find(|member| member.name == name)
            .map(|member| member.folder.as_str())
    };
    let mut faults = Vec::new();
    for member in &packages {
        let allowed = ARROWS.iter().find(|(folder, _)| *folder == member.folder);
        if FREE.contains(&member.folder.as_str()) {
            continue;
        }
        let Some((_, allowed)) = allowed else {
            faults.push(format!(
                "crate {} is not in the table of xtask/src/tidy/arrows.rs",
                member.folder
            ));
            continue;
        };
        for name in &member.dependencies {
            if let Some(target) = folder_of(name).filter(|target| !allowed.contains(target)) {
                faults.push(format!(
                    "crate {} must not depend on {target}",
                    member.folder
                ));
            }
        }
    }
    if packages.is_empty() {
        faults.push("cargo metadata names no packages".to_owned());
    }
    faults
}

/// A workspace member: its folder and the crates that it needs to be built.
struct Member {
    name: String,
    folder: String,
    dependencies: Vec<String>,
}

impl Member {
    fn read(package: &Value) -> Option<Self> {
        let manifest = package["manifest_path"].as_str()?;
        let folder = manifest.strip_suffix("/Cargo.toml")?.rsplit('/').next()?;
        let needed = |dependency: &&Value| dependency["kind"].as_str() != Some("dev");
        let dependencies = array(package, "dependencies").iter().filter(needed);
        Some(Self {
            name: package["name"].as_str()?.to_owned(),
            folder: folder.to_owned(),
            dependencies: dependencies
                .filter_map(|one| Some(one["name"].as_str()?.to_owned()))
                .collect(),
        })
    }
}

fn array<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package(name: &str, folder: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
        let dependencies: Vec<Value> = dependencies
            .iter()
            .map(|(name, kind)| json!({"name": name, "kind": kind}))
            .collect();
        json!({"name": name, "manifest_path": format!("/p/crates/{folder}/Cargo.toml"), "dependencies": dependencies})
    }

    fn check(packages: &[Value]) -> Vec<String> {
        faults(&json!({ "packages": packages }))
    }

    #[test]
    fn allowed_arrows_pass() {
        let packages = [
            package("fulgurite-ber", "ber", &[("thiserror", None)]),
            package(
                "fulgurite-ldap",
                "ldap",
                &[("fulgurite-ber", None), ("memchr", None)],
            ),
        ];
        assert!(check(&packages).is_empty());
    }

    #[test]
    fn an_arrow_up_is_a_fault_unless_for_tests() {
        let ldap = package("fulgurite-ldap", "ldap", &[]);
        let up = package("fulgurite-ber", "ber", &[("fulgurite-ldap", None)]);
        assert_eq!(
            check(&[ldap.clone(), up]),
            ["crate ber must not depend on ldap"]
        );
        let build = package("fulgurite-ber", "ber", &[("fulgurite-ldap", Some("build"))]);
        assert_eq!(check(&[ldap.clone(), build]).len(), 1);
        let test = package("fulgurite-ber", "ber", &[("fulgurite-ldap", Some("dev"))]);
        assert!(check(&[ldap, test]).is_empty());
    }

    #[test]
    fn a_crate_outside_the_plan_is_a_fault() {
        assert!(check(&[package("fulgurite-odd", "odd", &[])])[0].contains("odd"));
        assert_eq!(check(&[]).len(), 1, "no answer is no pass");
    }

    #[test]
    fn a_released_crate_must_not_need_the_test_kit() {
        let kit = package("fulgurite-testkit", "testkit", &[]);
        let user = package("fulgurite-ldif", "ldif", &[("fulgurite-testkit", None)]);
        assert_eq!(
            check(&[kit, user]),
            ["crate ldif must not depend on testkit"]
        );
    }

    #[test]
    fn the_table_has_no_cycle() {
        // Each row names only rows above it.
        for (row, (folder, allowed)) in ARROWS.iter().enumerate() {
            for target in *allowed {
                let above = ARROWS[..row].iter().any(|(name, _)| name == target);
                assert!(above, "{folder} names {target}, which is not above it");
            }
        }
    }

    #[test]
    fn the_table_is_that_of_the_architecture_page() {
        let page = include_str!("../../../ARCHITECTURE.md");
        // | `crates/ldap` | `fulgurite-ldap` | what it is | ber |
        let rows = page
            .lines()
            .filter_map(|line| line.strip_prefix("| `crates/"));
        let mut told: Vec<(&str, Vec<&str>)> = rows
            .filter_map(|row| {
                let (folder, rest) = row.split_once('`')?;
                let used = rest.trim_end_matches(" |").rsplit(" | ").next()?;
                let mut used: Vec<&str> = used.split(", ").filter(|one| *one != "-").collect();
                used.sort_unstable();
                Some((folder, used))
            })
            .filter(|(folder, _)| !FREE.contains(folder))
            .collect();
        let mut held: Vec<(&str, Vec<&str>)> = ARROWS
            .iter()
            .map(|(folder, allowed)| {
                let mut allowed = allowed.to_vec();
                allowed.sort_unstable();
                (*folder, allowed)
            })
            .collect();
        told.sort_unstable();
        held.sort_unstable();
        assert_eq!(told, held);
    }
}
