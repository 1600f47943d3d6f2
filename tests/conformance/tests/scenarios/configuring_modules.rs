//! Lists of modules and the database `monitor` in `cn=config`, as in slapd. slapd could not read
//! the files if a module went that an overlay needs.

use crate::configuring::{Recipe, compare};

const MODULES: &[Recipe] = &[
    (
        "module added",
        "dn: cn=module{0},cn=config\nchangetype: modify\nadd: olcModuleLoad\nolcModuleLoad: unique\n",
    ),
    (
        "module deleted",
        "dn: cn=module{0},cn=config\nchangetype: modify\ndelete: olcModuleLoad\nolcModuleLoad: unique\n",
    ),
    (
        "modules replaced",
        "dn: cn=module{0},cn=config\nchangetype: modify\nreplace: olcModuleLoad\nolcModuleLoad: back_mdb\n",
    ),
    (
        "path of modules deleted",
        "dn: cn=module{0},cn=config\nchangetype: modify\ndelete: olcModulePath\n",
    ),
    (
        "list of modules deleted",
        "dn: cn=module{0},cn=config\nchangetype: delete\n",
    ),
    (
        "module of the monitor",
        "dn: cn=module{0},cn=config\nchangetype: modify\nadd: olcModuleLoad\nolcModuleLoad: back_monitor\n",
    ),
    (
        "monitor",
        "dn: olcDatabase=monitor,cn=config\nchangetype: add\nobjectClass: olcDatabaseConfig\nobjectClass: olcMonitorConfig\nolcDatabase: monitor\n",
    ),
    (
        "second monitor",
        "dn: olcDatabase=monitor,cn=config\nchangetype: add\nobjectClass: olcDatabaseConfig\nobjectClass: olcMonitorConfig\nolcDatabase: monitor\n",
    ),
];

#[test]
fn lists_of_modules_only_grow_as_in_slapd() {
    compare("modules", &[MODULES]);
}
