//! The files of a node: its settings, its certificates, and tokens.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context as _, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fulgurite_cluster::NodeId;
use serde_json::{Value, json};

use crate::arguments::cluster::{EtcdFlags, NodeFlags};
use crate::commands::setup::authority::{Authority, Signed};
use crate::commands::setup::files::{WantedFile, write_whole};

/// The files of certificates of a node.
pub(super) struct NodeFiles {
    pub(super) authority: PathBuf,
    pub(super) authority_key: PathBuf,
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

impl NodeFiles {
    /// Returns the files in the folder `cluster`, next to the settings.
    pub(super) fn of(config: &Path) -> anyhow::Result<NodeFiles> {
        let folder = absolute(config)?.with_file_name("cluster");
        Ok(NodeFiles {
            authority: folder.join("ca.pem"),
            authority_key: folder.join("ca-key.pem"),
            certificate: folder.join("node.pem"),
            key: folder.join("node-key.pem"),
        })
    }

    /// Reads the authority that signs the certificates of nodes, or makes one. A cluster that
    /// begins anew gets another one if the key was lost with the machine of the first node.
    pub(super) fn authority(&self, cluster: &str, is_anew: bool) -> anyhow::Result<Authority> {
        let is_certificate_there = self.authority.exists() && !is_anew;
        if is_certificate_there || self.authority_key.exists() {
            return self.read_authority();
        }
        let authority = Authority::new(cluster)?;
        write(&self.authority, &authority.pem, 0o644)?;
        write(&self.authority_key, &authority.key_pem, 0o600)?;
        Ok(authority)
    }

    /// Reads the authority that signs the certificates of nodes.
    pub(super) fn read_authority(&self) -> anyhow::Result<Authority> {
        let read = |path: &Path| {
            fs::read_to_string(path).with_context(|| {
                let shown = path.display();
                format!("cannot read {shown}: the node that began the cluster has the authority")
            })
        };
        let key_pem = read(&self.authority_key)?;
        Authority::read(&self.authority, read(&self.authority)?, key_pem)
    }

