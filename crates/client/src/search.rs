//! Searches: collected, as a stream, and page by page.

use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{
    Control, FilterBuf, LdapResult, Request, Response, ResponseMessage, ResultCode, Scope,
    SearchRequest, oid,
};

use crate::entry::{OwnedControl, text};
use crate::{Client, ClientError, Entry};

/// Everything a search returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchOutcome {
    /// The entries, in the order they came.
    pub entries: Vec<Entry>,
    /// URLs of where the search would go on.
    pub references: Vec<String>,
    /// The result.
    pub result: LdapResult,
    /// Controls of the result.
    pub controls: Vec<OwnedControl>,
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchEnd {
    /// URLs of where the search would go on.
    pub references: Vec<String>,
    /// The result.
    pub result: LdapResult,
}

impl Client {
    /// Searches, and collects what is found. No attributes means all user attributes.
    ///
    /// # Errors
    /// [`ClientError::Filter`], and [`ClientError`] if the conversation fails.
    pub fn search(
        &mut self,
        base: &str,
        scope: Scope,
        filter: &str,
        attributes: &[&str],
    ) -> Result<SearchOutcome, ClientError> {
        let filter = FilterBuf::parse(filter)?;
        self.search_with(&search_request(base, scope, &filter, attributes), &[])
    }

