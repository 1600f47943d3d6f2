//! The flags of meta commands.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::answer::BAD_FORMAT;
use super::words::{self, KEY_MAX, WORDS_MAX, Words};

pub(super) const INVALID: &[u8] = b"CLIENT_ERROR invalid flag\r\n";
pub(super) const INVALID_OR_DUPLICATE: &[u8] = b"CLIENT_ERROR invalid or duplicate flag\r\n";
const DUPLICATE: &[u8] = b"CLIENT_ERROR duplicate flag\r\n";
const BAD_TOKEN: &[u8] = b"CLIENT_ERROR bad token in command line format\r\n";
const BAD_DELTA: &[u8] = b"CLIENT_ERROR invalid numeric delta value\r\n";
const BAD_INITIAL: &[u8] = b"CLIENT_ERROR invalid numeric initial value\r\n";
const BAD_MODE_LENGTH: &[u8] = b"CLIENT_ERROR incorrect length for M token\r\n";
const LONG_OPAQUE: &[u8] = b"CLIENT_ERROR opaque token too long\r\n";
const TOO_MANY: &[u8] = b"CLIENT_ERROR options flags too long\r\n";
const BAD_KEY: &[u8] = b"CLIENT_ERROR error decoding key\r\n";

/// The longest opaque token in bytes, with its flag.
const OPAQUE_MAX: usize = 32;

/// Flags that take no part in a decision, or have their own fields.
const PLAIN: &[u8] = b"bcfhklqstuvIPLO";

/// The base64 of keys. Padding may be left out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// The key and the flags of a meta command.
#[derive(Debug)]
pub(super) struct MetaFlags<'l> {
    /// The flags in the order of the command.
    pub(super) words: &'l [&'l [u8]],
    /// The key as the client wrote it.
    pub(super) written_key: &'l [u8],
    decoded_key: Option<Vec<u8>>,
    present: u128,
    failure: Option<&'static [u8]>,
    pub(super) expiry_s: Option<u32>,
    pub(super) vivify_s: Option<u32>,
    pub(super) recache_s: Option<i64>,
    pub(super) cas: Option<u64>,
    pub(super) client_flags: u32,
    pub(super) initial: u64,
    pub(super) delta: u64,
    pub(super) mode: Option<u8>,
}

impl<'l> MetaFlags<'l> {
    /// Reads the flags of a command from the word `first` on, or returns the answer to wrong ones.
    pub(super) fn read(
        words: &'l Words<'l>,
        first: usize,
        now_s: u32,
    ) -> Result<MetaFlags<'l>, &'static [u8]> {
        let mut flags = MetaFlags {
            words: words.from(first),
            written_key: words.at(1),
            decoded_key: None,
            present: 0,
            failure: None,
            expiry_s: None,
            vivify_s: None,
            recache_s: None,
            cas: None,
            client_flags: 0,
            initial: 0,
            delta: 1,
            mode: None,
        };
        if flags.written_key.len() > KEY_MAX {
            return Err(BAD_FORMAT);
        }
        if words.count() > WORDS_MAX {
            return Err(TOO_MANY);
        }
        for word in flags.words {
            flags.read_flag(word, now_s)?;
        }
        match flags.failure {
            Some(answer) => Err(answer),
            None => Ok(flags),
        }
    }

