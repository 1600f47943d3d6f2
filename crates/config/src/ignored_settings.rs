//! Notes on settings that the server accepts and does not use.

use crate::Global;
use crate::Note;
use crate::{Origin, Sourced};

const KEYS: &str = "index keys hold whole values; they have no length and no hash to choose";

/// Returns a note for each setting without effect, and a warning for each missing feature.
pub(crate) fn notes(global: &Global) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut ignored_settings = |origin: &Origin, text: &str, warning| {
        if *origin != Origin::Default {
            notes.push(Note {
                origin: origin.clone(),
                text: text.to_owned(),
                warning,
            });
        }
    };
    let host = "sasl-host: no mechanism of this server works with its host's name";
    ignored_settings(&global.sasl_host.origin, host, false);
    let binding = "sasl-cbinding: the client chooses the channel binding: tls-server-end-point or tls-exporter";
    ignored_settings(&global.sasl_channel_binding.origin, binding, false);
    let curves = "TLSECName: X25519, P-256 and P-384 are offered, in this order";
    ignored_settings(&global.tls_curves.origin, curves, false);
    let threads = "tool-threads: a tool uses two threads, one that reads and one that writes";
    ignored_settings(&global.tool_threads.origin, threads, false);
    if *global.reverse_lookup {
        let lookup = "reverse-lookup: the server does not look up names of hosts; rules with domain= do not apply";
        ignored_settings(&global.reverse_lookup.origin, lookup, true);
    }
    // Without addresses in the settings, a program's flag may give them.
    let are_known = global.listen.iter().any(|url| !url.is_default());
    for buffer in global.tcp_buffers.iter().filter(|_| are_known) {
        if let Some(url) = &buffer.listener
            && !global.listen.iter().any(|one| one.text == *url)
        {
            let text = format!("tcp-buffer: the server does not listen at {url}");
            ignored_settings(&buffer.origin, &text, true);
        }
    }
    for origin in index_keys(global) {
        ignored_settings(origin, KEYS, false);
    }
    notes
}

/// Returns the origins of the settings of index keys.
fn index_keys(global: &Global) -> impl Iterator<Item = &Origin> {
    fn origin<T>(said: &Sourced<T>) -> &Origin {
        &said.origin
    }
    [
        origin(&global.index_hash64),
        origin(&global.index_int_len),
        origin(&global.substr_if_min_len),
        origin(&global.substr_if_max_len),
        origin(&global.substr_any_len),
        origin(&global.substr_any_step),
    ]
    .into_iter()
}

#[cfg(test)]
mod tests {
    use crate::{Layer, Settings};

    fn notes(text: &str) -> Vec<(String, bool)> {
        let layer = Layer::from_slapd_conf_text(text, "any.conf".as_ref()).unwrap();
        let notes = Settings::new(layer).unwrap().notes;
        let shown = |note: crate::Note| (format!("{}: {}", note.origin, note.text), note.warning);
        notes.into_iter().map(shown).collect()
    }

    #[test]
    fn settings_without_effect_are_noted() {
        assert!(notes("sizelimit 5\n").is_empty());
        let said = notes("sasl-host a.example.com\nindex_intlen 8\nreverse-lookup on\n");
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].0.contains("any.conf") && said[0].0.contains("sasl-host"));
        assert!(!said[0].1 && said[1].1, "{said:?}");
        assert!(notes("reverse-lookup off\n").is_empty());
    }
}
