//! `fulgurite setup`: from nothing to a directory that answers.
//!
//! ```text
//!   flags, earlier settings, questions --> plan --> files --> settings, password, certificates, unit
//!                                                     |
//!                                                     '--> systemctl, or the command that starts it
//! ```

pub(crate) mod authority;
pub(crate) mod files;
mod plan;
mod questions;
mod service;
mod settings_text;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use self::files::{Files, Owner, WantedFile};
use self::plan::{Plan, RootPassword, TlsPlan};
use self::questions::Questions;
use super::{doctor, one_line};
use crate::arguments::setup::{Doctor, Setup};
use crate::arguments::tools::ConfigFlags;

pub(crate) fn run(command: Setup) -> ExitCode {
    if command.check {
        return doctor::run(Doctor {
            config: ConfigFlags {
                config: command.config,
                slapd_conf: None,
                slapd_dir: None,
            },
            backups: None,
            answers: false,
            url: None,
            json: command.json,
        });
    }
    match set_up(&command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fulgurite: {}", one_line(&error));
            ExitCode::FAILURE
        }
    }
}

fn set_up(command: &Setup) -> anyhow::Result<()> {
    let mut files = Files::new(command.root.clone(), command.force);
    let mut questions = Questions::new(command.yes)?;
    let plan = Plan::new(command, &files, &mut questions)?;
    print!("{}", plan.summary());
    if !questions.confirm("Go on?")? {
        bail!("nothing was written");
    }
    // With a root folder, the package that it becomes makes the user.
    let is_here = command.root.is_none();
    let owner = match plan.has_service && is_here {
        true => service::user(&plan, &mut files.report)?,
        false => None,
    };
    let made = write_all(&mut files, &plan, owner, command);
    for line in &files.report {
        println!("{line}");
    }
    // The next call keeps the hash, so a failure behind it must not lose the password.
    if let RootPassword::Generated(password, _) = &plan.password
        && files.exists(&plan.password_file)
    {
        println!(
            "\nThe root's password is {password}\nIt is stored as a hash only: write it down."
        );
    }
    made?;
    if files.changes == 0 {
        println!("Nothing has changed: the directory is set up already.");
    }
    if !is_here {
        return Ok(());
    }
    if plan.has_service && service::has_systemd() {
        service::start(files.changes > 0)?;
        println!("\nThe service fulgurite runs, and starts with the machine.");
    } else {
        println!("\nStart it:\n  {}", service::command_line(&plan));
    }
    print!("{}", first_commands(&plan));
    Ok(())
}

/// Writes all files. A failure leaves those that were written before it.
fn write_all(files: &mut Files, plan: &Plan, owner: Owner, command: &Setup) -> anyhow::Result<()> {
    let folder = plan
        .config
        .parent()
        .context("the settings have no folder")?;
    files.folder(folder, 0o755, None)?;
    if let RootPassword::Hash(hash) | RootPassword::Generated(_, hash) = &plan.password {
        let text = format!("{hash}\n");
        files.file(&secret(&plan.password_file, &text, owner))?;
    } else {
        files.kept(&plan.password_file);
    }
    match &plan.tls {
        TlsPlan::Own(authority) => authority.make(files, &plan.hosts, owner, command.renew)?,
        _ if command.renew => bail!("--renew needs an own authority"),
        _ => {}
    }
    files.folder(&plan.data, 0o700, owner)?;
    files.file(&WantedFile {
        path: &plan.config,
        text: &settings_text::settings_text(plan),
        mode: 0o644,
        owner: None,
    })?;
    if plan.has_service {
        if command.root.is_none() {
            files.folder(Path::new("/run/fulgurite"), 0o755, owner)?;
        }
        service::write(files, plan, command.root.as_deref())?;
    }
    Ok(())
}

fn secret<'f>(path: &'f Path, text: &'f str, owner: Owner) -> WantedFile<'f> {
    WantedFile {
        path,
        text,
        mode: 0o600,
        owner,
    }
}

/// Returns commands to try.
fn first_commands(plan: &Plan) -> String {
    let is_local = |url: &&String| url.starts_with("ldapi:");
    let local = plan.listen.iter().find(is_local).or(plan.listen.first());
    let local = local.map_or("ldapi:///", String::as_str);
    let authority = match &plan.tls {
        TlsPlan::Own(files) => format!("LDAPTLS_CACERT={} ", files.authority.display()),
        _ => String::new(),
    };
    let (start_tls, remote) = match &plan.tls {
        TlsPlan::None => ("", ""),
        _ => ("-ZZ ", authority.as_str()),
    };
    let tcp = plan.listen.iter().find(|url| url.starts_with("ldap:"));
    let tcp = tcp.map_or("ldap://localhost", String::as_str);
    let tcp = tcp.replace("ldap:///", "ldap://localhost");
    format!(
        "\nTry it:\n  \
         ldapsearch -Q -Y EXTERNAL -H {local} -b {suffix}\n  \
         {remote}ldapwhoami -x {start_tls}-H {tcp} -D {root} -W\n  \
         fulgurite doctor --config {config}\n\n\
         Make a user:\n  \
         fulgurite user add ada --generate -H {local}\n",
        suffix = quoted(&plan.suffix),
        root = quoted(&plan.root_dn),
        config = plan.config.display(),
    )
}

/// Returns a word of a command line for the shell.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "=,.-_/".contains(letter);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
