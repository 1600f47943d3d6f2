//! The log of a cluster in etcd.

use fulgurite_cluster::{
    AppendOutcome, BATCH_BYTES_MAX, ChangeLog, Epoch, Head, Leadership, LeaseId, NodeId, NodeState,
    PartList, Position, ReadOutcome, Refusal, Unavailable,
};
use serde_json::{Value, json};

use crate::client::{Called, Client};
use crate::error::EtcdError;
use crate::keys::{Keys, read_head, read_state, write_head, write_state};
use crate::question::{
    Answer, Do, Item, created_at, delete_range, get, has_value, number, put, range, transaction,
};
use crate::settings::EtcdSettings;

/// Bytes of a part of a long batch. It is as long as a batch without parts.
const PART_BYTES: u32 = BATCH_BYTES_MAX as u32;

/// The log of one database in etcd. A thread that asks has one of its kind.
///
/// A silent member is given up after the wait for a try. The next one is asked, until the wait for
/// the call is over.
#[derive(Debug)]
pub struct EtcdLog {
    client: Client,
    keys: Keys,
    database: u32,
}

impl EtcdLog {
    /// Returns a log. It connects with the first call.
    ///
    /// # Errors
    /// [`EtcdError::Setting`].
    pub fn new(settings: &EtcdSettings) -> Result<EtcdLog, EtcdError> {
        Ok(EtcdLog {
            client: Client::new(settings)?,
            keys: Keys::new(&settings.cluster, settings.database),
            database: settings.database,
        })
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.keys
    }

    pub(crate) fn database(&self) -> u32 {
        self.database
    }

    pub(crate) fn ask(&self, question: &Value) -> (Result<Answer, EtcdError>, bool) {
        let Called {
            result,
            was_given_up,
        } = self.client.call("/v3/kv/txn", question);
        let form = || EtcdError::Silence("an answer of another form".to_owned());
        let answer = result.and_then(|answer| Answer::read(&answer).ok_or_else(form));
        (answer, was_given_up)
    }

    /// Asks, if the question may be repeated at will.
    fn ask_again(&self, question: &Value) -> Result<Answer, Unavailable> {
        self.ask(question).0.map_err(|_| Unavailable)
    }

    pub(crate) fn head_of(&self, answer: &Answer, read: usize) -> Option<Head> {
        match answer.one(read) {
            None => Some(Head::default()),
            Some(item) => read_head(&item.value),
        }
    }

    /// Returns the reads that tell about a refused append.
    fn state(&self, at: Position) -> Vec<Do> {
        let keys = [self.keys.leader(), self.keys.head(), self.keys.batch(at)];
        keys.iter().map(|key| Do::Get(get(key))).collect()
    }

    /// Judges the state of the log after an append without success.
    ///
    /// A try that was given up is absent now. It can be taken later only if its comparison still
    /// holds.
    fn refused(&self, answer: &Answer, append: &Append<'_>, was_given_up: bool) -> AppendOutcome {
        let Some(end) = self.head_of(answer, 1) else {
            return AppendOutcome::Unknown;
        };
        let present = answer.one(2).map(|item| append.present(&item.value));
        // The batch may have been taken, and trimmed since.
        if was_given_up && present.is_none() && end.position >= append.after.position {
            return AppendOutcome::Unknown;
        }
        AppendOutcome::Refused(Refusal {
            leader: answer.one(0).map(|item| Epoch(item.created_at)),
            end: end.position,
            present,
        })
    }

    /// Decides about an append that found etcd full. The write that reaches the quota is done, and
    /// its answer says that there is no space.
    fn settle_full(&self, before: &Head, append: &Append<'_>) -> AppendOutcome {
        let question = transaction(vec![], self.state(append.after.position), vec![]);
        let (Ok(answer), _) = self.ask(&question) else {
            return AppendOutcome::Unknown;
        };
        match self.refused(&answer, append, true) {
            AppendOutcome::Refused(refusal) if refusal.present.as_deref() == Some(append.batch) => {
                AppendOutcome::Appended
            }
            AppendOutcome::Refused(refusal) if refusal.end == before.position => {
                AppendOutcome::Full
            }
            outcome => outcome,
        }
    }
}

/// An append on its way.
struct Append<'b> {
    after: &'b Head,
    batch: &'b [u8],
    /// The parts of a long batch.
    list: Option<PartList>,
}

impl Append<'_> {
    /// Returns the batch at its position, where the log has a value. A list of parts is returned
    /// as it is, if it is that of another batch.
    fn present(&self, value: &[u8]) -> Vec<u8> {
        let is_own = self.list.is_some() && PartList::decode(value) == self.list;
        match is_own {
            true => self.batch.to_vec(),
            false => value.to_vec(),
        }
    }
}