    /// Writes the certificate of a node.
    pub(super) fn write_node(&self, signed: &Signed) -> anyhow::Result<()> {
        write(&self.certificate, &signed.pem, 0o644)?;
        write(&self.key, &signed.key_pem, 0o600)
    }
}

/// Returns the certificate of a node.
pub(super) fn sign(authority: &Authority, cluster: &str, node: NodeId) -> anyhow::Result<Signed> {
    authority.sign(&[format!("node-{node}.{cluster}.fulgurite")])
}

/// Writes a file, or replaces it.
pub(super) fn write(path: &Path, text: &str, mode: u32) -> anyhow::Result<()> {
    let wanted = WantedFile {
        path,
        text,
        mode,
        owner: None,
    };
    write_whole(path, &wanted).with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the settings of a server without those of a node: the text of the file, or a new one.
pub(super) fn base_settings(
    config: &Path,
    flags: &NodeFlags,
    suffix: Option<&str>,
) -> anyhow::Result<String> {
    if config.exists() {
        ensure!(
            flags.once || (flags.data.is_none() && flags.listen.is_empty()),
            "{} has settings already: leave --data and --listen out",
            config.display()
        );
        let text = fs::read_to_string(config);
        let text = text.with_context(|| format!("cannot read {}", config.display()))?;
        return Ok(without_cluster(&text));
    }
    let Some(data) = &flags.data else {
        bail!(
            "{} does not exist: name the database with --data",
            config.display()
        );
    };
    let suffix = suffix.context("name the suffix of the database with --suffix")?;
    let data = absolute(data)?.display().to_string();
    let mut text = format!("suffix = {}\ndata = {}\n", quoted(suffix), quoted(&data));
    if !flags.listen.is_empty() {
        let urls: Vec<String> = flags.listen.iter().map(|url| quoted(url)).collect();
        let _ = writeln!(text, "listen = [{}]", urls.join(", "));
    }
    Ok(text + "\n[start]\ncreate_suffix = true\n")
}

/// Takes the table of a node out of a file of settings: the server is alone from now on.
pub(super) fn take_table_out(config: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(config);
    let text = text.with_context(|| format!("cannot read {}", config.display()))?;
    write(config, &without_cluster(&text), 0o640)
}

/// Returns a text of settings without the table of a node.
fn without_cluster(text: &str) -> String {
    let mut is_inside = false;
    let lines = text.lines().filter(|line| {
        let is_head = line.trim_start().starts_with('[');
        is_inside = (is_inside && !is_head) || line.trim() == "[cluster]";
        !is_inside
    });
    let mut kept: String = lines.map(|line| format!("{line}\n")).collect();
    kept.truncate(kept.trim_end().len());
    kept + "\n"
}

/// Returns the table of a node.
pub(super) fn node_table(
    (cluster, node): (&str, NodeId),
    members: &[String],
    files: &NodeFiles,
    (flags, etcd): (&NodeFlags, &EtcdFlags),
) -> anyhow::Result<String> {
    let peers = flags.peers.as_deref().context("name --peers HOST:PORT")?;
    let members: Vec<String> = members.iter().map(|url| quoted(url)).collect();
    let mut text = format!(
        "\n[cluster]\nname = {}\nnode = {node}\netcd = [{}]\nlisten = {}\n",
        quoted(cluster),
        members.join(", "),
        quoted(peers)
    );
    let mut line = |key: &str, value: &str| {
        let _ = writeln!(text, "{key} = {}", quoted(value));
    };
    if let Some(address) = &flags.address {
        line("address", address);
    }
    for (key, path) in [
        ("ca", Some(&files.authority)),
        ("certificate", Some(&files.certificate)),
        ("key", Some(&files.key)),
        ("etcd_ca", etcd.authorities.as_ref()),
        ("etcd_certificate", etcd.certificate.as_ref()),
        ("etcd_key", etcd.key.as_ref()),
        ("etcd_password_file", etcd.password_file.as_ref()),
    ] {
        if let Some(path) = path {
            line(key, &absolute(path)?.display().to_string());
        }
    }
    if let Some(user) = &etcd.user {
        line("etcd_user", user);
    }
    Ok(text)
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The right of one server to join, with its certificate.
pub(super) struct JoinToken {
    pub(super) cluster: String,
    pub(super) suffix: String,
    pub(super) node: NodeId,
    pub(super) secret: String,
    pub(super) etcd: Vec<String>,
    pub(super) authority: String,
    pub(super) certificate: String,
    pub(super) key: String,
}

impl JoinToken {
    pub(super) fn write(&self) -> String {
        let text = json!({
            "format": 1,
            "cluster": self.cluster,
            "suffix": self.suffix,
            "node": self.node.0,
            "secret": self.secret,
            "etcd": self.etcd,
            "ca": self.authority,
            "certificate": self.certificate,
            "key": self.key,
        });
        URL_SAFE_NO_PAD.encode(text.to_string())
    }

    pub(super) fn read(text: &str) -> anyhow::Result<JoinToken> {
        let wrong = "this is no token of `fulgurite cluster token`";
        let bytes = URL_SAFE_NO_PAD.decode(text.trim()).context(wrong)?;
        let value: Value = serde_json::from_slice(&bytes).context(wrong)?;
        ensure!(
            value.get("format").and_then(Value::as_u64) == Some(1),
            "the token is of another version of this program"
        );
        let text = |name: &str| {
            let text = value.get(name).and_then(Value::as_str);
            text.map(str::to_owned).context(wrong)
        };
        let etcd = value.get("etcd").and_then(Value::as_array).context(wrong)?;
        let etcd = etcd.iter().map(|url| url.as_str().map(str::to_owned));
        let node = value.get("node").and_then(Value::as_u64);
        Ok(JoinToken {
            cluster: text("cluster")?,
            suffix: text("suffix")?,
            node: NodeId(node.context(wrong)?),
            secret: text("secret")?,
            etcd: etcd.collect::<Option<_>>().context(wrong)?,
            authority: text("ca")?,
            certificate: text("certificate")?,
            key: text("key")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use fulgurite_config::{Layer, Settings};

    use super::*;

    #[test]
    fn the_table_of_a_node_is_taken_out() {
        let text = "suffix = \"dc=a\"\n\n[cluster]\nname = \"x\"\netcd = [\n  \"u\",\n]\n\n[log]\nlevel = \"info\"\n";
        assert_eq!(
            without_cluster(text),
            "suffix = \"dc=a\"\n\n[log]\nlevel = \"info\"\n"
        );
        assert_eq!(without_cluster("suffix = \"dc=a\""), "suffix = \"dc=a\"\n");
    }

    #[test]
    fn a_new_file_of_settings_is_one_of_a_server() {
        let flags = NodeFlags {
            config: None,
            peers: None,
            address: None,
            once: false,
            data: Some(PathBuf::from("/data \"1\"")),
            listen: vec!["ldap://:389".to_owned()],
        };
        let file = Path::new("/no/such/file.toml");
        let text = base_settings(file, &flags, Some("dc=a")).expect("settings");
        let layer = Layer::from_toml(&text, file).expect("known keys");
        let settings = Settings::new(layer).expect("settings");
        assert_eq!(settings.data().expect("a folder"), Path::new("/data \"1\""));
        assert!(base_settings(file, &flags, None).is_err());
    }

    #[test]
    fn a_token_is_read_back() {
        let token = JoinToken {
            cluster: "c".to_owned(),
            suffix: "dc=a".to_owned(),
            node: NodeId(2),
            secret: "s".to_owned(),
            etcd: vec!["http://e:2379".to_owned()],
            authority: "ca".to_owned(),
            certificate: "cert".to_owned(),
            key: "key".to_owned(),
        };
        let text = token.write();
        let read = JoinToken::read(&format!("{text}\n")).expect("a token");
        assert_eq!(read.write(), text);
        assert!(JoinToken::read(&text[1..]).is_err());
        assert!(JoinToken::read("").is_err());
    }
}
