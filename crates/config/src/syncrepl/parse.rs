//! Reads the words of `syncrepl`. Errors are slapd's sentences.

use fulgurite_policy::{Choice as _, SyncData, SyncScope, Syncrepl};

use super::retry;
use crate::provider_link::parse::{self as link, unreadable};

/// Reads the words of one provider.
pub(super) fn parse(words: &[String]) -> Result<Syncrepl, String> {
    let mut reader = Reader {
        syncrepl: Syncrepl::new(0, "", ""),
        has_rid: false,
    };
    for word in words {
        reader.word(word)?;
    }
    reader.finish()
}

struct Reader {
    syncrepl: Syncrepl,
    has_rid: bool,
}

fn limit(what: &str, value: &str) -> Result<u32, String> {
    match value {
        "unlimited" => Ok(0),
        value => {
            let number = value.parse::<u32>();
            number.map_err(|_| format!("invalid {what} limit value \"{value}\"."))
        }
    }
}

fn list(value: &str) -> Vec<String> {
    let names = value.split([',', ' ', '\t']);
    let names = names.filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

impl Reader {
    fn word(&mut self, word: &str) -> Result<(), String> {
        let (key, value) = match word.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (word, None),
        };
        let key = key.to_ascii_lowercase();
        let Some(value) = value else {
            return self.switch(&key, word);
        };
        let known = self.content(&key, word, value)?
            || self.schedule(&key, value)?
            || link::word(&mut self.syncrepl.link, &key, word, value)?;
        match known {
            true => Ok(()),
            false => Err(unreadable(word)),
        }
    }

    /// Reads a word that may be without a value.
    fn switch(&mut self, key: &str, word: &str) -> Result<(), String> {
        let syncrepl = &mut self.syncrepl;
        let switch = match key {
            "attrsonly" => &mut syncrepl.attributes_only,
            "strictrefresh" => &mut syncrepl.strict_refresh,
            "lazycommit" => &mut syncrepl.lazy_commit,
            _ => return Err(unreadable(word)),
        };
        *switch = true;
        Ok(())
    }

    /// Reads the words about what is copied.
    fn content(&mut self, key: &str, word: &str, value: &str) -> Result<bool, String> {
        let syncrepl = &mut self.syncrepl;
        match key {
            "rid" => {
                syncrepl.rid = rid(value)?;
                self.has_rid = true;
            }
            "provider" => syncrepl.link.url = provider(value)?,
            "searchbase" => value.clone_into(&mut syncrepl.search_base),
            "suffixmassage" => syncrepl.suffix_massage = Some(value.to_owned()),
            "filter" => value.clone_into(&mut syncrepl.filter),
            "scope" => syncrepl.scope = scope(value)?,
            // All attributes are the default.
            "attrs" => {
                syncrepl.attributes = list(value);
                if syncrepl
                    .attributes
                    .iter()
                    .all(|name| name == "*" || name == "+")
                    && syncrepl.attributes.len() != 1
                {
                    syncrepl.attributes.clear();
                }
            }
            "exattrs" => syncrepl.excluded = list(value),
            "attrsonly" => syncrepl.attributes_only = true,
            "schemachecking" => {
                syncrepl.schema_checking = match value.to_ascii_lowercase().as_str() {
                    "on" => true,
                    "off" => false,
                    _ => return Err(unreadable(word)),
                }
            }
            "sizelimit" => syncrepl.size_limit = limit("size", value)?,
            "timelimit" => syncrepl.time_limit_s = limit("time", value)?,
            "managedsait" => {
                syncrepl.manage_dsa_it = match value {
                    "0" => false,
                    "1" => true,
                    _ => return Err(format!("invalid manageDSAit value \"{value}\".")),
                }
            }
            "logbase" => syncrepl.log_base = Some(value.to_owned()),
            "logfilter" => syncrepl.log_filter = Some(value.to_owned()),
            "syncdata" => syncrepl.data = data(value)?,
            "strictrefresh" => syncrepl.strict_refresh = true,
            "lazycommit" => syncrepl.lazy_commit = true,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn schedule(&mut self, key: &str, value: &str) -> Result<bool, String> {
        let syncrepl = &mut self.syncrepl;
        match key {
            "type" => {
                syncrepl.persist = match value.to_ascii_lowercase().as_str() {
                    "refreshonly" => false,
                    "refreshandpersist" => true,
                    _ => {
                        let text = "Error: parse_syncrepl_line: unknown sync type";
                        return Err(format!("{text} \"{value}\"."));
                    }
                }
            }
            "interval" => syncrepl.interval_s = retry::interval(value)?,
            "retry" => syncrepl.retry = retry::retry(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn finish(self) -> Result<Syncrepl, String> {
        let syncrepl = self.syncrepl;
        let missing: Vec<&str> = [
            ("rid", self.has_rid),
            ("provider", !syncrepl.link.url.is_empty()),
            ("searchbase", !syncrepl.search_base.is_empty()),
        ]
        .into_iter()
        .filter_map(|(name, present)| (!present).then_some(name))
        .collect();
        if !missing.is_empty() {
            let missing = missing.join(" ");
            let text = "Error: Malformed \"syncrepl\" line in slapd config file, missing";
            return Err(format!("{text} {missing}."));
        }
        if syncrepl.data == SyncData::AccessLog && syncrepl.log_base.is_none() {
            return Err("syncrepl: syncdata=accesslog needs a logbase".to_owned());
        }
        Ok(syncrepl)
    }
}

fn rid(value: &str) -> Result<u16, String> {
    let text = "Error: parse_syncrepl_line:";
    let number: i64 = value
        .parse()
        .map_err(|_| format!("{text} unable to parse syncrepl id \"{value}\"."))?;
    u16::try_from(number)
        .ok()
        .filter(|rid| *rid <= 999)
        .ok_or_else(|| format!("{text} syncrepl id {number} is out of range [0..999]."))
}

fn provider(value: &str) -> Result<String, String> {
    let scheme = value.split_once("://").map(|(scheme, _)| scheme);
    let known = ["ldap", "ldaps", "ldapi"];
    match scheme {
        Some(scheme) if known.iter().any(|known| known.eq_ignore_ascii_case(scheme)) => {
            Ok(value.to_owned())
        }
        _ => Err(format!("<syncrepl> invalid URL {value}")),
    }
}

fn scope(value: &str) -> Result<SyncScope, String> {
    SyncScope::from_word(&value.to_ascii_lowercase())
        .map_err(|_| format!("Error: parse_syncrepl_line: unknown scope \"{value}\"."))
}

fn data(value: &str) -> Result<SyncData, String> {
    match value {
        "changelog" => Err("changelog schema problem (17)".to_owned()),
        value => SyncData::parse(value)
            .map_err(|_| format!("syncrepl: syncdata={value} is not known to this server")),
    }
}
