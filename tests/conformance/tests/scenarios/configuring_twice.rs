//! Recipes that run a second time, as roles of Ansible and scripts do at each start.

use crate::configuring::{
    ADDITIONS, CHANGES, DATABASE, change, compare, configured, differences, tree,
};
use crate::stage::Stage;

#[test]
fn values_change_twice_as_in_slapd() {
    compare("values-twice", &[CHANGES, CHANGES]);
}

/// The recipes whose second run finds its work done.
const DONE_ONCE: [&str; 16] = [
    "log level",
    "idle timeout",
    "size limit",
    "limits",
    "rules replaced",
    "index",
    "index deleted",
    "root password",
    "map size",
    "hash",
    "mapping",
    "schema",
    "modules",
    "unique",
    "database",
    "definition",
];

/// The codes of slapd that a role of Ansible takes for "it is there already", or "it is gone".
const DONE_CODES: [&str; 5] = ["0 ", "16 ", "20 ", "68 ", "80 "];

#[test]
fn a_second_run_makes_no_change() {
    let stage = Stage::new("configuring-again");
    let folder = configured(&stage);
    let server = stage.start_by_directory(&folder);
    let recipes = CHANGES.iter().chain(ADDITIONS);
    let recipes: Vec<_> = recipes
        .filter(|(label, _)| DONE_ONCE.contains(label))
        .collect();
    assert_eq!(recipes.len(), DONE_ONCE.len());
    for (label, text) in recipes {
        assert_eq!(change(&stage, &server, text), "0 ", "{label}");
        let before = tree(&stage, &server);
        let again = change(&stage, &server, text);
        assert!(
            DONE_CODES.iter().any(|code| again.starts_with(code)),
            "{label}: {again}"
        );
        let lines = differences(&tree(&stage, &server), &before);
        assert_eq!(lines, [""; 0], "{label}: {again}");
    }
    let before = tree(&stage, &server);
    server.stop();
    // Roles compare the texts that they read with their own, also after a restart.
    let server = stage.start_by_directory(&folder);
    assert_eq!(differences(&tree(&stage, &server), &before), [""; 0]);
    assert!(
        before[&format!("dn: {DATABASE}")].contains(&"olcAccess: {1}to  *  by *  read".to_owned())
    );
    server.stop();
}
