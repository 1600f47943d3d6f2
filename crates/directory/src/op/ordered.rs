//! Updates of a cluster's batch in one transaction of the store. The caller commits it when the log
//! of the cluster has them.
//!
//! An update that fails with the store ends the transaction. The transaction of a client that is
//! refused does so, too. All others then run once more without it.

use std::ops::Range;

use fulgurite_ldap::{LdapResult, MessageId, ResultCode, UpdateBuf};
use fulgurite_store::{RoomFor, Shortage, StoreError, Writer};

use crate::core::database::Database;
use crate::core::result::{self, refuse};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::features::auditlog::AuditText;
use crate::op::batch::{BatchItem, BlamedResult, lacking, may_retry, room_for, transaction_reply};
use crate::write::context::WorkBudget;
use crate::write::request::{WriteReply, WriteRequest, WriteWork};

/// The use of the effects of an update, before the next one runs.
pub(crate) trait EffectSink<'d> {
    /// Forgets all effects: the transaction begins anew.
    fn clear(&mut self);

    /// Takes the effects of an update, whose records have these positions in the log of changes.
    ///
    /// # Errors
    /// A refusal of the update, or a failure of the store.
    fn take(&mut self, writer: &mut Writer<'d>, positions: Range<u64>) -> Result<(), Untold>;
}

/// The reason why the effects of an update are not taken.
pub(crate) enum Untold {
    Refused(LdapResult),
    Failed(StoreError),
}

impl From<StoreError> for Untold {
    fn from(error: StoreError) -> Untold {
        Untold::Failed(error)
    }
}

/// Updates that are done and not committed.
pub(crate) struct OrderedBatch<'d> {
    /// The transaction; `None` if the store does not begin one.
    pub(crate) writer: Option<Writer<'d>>,
    pub(crate) replies: Vec<WriteReply>,
    /// The sessions that have changed the password that they had to change.
    pub(crate) freed: Vec<Session>,
    /// True if the disk had no room for an update. Another node may have some.
    pub(crate) is_disk_full: bool,
}

/// The replies to updates that are done, and the sessions that are freed.
type Replies = (Vec<WriteReply>, Vec<Session>);

/// A reply that ends the transaction, and the room that its update lacked.
struct Failure {
    reply: WriteReply,
    room: Option<RoomFor>,
    shortage: Option<Shortage>,
}

