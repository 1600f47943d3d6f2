//! One request, its response.

use std::net::ToSocketAddrs;
use std::time::Duration;

use fulgurite_ldap::{
    AddRequest, Assertion, Authentication, BindRequest, Change, CompareRequest, Control,
    DeleteRequest, ExtendedRequest, LdapResult, ModifyDnRequest, ModifyRequest, PartialAttribute,
    PasswordModifyRequest, Request, Response, ResponseMessage, oid, read_generated_password,
};

use crate::entry::OwnedControl;
use crate::socket::Socket;
use crate::{ClientError, Receiver, Sender};

/// A connection to a server.
///
/// The operations below wait for their response and drop responses of other requests. For
/// pipelining, use [`Client::send`] and [`Client::receive`], or [`Client::split`].
#[derive(Debug)]
pub struct Client {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
}

/// The response that ended an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The result.
    pub result: LdapResult,
    /// Of an extended operation: the name the server gave.
    pub name: Option<Vec<u8>>,
    /// Of an extended operation: the value. Of a bind: the credentials of the SASL mechanism.
    pub value: Option<Vec<u8>>,
    /// Controls of the response.
    pub controls: Vec<OwnedControl>,
}

impl Client {
    /// Connects over TCP.
    ///
    /// # Errors
    /// [`ClientError::Connect`].
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        Self::of_socket(Socket::tcp(address, None).map_err(ClientError::Connect)?)
    }

    /// The two directions, for use by two threads.
    #[must_use]
    pub fn split(self) -> (Sender, Receiver) {
        (self.sender, self.receiver)
    }

    /// Bounds every later wait for the server; `None`, the default, waits for ever.
    ///
    /// # Errors
    /// [`ClientError::Io`], as for a timeout of zero.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> Result<(), ClientError> {
        self.receiver.set_read_timeout(timeout)
    }

    /// See [`Sender::set_write_timeout`].
    ///
    /// # Errors
    /// [`ClientError::Io`], as for a timeout of zero.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> Result<(), ClientError> {
        self.sender.set_write_timeout(timeout)
    }

    /// See [`Sender::send`].
    ///
    /// # Errors
    /// As there.
    pub fn send(
        &mut self,
        request: &Request<'_>,
        controls: &[Control<'_>],
    ) -> Result<u32, ClientError> {
        self.sender.send(request, controls)
    }

    /// See [`Sender::queue`].
    pub fn queue(&mut self, request: &Request<'_>) -> u32 {
        self.sender.queue(request, &[])
    }

    /// See [`Sender::flush`].
    ///
    /// # Errors
    /// As there.
    pub fn flush(&mut self) -> Result<(), ClientError> {
        self.sender.flush()
    }

    /// See [`Sender::send_raw`].
    ///
    /// # Errors
    /// As there.
    pub fn send_raw(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        self.sender.send_raw(bytes)
    }

    /// See [`Sender::shut_down`].
    pub fn shut_down_sending(&self) {
        self.sender.shut_down();
    }

    /// See [`Receiver::receive`].
    ///
    /// # Errors
    /// As there.
    pub fn receive(&mut self) -> Result<ResponseMessage<'_>, ClientError> {
        self.receiver.receive()
    }

    /// See [`Receiver::is_ready`].
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.receiver.is_ready()
    }

    /// Waits for the next response of one request and drops those of others.
    ///
    /// # Errors
    /// As [`Receiver::receive`].
    pub fn receive_for(&mut self, id: u32) -> Result<ResponseMessage<'_>, ClientError> {
        self.receiver.receive_for(id)
    }

    /// Sends any request but a search and waits for its result.
    ///
    /// Intermediate responses on the way are dropped. Unbind and abandon have no result; use
    /// [`Client::send`] for them.
    /// # Errors
    /// [`ClientError`] if the conversation fails.
    pub fn request(
        &mut self,
        request: &Request<'_>,
        controls: &[Control<'_>],
    ) -> Result<Reply, ClientError> {
        let id = self.sender.send(request, controls)?;
        loop {
            if let Some(reply) = Reply::from_message(self.receive_for(id)?) {
                return Ok(reply);
            }
        }
    }

    fn result(&mut self, request: &Request<'_>) -> Result<LdapResult, ClientError> {
        self.request(request, &[]).map(|reply| reply.result)
    }

    /// Binds with a password, version 3; empty strings bind anonymously.
    ///
    /// # Errors
    /// [`ClientError`] if the conversation fails; a refusal is a result.
    pub fn bind(&mut self, dn: &str, password: &[u8]) -> Result<LdapResult, ClientError> {
        self.result(&Request::Bind(BindRequest::simple(dn, password)))
    }

    /// Binds by SASL EXTERNAL (RFC 4422). The server takes the user of a local socket, or the
    /// certificate of TLS.
    ///
    /// # Errors
    /// As [`Client::bind`].
    pub fn bind_external(&mut self) -> Result<LdapResult, ClientError> {
        self.result(&Request::Bind(BindRequest {
            version: 3,
            name: b"",
            authentication: Authentication::Sasl {
                mechanism: b"EXTERNAL",
                // No other identity is asked for.
                credentials: Some(b""),
            },
        }))
    }

    /// Sets the password of an entry (RFC 3062). Without a new one the server makes one up, and
    /// returns it.
    ///
    /// # Errors
    /// As [`Client::bind`]; [`ClientError::Value`] for a malformed response.
    pub fn modify_password(
        &mut self,
        dn: &str,
        new: Option<&[u8]>,
    ) -> Result<(LdapResult, Option<Vec<u8>>), ClientError> {
        let value = PasswordModifyRequest {
            user_identity: Some(dn.as_bytes()),
            old_password: None,
            new_password: new,
        };
        let reply = self.extended(oid::PASSWORD_MODIFY, Some(&value.encode()))?;
        let generated = match &reply.value {
            Some(value) => read_generated_password(value)?.map(<[u8]>::to_vec),
            None => None,
        };
        Ok((reply.result, generated))
    }

    /// Creates an entry.
    ///
    /// # Errors
    /// As [`Client::bind`].
    pub fn add(
        &mut self,
        dn: &str,
        attributes: &[PartialAttribute<'_>],
    ) -> Result<LdapResult, ClientError> {
        self.result(&Request::Add(AddRequest {
            dn: dn.as_bytes(),
            attributes: attributes.to_vec(),
        }))
    }

    /// Changes an entry: see [`Change::add`], [`Change::delete`], [`Change::replace`] and
    /// [`Change::increment`].
    ///
    /// # Errors
    /// As [`Client::bind`].
    pub fn modify(&mut self, dn: &str, changes: &[Change<'_>]) -> Result<LdapResult, ClientError> {
        self.result(&Request::Modify(ModifyRequest {
            dn: dn.as_bytes(),
            changes: changes.to_vec(),
        }))
    }

    /// Removes an entry.
    ///
    /// # Errors
    /// As [`Client::bind`].
    pub fn delete(&mut self, dn: &str) -> Result<LdapResult, ClientError> {
        self.result(&Request::Delete(DeleteRequest { dn: dn.as_bytes() }))
    }

    /// Renames an entry, and moves it if `new_superior` is given.
    ///
    /// # Errors
    /// As [`Client::bind`].
    pub fn modify_dn(
        &mut self,
        dn: &str,
        new_rdn: &str,
        delete_old_rdn: bool,
        new_superior: Option<&str>,
    ) -> Result<LdapResult, ClientError> {
        self.result(&Request::ModifyDn(ModifyDnRequest {
            dn: dn.as_bytes(),
            new_rdn: new_rdn.as_bytes(),
            delete_old_rdn,
            new_superior: new_superior.map(str::as_bytes),
        }))
    }

    /// Asks whether an entry has a value: `compareTrue` or `compareFalse`.
    ///
    /// # Errors
    /// As [`Client::bind`].
    pub fn compare(
        &mut self,
        dn: &str,
        attribute: &str,
        value: &[u8],
    ) -> Result<LdapResult, ClientError> {
        let assertion = Assertion {
            attribute: attribute.as_bytes(),
            value,
        };
        self.result(&Request::Compare(CompareRequest {
            dn: dn.as_bytes(),
            assertion,
        }))
    }

    /// Performs an extended operation.
    ///
    /// # Errors
    /// As [`Client::bind`].
    pub fn extended(&mut self, oid: &str, value: Option<&[u8]>) -> Result<Reply, ClientError> {
        self.request(
            &Request::Extended(ExtendedRequest {
                oid: oid.as_bytes(),
                value,
            }),
            &[],
        )
    }

    /// Asks the server who this connection is bound as (RFC 4532): `dn:...`, or empty if anonymous.
    ///
    /// # Errors
    /// [`ClientError::Unexpected`] if the server does not say.
    pub fn who_am_i(&mut self) -> Result<String, ClientError> {
        let reply = self.extended(oid::WHO_AM_I, None)?;
        match reply.value {
            _ if !reply.result.is_success() => Err(ClientError::Unexpected),
            value => Ok(crate::entry::text(&value.unwrap_or_default())),
        }
    }

    /// Asks the server to forget a request. There is no response, neither to this nor, most
    /// likely, to that.
    ///
    /// # Errors
    /// As [`Sender::send`].
    pub fn abandon(&mut self, id: u32) -> Result<(), ClientError> {
        self.sender.send(&Request::Abandon(id), &[]).map(|_| ())
    }

    /// Ends the conversation and closes the connection.
    ///
    /// # Errors
    /// As [`Sender::send`].
    pub fn unbind(mut self) -> Result<(), ClientError> {
        self.sender.send(&Request::Unbind, &[]).map(|_| ())
    }
}

impl Reply {
    /// Returns the reply of a message that ends its operation.
    fn from_message(message: ResponseMessage<'_>) -> Option<Self> {
        let controls = OwnedControl::all(&message.controls);
        let (result, name, value) = match message.response {
            Response::Extended {
                result,
                name,
                value,
            } => (result, name, value),
            Response::Bind {
                result,
                server_credentials,
            } => (result, None, server_credentials),
            other => (other.result()?.clone(), None, None),
        };
        let (name, value) = (name.map(<[u8]>::to_vec), value.map(<[u8]>::to_vec));
        Some(Reply {
            result,
            name,
            value,
            controls,
        })
    }
}
