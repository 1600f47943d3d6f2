//! Notes on settings that the server accepts and does not use.

use crate::{Global, Note, Origin, Sourced};

const KEYS: &str = "index keys hold whole values; they have no length and no hash to choose";

/// Returns a note for each setting without effect, and a warning for each missing feature. A
/// default value asks for nothing, and all settings of index keys share one note.
pub(crate) fn notes(global: &Global) -> Vec<Note> {
    let usual = Global::default();
    let mut notes = Vec::new();
    let mut note = |origin: Option<&Origin>, text: &str, warning| {
        notes.extend(origin.map(|origin| Note {
            origin: origin.clone(),
            text: text.to_owned(),
            warning,
        }));
    };
    let host = "sasl-host: no mechanism of this server works with its host's name";
    note(asked(&global.sasl_host, &usual.sasl_host), host, false);
    let binding = "sasl-cbinding: the client chooses the channel binding: tls-server-end-point or tls-exporter";
    let own = asked(&global.sasl_channel_binding, &usual.sasl_channel_binding);
    note(own, binding, false);
    let curves = "TLSECName: X25519, P-256 and P-384 are offered, in this order";
    note(asked(&global.tls_curves, &usual.tls_curves), curves, false);
    let threads = "tool-threads: a tool uses two threads, one that reads and one that writes";
    note(
        asked(&global.tool_threads, &usual.tool_threads),
        threads,
        false,
    );
    if *global.reverse_lookup {
        let lookup = "reverse-lookup: the server does not look up names of hosts; rules with domain= do not apply";
        note(
            asked(&global.reverse_lookup, &usual.reverse_lookup),
            lookup,
            true,
        );
    }
    // Without addresses in the settings, a program's flag may give them.
    let are_known = global.listen.iter().any(|url| !url.is_default());
    for buffer in global.tcp_buffers.iter().filter(|_| are_known) {
        if let Some(url) = &buffer.listener
            && !global.listen.iter().any(|one| one.text == *url)
        {
            let text = format!("tcp-buffer: the server does not listen at {url}");
            note(Some(&buffer.origin), &text, true);
        }
    }
    note(index_key(global, &usual), KEYS, false);
    notes
}

/// Returns the origin of a setting that has another value than its default.
fn asked<'g, T: PartialEq>(own: &'g Sourced<T>, usual: &Sourced<T>) -> Option<&'g Origin> {
    let is_asked = own.origin != Origin::Default && own.value != usual.value;
    is_asked.then_some(&own.origin)
}

/// Returns the origin of the first setting of index keys that has another value than its default.
fn index_key<'g>(global: &'g Global, usual: &Global) -> Option<&'g Origin> {
    asked(&global.index_hash64, &usual.index_hash64)
        .or(asked(&global.index_int_len, &usual.index_int_len))
        .or(asked(&global.substr_if_min_len, &usual.substr_if_min_len))
        .or(asked(&global.substr_if_max_len, &usual.substr_if_max_len))
        .or(asked(&global.substr_any_len, &usual.substr_any_len))
        .or(asked(&global.substr_any_step, &usual.substr_any_step))
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

    #[test]
    fn default_values_are_not_noted_and_index_keys_once() {
        assert_eq!(notes("tool-threads 1\nindex_intlen 4\n"), []);
        let said = notes("index_intlen 8\nindex_substr_any_len 3\ntool-threads 4\n");
        assert_eq!(said.len(), 2, "{said:?}");
        let layer = Layer::from_toml(&crate::example(), "example.toml".as_ref()).unwrap();
        assert_eq!(Settings::new(layer).unwrap().notes, []);
    }
}
