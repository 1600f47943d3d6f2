//! Lists of modules, schemes of passwords and the database `monitor` in `cn=config`, as in slapd.
//! slapd could not read the files if a module went that an overlay needs.

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
        "modules replaced by the same",
        "dn: cn=module{0},cn=config\nchangetype: modify\nreplace: olcModuleLoad\nolcModuleLoad: {0}back_mdb\nolcModuleLoad: {1}unique\n",
    ),
    (
        "modules replaced by the same without numbers",
        "dn: cn=module{0},cn=config\nchangetype: modify\nreplace: olcModuleLoad\nolcModuleLoad: back_mdb\nolcModuleLoad: unique\n",
    ),
    (
        "modules replaced by more",
        "dn: cn=module{0},cn=config\nchangetype: modify\nreplace: olcModuleLoad\nolcModuleLoad: back_mdb\nolcModuleLoad: unique\nolcModuleLoad: refint\n",
    ),
    (
        "module replaced by none",
        "dn: cn=module{0},cn=config\nchangetype: modify\nreplace: olcModuleLoad\n",
    ),
    (
        "missing module deleted",
        "dn: cn=module{0},cn=config\nchangetype: modify\ndelete: olcModuleLoad\nolcModuleLoad: refint\n",
    ),
    (
        "module deleted by number",
        "dn: cn=module{0},cn=config\nchangetype: modify\ndelete: olcModuleLoad\nolcModuleLoad: {1}\n",
    ),
    (
        "module deleted beyond the last number",
        "dn: cn=module{0},cn=config\nchangetype: modify\ndelete: olcModuleLoad\nolcModuleLoad: {9}\n",
    ),
    (
        "module deleted by a wrong number",
        "dn: cn=module{0},cn=config\nchangetype: modify\ndelete: olcModuleLoad\nolcModuleLoad: {0}unique\n",
    ),
    (
        "all modules deleted",
        "dn: cn=module{0},cn=config\nchangetype: modify\ndelete: olcModuleLoad\n",
    ),
    (
        "module deleted and added",
        "dn: cn=module{0},cn=config\nchangetype: modify\ndelete: olcModuleLoad\nolcModuleLoad: unique\n-\nadd: olcModuleLoad\nolcModuleLoad: unique\n",
    ),
    (
        "module added again",
        "dn: cn=module{0},cn=config\nchangetype: modify\nadd: olcModuleLoad\nolcModuleLoad: unique\n",
    ),
    (
        "path of modules replaced by the same",
        "dn: cn=module{0},cn=config\nchangetype: modify\nreplace: olcModulePath\nolcModulePath: %/usr/lib/ldap\n",
    ),
    (
        "missing path of modules deleted",
        "dn: cn=module{0},cn=config\nchangetype: modify\ndelete: olcModulePath\nolcModulePath: /nowhere\n",
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

const SCHEMES: &[Recipe] = &[
    (
        "unknown scheme",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\nadd: olcPasswordHash\nolcPasswordHash: {FOO}\n",
    ),
    (
        "unknown scheme before a known one",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\nadd: olcPasswordHash\nolcPasswordHash: {FOO}\nolcPasswordHash: {SSHA}\n",
    ),
    (
        "unknown scheme behind a known one",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\nadd: olcPasswordHash\nolcPasswordHash: {SSHA}\nolcPasswordHash: {FOO}\n",
    ),
    (
        "schemes in one value",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\nreplace: olcPasswordHash\nolcPasswordHash: {SSHA} {FOO}\n",
    ),
    (
        "schemes in one value, unknown first",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\nreplace: olcPasswordHash\nolcPasswordHash: {FOO} {SSHA}\n",
    ),
    (
        "known scheme",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\nreplace: olcPasswordHash\nolcPasswordHash: {SSHA}\n",
    ),
    (
        "scheme without braces",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\nreplace: olcPasswordHash\nolcPasswordHash: SSHA\n",
    ),
    (
        "two schemes",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\nreplace: olcPasswordHash\nolcPasswordHash: {SSHA}\nolcPasswordHash: {MD5}\n",
    ),
    (
        "one scheme deleted",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\ndelete: olcPasswordHash\nolcPasswordHash: {MD5}\n",
    ),
    (
        "missing scheme deleted",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\ndelete: olcPasswordHash\nolcPasswordHash: {MD5}\n",
    ),
    (
        "unknown scheme added",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\nadd: olcPasswordHash\nolcPasswordHash: {FOO}\n",
    ),
    (
        "schemes deleted",
        "dn: olcDatabase={-1}frontend,cn=config\nchangetype: modify\ndelete: olcPasswordHash\n",
    ),
];

#[test]
fn lists_of_modules_only_grow_as_in_slapd() {
    compare("modules", &[MODULES]);
}

#[test]
fn schemes_of_passwords_are_refused_as_in_slapd() {
    compare("schemes", &[SCHEMES]);
}