impl EtcdLog {
    /// Writes the parts of a long batch, which nobody reads before their list is there. Returns an
    /// outcome if the append ends here.
    fn put_parts(
        &self,
        epoch: Epoch,
        list: &PartList,
        append: &Append<'_>,
    ) -> Option<AppendOutcome> {
        let position = append.after.position;
        for (part, number) in list.parts(append.batch).zip(0..) {
            let key = self.keys.part(position, &list.digest(), number);
            let compare = vec![created_at(&self.keys.leader(), epoch.0)];
            let write = vec![Do::Put(put(&key, part, 0))];
            let question = transaction(compare, write, self.state(position));
            match self.ask(&question).0 {
                Ok(answer) if answer.succeeded => {}
                // No try of this call is an append.
                Ok(answer) => return Some(self.refused(&answer, append, false)),
                Err(EtcdError::Full) => return Some(AppendOutcome::Full),
                Err(_) => return Some(AppendOutcome::Unknown),
            }
        }
        None
    }

    /// Returns batches with their parts, and none behind a long one. This bounds the memory.
    fn wholes(&self, read: Vec<(Position, Vec<u8>)>) -> ReadOutcome {
        let mut batches = Vec::with_capacity(read.len());
        for (position, value) in read {
            let is_long = PartList::decode(&value).is_some();
            match self.whole(position, value) {
                Some(batch) => batches.push((position, batch)),
                // A trim takes a batch with its parts: the next question tells. No batch at all
                // would say that the log ends here.
                None if batches.is_empty() => return ReadOutcome::Unavailable,
                None => break,
            }
            if is_long {
                break;
            }
        }
        ReadOutcome::Batches(batches)
    }

    /// Returns the batch of a value at a position. Returns `None` if its parts are gone, or etcd is
    /// silent.
    fn whole(&self, position: Position, value: Vec<u8>) -> Option<Vec<u8>> {
        let Some(list) = PartList::decode(&value) else {
            return Some(value);
        };
        let part = |number| {
            let key = self.keys.part(position, &list.digest(), number);
            let read = vec![Do::Get(get(&key))];
            let answer = self.ask_again(&transaction(vec![], read, vec![])).ok()?;
            answer.one(0).map(|item| item.value.clone())
        };
        let parts: Option<Vec<Vec<u8>>> = (0..list.count()).map(part).collect();
        list.join(&parts?)
    }
}

impl ChangeLog for EtcdLog {
    fn append(&self, epoch: Epoch, before: &Head, after: &Head, batch: &[u8]) -> AppendOutcome {
        let append = Append {
            after,
            batch,
            list: PartList::of(batch, PART_BYTES),
        };
        if let Some(list) = &append.list
            && let Some(outcome) = self.put_parts(epoch, list, &append)
        {
            return outcome;
        }
        let list = append.list.map(|list| list.encode());
        let value = list.as_deref().unwrap_or(batch);
        let [leader, head] = [self.keys.leader(), self.keys.head()];
        let ends = match before.position {
            Position(0) => created_at(&head, 0),
            _ => has_value(&head, &write_head(before)),
        };
        let writes = vec![
            Do::Put(put(&self.keys.batch(after.position), value, 0)),
            Do::Put(put(&head, &write_head(after), 0)),
        ];
        let compare = vec![created_at(&leader, epoch.0), ends];
        let (answer, was_given_up) =
            self.ask(&transaction(compare, writes, self.state(after.position)));
        match answer {
            Ok(answer) if answer.succeeded => AppendOutcome::Appended,
            Ok(answer) => self.refused(&answer, &append, was_given_up),
            // A try before may still be taken when there is room.
            Err(EtcdError::Full) if was_given_up => AppendOutcome::Unknown,
            Err(EtcdError::Full) => self.settle_full(before, &append),
            Err(_) => AppendOutcome::Unknown,
        }
    }

