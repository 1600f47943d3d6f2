//! One connection that keeps its slots filled with requests.

use std::io::{self, Read as _, Write as _};
use std::time::Instant;

use anyhow::{Context as _, bail};
use fulgurite_ldap::{Response, ResponseMessage, frame};
use mio::net::TcpStream;

use crate::report::Tally;
use crate::workload::Workload;

/// Hands out the numbers of requests.
pub(crate) trait Numbers {
    /// The next one, while there are any.
    fn next(&mut self) -> Option<u64>;
}

pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    slots: Vec<Slot>,
    outstanding: usize,
    input: Vec<u8>,
    output: Vec<u8>,
}

/// Ids of a slot begin again beyond this, well below the largest id there is.
const ID_MAX: u32 = 0x4000_0000;

/// Place of one outstanding request. The slot at index i uses the ids i + 1, i + 1 + depth, ...
struct Slot {
    id: u32,
    number: u64,
    entries: u64,
    fits: bool,
    sent_at: Instant,
}

impl Connection {
    /// Takes a connected socket.
    pub(crate) fn new(stream: TcpStream, depth: u32, now: Instant) -> Self {
        let slots = (1..=depth.max(1))
            .map(|id| Slot {
                id,
                number: 0,
                entries: 0,
                fits: true,
                sent_at: now,
            })
            .collect();
        Connection {
            stream,
            slots,
            outstanding: 0,
            input: Vec::new(),
            output: Vec::new(),
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.outstanding == 0
    }

    /// Fills every slot for the first time.
    pub(crate) fn begin(
        &mut self,
        workload: &Workload,
        numbers: &mut impl Numbers,
    ) -> anyhow::Result<()> {
        let now = Instant::now();
        for index in 0..self.slots.len() {
            self.fill(index, workload, numbers, now);
        }
        self.flush()
    }

    fn fill(
        &mut self,
        index: usize,
        workload: &Workload,
        numbers: &mut impl Numbers,
        now: Instant,
    ) {
        if let Some(slot) = self.slots.get_mut(index)
            && let Some(number) = numbers.next()
        {
            *slot = Slot {
                number,
                entries: 0,
                fits: true,
                sent_at: now,
                ..*slot
            };
            workload.request(number, slot.id, &mut self.output);
            self.outstanding += 1;
        }
    }

    /// Reads what has come, and asks again for whatever was answered.
    pub(crate) fn serve(
        &mut self,
        scratch: &mut [u8],
        workload: &Workload,
        numbers: &mut impl Numbers,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        loop {
            match self.stream.read(scratch) {
                Ok(0) => bail!(
                    "the server closed a connection with {} requests outstanding",
                    self.outstanding
                ),
                Ok(count) => {
                    self.input
                        .extend_from_slice(scratch.get(..count).unwrap_or_default());
                    self.take_responses(workload, numbers, tally)?;
                    self.flush()?;
                    if count < scratch.len() {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return self.flush(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("reading from the server"),
            }
        }
    }

    fn take_responses(
        &mut self,
        workload: &Workload,
        numbers: &mut impl Numbers,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        let now = Instant::now();
        let input = std::mem::take(&mut self.input);
        let mut rest = input.as_slice();
        while let Some(len) = frame(rest, usize::MAX)? {
            let (pdu, behind) = rest.split_at(len);
            rest = behind;
            let message = ResponseMessage::decode(pdu)?;
            self.take_response(&message, workload, numbers, tally, now)?;
        }
        self.input = rest.to_vec();
        Ok(())
    }

    fn take_response(
        &mut self,
        message: &ResponseMessage<'_>,
        workload: &Workload,
        numbers: &mut impl Numbers,
        tally: &mut Tally,
        now: Instant,
    ) -> anyhow::Result<()> {
        let depth = self.slots.len();
        let index = (message.id as usize).wrapping_sub(1) % depth;
        let Some(slot) = self
            .slots
            .get_mut(index)
            .filter(|slot| slot.id == message.id)
        else {
            bail!(
                "a response to message {}, which is not outstanding: {:?}",
                message.id,
                message.response
            );
        };
        match &message.response {
            Response::SearchEntry(entry) => {
                slot.entries += 1;
                slot.fits &= workload.entry_fits(slot.number, entry.dn);
            }
            response => {
                let Some(result) = response.result() else {
                    return Ok(());
                };
                let verdict = workload.judge(slot.number, result.code, slot.entries, slot.fits);
                tally.record(now - slot.sent_at, slot.entries, verdict);
                let id = if slot.id > ID_MAX {
                    index + 1
                } else {
                    slot.id as usize + depth
                };
                slot.id = u32::try_from(id).context("too many message ids")?;
                self.outstanding -= 1;
                self.fill(index, workload, numbers, now);
            }
        }
        Ok(())
    }

    /// Writes what there is, as far as the socket takes it.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(count) => {
                    self.output.drain(..count);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("writing to the server"),
            }
        }
        Ok(())
    }
}
