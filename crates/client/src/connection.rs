//! The two directions of a connection.

use std::io::{ErrorKind, Read as _, Write as _};
use std::ops::Range;
use std::time::Duration;

use fulgurite_ldap::{
    Control, Request, Response, ResponseMessage, encode, frame, oid, peek_message_id,
};

use crate::ClientError;
use crate::socket::Socket;
use crate::tls::{self, SharedTls, TlsReader};

/// Bytes of a response accepted by default: entries with large values are expected here.
const RESPONSE_BYTES_MAX: usize = 64 << 20;
const READ_OCTETS: usize = 64 << 10;

/// Sends requests.
#[derive(Debug)]
pub struct Sender {
    socket: Socket,
    tls: Option<SharedTls>,
    next_id: u32,
    outgoing: Vec<u8>,
}

impl Sender {
    pub(crate) const fn new(socket: Socket) -> Self {
        Sender {
            socket,
            tls: None,
            next_id: 1,
            outgoing: Vec::new(),
        }
    }

    /// The id that the next request gets; ids count up from 1 and wrap at 2^31-1.
    pub const fn take_id(&mut self) -> u32 {
        let id = self.next_id;
        self.next_id = if id == fulgurite_ldap::MESSAGE_ID_MAX {
            1
        } else {
            id + 1
        };
        id
    }

    /// Sends a request without waiting for its response; returns its id.
    ///
    /// # Errors
    /// [`ClientError::Io`]; [`ClientError::Timeout`] if a write timeout is set and passes.
    pub fn send(
        &mut self,
        request: &Request<'_>,
        controls: &[Control<'_>],
    ) -> Result<u32, ClientError> {
        let id = self.queue(request, controls);
        self.flush()?;
        Ok(id)
    }

    /// Encodes a request to go out with the next [`Sender::flush`]; returns its id.
    pub fn queue(&mut self, request: &Request<'_>, controls: &[Control<'_>]) -> u32 {
        let id = self.take_id();
        encode::request(&mut self.outgoing, id, request, controls);
        id
    }

    /// Sends what is queued.
    ///
    /// # Errors
    /// As [`Sender::send`].
    pub fn flush(&mut self) -> Result<(), ClientError> {
        let outgoing = std::mem::take(&mut self.outgoing);
        let sent = self.send_raw(&outgoing);
        // The buffer stays for later requests.
        self.outgoing = outgoing;
        self.outgoing.clear();
        sent
    }

    pub(crate) const fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }

    /// Encrypts what follows.
    pub(crate) fn encrypt_by(&mut self, tls: SharedTls) {
        self.tls = Some(tls);
    }

    /// Sends bytes as they are, valid or not. Blocks while the server does not read.
    ///
    /// # Errors
    /// As [`Sender::send`].
    pub fn send_raw(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        let written = match &self.tls {
            None => self.socket.write_all(bytes),
            Some(tls) => tls::write(tls, &mut self.socket, bytes),
        };
        Ok(written?)
    }

    /// Ends this direction: the server reads the end of the stream.
    pub fn shut_down(&self) {
        // A connection that is gone already has ended both directions.
        let _ = self.socket.shut_down_writing();
    }

    /// Bounds every later write; `None` waits for ever.
    ///
    /// # Errors
    /// [`ClientError::Io`], as for a timeout of zero.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> Result<(), ClientError> {
        Ok(self.socket.set_write_timeout(timeout)?)
    }
}

/// Receives responses.
#[derive(Debug)]
pub struct Receiver {
    socket: Socket,
    tls: Option<TlsReader>,
    buffer: Vec<u8>,
    /// Bytes of `buffer` handed out, and bytes received.
    taken: usize,
    filled: usize,
}

impl Receiver {
    pub(crate) const fn new(socket: Socket) -> Self {
        Receiver {
            socket,
            tls: None,
            buffer: Vec::new(),
            taken: 0,
            filled: 0,
        }
    }

    /// Waits for the next response of any request.
    ///
    /// # Errors
    /// [`ClientError::Disconnected`] for the notice of disconnection, [`ClientError::Closed`] at
    /// the end of the stream, [`ClientError::Timeout`], and malformed responses.
    pub fn receive(&mut self) -> Result<ResponseMessage<'_>, ClientError> {
        let pdu = self.wait()?;
        decode(&self.buffer[pdu])
    }

    /// Waits for the next response of the request `id` and drops those of others.
    ///
    /// # Errors
    /// As [`Receiver::receive`].
    pub fn receive_for(&mut self, id: u32) -> Result<ResponseMessage<'_>, ClientError> {
        loop {
            let pdu = self.wait()?;
            match peek_message_id(&self.buffer[pdu.clone()]) {
                Some(other) if other != id && other != 0 => {}
                // An unsolicited notification: the end of the connection, or of no interest here.
                Some(0) => drop(decode(&self.buffer[pdu])?),
                _ => return decode(&self.buffer[pdu]),
            }
        }
    }

    /// Waits for the next PDU and returns its bytes.
    ///
    /// # Errors
    /// As [`Receiver::receive`], but what is inside the frame is not looked at.
    pub fn receive_raw(&mut self) -> Result<&[u8], ClientError> {
        let pdu = self.wait()?;
        Ok(&self.buffer[pdu])
    }

    /// Waits until a PDU is whole, and counts it as taken.
    fn wait(&mut self) -> Result<Range<usize>, ClientError> {
        loop {
            let held = &self.buffer[self.taken..self.filled];
            if let Some(bytes) = frame(held, RESPONSE_BYTES_MAX)? {
                let from = self.taken;
                self.taken += bytes;
                return Ok(from..self.taken);
            }
            self.fill()?;
        }
    }

    /// Returns true if a whole response is buffered, so that receiving it does not block.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        matches!(
            frame(&self.buffer[self.taken..self.filled], RESPONSE_BYTES_MAX),
            Ok(Some(_))
        )
    }

    /// Returns true if no received byte waits to be handed out.
    pub(crate) const fn is_drained(&self) -> bool {
        self.taken == self.filled
    }

    /// Decrypts what follows.
    pub(crate) fn decrypt_by(&mut self, tls: SharedTls) {
        self.tls = Some(TlsReader::new(tls));
    }

    fn fill(&mut self) -> Result<(), ClientError> {
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        if self.buffer.len() - self.filled < READ_OCTETS {
            let len = (self.filled + READ_OCTETS).max(self.buffer.len() * 2);
            self.buffer.resize(len, 0);
        }
        loop {
            let room = &mut self.buffer[self.filled..];
            let read = match &mut self.tls {
                None => self.socket.read(room),
                Some(tls) => tls.read(&mut self.socket, room),
            };
            match read {
                Ok(0) => return Err(ClientError::Closed),
                Ok(bytes) => {
                    self.filled += bytes;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Bounds every later wait; `None` waits for ever.
    ///
    /// # Errors
    /// [`ClientError::Io`], as for a timeout of zero.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> Result<(), ClientError> {
        Ok(self.socket.set_read_timeout(timeout)?)
    }
}

/// Decodes a response; the notice of disconnection becomes an error.
fn decode(pdu: &[u8]) -> Result<ResponseMessage<'_>, ClientError> {
    match ResponseMessage::decode(pdu)? {
        ResponseMessage {
            id: 0,
            response: Response::Extended { result, name, .. },
            ..
        } if name == Some(oid::NOTICE_OF_DISCONNECTION.as_bytes()) => {
            Err(ClientError::Disconnected(result))
        }
        message => Ok(message),
    }
}
