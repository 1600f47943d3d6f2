//! Writes a provider as slapd writes it back: each keyword in its order, text in quotes.

use fulgurite_policy::{SyncData, Syncrepl};

use crate::provider_link::write::{self, plain, quoted};

/// Returns the value of `olcSyncrepl`.
pub(super) fn write(syncrepl: &Syncrepl) -> String {
    let link = &syncrepl.link;
    let mut out = format!("rid={:03} provider={}", syncrepl.rid, link.url);
    write::bind(&mut out, link);
    write::keepalive(&mut out, link);
    out.push_str(&format!(" starttls={}", link.start_tls.as_str()));
    write::tls(&mut out, &link.tls);
    content(&mut out, syncrepl);
    schedule(&mut out, syncrepl);
    if syncrepl.size_limit > 0 {
        out.push_str(&format!(" sizelimit={}", syncrepl.size_limit));
    }
    if syncrepl.time_limit_s > 0 {
        out.push_str(&format!(" timelimit={}", syncrepl.time_limit_s));
    }
    if syncrepl.data == SyncData::AccessLog {
        out.push_str(" syncdata=accesslog");
    }
    if syncrepl.lazy_commit {
        out.push_str(" lazycommit");
    }
    // slapd loses these two; a server that reads its own file back should not.
    if syncrepl.strict_refresh {
        out.push_str(" strictrefresh");
    }
    if !syncrepl.manage_dsa_it {
        out.push_str(" manageDSAit=0");
    }
    out
}

fn content(out: &mut String, syncrepl: &Syncrepl) {
    quoted(out, "filter", Some(&syncrepl.filter));
    quoted(out, "searchbase", Some(&syncrepl.search_base));
    quoted(out, "suffixmassage", syncrepl.suffix_massage.as_ref());
    quoted(out, "logfilter", syncrepl.log_filter.as_ref());
    quoted(out, "logbase", syncrepl.log_base.as_ref());
    plain(out, "scope", Some(syncrepl.scope.as_str()));
    if syncrepl.attributes_only {
        out.push_str(" attrsonly");
    }
    if !syncrepl.attributes.is_empty() {
        quoted(out, "attrs", Some(&syncrepl.attributes.join(",")));
    }
    if !syncrepl.excluded.is_empty() {
        plain(out, "exattrs", Some(&syncrepl.excluded.join(",")));
    }
    let checked = if syncrepl.schema_checking {
        "on"
    } else {
        "off"
    };
    plain(out, "schemachecking", Some(checked));
}

fn schedule(out: &mut String, syncrepl: &Syncrepl) {
    if syncrepl.persist {
        out.push_str(" type=refreshAndPersist");
    } else {
        let seconds = syncrepl.interval_s;
        out.push_str(&format!(
            " type=refreshOnly interval={:02}:{:02}:{:02}:{:02}",
            seconds / 86_400,
            seconds / 3_600 % 24,
            seconds / 60 % 60,
            seconds % 60
        ));
    }
    let Some(list) = &syncrepl.retry else {
        out.push_str(" retry=undefined");
        return;
    };
    let steps = list.steps.iter().map(|(pause, count)| match count {
        Some(count) => format!("{pause} {count}"),
        None => format!("{pause} +"),
    });
    let steps: Vec<String> = steps.collect();
    quoted(out, "retry", Some(&steps.join(" ")));
}
