//! 389 Directory Server, unpacked and not installed: an instance as `dscreate` would make one,
//! written by hand.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::duty::Duty;
use super::people::{ROOT_DN, SUFFIX};
use crate::folders::ds389_root;

/// `{SSHA}` of the root's password: clear text is not taken out of a file.
const ROOT_PASSWORD: &str = "{SSHA}1G904nLkTkGWjKNnQuB/hpWXC/hzYWx0c2FsdA==";

/// All may read and, as slapd has it here, the root alone may write.
const ACCESS: &str = "aci: (targetattr=\"*\")(version 3.0; acl \"read\"; allow (read,search,compare) userdn=\"ldap:///anyone\";)";

/// Indexes of the others' configuration.
const INDEXES: &[(&str, &[&str])] = &[
    ("uid", &["eq", "pres", "sub"]),
    ("mail", &["eq", "pres", "sub"]),
    ("cn", &["eq", "sub"]),
    ("sn", &["eq", "sub"]),
    ("givenName", &["eq", "sub"]),
    ("l", &["eq"]),
    ("st", &["eq"]),
    ("member", &["eq"]),
];

fn libraries(project: &Path) -> PathBuf {
    ds389_root(project).join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH))
}

/// For the loader.
pub(super) fn library_path(project: &Path) -> String {
    let libraries = libraries(project);
    [
        libraries.clone(),
        libraries.join("dirsrv"),
        libraries.join("dirsrv/plugins"),
    ]
    .map(|folder| folder.display().to_string())
    .join(":")
}

/// Writes an instance into a folder; its database is in `data` below it.
/// # Errors
/// Files of the package that are not there.
pub(super) fn configure(
    project: &Path,
    folder: &Path,
    port: u16,
    duty: Duty,
) -> anyhow::Result<()> {
    let shared = ds389_root(project).join("usr/share/dirsrv");
    let settings = folder.join("conf");
    let schema = settings.join("schema");
    for name in [
        "conf/schema",
        "data",
        "lock",
        "tmp",
        "cert",
        "ldif",
        "bak",
        "run",
        "inst",
        "log",
    ] {
        fs::create_dir_all(folder.join(name))?;
    }
    copy_all(&shared.join("schema"), &schema)?;
    copy_all(&ds389_root(project).join("etc/dirsrv/schema"), &schema)?;
    copy_all(&ds389_root(project).join("etc/dirsrv/config"), &settings)?;
    let template = fs::read_to_string(shared.join("data/template-dse.ldif"))
        .context("389-ds's template of a configuration")?;
    let place = |name: &str| folder.join(name).display().to_string();
    let values = [
        ("schema_dir", schema.display().to_string()),
        ("lock_dir", place("lock")),
        ("tmp_dir", place("tmp")),
        ("cert_dir", place("cert")),
        ("ldif_dir", place("ldif")),
        ("bak_dir", place("bak")),
        ("run_dir", place("run")),
        ("inst_dir", place("inst")),
        ("log_dir", place("log")),
        ("db_dir", place("data")),
        ("db_home_dir", place("data")),
        ("config_dir", settings.display().to_string()),
        ("db_lib", "mdb".to_owned()),
        ("fqdn", "localhost".to_owned()),
        ("ds_port", port.to_string()),
        ("ds_user", user()),
        ("rootdn", ROOT_DN.to_owned()),
        ("ds_passwd", ROOT_PASSWORD.to_owned()),
        ("ldapi_enabled", "off".to_owned()),
        ("ldapi_autobind", "off".to_owned()),
        ("ldapi", place("ldapi")),
        ("ds_suffix", SUFFIX.to_owned()),
    ];
    let mut text = values.iter().fold(template, |text, (name, value)| {
        text.replace(&format!("%{name}%"), value)
    });
    text = with_whole_paths(&text, &libraries(project).join("dirsrv/plugins"));
    let on = |yes| if yes { "on" } else { "off" };
    let log = on(duty == Duty::Logging);
    text = text.replacen(
        "objectclass:nsslapdConfig\n",
        &format!(
            "objectclass:nsslapdConfig\nnsslapd-sizelimit: -1\nnsslapd-timelimit: -1\n\
             nsslapd-accesslog-logging-enabled: {log}\nnsslapd-securitylog-logging-enabled: off\n\
             nsslapd-enable-upgrade-hash: off\n"
        ),
        1,
    );
    let durable = on(duty == Duty::Durable);
    text = text.replacen(
        "nsslapd-backend-implement: mdb\n",
        &format!(
            "nsslapd-backend-implement: mdb\nnsslapd-lookthroughlimit: -1\nnsslapd-rangelookthroughlimit: -1\n\
             nsslapd-idlistscanlimit: 2147483646\nnsslapd-db-durable-transaction: {durable}\nnsslapd-cache-autosize: 0\n"
        ),
        1,
    );
    // An empty line too many would be an empty entry.
    text.truncate(text.trim_end().len());
    text.push('\n');
    text += &entries(&libraries(project).join("dirsrv/plugins"));
    for name in ["dse.ldif", "dse.ldif.startOK"] {
        fs::write(settings.join(name), &text)?;
    }
    Ok(())
}

