//! Sizes of the buffers of TCP connections, as in slapd's `tcp-buffer`.

use crate::quantity::{parse_bytes, parse_c_int};
use crate::setting::{Setting, Value, number_text};
use crate::statement::Statement;

/// The size of one or both buffers of a listener's connections, or of all connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpBuffer {
    /// The listener's URL as written in `listen`; `None` for all listeners.
    pub listener: Option<String>,
    /// The buffer; `None` for both.
    pub direction: Option<TcpDirection>,
    /// Bytes; 0 leaves the choice to the system.
    pub bytes: u32,
}

/// A buffer of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpDirection {
    /// Bytes that the server has not read yet.
    Read,
    /// Bytes that the client has not taken yet.
    Write,
}

/// The sizes of both buffers in bytes, where they are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpBufferSizes {
    /// For reading.
    pub read: Option<u32>,
    /// For writing.
    pub write: Option<u32>,
}

impl TcpBufferSizes {
    /// Returns the sizes for a listener. As in slapd, a value for the listener wins over a general
    /// one. Then a later value wins over an earlier one.
    #[must_use]
    pub fn of(buffers: &[TcpBuffer], listener: &str) -> Self {
        let of = |wanted: Option<&str>| {
            let wanted = wanted.map(str::to_owned);
            buffers.iter().filter(move |one| one.listener == wanted)
        };
        let mut sizes = Self::default();
        for buffer in of(None).chain(of(Some(listener))) {
            let bytes = Some(buffer.bytes).filter(|bytes| *bytes > 0);
            if buffer.direction != Some(TcpDirection::Write) {
                sizes.read = bytes;
            }
            if buffer.direction != Some(TcpDirection::Read) {
                sizes.write = bytes;
            }
        }
        sizes
    }
}

impl TcpBuffer {
    /// Reads the words after `tcp-buffer`; `size` reads the number.
    fn from_words(words: &[&str], size: impl Fn(&str) -> Option<u32>) -> Option<Self> {
        let (listener, word) = match *words {
            [first, ref rest @ ..] => match value_of(first, "listener") {
                Some(url) => (Some(url.to_owned()), *rest.first()?),
                None => (None, first),
            },
            [] => return None,
        };
        let (direction, number) = match (value_of(word, "read"), value_of(word, "write")) {
            (Some(number), _) => (Some(TcpDirection::Read), number),
            (None, Some(number)) => (Some(TcpDirection::Write), number),
            (None, None) => (None, word),
        };
        Some(Self {
            listener,
            direction,
            bytes: size(number)?,
        })
    }
}

/// Returns the text after `name=`, in any case of letters.
fn value_of<'w>(word: &'w str, name: &str) -> Option<&'w str> {
    let (key, value) = word.split_once('=')?;
    key.eq_ignore_ascii_case(name).then_some(value)
}

impl Setting for TcpBuffer {
    const KIND: &'static str = "bytes, with a listener and a direction";

    fn read(value: Value) -> Result<Self, String> {
        let text = number_text(value)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let size = |word: &str| u32::try_from(parse_bytes(word).ok()?).ok();
        let buffer = Self::from_words(&words, |word| size(word).filter(is_size));
        let used = |one: &Self| words.len() == 1 + usize::from(one.listener.is_some());
        buffer.filter(used).ok_or_else(|| {
            format!("\"{text}\" does not have the form [listener=URL] [read=|write=]BYTES")
        })
    }

    /// As slapd, takes a negative number for 0, and ignores words after the number.
    fn from_statement(statement: &Statement) -> Result<Self, String> {
        let words: Vec<&str> = statement.arguments.iter().map(String::as_str).collect();
        let size = |word: &str| {
            let number = i32::try_from(parse_c_int(word)?).ok()?;
            Some(u32::try_from(number).unwrap_or_default())
        };
        Self::from_words(&words, size)
            .ok_or_else(|| format!("<{}> unable to add value #0", statement.keyword))
    }

    fn show(&self) -> String {
        let listener = self.listener.iter().map(|url| format!("listener={url} "));
        let direction = match self.direction {
            None => "",
            Some(TcpDirection::Read) => "read=",
            Some(TcpDirection::Write) => "write=",
        };
        format!("{}{direction}{}", listener.collect::<String>(), self.bytes)
    }
}

