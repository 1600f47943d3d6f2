//! A server aside, on a copy of a backup: it starts, and its entries are counted.
//!
//! The server has the settings of the flags, except that it meets nobody. It listens at a socket in
//! the scratch directory. It copies no provider, writes no files, and makes no backups.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use fulgurite_client::{Client, ConnectOptions};
use fulgurite_config::{
    ConfigError, Database, DatabaseKind, Layer, ListenUrl, Secret, Settings, Sourced, Subordinate,
};
use fulgurite_ldap::{Control, FilterBuf, LdapUrl, Response, Scope, SearchRequest};
use fulgurite_schema::Schema;
use fulgurite_server::{Backup, SavedDatabase, Service, ServiceOptions};
use fulgurite_store::{Store, StoreOptions};

/// The longest time that the server may take for an answer.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Overlays that write files or contact other servers.
const OUTWARD: [&str; 3] = ["auditlog", "accesslog", "chain"];

/// A directory that goes with this value.
struct ScratchFolder(PathBuf);

impl ScratchFolder {
    fn make(within: &Path) -> anyhow::Result<ScratchFolder> {
        let name = hex_of_random()?;
        let name = name.get(..16).unwrap_or_default();
        let path = within.join(format!("fulgurite-verify-{name}"));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("cannot make {}", path.display()))?;
        Ok(ScratchFolder(path))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // The system's cleaner finds what stays.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A database of the server, and the account that reads it.
struct BootedDatabase {
    saved: SavedDatabase,
    suffixes: Vec<String>,
    root: String,
}

/// Starts a server on a copy of a backup and counts its entries. Returns a line for each database.
pub(super) fn run(
    backup: &Backup,
    settings: Settings,
    scratch: Option<&Path>,
) -> anyhow::Result<Vec<String>> {
    let within = scratch.map_or_else(std::env::temp_dir, Path::to_path_buf);
    let scratch = ScratchFolder::make(&within)?;
    let password = hex_of_random()?;
    let socket = scratch.0.join("ldapi").display().to_string();
    let url = format!("ldapi://{}", socket.replace('/', "%2F"));
    let (settings, databases) = prepare(backup, settings, (&scratch, &url, &password))?;
    let none = |_: Option<Layer>| Err(ConfigError::Conflict("no settings to read".to_owned()));
    let options = ServiceOptions::default();
    let service = Service::start(settings, options, none).context("the server does not start")?;
    let stop = service.server().stop_handle();
    std::thread::scope(|scope| {
        let running = scope.spawn(move || service.run());
        let counted = count_all(&url, &password, &databases);
        stop.stop();
        let ended = running.join();
        let lines = counted?;
        match ended {
            Ok(ended) => {
                ended.context("the server ended")?;
            }
            Err(_) => bail!("the server failed"),
        }
        Ok(lines)
    })
}

/// Copies the data, and changes the settings so that the server meets nobody.
fn prepare(
    backup: &Backup,
    mut settings: Settings,
    (scratch, url, password): (&ScratchFolder, &str, &str),
) -> anyhow::Result<(Settings, Vec<BootedDatabase>)> {
    // The overlays of the databases define attributes, too.
    let schema = Arc::new(fulgurite_server::schema(&settings)?);
    let template = settings.first_store().ok().cloned();
    let configured = std::mem::take(&mut settings.databases);
    let mut booted = Vec::new();
    for saved in &backup.manifest.databases {
        let suffix = |database: &Database| database.suffix_if_set().map(str::to_owned);
        let own = configured.iter().find(|one| {
            suffix(one).is_some_and(|suffix| suffix.eq_ignore_ascii_case(&saved.suffix))
        });
        let database = own.cloned().or_else(|| template.clone());
        let database = database.context("the settings have no database")?;
        let folder = scratch.0.join(&saved.folder);
        DirBuilder::new().mode(0o700).create(&folder)?;
        let from = backup.data_file(&saved.folder);
        let copied = fs::copy(&from, folder.join("data.mdb"));
        copied.with_context(|| format!("cannot copy {}", from.display()))?;
        let suffixes = suffixes_of(&folder, &schema)?;
        let (database, root) = isolated(database, (&folder, &suffixes, password));
        settings.databases.push(database);
        booted.push(BootedDatabase {
            saved: saved.clone(),
            suffixes,
            root,
        });
    }
    let config = configured.into_iter();
    let others = config.filter(|database| database.kind == DatabaseKind::Monitor);
    settings.databases.extend(others);
    let listen: ListenUrl = url.parse().map_err(anyhow::Error::msg)?;
    let global = &mut settings.global;
    global.listen = vec![Sourced::by_default(listen)];
    global.metrics_listen = Sourced::by_default(None);
    global.console_listen = Sourced::by_default(None);
    // A backup that is tried joins no cluster.
    global.cluster_name = Sourced::by_default(None);
    global.backup_to = Sourced::by_default(None);
    global.pid_file = Sourced::by_default(None);
    global.args_file = Sourced::by_default(None);
    global.ldif_directory = Sourced::by_default(None);
    global.create_suffix = Sourced::by_default(false);
    global.disallow = Sourced::by_default(Default::default());
    settings.seeds.clear();
    Ok((settings, booted))
}

/// Returns all suffixes of a copy.
fn suffixes_of(folder: &Path, schema: &Arc<Schema>) -> anyhow::Result<Vec<String>> {
    let options = StoreOptions {
        read_only: true,
        no_lock: true,
        ..StoreOptions::default()
    };
    let store = Store::open(folder, &options, Arc::clone(schema))?;
    let suffixes = store.suffixes().iter();
    Ok(suffixes.map(|dn| dn.pretty().to_owned()).collect())
}

/// Returns a database on the copy whose root has a password of this run, and the name of the root.
fn isolated(
    mut database: Database,
    (folder, suffixes, password): (&Path, &[String], &str),
) -> (Database, String) {
    let content = &mut database.content;
    let first = suffixes.first().map_or("", String::as_str);
    let named = content.root_dn.value.clone();
    let root = named.unwrap_or_else(|| match first {
        "" => "cn=verify".to_owned(),
        suffix => format!("cn=verify,{suffix}"),
    });
    content.suffixes = suffixes.iter().cloned().map(Sourced::by_default).collect();
    content.root_dn = Sourced::by_default(Some(root.clone()));
    content.root_password = Sourced::by_default(Some(Secret(password.to_owned())));
    content.root_password_file = Sourced::by_default(None);
    content.syncrepl.clear();
    content.update_dn = Sourced::by_default(None);
    content.update_refs.clear();
    content.subordinate = Sourced::by_default(Subordinate::No);
    database.storage.directory = Sourced::by_default(Some(folder.to_owned()));
    database.policy.require = Sourced::by_default(Default::default());
    database.policy.restrict = Sourced::by_default(Default::default());
    database.policy.security = Sourced::by_default(Default::default());
    let is_outward = |name: &str| OUTWARD.iter().any(|one| one.eq_ignore_ascii_case(name));
    database
        .overlays
        .retain(|overlay| !is_outward(&overlay.name));
    (database, root)
}

fn count_all(
    url: &str,
    password: &str,
    databases: &[BootedDatabase],
) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for database in databases {
        let mut client = connect(url)?;
        let bound = client.bind(&database.root, password.as_bytes())?;
        if !bound.is_success() {
            bail!(
                "{}: the bind is refused: {}",
                database.root,
                bound.code.name()
            );
        }
        let mut counted = 0;
        for suffix in &database.suffixes {
            counted += count(&mut client, suffix)?;
        }
        let (suffix, saved) = (&database.saved.suffix, database.saved.entries);
        if counted != saved {
            bail!("{suffix}: a server shows {counted} entries, and the backup has {saved}");
        }
        lines.push(format!("{suffix}: a server shows {counted} entries"));
    }
    Ok(lines)
}

fn connect(url: &str) -> anyhow::Result<Client> {
    let url = LdapUrl::parse(url).context("the URL of the socket")?;
    let options = ConnectOptions {
        timeout: Some(TIMEOUT),
        ..ConnectOptions::default()
    };
    Ok(Client::open(&url, &options)?)
}

fn count(client: &mut Client, base: &str) -> anyhow::Result<u64> {
    let filter = FilterBuf::parse("(objectClass=*)").context("a filter")?;
    let request = SearchRequest {
        attributes: vec![b"1.1"],
        ..SearchRequest::new(base, Scope::Subtree, filter.filter())
    };
    let mut counted = 0;
    // Referral objects are entries, too.
    let mut stream = client.search_stream(&request, &[Control::manage_dsa_it()])?;
    while let Some(message) = stream.next_message()? {
        match message.response {
            Response::SearchEntry(_) => counted += 1,
            Response::SearchDone(result) if !result.is_success() => {
                bail!("{base}: the search ends with {}", result.code.name());
            }
            _ => {}
        }
    }
    Ok(counted)
}

fn hex_of_random() -> anyhow::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