impl Directory {
    /// Does updates of a database in their order. `sink` gets the effects of each.
    pub(crate) fn run_ordered<'d>(
        &'d self,
        database: &'d Database,
        requests: &[&WriteRequest],
        sink: &mut dyn EffectSink<'d>,
    ) -> OrderedBatch<'d> {
        let mut failed: Vec<Option<WriteReply>> = vec![None; requests.len()];
        let mut has_made_room = vec![false; requests.len()];
        let mut is_disk_full = false;
        loop {
            sink.clear();
            let mut writer = match database.store.write() {
                Ok(writer) => writer,
                Err(error) => {
                    is_disk_full |= error.shortage() == Some(Shortage::Disk);
                    let result = match is_disk_full {
                        true => full_disk(),
                        false => result::store(&error),
                    };
                    let replies = requests.iter().zip(failed);
                    let replies = replies.map(|(request, reply)| {
                        reply.unwrap_or_else(|| self.refused_reply(request, result.clone()))
                    });
                    return OrderedBatch {
                        writer: None,
                        replies: replies.collect(),
                        freed: Vec::new(),
                        is_disk_full,
                    };
                }
            };
            let left = requests.iter().zip(&failed);
            let mut left = left.filter(|(_, reply)| reply.is_none()).peekable();
            let is_deletion =
                |request: &WriteRequest| room_for(database, request.updates()) == RoomFor::Deletion;
            if left.peek().is_some() && left.all(|(request, _)| is_deletion(request)) {
                writer.use_reserve();
            }
            writer.watch();
            let ran = self.run_once(database, &mut writer, (requests, &failed), sink);
            let (at, failure) = match ran {
                Ok((replies, freed)) => {
                    return OrderedBatch {
                        writer: Some(writer),
                        replies,
                        freed,
                        is_disk_full,
                    };
                }
                Err(failure) => failure,
            };
            drop(writer);
            let may_try_again = has_made_room.get_mut(at);
            let may_try_again = may_try_again.is_some_and(|made| !std::mem::replace(made, true));
            let has_room = may_try_again
                && failure
                    .room
                    .is_some_and(|room| database.store.make_room(room).unwrap_or(false));
            if has_room {
                continue;
            }
            let reply = match (failure.shortage, requests.get(at)) {
                (Some(Shortage::Disk), Some(request)) => {
                    is_disk_full = true;
                    self.refused_reply(request, full_disk())
                }
                _ => failure.reply,
            };
            if let Some(place) = failed.get_mut(at) {
                *place = Some(reply);
            }
        }
    }

    /// Does all updates that have not failed before. An error has the place of the one that fails.
    fn run_once<'d>(
        &'d self,
        database: &'d Database,
        writer: &mut Writer<'d>,
        (requests, failed): (&[&WriteRequest], &[Option<WriteReply>]),
        sink: &mut dyn EffectSink<'d>,
    ) -> Result<Replies, (usize, Box<Failure>)> {
        let mut replies = Vec::with_capacity(requests.len());
        let mut freed = Vec::new();
        for (at, (request, failed)) in requests.iter().zip(failed).enumerate() {
            if let Some(reply) = failed {
                replies.push(reply.clone());
                continue;
            }
            let ran = match &request.work {
                WriteWork::Transaction(id, updates) => {
                    self.run_clients(database, writer, (&request.session, *id, updates), sink)
                }
                _ => self.run_single(database, writer, (request, &mut freed), sink),
            };
            replies.push(ran.map_err(|failure| (at, failure))?);
        }
        Ok((replies, freed))
    }

    fn run_single<'d>(
        &'d self,
        database: &'d Database,
        writer: &mut Writer<'d>,
        (request, freed): (&WriteRequest, &mut Vec<Session>),
        sink: &mut dyn EffectSink<'d>,
    ) -> Result<WriteReply, Box<Failure>> {
        let mut item = self.item(request);
        let purpose = room_for(database, request.updates());
        let ran = self.run_item(database, writer, (&request.session, &mut item), sink);
        match ran {
            Ok(()) => {
                freed.extend(item.freed(&request.session).cloned());
                Ok(item.reply())
            }
            Err(Untold::Refused(result)) => {
                item.refuse(result);
                Err(Box::new(Failure {
                    reply: item.reply(),
                    room: None,
                    shortage: None,
                }))
            }
            Err(Untold::Failed(error)) => {
                count_shortage(database, &error);
                item.fail(&error);
                Err(Box::new(Failure {
                    reply: item.reply(),
                    room: room_after(database, &error, purpose),
                    shortage: error.shortage(),
                }))
            }
        }
    }

    /// Does all updates of a client's transaction.
    fn run_clients<'d>(
        &'d self,
        database: &'d Database,
        writer: &mut Writer<'d>,
        (session, id, updates): (&Session, MessageId, &[UpdateBuf]),
        sink: &mut dyn EffectSink<'d>,
    ) -> Result<WriteReply, Box<Failure>> {
        let purpose = room_for(database, updates);
        let (mut audit, mut room, mut shortage): (Option<AuditText>, _, _) = (None, None, None);
        let mut ran: Result<(), BlamedResult> = Ok(());
        for update in updates {
            let mut item = self.update_item(session, update, true);
            let blamed = Some(item.id());
            match self.run_item(database, writer, (session, &mut item), sink) {
                Ok(()) => {}
                Err(Untold::Refused(result)) => item.refuse(result),
                Err(Untold::Failed(error)) => {
                    count_shortage(database, &error);
                    room = room_after(database, &error, purpose);
                    shortage = error.shortage();
                    item.fail(&error);
                }
            }
            let (mut result, text) = item.outcome();
            if !result.is_success() {
                result.matched_dn.clear();
                ran = Err((result, blamed));
                break;
            }
            AuditText::join(&mut audit, text);
        }
        match ran {
            Ok(()) => Ok(transaction_reply(id, Ok(audit))),
            Err(blamed) => Err(Box::new(Failure {
                reply: transaction_reply(id, Err(blamed)),
                room,
                shortage,
            })),
        }
    }

    /// Does one update, and hands its effects on.
    fn run_item<'d>(
        &'d self,
        database: &'d Database,
        writer: &mut Writer<'d>,
        (session, item): (&Session, &mut BatchItem<'d>),
        sink: &mut dyn EffectSink<'d>,
    ) -> Result<(), Untold> {
        if item.database().is_some() && !item.goes_to(database) {
            return Err(Untold::Refused(elsewhere()));
        }
        let newest = writer.log_state()?.newest;
        self.run(database, (writer, WorkBudget::Unlimited), session, item)?;
        let positions = newest + 1..writer.log_state()?.newest + 1;
        sink.take(writer, positions)
    }

    /// Returns the reply to an update that does not run.
    pub(crate) fn refused_reply(&self, request: &WriteRequest, result: LdapResult) -> WriteReply {
        if let WriteWork::Transaction(id, _) = &request.work {
            return transaction_reply(*id, Err((result, None)));
        }
        let mut item = self.item(request);
        item.refuse(result);
        item.reply()
    }
}

/// Returns the room that would help an update, after a failure that says so.
fn room_after(database: &Database, error: &StoreError, purpose: RoomFor) -> Option<RoomFor> {
    let (_, shortage) = lacking(database, error)?;
    may_retry(shortage, purpose).then_some(purpose)
}

fn count_shortage(database: &Database, error: &StoreError) {
    if let Some(shortage) = error.shortage() {
        database.store.count_refused(shortage);
    }
}

/// The refusal of an update that another node may do.
fn full_disk() -> LdapResult {
    let text = "the disk of the sequencer is full: nothing was done, and another node takes over";
    refuse(ResultCode::Busy, text)
}

fn elsewhere() -> LdapResult {
    let text = "the update is of another database than the cluster's";
    refuse(ResultCode::UnwillingToPerform, text)
}
