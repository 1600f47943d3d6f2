//! Our side of the peers' protocol in `fulgurite_testkit`: a process on this engine, driven line by
//! line.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::time::Duration;

use fulgurite::{
    Database, Durability, Environment, Error, KeyOrder, ReadTxn, ReaderPolicy, Snapshot, WriteTxn,
};
use fulgurite_testkit::{Peer as PeerProcess, hex, unhex};

use crate::{child, common};

/// Starts a peer on our engine.
pub(crate) fn our_peer() -> PeerProcess {
    PeerProcess::spawn("our", &mut child::role("peer"))
}

/// Serves commands until the end of the input.
pub(crate) fn serve() {
    let mut peer = Peer::default();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match peer.command(&words) {
            Ok(Some(words)) => format!("= ok {words}"),
            Ok(None) => "= ok".to_owned(),
            Err(Refused(reason)) => format!("= err {}", reason.replace('\n', " ")),
        };
        let mut out = std::io::stdout().lock();
        if writeln!(out, "{answer}")
            .and_then(|()| out.flush())
            .is_err()
        {
            return;
        }
    }
}

struct Refused(String);

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Refused(match error {
            Error::NoDatabase(_) => "NOTFOUND".to_owned(),
            Error::MapResized(_) => "MAP_RESIZED".to_owned(),
            Error::MapFull(_) => "MAP_FULL".to_owned(),
            Error::ReaderEnded => "ENDED".to_owned(),
            Error::HeldByReader(long) => format!(
                "HELD {} {}",
                long.reader.pid,
                if long.reader.age.is_some() {
                    "aged"
                } else {
                    "ageless"
                }
            ),
            other => format!("{other:?} {other}"),
        })
    }
}

type Answer = Result<Option<String>, Refused>;

#[derive(Default)]
struct Peer {
    /// Leaked, so that transactions may live next to it; the process is short.
    environment: Option<&'static Environment>,
    /// It was opened with `exact=OCTETS`.
    sets_map_size: bool,
    writer: Option<WriteTxn<'static>>,
    readers: HashMap<String, ReadTxn<'static>>,
}

impl Peer {
    fn command(&mut self, words: &[&str]) -> Answer {
        match *words {
            ["open", path, ref flags @ ..] => self.open(path, flags),
            ["write"] => {
                let txn = self.environment()?.write()?;
                let id = txn.id().0.to_string();
                self.writer = Some(txn);
                Ok(Some(id))
            }
            ["commit"] => {
                self.writer.take().ok_or_else(no_writer)?.commit()?;
                Ok(None)
            }
            ["abort"] => {
                self.writer.take().ok_or_else(no_writer)?.abort();
                Ok(None)
            }
            ["read", slot] => {
                let txn = self.environment()?.read()?;
                let id = txn.id().0.to_string();
                self.readers.insert(slot.to_owned(), txn);
                Ok(Some(id))
            }
            ["renew", slot] => {
                let txn = self.readers.get_mut(slot).ok_or_else(no_reader)?;
                txn.refresh()?;
                Ok(Some(txn.id().0.to_string()))
            }
            ["end", slot] => self
                .readers
                .remove(slot)
                .map(|_| None)
                .ok_or_else(no_reader),
            ["get", txn, db, key] => match self.get(txn, db, &unhex(key))? {
                Some(value) => Ok(Some(hex(&value))),
                None => Err(Refused("NOTFOUND".to_owned())),
            },
            ["hash", txn, db] => self.hash(txn, db).map(Some),
            ["info"] => {
                let info = self.environment()?.info()?;
                Ok(Some(format!(
                    "{} {} {} {}",
                    info.map_size, info.last_page, info.last_txnid, info.readers_used
                )))
            }
            ["check"] => Ok(Some(self.environment()?.clear_stale_readers()?.to_string())),
            // Unless its size is set, our map grows by itself.
            ["setmap", octets] if self.sets_map_size => {
                let octets = octets.parse().map_err(|_| Refused("setmap".to_owned()))?;
                self.environment()?.set_map_size(octets)?;
                Ok(None)
            }
            ["setmap", _] => Ok(None),
            // Our handles need no preparation.
            ["use", _] => Ok(None),
            ["sync"] => self
                .environment()?
                .sync(true)
                .map(|()| None)
                .map_err(Refused::from),
            ["die"] => child::die(),
            ["quit"] => std::process::exit(0),
            _ => self.change(words),
        }
    }

