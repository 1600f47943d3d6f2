//! `stats` in its forms.

use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use super::answer::{END, ERROR, OK};
use super::context::{Context, Interrupt, ItemAccess};
use super::words::Words;
use crate::statistics::line;

/// Answers `stats`.
pub(super) fn stats(
    context: &mut Context<'_, '_>,
    words: &Words<'_>,
    output: &mut Vec<u8>,
) -> Result<(), Interrupt> {
    match words.from(1) {
        [] => general(context, output)?,
        [b"reset"] => {
            context.server.statistics.reset();
            output.extend_from_slice(b"RESET\r\n");
            return Ok(());
        }
        [b"settings"] => settings(context, output),
        [b"items"] => items(context, output)?,
        [b"slabs"] => slabs(context, output)?,
        [b"sizes"] => line(output, "sizes_status", "disabled"),
        [b"conns"] => conns(context, output),
        [b"cachedump", ..] => {}
        [b"detail", b"on" | b"off"] => {
            output.extend_from_slice(OK);
            return Ok(());
        }
        [b"detail", b"dump"] => {}
        [b"detail", ..] => {
            output.extend_from_slice(b"CLIENT_ERROR usage: stats detail on|off|dump\r\n");
            return Ok(());
        }
        _ => {
            output.extend_from_slice(ERROR);
            return Ok(());
        }
    }
    output.extend_from_slice(END);
    Ok(())
}

fn size(context: &Context<'_, '_>) -> Result<(u64, u64), Interrupt> {
    Ok(match &context.access {
        ItemAccess::Read(txn) | ItemAccess::Refused(txn, _) => context.cache.size(txn)?,
        // In a transaction the figures of the last commit do.
        ItemAccess::Write(_) => context.cache.size(&context.cache.read()?)?,
    })
}

fn general(context: &Context<'_, '_>, output: &mut Vec<u8>) -> Result<(), Interrupt> {
    let server = context.server;
    let statistics = &server.statistics;
    let sums = statistics.totals();
    let (items, bytes) = size(context)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    line(output, "pid", std::process::id());
    line(output, "uptime", statistics.uptime_s());
    line(output, "time", now.unwrap_or_default().as_secs());
    line(output, "version", &server.version);
    line(output, "pointer_size", usize::BITS);
    let connections = statistics.connections.load(Ordering::Relaxed);
    let total = statistics.connections_total.load(Ordering::Relaxed);
    let refused = statistics.connections_refused.load(Ordering::Relaxed);
    let misses = sums.get_expired_or_missed;
    let touch_misses = sums.touches.saturating_sub(sums.touch_hits);
    let bytes_max = context.cache.bytes_max.load(Ordering::Relaxed);
    for (name, value) in [
        ("max_connections", server.connections_max as u64),
        ("curr_connections", connections),
        ("total_connections", total),
        ("rejected_connections", refused),
        ("cmd_get", sums.gets),
        ("cmd_set", sums.sets),
        ("cmd_flush", sums.flushes),
        ("cmd_touch", sums.touches),
        ("cmd_meta", sums.metas),
        ("get_hits", sums.get_hits),
        ("get_misses", misses),
        ("delete_misses", sums.delete_misses),
        ("delete_hits", sums.delete_hits),
        ("incr_misses", sums.incr_misses),
        ("incr_hits", sums.incr_hits),
        ("decr_misses", sums.decr_misses),
        ("decr_hits", sums.decr_hits),
        ("cas_misses", sums.cas_misses),
        ("cas_hits", sums.cas_hits),
        ("cas_badval", sums.cas_badval),
        ("touch_hits", sums.touch_hits),
        ("touch_misses", touch_misses),
        ("store_too_large", sums.too_large),
        ("idle_kicks", sums.idle_kicks),
        ("auth_cmds", sums.auth_commands),
        ("auth_errors", sums.auth_errors),
        ("bytes_read", sums.bytes_read),
        ("bytes_written", sums.bytes_written),
        ("limit_maxbytes", bytes_max),
        ("threads", server.threads as u64),
        ("bytes", bytes),
        ("curr_items", items),
        ("total_items", sums.sets),
        ("evictions", sums.evictions),
        ("reclaimed", sums.reclaimed),
        ("commits", sums.commits),
        ("failed_commits", sums.failed_commits),
    ] {
        line(output, name, value);
    }
    Ok(())
}

fn settings(context: &Context<'_, '_>, output: &mut Vec<u8>) {
    let server = context.server;
    let yes_or_no = |yes| if yes { "yes" } else { "no" };
    let bytes_max = context.cache.bytes_max.load(Ordering::Relaxed);
    line(output, "maxbytes", bytes_max);
    line(output, "maxconns", server.connections_max);
    line(
        output,
        "evictions",
        if context.cache.evicts() { "on" } else { "off" },
    );
    line(output, "num_threads", server.threads);
    line(output, "item_size_max", server.value_max);
    line(output, "binding_protocol", "ascii");
    line(
        output,
        "auth_enabled_ascii",
        yes_or_no(server.users.is_some()),
    );
    line(output, "idle_timeout", server.idle_timeout_s);
    line(output, "ssl_enabled", yes_or_no(server.has_tls));
    line(output, "durability", context.cache.durability);
    line(output, "data", server.data.display());
}

/// All items are of one class here.
fn items(context: &Context<'_, '_>, output: &mut Vec<u8>) -> Result<(), Interrupt> {
    let (items, bytes) = size(context)?;
    let sums = context.server.statistics.totals();
    if items > 0 {
        line(output, "items:1:number", items);
        line(output, "items:1:mem_requested", bytes);
        line(output, "items:1:evicted", sums.evictions);
        line(output, "items:1:reclaimed", sums.reclaimed);
    }
    Ok(())
}

fn slabs(context: &Context<'_, '_>, output: &mut Vec<u8>) -> Result<(), Interrupt> {
    let (items, bytes) = size(context)?;
    let sums = context.server.statistics.totals();
    if items > 0 {
        line(output, "1:used_chunks", items);
        line(output, "1:get_hits", sums.get_hits);
        line(output, "1:cmd_set", sums.sets);
    }
    line(output, "active_slabs", u64::from(items > 0));
    line(output, "total_malloced", bytes);
    Ok(())
}

fn conns(context: &Context<'_, '_>, output: &mut Vec<u8>) {
    let connections = &context.server.statistics.connections;
    line(
        output,
        "curr_connections",
        connections.load(Ordering::Relaxed),
    );
}
