#!/usr/bin/env bash
# CFEngine keeps locks, classes and hashes of files in LMDB. A policy runs again and again, also
# several at once, and cf-check looks at the files.
. "$(dirname "$0")/common.sh"
not_in_a_quick_run

services=$PWD/build/programs/services/root
more_libraries=$services/usr/lib:$services/usr/lib/$(gcc -print-multiarch):$services/lib/$(gcc -print-multiarch)
export CFENGINE_TEST_OVERRIDE_WORKDIR=$work/cfengine
mkdir -p "$work/cfengine"/{inputs,state,ppkeys,modules,bin} "$work/watched"
cf() { # TOOL ARGUMENTS...
    local tool=$1
    shift
    with_library "$services/usr/bin/cf-$tool" "$@"
}
cat > "$work/policy.cf" <<CF
bundle agent main
{
  vars:
    "numbers" slist => { expandrange("[1-60]", "1") };
  files:
    "$work/watched/file\$(numbers)"
      changes => contents;
  commands:
    "/bin/sh -c 'echo run >> $work/runs'"
      action => once_in_an_hour, classes => lasting;
}
body changes contents
{
  hash => "sha256";
  report_changes => "all";
  update_hashes => "yes";
}
body action once_in_an_hour
{
  ifelapsed => "60";
}
body classes lasting
{
  promise_kept => { "lasts" };
  promise_repaired => { "lasts" };
  persist_time => "60";
  timer_policy => "absolute";
}
CF
printf 'bundle agent main\n{\n  reports:\n    lasts::\n      "the class lasts";\n}\n' > "$work/report.cf"
chmod 600 "$work"/*.cf
chmod 700 "$work/cfengine/ppkeys"
# The agent lets this one check the policy.
ln -s "$services/usr/bin/cf-promises" "$work/cfengine/bin/"
for n in $(seq 60); do echo "content $n" > "$work/watched/file$n"; done

agent() { cf agent -I -f "$work/policy.cf" "$@"; }
changed() { agent -K 2>&1 | grep -c "Hash 'sha256' for .* changed" || true; }
runs() { wc -l < "$work/runs"; }
check "keys are made" cf key
check "the first run" agent
says "runs the command" 1 runs
check "the second run" agent
says "holds the lock of an hour" 1 runs
lasting() { cf agent -K -f "$work/report.cf" | grep -c 'the class lasts'; }
says "and remembers the class" 1 lasting
says "no file has changed" 0 changed
echo other > "$work/watched/file7"
echo other > "$work/watched/file8"
says "then two have" 2 changed
says "and are known" 0 changed
several() {
    local pid pids=()
    for n in 1 2 3 4 5 6; do agent -K -D "run$n" & pids+=($!); done
    for pid in "${pids[@]}"; do wait "$pid" || return 1; done
}
check "several at once" several
check "cf-check finds no damage" cf check diagnose
dumped() { cf check dump "$work/cfengine/state/cf_state.lmdb" | grep -c lasts; }
says "cf-check prints the class" 1 dumped
files() { find "$work/cfengine/state" -name '*.lmdb' | wc -l; }
check "there are several databases" test "$(files)" -ge 4
readable() {
    local file
    for file in "$work"/cfengine/state/*.lmdb; do /usr/bin/mdb_dump -n "$file" | tail -n 1 | grep -x DATA=END || return 1; done
}
check "LMDB reads all of them" readable
finish "$(cf agent -V | head -n 1 | sed 's/ Core//')"
