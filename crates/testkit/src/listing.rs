//! How a database's content is written down, so that two of them can be compared line by line.

/// The records of one database, one line each, as in the fixtures' `.dump` files but with every key
/// spelt out.
pub type Listing = Vec<String>;

/// One database of a `.dump` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseLines {
    /// Its name as [`list_word`] writes it; `None` for the main database.
    pub name: Option<String>,
    /// Its persistent flags.
    pub flags: u16,
    /// Its number of data items.
    pub entries: u64,
    /// Its records.
    pub lines: Listing,
}

impl DatabaseLines {
    /// True if keys may have several values (flag 0x04).
    #[must_use]
    pub fn has_duplicates(&self) -> bool {
        self.flags & 0x04 != 0
    }

    /// Reads a whole `.dump` file.
    ///
    /// # Panics
    /// If the text is no listing.
    #[must_use]
    pub fn parse_all(text: &str) -> Vec<Self> {
        let mut out: Vec<Self> = Vec::new();
        for line in text.lines() {
            if let Some(head) = line.strip_prefix("db ") {
                out.push(Self::parse_head(head));
                continue;
            }
            let db = out
                .last_mut()
                .expect("a listing begins with a database line");
            let line = match line.strip_prefix("= ") {
                Some(value) => format!(
                    "{} {value}",
                    first_word(db.lines.last().expect("a key to repeat"))
                ),
                None => line.to_owned(),
            };
            db.lines.push(line);
        }
        out
    }

    fn parse_head(head: &str) -> Self {
        let words: Vec<&str> = head.split(' ').collect();
        let [name, flags, entries] = words[..] else {
            panic!("database line {head:?}")
        };
        let name = (name != "-").then(|| name.to_owned());
        let flags = flags
            .strip_prefix("flags=0x")
            .and_then(|n| u16::from_str_radix(n, 16).ok());
        let entries = entries
            .strip_prefix("entries=")
            .and_then(|n| n.parse().ok());
        Self {
            name,
            flags: flags.expect("flags of a database line"),
            entries: entries.expect("entries of a database line"),
            lines: Vec::new(),
        }
    }
}

fn first_word(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}

/// The line of one record; no value means the record of a named database.
#[must_use]
pub fn list_line(key: &[u8], value: Option<&[u8]>) -> String {
    match value {
        Some(value) => format!("{} {}", list_word(key), list_word(value)),
        None => format!("{} !subdb", list_word(key)),
    }
}

/// Up to 20 bytes in hexadecimal, longer ones by length and FNV-1a checksum.
#[must_use]
pub fn list_word(bytes: &[u8]) -> String {
    if bytes.len() <= 20 {
        return hex(bytes);
    }
    let fnv = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3)
    });
    format!("@{}:{fnv:016x}", bytes.len())
}

/// Lower-case hexadecimal; `.` for no bytes at all.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return ".".to_owned();
    }
    hex::encode(bytes)
}

/// The inverse of [`hex()`].
///
/// # Panics
/// On anything else.
#[must_use]
pub fn unhex(text: &str) -> Vec<u8> {
    if text == "." {
        return Vec::new();
    }
    hex::decode(text).expect("hexadecimal digits")
}

/// The checksum of a whole database that all peers can compute: CRC-32 over length-prefixed keys
/// and values.
#[derive(Debug, Clone)]
pub struct Crc32 {
    table: [u32; 256],
    state: u32,
    records: u64,
    bytes: u64,
}

impl Default for Crc32 {
    fn default() -> Self {
        Self::new()
    }
}

impl Crc32 {
    /// The checksum of nothing yet.
    #[must_use]
    pub fn new() -> Self {
        let mut table = [0_u32; 256];
        for (i, slot) in table.iter_mut().enumerate() {
            *slot = (0..8).fold(i as u32, |c, _| {
                if c & 1 == 1 {
                    0xedb8_8320 ^ (c >> 1)
                } else {
                    c >> 1
                }
            });
        }
        Self {
            table,
            state: u32::MAX,
            records: 0,
            bytes: 0,
        }
    }

    /// Adds one record.
    pub fn record(&mut self, key: &[u8], value: &[u8]) {
        self.field(key);
        self.field(value);
        self.records += 1;
        self.bytes += (key.len() + value.len()) as u64;
    }

    fn field(&mut self, bytes: &[u8]) {
        self.update(&(bytes.len() as u32).to_le_bytes());
        self.update(bytes);
    }

    fn update(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.state =
                self.table[((self.state ^ u32::from(*b)) & 0xff) as usize] ^ (self.state >> 8);
        }
    }

    /// "RECORDS BYTES CHECKSUM".
    #[must_use]
    pub fn finish(&self) -> String {
        format!("{} {} {:08x}", self.records, self.bytes, !self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_reads_back_with_every_key_spelt_out() {
        let dbs = DatabaseLines::parse_all(
            "db - flags=0x00 entries=1\n6162 !subdb\ndb 6162 flags=0x04 entries=2\n61 .\n= 62\n",
        );
        assert_eq!(dbs[0].lines, ["6162 !subdb"]);
        assert_eq!((dbs[1].name.as_deref(), dbs[1].entries), (Some("6162"), 2));
        assert_eq!(dbs[1].lines, ["61 .", "61 62"]);
        assert!(dbs[1].has_duplicates());
    }

    #[test]
    fn the_checksum_is_the_usual_crc32() {
        let mut crc = Crc32::new();
        crc.update(b"123456789");
        assert_eq!(!crc.state, 0xcbf4_3926);
    }

    #[test]
    fn hex_inverts() {
        assert_eq!(unhex(&hex(b"\x00\xffA")), b"\x00\xffA");
        assert_eq!(unhex(&hex(b"")), b"");
    }
}
