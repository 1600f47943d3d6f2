//! Questions on the terminal.

use std::io::{self, BufRead, IsTerminal as _, Write};

use anyhow::{Context as _, bail};

/// The person at the terminal, or the defaults in their place.
pub(super) struct Questions<R, W> {
    input: R,
    output: W,
    asks: bool,
}

impl Questions<io::StdinLock<'static>, io::Stdout> {
    /// Asks on the terminal, or takes the defaults.
    ///
    /// # Errors
    /// There is no terminal, and the defaults were not asked for.
    pub(super) fn new(takes_defaults: bool) -> anyhow::Result<Self> {
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        if !takes_defaults && !is_terminal {
            bail!(
                "there is no terminal for questions: give --yes to take the defaults of all flags \
                 that are not given"
            );
        }
        Ok(Questions {
            input: io::stdin().lock(),
            output: io::stdout(),
            asks: !takes_defaults,
        })
    }
}

impl<R: BufRead, W: Write> Questions<R, W> {
    /// Returns true if a person can answer.
    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    /// Asks until the answer can be used. An empty answer is the default.
    ///
    /// # Errors
    /// The input ends, or the default cannot be used.
    pub(super) fn ask<T>(
        &mut self,
        question: &str,
        default: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> anyhow::Result<T> {
        if !self.asks {
            return read(default).map_err(anyhow::Error::msg);
        }
        loop {
            write!(self.output, "{question} [{default}]: ")?;
            self.output.flush()?;
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                writeln!(self.output)?;
                bail!("the input has ended; nothing was written");
            }
            let answer = match line.trim() {
                "" => default,
                answer => answer,
            };
            match read(answer) {
                Ok(value) => return Ok(value),
                Err(reason) => writeln!(self.output, "  {reason}")?,
            }
        }
    }

    /// Asks for a yes; without a person the answer is yes.
    ///
    /// # Errors
    /// The input ends.
    pub(super) fn confirm(&mut self, question: &str) -> anyhow::Result<bool> {
        self.ask(question, "yes", |answer| {
            match answer.to_ascii_lowercase().as_str() {
                "y" | "yes" => Ok(true),
                "n" | "no" => Ok(false),
                _ => Err("yes or no".to_owned()),
            }
        })
        .context("no answer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(input: &str) -> (anyhow::Result<u8>, String) {
        let mut questions = Questions {
            input: input.as_bytes(),
            output: Vec::new(),
            asks: true,
        };
        let answer = questions.ask("Number", "7", |text| {
            text.parse().map_err(|_| format!("{text} is no number"))
        });
        (answer, String::from_utf8(questions.output).unwrap())
    }

    #[test]
    fn an_answer_is_asked_for_until_it_can_be_used() {
        let (answer, said) = asked("x\n 9 \n");
        assert_eq!(answer.unwrap(), 9);
        assert_eq!(said, "Number [7]:   x is no number\nNumber [7]: ");
        assert_eq!(asked("\n").0.unwrap(), 7);
        let error = asked("").0.unwrap_err().to_string();
        assert_eq!(error, "the input has ended; nothing was written");
    }

    #[test]
    fn nobody_is_asked_with_defaults() {
        let mut questions = Questions {
            input: io::empty(),
            output: Vec::new(),
            asks: false,
        };
        assert!(questions.confirm("Go on?").unwrap());
        let refused = questions.ask("Number", "x", |_| Err::<u8, _>("no number".to_owned()));
        assert_eq!(refused.unwrap_err().to_string(), "no number");
        assert!(questions.output.is_empty());
    }
}
