//! `fulgurite apply`.

mod changes;
mod plan;
mod read_ldif;
mod read_yaml;
mod renames;
mod wanted;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use fulgurite_ldif::Writer;

use super::{exit_code, unless_pipe_closed};
use crate::arguments::apply::Apply;
use crate::remote::login::connect;
use changes::DueChange;
use fulgurite_client::names::depth;
use plan::Planner;
use renames::Renames;
use wanted::{WantedState, Wish};

/// A change with its wish, and the name that the entry has then.
type PlacedChange<'w> = (&'w Wish, String, DueChange);

pub(crate) fn run(command: Apply) -> ExitCode {
    exit_code(apply(&command))
}

fn apply(command: &Apply) -> anyhow::Result<()> {
    let mut wishes = Vec::new();
    for file in &command.files {
        wishes.extend(read(file, command.yaml)?);
    }
    let mut client = connect(&command.server)?;
    let mut planner = Planner::new(&mut client, command.delete, Renames::of(&wishes));
    let (mut due, mut kept): (Vec<PlacedChange<'_>>, u64) = (Vec::new(), 0);
    for wish in &wishes {
        let change = planner.change(wish).with_context(|| wish.place.clone())?;
        match change {
            Some((_, DueChange::Delete)) if !command.delete => {
                eprintln!("{} stays, because --delete is not given", wish.dn);
                kept += 1;
            }
            Some((dn, change)) => due.push((wish, dn, change)),
            None => {}
        }
    }
    if due.is_empty() {
        eprintln!("nothing to do");
        return Ok(());
    }
    if command.dry_run {
        return unless_pipe_closed(show(&due));
    }
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (wish, dn, change) in &due {
        let sent = change.send(&mut client, dn);
        sent.with_context(|| wish.place.clone())?;
        eprintln!("{} {}", change.word(), dn);
        *counts.entry(change.word()).or_default() += 1;
    }
    let mut parts: Vec<String> = counts
        .iter()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    parts.extend((kept > 0).then(|| format!("{kept} not deleted")));
    eprintln!("{}", parts.join(", "));
    Ok(())
}

/// Writes changes as LDIF.
fn show(due: &[PlacedChange<'_>]) -> anyhow::Result<()> {
    let mut writer = Writer::new(io::BufWriter::new(io::stdout().lock()));
    writer.version()?;
    for (_, dn, change) in due {
        change.write(&mut writer, dn)?;
    }
    writer.into_inner()?.flush()?;
    Ok(())
}

/// Reads the wishes of a file. Those of entries are put in an order that servers accept.
fn read(file: &Path, is_yaml: bool) -> anyhow::Result<Vec<Wish>> {
    let name = match file == Path::new("-") {
        true => "standard input".to_owned(),
        false => file.display().to_string(),
    };
    let mut input: Box<dyn Read> = match file == Path::new("-") {
        true => Box::new(io::stdin().lock()),
        false => Box::new(File::open(file).with_context(|| format!("cannot read {name}"))?),
    };
    let ending = file.extension().and_then(|ending| ending.to_str());
    let (mut wishes, has_order) = if is_yaml || matches!(ending, Some("yaml" | "yml")) {
        let mut text = String::new();
        let read = input.read_to_string(&mut text);
        read.with_context(|| format!("cannot read {name}"))?;
        (read_yaml::read(&text, &name)?, false)
    } else {
        read_ldif::read(BufReader::new(input), &name)?
    };
    for wish in &wishes {
        if depth(&wish.dn).is_none() {
            bail!("{}: \"{}\" is no DN", wish.place, wish.dn);
        }
    }
    if !has_order {
        wishes.sort_by_key(place_in_order);
    }
    Ok(wishes)
}

/// Returns a key that puts parents before children, and deletions last, children first.
fn place_in_order(wish: &Wish) -> (bool, i64) {
    let depth = depth(&wish.dn).and_then(|depth| i64::try_from(depth).ok());
    let depth = depth.unwrap_or(0);
    match wish.state {
        WantedState::Absent => (true, -depth),
        _ => (false, depth),
    }
}