/// Plugins are named without a folder, which is then the one of an installed package.
fn with_whole_paths(text: &str, plugins: &Path) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let (name, value) = line.split_once(": ").unwrap_or((line, ""));
        let _ = if name.eq_ignore_ascii_case("nsslapd-pluginpath") {
            let file = value.trim().trim_end_matches(".so");
            writeln!(out, "{name}: {}/{file}.so", plugins.display())
        } else {
            writeln!(out, "{line}")
        };
    }
    out
}

/// The parts that the template lacks: two plugins that a start would add in the package's folder,
/// and the database.
fn entries(plugins: &Path) -> String {
    let mut out = String::new();
    for (name, file, kind) in [
        ("entryuuid", "libentryuuid-plugin", "betxnpreoperation"),
        ("entryuuid_syntax", "libentryuuid-syntax-plugin", "syntax"),
    ] {
        let _ = write!(
            out,
            "\ndn: cn={name},cn=plugins,cn=config\nobjectClass: top\nobjectClass: nsSlapdPlugin\ncn: {name}\n\
             nsslapd-pluginPath: {}/{file}.so\nnsslapd-pluginInitfunc: {name}_plugin_init\nnsslapd-pluginType: {kind}\n\
             nsslapd-pluginEnabled: on\nnsslapd-pluginId: {name}\nnsslapd-pluginVersion: none\n\
             nsslapd-pluginVendor: 389 Project\nnsslapd-pluginDescription: {name}\n",
            plugins.display()
        );
    }
    const DATABASES: &str = "cn=ldbm database,cn=plugins,cn=config";
    let _ = write!(
        out,
        "\ndn: cn=mdb,cn=config,{DATABASES}\nobjectClass: top\nobjectClass: extensibleObject\ncn: mdb\n\
         nsslapd-mdb-max-size: 34359738368\nnsslapd-mdb-max-readers: 126\nnsslapd-mdb-max-dbs: 512\n\
         \ndn: cn=\"{SUFFIX}\",cn=mapping tree,cn=config\nobjectClass: top\nobjectClass: extensibleObject\n\
         objectClass: nsMappingTree\ncn: {SUFFIX}\nnsslapd-state: backend\nnsslapd-backend: userRoot\n\
         \ndn: cn=userRoot,{DATABASES}\nobjectClass: top\nobjectClass: extensibleObject\n\
         objectClass: nsBackendInstance\ncn: userRoot\nnsslapd-suffix: {SUFFIX}\nnsslapd-cachesize: -1\n\
         nsslapd-cachememsize: 1073741824\nnsslapd-dncachememsize: 268435456\n\
         \ndn: cn=index,cn=userRoot,{DATABASES}\nobjectClass: top\nobjectClass: extensibleObject\ncn: index\n"
    );
    for (attribute, kinds) in INDEXES {
        let _ = write!(
            out,
            "\ndn: cn={attribute},cn=index,cn=userRoot,{DATABASES}\nobjectClass: top\nobjectClass: nsIndex\n\
             cn: {attribute}\nnsSystemIndex: false\n"
        );
        kinds.iter().for_each(|kind| {
            let _ = writeln!(out, "nsIndexType: {kind}");
        });
    }
    out
}

/// The user that runs the bench; the server needs its name.
fn user() -> String {
    std::env::var("USER")
        .or_else(|_| std::env::var("LOGNAME"))
        .unwrap_or_else(|_| "root".to_owned())
}

fn copy_all(from: &Path, to: &Path) -> anyhow::Result<()> {
    let entries = fs::read_dir(from).with_context(|| format!("there is no {}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// The same people, and who may read them: without it nobody may.
pub(super) fn with_access(ldif: &Path, to: &Path) -> anyhow::Result<()> {
    let mut out = BufWriter::new(fs::File::create(to)?);
    let mut is_first = true;
    for line in BufReader::new(fs::File::open(ldif)?).lines() {
        let line = line?;
        if is_first && line.is_empty() {
            writeln!(out, "{ACCESS}")?;
            is_first = false;
        }
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugins_get_whole_paths() {
        let text = with_whole_paths(
            "a: b\nnsslapd-pluginPath: libx-plugin\nnsslapd-pluginpath: liby.so\n",
            Path::new("/p"),
        );
        assert_eq!(
            text,
            "a: b\nnsslapd-pluginPath: /p/libx-plugin.so\nnsslapd-pluginpath: /p/liby.so\n"
        );
    }

    #[test]
    fn the_first_entry_says_who_may_read() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&from, "dn: x\no: y\n\ndn: z\n\n").unwrap();
        with_access(&from, &to).unwrap();
        let text = fs::read_to_string(&to).unwrap();
        assert_eq!(text, format!("dn: x\no: y\n{ACCESS}\n\ndn: z\n\n"));
    }
}
