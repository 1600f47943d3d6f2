//! One person with an account.

use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fulgurite_ldif::Writer;
use sha1::{Digest, Sha1};

use super::options::GenerateOptions;
use super::random::Random;
use super::words::{
    DEPARTMENTS, EMPLOYMENT, GIVEN, LANGUAGES, STREETS, SURNAME_HEADS, SURNAME_TAILS, TALK, TITLES,
    TOWNS,
};

const KIND: u64 = 1;

/// `uidNumber` of user 0, were there one.
const UID_NUMBER_BASE: u64 = 10_000;

/// `gidNumber` of the first department.
pub(super) const GID_NUMBER_BASE: u64 = 5_000;

/// Everybody below `ou=people`; keeps one buffer for all of them.
pub(super) struct People<'o> {
    options: &'o GenerateOptions,
    domain: String,
    text: String,
}

/// Returns the department of user `number`: its position among [`DEPARTMENTS`].
pub(super) fn department(seed: u64, number: u64) -> usize {
    Random::of(seed, KIND, number).below(DEPARTMENTS.len() as u64) as usize
}

impl<'o> People<'o> {
    pub(super) fn new(options: &'o GenerateOptions) -> Self {
        Self {
            options,
            domain: mail_domain(&options.suffix),
            text: String::new(),
        }
    }

    pub(super) fn write<W: Write>(
        &mut self,
        number: u64,
        writer: &mut Writer<W>,
    ) -> io::Result<()> {
        let mut random = Random::of(self.options.seed, KIND, number);
        let department = random.below(DEPARTMENTS.len() as u64) as usize;
        let suffix = &self.options.suffix;
        let mut line = LineWriter {
            text: &mut self.text,
            writer,
        };
        line.put("dn", format_args!("uid=user.{number},ou=people,{suffix}"))?;
        for class in [
            "person",
            "organizationalPerson",
            "inetOrgPerson",
            "posixAccount",
        ] {
            line.put("objectClass", format_args!("{class}"))?;
        }
        line.put("uid", format_args!("user.{number}"))?;
        line.names(number, &self.domain, &mut random)?;
        line.work(number, department, &mut random)?;
        if number > 1 {
            // Ten people report to each; the first has no manager.
            line.put(
                "manager",
                format_args!("uid=user.{},ou=people,{suffix}", (number + 8) / 10),
            )?;
        }
        line.account(number, department, &mut random)?;
        line.password(number, self.options.hash, &mut random)?;
        line.writer.end()
    }
}

/// A line under construction.
struct LineWriter<'w, W> {
    text: &'w mut String,
    writer: &'w mut Writer<W>,
}

impl<W: Write> LineWriter<'_, W> {
    fn put(&mut self, description: &str, value: std::fmt::Arguments<'_>) -> io::Result<()> {
        self.text.clear();
        // Writing to a String cannot fail.
        let _ = self.text.write_fmt(value);
        self.writer.value(description, self.text.as_bytes())
    }

    /// Writes the names and mail addresses.
    fn names(&mut self, number: u64, domain: &str, random: &mut Random) -> io::Result<()> {
        let given = random.pick(GIVEN);
        let (head, tail) = (random.pick(SURNAME_HEADS), random.pick(SURNAME_TAILS));
        self.put("cn", format_args!("{given} {head}{tail}"))?;
        self.put("sn", format_args!("{head}{tail}"))?;
        self.put("givenName", format_args!("{given}"))?;
        self.put("mail", format_args!("user.{number}@{domain}"))?;
        if random.once_in(8) {
            self.put(
                "mail",
                format_args!(
                    "{}.{number}@mail.{domain}",
                    TALK[number as usize % TALK.len()]
                ),
            )?;
        }
        Ok(())
    }

    /// Writes the position, the telephone numbers and the address.
    fn work(&mut self, number: u64, department: usize, random: &mut Random) -> io::Result<()> {
        self.put("employeeNumber", format_args!("{number}"))?;
        self.put("employeeType", format_args!("{}", random.pick(EMPLOYMENT)))?;
        self.put(
            "departmentNumber",
            format_args!("{}", DEPARTMENTS[department]),
        )?;
        self.put("title", format_args!("{}", random.pick(TITLES)))?;
        let (exchange, extension) = (random.below(900) + 100, random.below(10_000));
        self.put(
            "telephoneNumber",
            format_args!("+49 555 {exchange} {extension:04}"),
        )?;
        if random.once_in(3) {
            self.put(
                "mobile",
                format_args!("+49 155 5{:07}", random.below(10_000_000)),
            )?;
        }
        let (town, street) = (random.pick(TOWNS), random.pick(STREETS));
        self.put("l", format_args!("{town}"))?;
        self.put("street", format_args!("{street} {}", random.below(180) + 1))?;
        self.put(
            "preferredLanguage",
            format_args!("{}", random.pick(LANGUAGES)),
        )?;
        self.description(random)
    }

    /// Writes the attributes of the POSIX account but the password.
    fn account(&mut self, number: u64, department: usize, random: &mut Random) -> io::Result<()> {
        self.put("uidNumber", format_args!("{}", UID_NUMBER_BASE + number))?;
        self.put(
            "gidNumber",
            format_args!("{}", GID_NUMBER_BASE + department as u64),
        )?;
        self.put("homeDirectory", format_args!("/home/user.{number}"))?;
        self.put(
            "loginShell",
            format_args!("/bin/{}", if random.once_in(10) { "zsh" } else { "bash" }),
        )
    }

    /// Writes six to fourteen words; long lines are folded.
    fn description(&mut self, random: &mut Random) -> io::Result<()> {
        self.text.clear();
        for position in 0..6 + random.below(9) {
            if position > 0 {
                self.text.push(' ');
            }
            self.text.push_str(random.pick(TALK));
        }
        self.writer.value("description", self.text.as_bytes())
    }

    fn password(&mut self, number: u64, hash: bool, random: &mut Random) -> io::Result<()> {
        if !hash {
            return self.put("userPassword", format_args!("pw.{number}"));
        }
        let salt = random.next().to_le_bytes();
        self.text.clear();
        let _ = write!(self.text, "pw.{number}");
        let digest = Sha1::new()
            .chain_update(self.text.as_bytes())
            .chain_update(salt)
            .finalize();
        let mut hashed = [0; 28];
        hashed[..20].copy_from_slice(&digest);
        hashed[20..].copy_from_slice(&salt);
        self.put(
            "userPassword",
            format_args!("{{SSHA}}{}", STANDARD.encode(hashed)),
        )
    }
}

/// Returns the mail domain of a suffix of `dc`s.
fn mail_domain(suffix: &str) -> String {
    let labels: Vec<&str> = suffix
        .split(',')
        .filter_map(|rdn| rdn.trim().split_once('='))
        .filter(|(attribute, _)| attribute.eq_ignore_ascii_case("dc"))
        .map(|(_, value)| value)
        .collect();
    if labels.is_empty() {
        "example.com".to_owned()
    } else {
        labels.join(".")
    }
}