    fn open(&mut self, path: &str, flags: &[&str]) -> Answer {
        let mut options = Environment::options();
        let mut policy = ReaderPolicy::new();
        for flag in flags {
            options = match flag.split_once('=').unwrap_or((flag, "")) {
                ("nosync", _) => options.durability(Durability::NoSync),
                ("nometasync", _) => options.durability(Durability::NoMetaSync),
                ("writemap", _) => options.write_map(true),
                ("rdonly", _) => options.read_only(true),
                ("nosubdir", _) => options.no_subdir(true),
                ("readers", n) => options.readers_max(n.parse().unwrap_or(126)),
                ("exact", n) => {
                    self.sets_map_size = true;
                    options.map_size(n.parse().unwrap_or(0))
                }
                ("refuse", _) => {
                    policy = policy.refuse_growth();
                    options
                }
                ("end", grace_ms) => {
                    let grace = Duration::from_millis(grace_ms.parse().unwrap_or(0));
                    policy = policy.end_oldest(grace);
                    options
                }
                ("bound", n) => options.map_bytes_max(n.parse().unwrap_or(1 << 30)),
                // Only the others have to be told how large the map may become.
                ("mapsize", _) => options,
                _ => return Err(Refused(format!("open flag {flag}"))),
            };
        }
        let environment = options
            .reader_policy(policy)
            .open(path)
            .map_err(|e| Refused(format!("{e:?} {e}")))?;
        self.environment = Some(Box::leak(Box::new(environment)));
        Ok(None)
    }

    fn change(&mut self, words: &[&str]) -> Answer {
        let txn = self.writer.as_mut().ok_or_else(no_writer)?;
        match *words {
            ["create", name, order] => {
                let order = match order {
                    "reverse" => KeyOrder::Reverse,
                    "integer" => KeyOrder::Integer,
                    _ => KeyOrder::Lexical,
                };
                txn.create_database(name, order)?;
            }
            ["put", db, key, value] => {
                let db = database(txn, db)?;
                txn.put(db, &unhex(key), &unhex(value))?;
            }
            ["del", db, key] => {
                let db = database(txn, db)?;
                if !txn.delete(db, &unhex(key))? {
                    return Err(Refused("NOTFOUND".to_owned()));
                }
            }
            ["drop", db] => {
                let db = database(txn, db)?;
                txn.clear_database(db)?;
            }
            ["fill", db, first, count, bytes, seed] => {
                let db = database(txn, db)?;
                let number = |word: &str| word.parse::<usize>().unwrap_or_default();
                for i in number(first)..number(first) + number(count) {
                    let value: Vec<u8> = (0..number(bytes))
                        .map(|j| (number(seed) + i + j) as u8)
                        .collect();
                    txn.put(db, format!("k{i:08}").as_bytes(), &value)?;
                }
            }
            _ => return Err(Refused(format!("command {words:?}"))),
        }
        Ok(None)
    }

    fn get(&self, txn: &str, db: &str, key: &[u8]) -> Result<Option<Vec<u8>>, Refused> {
        if txn == "w" {
            let txn = self.writer.as_ref().ok_or_else(no_writer)?;
            return Ok(txn.get(database(txn, db)?, key)?.map(<[u8]>::to_vec));
        }
        let txn = self.readers.get(txn).ok_or_else(no_reader)?;
        Ok(txn.get(database(txn, db)?, key)?.map(<[u8]>::to_vec))
    }

    fn hash(&self, txn: &str, db: &str) -> Result<String, Refused> {
        if txn == "w" {
            let txn = self.writer.as_ref().ok_or_else(no_writer)?;
            return Ok(common::hash(txn, database(txn, db)?)?);
        }
        let txn = self.readers.get(txn).ok_or_else(no_reader)?;
        Ok(common::hash(txn, database(txn, db)?)?)
    }

    fn environment(&self) -> Result<&'static Environment, Refused> {
        self.environment
            .ok_or_else(|| Refused("no environment is open".to_owned()))
    }
}

fn database(snapshot: &impl Snapshot, name: &str) -> Result<Database, Error> {
    snapshot.open_database((name != "-").then_some(name))
}

fn no_writer() -> Refused {
    Refused("no write transaction".to_owned())
}

fn no_reader() -> Refused {
    Refused("no such read transaction".to_owned())
}