/// Returns true if the system's call takes the size.
fn is_size(bytes: &u32) -> bool {
    i32::try_from(*bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layer, Origin, Settings};

    fn read(text: &str) -> Result<TcpBuffer, String> {
        TcpBuffer::read(Value::Text(text.to_owned()))
    }

    fn sizes(texts: &[&str], listener: &str) -> (Option<u32>, Option<u32>) {
        let buffers: Vec<TcpBuffer> = texts.iter().map(|text| read(text).unwrap()).collect();
        let sizes = TcpBufferSizes::of(&buffers, listener);
        (sizes.read, sizes.write)
    }

    #[test]
    fn a_listeners_own_value_wins_and_then_the_later_one() {
        let own_first = ["listener=ldap://a read=90000", "60000"];
        assert_eq!(sizes(&own_first, "ldap://a"), (Some(90_000), Some(60_000)));
        assert_eq!(sizes(&own_first, "ldap://b"), (Some(60_000), Some(60_000)));
        assert_eq!(
            sizes(&["read=90000", "READ=64K"], "ldap://a"),
            (Some(65_536), None)
        );
        assert_eq!(sizes(&["write=7", "write=0"], "ldap://a"), (None, None));
    }

    #[test]
    fn wrong_forms_are_refused() {
        for text in [
            "",
            "abc",
            "foo=3",
            "listener=ldap://a",
            "1 2",
            "99999999999",
            "read=",
        ] {
            assert!(read(text).unwrap_err().contains("[listener=URL]"), "{text}");
        }
    }

    #[test]
    fn every_source_sets_it() {
        let slapd = |text: &str| Layer::from_slapd_conf_text(text, "x.conf".as_ref());
        let shown = |layer: Layer| -> Vec<String> {
            let settings = Settings::new(layer).unwrap();
            let buffers = settings.global.tcp_buffers.iter();
            buffers.map(|buffer| buffer.value.show()).collect()
        };
        let text = "tcp-buffer 0x10000\ntcp-buffer listener=ldap://a write=-1 more\n";
        let layer = slapd(text).unwrap();
        let entries = Settings::new(layer.clone()).unwrap().config_entries(false);
        let written = entries[0]
            .attributes
            .iter()
            .find(|(name, _)| name == "olcTCPBuffer");
        assert_eq!(written.unwrap().1, ["65536", "listener=ldap://a write=0"]);
        assert_eq!(shown(layer), ["65536", "listener=ldap://a write=0"]);
        for wrong in ["tcp-buffer abc\n", "tcp-buffer 1k\n", "tcp-buffer foo=3\n"] {
            let error = slapd(wrong).unwrap_err().to_string();
            assert!(
                error.ends_with("<tcp-buffer> unable to add value #0"),
                "{error}"
            );
        }
        let toml = "limits.tcp_buffer = [\"read=4 KiB\"]";
        assert!(Layer::from_toml(toml, "x.toml".as_ref()).is_err());
        let toml = "limits.tcp_buffer = [\"read=4K\", 5000]";
        let layer = Layer::from_toml(toml, "x.toml".as_ref()).unwrap();
        assert_eq!(shown(layer), ["read=4096", "5000"]);
        let variable = (
            "FULGURITE_LIMITS_TCP_BUFFER".to_owned(),
            "write=7".to_owned(),
        );
        let layer = Layer::from_environment([variable]).unwrap();
        assert_eq!(shown(layer), ["write=7"]);
    }

    #[test]
    fn a_listener_that_does_not_exist_is_noted() {
        let mut layer = Layer::default();
        let origin = Origin::Flag("--test");
        layer.set("listen", "ldap://a", &origin).unwrap();
        layer
            .set("limits.tcp_buffer", "listener=ldap://b 7", &origin)
            .unwrap();
        let notes = Settings::new(layer).unwrap().notes;
        assert!(
            notes
                .iter()
                .any(|note| note.warning && note.text.contains("ldap://b"))
        );
    }
}