    fn read(&self, from: Position, limit: usize) -> ReadOutcome {
        let (first, end) = (self.keys.batch(from), self.keys.batches_end());
        let reads = vec![
            Do::Get(get(&self.keys.head())),
            Do::Get(range(&first, &end, limit)),
        ];
        let Ok(answer) = self.ask_again(&transaction(vec![], reads, vec![])) else {
            return ReadOutcome::Unavailable;
        };
        let Some(head) = self.head_of(&answer, 0) else {
            return ReadOutcome::Unavailable;
        };
        let items = answer.reads.into_iter().nth(1).unwrap_or_default();
        let batch = |item: Item| Some((self.keys.position(&item.key)?, item.value));
        let Some(batches) = items.into_iter().map(batch).collect::<Option<Vec<_>>>() else {
            return ReadOutcome::Unavailable;
        };
        match batches.first() {
            Some((first, _)) if *first > from => ReadOutcome::Trimmed { first: *first },
            None if head.position >= from => ReadOutcome::Trimmed {
                first: head.position.next(),
            },
            _ => self.wholes(batches),
        }
    }

    fn end(&self) -> Result<Head, Unavailable> {
        let read = vec![Do::Get(get(&self.keys.head()))];
        let answer = self.ask_again(&transaction(vec![], read, vec![]))?;
        self.head_of(&answer, 0).ok_or(Unavailable)
    }

    fn grant(&self, ttl_ms: u64) -> Result<LeaseId, Unavailable> {
        let seconds = ttl_ms.div_ceil(1000).to_string();
        let called = self
            .client
            .call("/v3/lease/grant", &json!({"TTL": seconds}));
        let answer = called.result.map_err(|_| Unavailable)?;
        let lease = number(&answer, "ID").filter(|lease| *lease != 0);
        lease.map(LeaseId).ok_or(Unavailable)
    }

    fn renew(&self, lease: LeaseId) -> Result<bool, Unavailable> {
        let question = json!({"ID": lease.0.to_string()});
        let called = self.client.call("/v3/lease/keepalive", &question);
        let answer = called.result.map_err(|_| Unavailable)?;
        let result = answer.get("result").ok_or(Unavailable)?;
        Ok(number(result, "TTL").ok_or(Unavailable)? > 0)
    }

    fn lead(&self, lease: LeaseId, node: NodeId) -> Result<Leadership, Unavailable> {
        let leader = self.keys.leader();
        let number = node.0.to_string();
        let answer = self.ask_again(&transaction(
            vec![created_at(&leader, 0)],
            vec![Do::Put(put(&leader, number.as_bytes(), lease.0))],
            vec![Do::Get(get(&leader))],
        ))?;
        if answer.succeeded {
            return Ok(Leadership::Leading(Epoch(answer.revision)));
        }
        let item = answer.one(0).ok_or(Unavailable)?;
        let text = std::str::from_utf8(&item.value).map_err(|_| Unavailable)?;
        let present = NodeId(text.parse().map_err(|_| Unavailable)?);
        Ok(match present == node && item.lease == lease.0 {
            true => Leadership::Leading(Epoch(item.created_at)),
            false => Leadership::Following(present, Epoch(item.created_at)),
        })
    }

    fn trouble(&self) -> Option<String> {
        self.client.trouble().map(|error| error.to_string())
    }

    fn resign(&self, epoch: Epoch) -> Result<(), Unavailable> {
        let leader = self.keys.leader();
        let end = format!("{leader}\0");
        self.ask_again(&transaction(
            vec![created_at(&leader, epoch.0)],
            vec![Do::Delete(delete_range(&leader, &end))],
            vec![],
        ))?;
        Ok(())
    }

    fn publish(&self, lease: LeaseId, state: &NodeState) -> Result<(), Unavailable> {
        let text = write_state(state);
        let write = Do::Put(put(&self.keys.node(state.node), text.as_bytes(), lease.0));
        self.ask_again(&transaction(vec![], vec![write], vec![]))?;
        Ok(())
    }

    fn nodes(&self) -> Result<Vec<NodeState>, Unavailable> {
        let [from, end] = self.keys.nodes();
        let read = vec![Do::Get(range(&from, &end, 0))];
        let answer = self.ask_again(&transaction(vec![], read, vec![]))?;
        let items = answer.reads.first().ok_or(Unavailable)?;
        let states = items.iter().map(|item| read_state(&item.value));
        states.collect::<Option<_>>().ok_or(Unavailable)
    }

    fn trim(&self, epoch: Epoch, upto: Position) -> Result<(), Unavailable> {
        let (first, end) = (self.keys.batch(Position(0)), self.keys.batch(upto.next()));
        let [parts, parts_end] = self.keys.parts_before(upto.next());
        let answer = self.ask_again(&transaction(
            vec![created_at(&self.keys.leader(), epoch.0)],
            vec![
                Do::Delete(delete_range(&first, &end)),
                Do::Delete(delete_range(&parts, &parts_end)),
            ],
            vec![],
        ))?;
        if answer.succeeded {
            self.compact(answer.revision);
        }
        Ok(())
    }
}
