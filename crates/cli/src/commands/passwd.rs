//! `fulgurite passwd`.

use anyhow::{Context as _, bail};
use fulgurite_auth::Scheme;

use crate::arguments::tools::Passwd;
use crate::passwords::{self, PromptOutcome};

pub(crate) fn run(command: Passwd) -> anyhow::Result<()> {
    let scheme = match &command.scheme {
        None => Scheme::default(),
        Some(name) => match Scheme::from_name(name) {
            Some(scheme) => scheme,
            None => bail!("unknown password scheme {name}"),
        },
    };
    let password = if command.generate {
        let password = passwords::generate().context("cannot generate a password")?;
        println!("{password}");
        password.into_bytes()
    } else if let Some(file) = &command.file {
        std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?
    } else {
        match passwords::prompt() {
            PromptOutcome::Password(password) => password,
            PromptOutcome::Differ => bail!("the two passwords differ"),
            PromptOutcome::Impossible(error) => {
                return Err(error).context("cannot read a password");
            }
        }
    };
    let hash = passwords::hash(scheme, &password, command.crypt_salt.as_deref())?;
    println!("{hash}");
    Ok(())
}