    /// Reads a flag. A wrong letter ends the command. Of wrong tokens the last one decides about
    /// the answer, as in memcached.
    fn read_flag(&mut self, word: &[u8], now_s: u32) -> Result<(), &'static [u8]> {
        let Some((&letter, token)) = word.split_first() else {
            return Ok(());
        };
        let takes_token = b"TNRCFJDM".contains(&letter);
        if !takes_token && !PLAIN.contains(&letter) {
            return Err(INVALID);
        }
        let bit = 1 << letter;
        if self.present & bit != 0 {
            return Err(DUPLICATE);
        }
        self.present |= bit;
        if letter == b'F' && words::unsigned(token).is_none() {
            // Any other failure tells more.
            self.failure.get_or_insert(BAD_FORMAT);
        } else if let Err(answer) = self.read_token(letter, token, now_s) {
            self.failure = Some(answer);
        }
        Ok(())
    }

    fn read_token(&mut self, letter: u8, token: &[u8], now_s: u32) -> Result<(), &'static [u8]> {
        let expiry = || words::expiry_s(token, now_s).ok_or(BAD_TOKEN);
        match letter {
            b'T' => self.expiry_s = Some(expiry()?),
            b'N' => self.vivify_s = Some(expiry()?),
            b'R' => self.recache_s = Some(words::signed(token).ok_or(BAD_TOKEN)?),
            b'C' => self.cas = Some(words::unsigned(token).ok_or(BAD_TOKEN)?),
            b'F' => self.client_flags = words::unsigned(token).ok_or(BAD_FORMAT)? as u32,
            b'J' => self.initial = words::unsigned(token).ok_or(BAD_INITIAL)?,
            b'D' => self.delta = words::unsigned(token).ok_or(BAD_DELTA)?,
            b'M' => match token {
                [mode] => self.mode = Some(*mode),
                _ => return Err(BAD_MODE_LENGTH),
            },
            b'b' => {
                let key = BASE64.decode(self.written_key).map_err(|_| BAD_KEY)?;
                self.decoded_key = Some(key).filter(|key| !key.is_empty());
                self.decoded_key.as_ref().ok_or(BAD_KEY)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the answer to an opaque token that is too long.
    pub(super) fn check_opaque(&self) -> Result<(), &'static [u8]> {
        let is_long = |word: &&[u8]| word.first() == Some(&b'O') && word.len() > OPAQUE_MAX;
        match self.words.iter().any(is_long) {
            true => Err(LONG_OPAQUE),
            false => Ok(()),
        }
    }

    /// Returns true if the command has the flag.
    pub(super) fn has(&self, letter: u8) -> bool {
        self.present & 1 << letter != 0
    }

    /// Returns the expiry that an item has behind a flag, if it had `before_s`. memcached goes over
    /// the flags once, so `t` shows the flags to its left only.
    pub(super) fn expiry_behind(&self, word: &[u8], before_s: u32, is_new: bool) -> u32 {
        let given_s = match word.first() {
            Some(b'T') => self.expiry_s,
            Some(b'N') if is_new => self.vivify_s,
            _ => None,
        };
        given_s.unwrap_or(before_s)
    }

    /// Returns the expiry that an item has behind all flags.
    pub(super) fn expiry_at_end(&self, before_s: u32, is_new: bool) -> u32 {
        let behind = |before_s, word: &&[u8]| self.expiry_behind(word, before_s, is_new);
        self.words.iter().fold(before_s, behind)
    }

    /// Returns the expiry that `R` compares: a `T` to its left has changed it.
    pub(super) fn expiry_at_recache(&self, before_s: u32) -> u32 {
        let words = self.words.iter().take_while(|word| !word.starts_with(b"R"));
        words.fold(before_s, |before_s, word| {
            self.expiry_behind(word, before_s, false)
        })
    }

    /// Returns the key that items have.
    pub(super) fn key(&self) -> &[u8] {
        self.decoded_key.as_deref().unwrap_or(self.written_key)
    }

    /// Writes the flags of an answer without an item: the key and the opaque token.
    pub(super) fn write_own(&self, output: &mut Vec<u8>) {
        for word in self.words {
            self.write_own_flag(word, output);
        }
    }

    /// Writes the key or the opaque token, if the word asks for it.
    pub(super) fn write_own_flag(&self, word: &[u8], output: &mut Vec<u8>) {
        match word.first() {
            Some(b'O') => {
                output.push(b' ');
                output.extend_from_slice(word);
            }
            Some(b'k') => write_key(self.written_key, self.has(b'b'), output),
            _ => {}
        }
    }
}

/// Writes a key that is text or in base64.
pub(super) fn write_key(key: &[u8], is_base64: bool, output: &mut Vec<u8>) {
    output.extend_from_slice(b" k");
    output.extend_from_slice(key);
    if is_base64 {
        output.extend_from_slice(b" b");
    }
}

/// Returns a key in base64.
pub(super) fn encode_key(key: &[u8]) -> Vec<u8> {
    BASE64.encode(key).into_bytes()
}
