//! `fulgurite user passwd`, and the first password of a new user.

use anyhow::{Context as _, bail};
use fulgurite_client::Client;

use crate::arguments::people::{NewPassword, UserPasswd};
use crate::passwords::{self, PromptOutcome};
use crate::remote::answer::expect;
use crate::remote::begin::begin;
use crate::remote::kinds::USER;
use crate::remote::login::read_password;

/// A password to set.
pub(super) struct WantedPassword {
    text: Vec<u8>,
    is_generated: bool,
}

pub(super) fn run(command: &UserPasswd) -> anyhow::Result<()> {
    let (mut client, suffix) = begin(&command.server, &command.base)?;
    let user = USER.get(&mut client, (&suffix, &command.name), &["1.1"])?;
    let wanted = match wanted(&command.password)? {
        Some(wanted) => wanted,
        None => asked()?,
    };
    wanted.set(&mut client, &user.dn)?;
    eprintln!("{} has a new password", user.dn);
    Ok(())
}

/// Returns the password of the flags; `None` if no flag is given.
pub(super) fn wanted(flags: &NewPassword) -> anyhow::Result<Option<WantedPassword>> {
    if flags.generate {
        let text = passwords::generate().context("cannot generate a password")?;
        return Ok(Some(WantedPassword {
            text: text.into_bytes(),
            is_generated: true,
        }));
    }
    match &flags.new_password_file {
        Some(file) => given(read_password(file)?).map(Some),
        None if flags.ask => asked().map(Some),
        None => Ok(None),
    }
}

fn asked() -> anyhow::Result<WantedPassword> {
    match passwords::prompt() {
        PromptOutcome::Password(password) => given(password),
        PromptOutcome::Differ => bail!("the two passwords differ"),
        PromptOutcome::Impossible(error) => {
            Err(error).context("there is no terminal to ask: use --new-password-file or --generate")
        }
    }
}

fn given(text: Vec<u8>) -> anyhow::Result<WantedPassword> {
    if text.is_empty() {
        bail!("the new password is empty");
    }
    Ok(WantedPassword {
        text,
        is_generated: false,
    })
}

impl WantedPassword {
    /// Sets the password of an entry. Prints a generated one when it is in force.
    pub(super) fn set(&self, client: &mut Client, dn: &str) -> anyhow::Result<()> {
        let (result, _) = client.modify_password(dn, Some(&self.text))?;
        expect(&result, || format!("cannot set the password of {dn}"))?;
        if self.is_generated {
            println!("{}", String::from_utf8_lossy(&self.text));
        }
        Ok(())
    }
}
