//! `fulgurite log`: changes the log of a running server through cn=config.

use anyhow::{Context as _, bail};
use fulgurite_config::{LEVEL_STATS, level_names, parse_level};
use fulgurite_ldap::{
    Change, ModifyOperation, ModifyRequest, PartialAttribute, Request, ResultCode, Scope,
};

use super::status::link::Link;
use crate::arguments::log::{LiveLevel, Log, LogChange, Switch};

const CONFIG: &str = "cn=config";
const ATTRIBUTE: &str = "olcLogLevel";

/// slapd's level `config`, which makes this server log details.
const DETAILS: u32 = 0x40;

pub(crate) fn run(command: Log) -> anyhow::Result<()> {
    let server = match &command.change {
        LogChange::Operations { server, .. } | LogChange::Level { server, .. } => server,
    };
    let mut link = Link::open(server)?;
    let (entries, refusal) = link.search(CONFIG, Scope::Base, "(objectClass=*)")?;
    let Some(config) = entries.first() else {
        let code = refusal.map_or("no entry is shown", |result| result.code.name());
        bail!("cn=config cannot be read ({code})");
    };
    let mut mask = 0;
    for value in config.values(ATTRIBUTE) {
        let word = String::from_utf8_lossy(value);
        let level = parse_level(&word).ok();
        mask |= level.with_context(|| format!("{ATTRIBUTE}: {word} is no level"))?;
    }
    let names = level_names(changed(&command.change, mask));
    let values: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
    let request = Request::Modify(ModifyRequest {
        dn: CONFIG.as_bytes(),
        changes: vec![Change {
            operation: ModifyOperation::Replace,
            attribute: PartialAttribute::new(ATTRIBUTE, &values),
        }],
    });
    let (_, result) = link.ask(&request)?;
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

/// Returns the mask after a change.
fn changed(change: &LogChange, mask: u32) -> u32 {
    match change {
        LogChange::Operations { state, .. } => match state {
            Switch::On => mask | LEVEL_STATS,
            Switch::Off => mask & !LEVEL_STATS,
        },
        LogChange::Level { level, .. } => {
            let operations = mask & LEVEL_STATS;
            match level {
                LiveLevel::Info => operations,
                LiveLevel::Debug => operations | DETAILS,
                LiveLevel::Trace => u32::MAX,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::status::ServerAddress;

    #[test]
    fn changes_keep_the_other_half() {
        let server = ServerAddress::default;
        let operations = |state| LogChange::Operations {
            state,
            server: server(),
        };
        let level = |level| LogChange::Level {
            level,
            server: server(),
        };
        assert_eq!(changed(&operations(Switch::On), 0x40), 0x140);
        assert_eq!(changed(&operations(Switch::Off), 0x140), 0x40);
        assert_eq!(changed(&level(LiveLevel::Info), 0x140), 0x100);
        assert_eq!(changed(&level(LiveLevel::Debug), 0x100), 0x140);
        assert_eq!(
            fulgurite_config::log_level(0x140),
            fulgurite_config::LogLevel::Debug
        );
        assert_eq!(
            fulgurite_config::log_level(0x100),
            fulgurite_config::LogLevel::Info
        );
    }
}