    /// Searches with full control over the request, and collects the results.
    ///
    /// # Errors
    /// [`ClientError`] if the conversation fails.
    pub fn search_with(
        &mut self,
        request: &SearchRequest<'_>,
        controls: &[Control<'_>],
    ) -> Result<SearchOutcome, ClientError> {
        let mut outcome = SearchOutcome {
            entries: Vec::new(),
            references: Vec::new(),
            result: LdapResult::success(),
            controls: Vec::new(),
        };
        let mut stream = self.search_stream(request, controls)?;
        while let Some(message) = stream.next_message()? {
            match message.response {
                Response::SearchEntry(entry) => outcome.entries.push(Entry::from(&entry)),
                Response::SearchReference(urls) => outcome.references.extend(urls.iter().map(text)),
                Response::SearchDone(result) => {
                    outcome.result = result;
                    outcome.controls = OwnedControl::all(&message.controls);
                }
                Response::Intermediate { .. } => {}
                _ => return Err(ClientError::Unexpected),
            }
        }
        Ok(outcome)
    }

    /// Sends a search of the whole tree for each filter, all in one write. Returns their ids;
    /// [`Client::receive_for`] takes the responses.
    ///
    /// # Errors
    /// [`ClientError::Filter`]; otherwise as [`crate::Sender::send`].
    pub fn send_searches(
        &mut self,
        base: &str,
        filters: &[String],
    ) -> Result<Vec<u32>, ClientError> {
        let mut ids = Vec::with_capacity(filters.len());
        for filter in filters {
            let filter = FilterBuf::parse(filter)?;
            let request = search_request(base, Scope::Subtree, &filter, &[]);
            ids.push(self.queue(&Request::Search(request)));
        }
        self.flush()?;
        Ok(ids)
    }

    /// Begins a search whose responses are taken one by one.
    ///
    /// # Errors
    /// As [`crate::Sender::send`].
    pub fn search_stream(
        &mut self,
        request: &SearchRequest<'_>,
        controls: &[Control<'_>],
    ) -> Result<SearchStream<'_>, ClientError> {
        let id = self.send(&Request::Search(request.clone()), controls)?;
        Ok(SearchStream {
            client: self,
            id,
            ended: false,
        })
    }

    /// Searches in pages (RFC 2696), and passes each entry to `each` when it comes. A server that
    /// knows no pages sends all at once. An error of `each` ends the search.
    ///
    /// # Errors
    /// As [`Client::search`], and those of `each`.
    pub fn search_each<E: From<ClientError>>(
        &mut self,
        request: &SearchRequest<'_>,
        page_entries: u32,
        each: &mut dyn FnMut(Entry) -> Result<(), E>,
    ) -> Result<SearchEnd, E> {
        let mut references = Vec::new();
        let mut cookie = Vec::new();
        loop {
            let value = PagedResults {
                size: page_entries,
                cookie: &cookie,
            }
            .encode();
            let control = Control::with_value(oid::PAGED_RESULTS, false, &value);
            let (mut result, mut next) = (LdapResult::success(), Vec::new());
            let mut stream = self.search_stream(request, &[control])?;
            while let Some(message) = stream.next_message()? {
                match message.response {
                    Response::SearchEntry(entry) => each(Entry::from(&entry))?,
                    Response::SearchReference(urls) => references.extend(urls.iter().map(text)),
                    Response::SearchDone(done) => {
                        result = done;
                        next = next_page(&OwnedControl::all(&message.controls))?;
                    }
                    Response::Intermediate { .. } => {}
                    _ => return Err(ClientError::Unexpected.into()),
                }
            }
            drop(stream);
            if !result.is_success() || next.is_empty() {
                return Ok(SearchEnd { references, result });
            }
            cookie = next;
        }
    }

    /// Searches page by page (RFC 2696) and passes each page to `page`. Stops after the last page
    /// or at a result other than success.
    ///
    /// # Errors
    /// As [`Client::search`]; [`ClientError::Value`] for a paged results control that is malformed,
    /// [`ClientError::Unexpected`] for one that is missing.
    pub fn search_paged(
        &mut self,
        request: &SearchRequest<'_>,
        page_entries: u32,
        mut page: impl FnMut(Vec<Entry>),
    ) -> Result<LdapResult, ClientError> {
        let mut cookie = Vec::new();
        loop {
            let value = PagedResults {
                size: page_entries,
                cookie: &cookie,
            }
            .encode();
            let control = Control::with_value(oid::PAGED_RESULTS, true, &value);
            let outcome = self.search_with(request, &[control])?;
            page(outcome.entries);
            if outcome.result.code != ResultCode::Success {
                return Ok(outcome.result);
            }
            let control = outcome
                .controls
                .iter()
                .find(|control| control.oid == oid::PAGED_RESULTS);
            let value = control
                .and_then(|control| control.value.as_deref())
                .ok_or(ClientError::Unexpected)?;
            cookie = PagedResults::decode(value)?.cookie.to_vec();
            if cookie.is_empty() {
                return Ok(outcome.result);
            }
        }
    }
}

/// Returns the cookie of the next page; empty behind the last one.
fn next_page(controls: &[OwnedControl]) -> Result<Vec<u8>, ClientError> {
    let mut paged = controls
        .iter()
        .filter(|control| control.oid == oid::PAGED_RESULTS);
    match paged.next().and_then(|control| control.value.as_deref()) {
        Some(value) => Ok(PagedResults::decode(value)?.cookie.to_vec()),
        None => Ok(Vec::new()),
    }
}

/// A search request from text.
fn search_request<'a>(
    base: &'a str,
    scope: Scope,
    filter: &'a FilterBuf,
    attributes: &[&'a str],
) -> SearchRequest<'a> {
    let mut request = SearchRequest::new(base, scope, filter.filter());
    request.attributes = attributes.iter().map(|name| name.as_bytes()).collect();
    request
}

/// A search under way. Dropped before its end, it is abandoned.
#[derive(Debug)]
pub struct SearchStream<'c> {
    client: &'c mut Client,
    id: u32,
    ended: bool,
}

impl SearchStream<'_> {
    /// The search's message id.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// Waits for the next response of this search; `None` behind its result.
    ///
    /// # Errors
    /// As [`crate::Receiver::receive`].
    pub fn next_message(&mut self) -> Result<Option<ResponseMessage<'_>>, ClientError> {
        if self.ended {
            return Ok(None);
        }
        let message = self.client.receive_for(self.id)?;
        self.ended = message.response.result().is_some();
        Ok(Some(message))
    }
}

impl Drop for SearchStream<'_> {
    fn drop(&mut self) {
        if !self.ended {
            // The connection may be gone; then there is nothing left to abandon.
            let _ = self.client.abandon(self.id);
        }
    }
}
