//! `fulgurite log`: changes the log of a running server through cn=config.

use anyhow::{Context as _, bail};
use fulgurite_client::Scope;
use fulgurite_config::{LEVEL_STATS, level_names, parse_level};
use fulgurite_ldap::{Change, ModifyOperation, PartialAttribute, ResultCode};

use crate::arguments::log::{LiveLevel, Log, LogChange, Switch};
use crate::remote::login;

const CONFIG: &str = "cn=config";
const ATTRIBUTE: &str = "olcLogLevel";

/// slapd's level `config`, which makes this server log details.
const DETAILS: u32 = 0x40;

pub(crate) fn run(command: Log) -> anyhow::Result<()> {
    let server = match &command.change {
        LogChange::Operations { server, .. } | LogChange::Level { server, .. } => server,
    };
    let mut client = login::connect(server)?;
    let found = client.search(CONFIG, Scope::Base, "(objectClass=*)", &[ATTRIBUTE])?;
    let Some(config) = found.entries.first() else {
        let code = match found.result.is_success() {
            true => "no entry is shown",
            false => found.result.code.name(),
        };
        bail!("cn=config cannot be read ({code})");
    };
    let mut mask = 0;
    for value in config.values(ATTRIBUTE) {
        let word = String::from_utf8_lossy(value);
        let level = parse_level(&word).ok();
        mask |= level.with_context(|| format!("{ATTRIBUTE}: {word} is no level"))?;
    }
    let names = level_names(match &command.change {
        LogChange::Operations { state, .. } => with_operations(mask, *state),
        LogChange::Level { level, .. } => with_level(mask, *level),
    });
    let values: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
    let change = Change {
        operation: ModifyOperation::Replace,
        attribute: PartialAttribute::new(ATTRIBUTE, &values),
    };
    let result = client.modify(CONFIG, &[change])?;
    match result.code {
        ResultCode::Success => println!("{ATTRIBUTE}: {}", names.join(" ")),
        ResultCode::UnwillingToPerform => bail!(
            "{}; set log.level or log.operations in the file, and send SIGHUP",
            result.diagnostic
        ),
        code => bail!(
            "cn=config cannot be changed: {} {}",
            code.name(),
            result.diagnostic
        ),
    }
    Ok(())
}

/// Returns the mask with operations logged, or not.
fn with_operations(mask: u32, state: Switch) -> u32 {
    match state {
        Switch::On => mask | LEVEL_STATS,
        Switch::Off => mask & !LEVEL_STATS,
    }
}

/// Returns the mask with another level of messages.
fn with_level(mask: u32, level: LiveLevel) -> u32 {
    let operations = mask & LEVEL_STATS;
    match level {
        LiveLevel::Info => operations,
        LiveLevel::Debug => operations | DETAILS,
        LiveLevel::Trace => u32::MAX,
    }
}

#[cfg(test)]
mod tests {
    use fulgurite_config::LogLevel;

    use super::*;

    #[test]
    fn changes_keep_the_other_half() {
        assert_eq!(with_operations(0x40, Switch::On), 0x140);
        assert_eq!(with_operations(0x140, Switch::Off), 0x40);
        assert_eq!(with_level(0x140, LiveLevel::Info), 0x100);
        assert_eq!(with_level(0x100, LiveLevel::Debug), 0x140);
        assert_eq!(fulgurite_config::log_level(0x140), LogLevel::Debug);
        assert_eq!(fulgurite_config::log_level(0x100), LogLevel::Info);
    }
}
