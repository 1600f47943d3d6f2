//! The nodes that belong to a cluster, and the tokens of those that may join.

use fulgurite_cluster::NodeId;
use serde_json::{Value, json};

use crate::error::EtcdError;
use crate::keys::number_of;
use crate::log::EtcdLog;
use crate::question::{
    Do, created_at, delete_range, get, has_value, number, put, range, transaction,
};

/// Numbers that one reservation tries.
const NUMBERS_TRIED: u64 = 1000;

/// A node that belongs to a cluster, alive or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The number of the node.
    pub node: NodeId,
    /// The address by which other nodes reach it: `host:port`.
    pub address: String,
}

impl EtcdLog {
    /// Returns the nodes that belong to the cluster.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub fn members(&self) -> Result<Vec<Member>, EtcdError> {
        let keys = self.keys();
        let [from, end] = keys.members();
        let reads = vec![Do::Get(range(&from, &end, 0))];
        let (answer, _) = self.ask(&transaction(vec![], reads, vec![]));
        let answer = answer?;
        let items = answer.reads.first().ok_or_else(form)?;
        let members = items.iter().map(|item| {
            let node = number_of(&item.key, &from)?;
            let text: Value = serde_json::from_slice(&item.value).ok()?;
            let address = text.get("address")?.as_str()?.to_owned();
            Some(Member { node, address })
        });
        members.collect::<Option<_>>().ok_or_else(form)
    }

    /// Writes the address of a node, which belongs to the cluster from now on.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub fn put_member(&self, member: &Member) -> Result<(), EtcdError> {
        let write = Do::Put(self.member(member));
        let (answer, _) = self.ask(&transaction(vec![], vec![write], vec![]));
        answer.map(drop)
    }

    /// Removes a node from the cluster. Returns false if there was none of this number. No other
    /// node gets the number: the certificate of the old one would be good for it.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub fn remove_member(&self, node: NodeId) -> Result<bool, EtcdError> {
        let (key, settings) = (self.keys().member(node), self.keys().settings(node));
        let end = format!("{key}\0");
        let (answer, was_given_up) = self.ask(&transaction(
            vec![created_at(&key, 0)],
            vec![],
            vec![
                Do::Delete(delete_range(&key, &end)),
                Do::Delete(delete_range(&settings, &format!("{settings}\0"))),
                Do::Put(put(&self.keys().gone(node), b"", 0)),
            ],
        ));
        // An earlier try of this call may have done it.
        answer.map(|answer| !answer.succeeded || was_given_up)
    }

    /// Reserves the next number for a node, for some seconds. Its token has the secret.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub fn reserve_number(&self, secret: &str, seconds: u32) -> Result<NodeId, EtcdError> {
        let question = json!({"TTL": seconds.to_string()});
        let lease = self.client().call("/v3/lease/grant", &question).result?;
        let lease = number(&lease, "ID")
            .filter(|lease| *lease != 0)
            .ok_or_else(form)?;
        let newest = self.members()?.iter().map(|member| member.node.0).max();
        let first = newest.unwrap_or(0) + 1;
        for node in (first..first + NUMBERS_TRIED).map(NodeId) {
            let keys = self.keys();
            let (member, token, gone) = (keys.member(node), keys.token(node), keys.gone(node));
            let (answer, _) = self.ask(&transaction(
                vec![
                    created_at(&member, 0),
                    created_at(&token, 0),
                    created_at(&gone, 0),
                ],
                vec![Do::Put(put(&token, secret.as_bytes(), lease))],
                vec![Do::Get(get(&token))],
            ));
            let answer = answer?;
            let present = answer.one(0).map(|item| item.value.as_slice());
            // An earlier try of this call may have made it.
            if answer.succeeded || present == Some(secret.as_bytes()) {
                return Ok(node);
            }
        }
        Err(EtcdError::Setting("there are too many tokens".to_owned()))
    }

    /// Lets the node of a token join. Returns false if the token is used, or too old.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub fn join(&self, member: &Member, secret: &str) -> Result<bool, EtcdError> {
        let key = self.keys().member(member.node);
        let token = self.keys().token(member.node);
        let end = format!("{token}\0");
        let (answer, was_given_up) = self.ask(&transaction(
            vec![created_at(&key, 0), has_value(&token, secret.as_bytes())],
            vec![
                Do::Put(self.member(member)),
                Do::Delete(delete_range(&token, &end)),
            ],
            vec![Do::Get(get(&key))],
        ));
        let answer = answer?;
        // An earlier try of this call may have done it.
        let is_present = answer
            .one(0)
            .is_some_and(|item| item.value == text(member).as_bytes());
        Ok(answer.succeeded || (was_given_up && is_present))
    }

    fn member(&self, member: &Member) -> Value {
        put(&self.keys().member(member.node), text(member).as_bytes(), 0)
    }
}

fn text(member: &Member) -> String {
    json!({"address": member.address}).to_string()
}

fn form() -> EtcdError {
    EtcdError::Silence("a value of another form: check the version of this program".to_owned())
}
