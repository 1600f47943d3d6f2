#!/usr/bin/env python3
"""Runs test programs side by side, as most of them wait for other programs.

    cargo test --workspace --no-run --message-format=json | scripts/side_by_side.py [FIRST...]

Reads what cargo built, and runs each test program in its package's folder, as cargo would. It sets
none of cargo's variables: some build scripts run again in a cargo that a test starts with them.
FIRST names programs that take long, so that none of them runs alone at the end. LANES says how many
run at once (default: one more than processors). LIMIT is the time of one program in seconds
(default 1200).

Prints the output of a program when it ends, then its time. Ends with the names of those that failed.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

LANES = int(os.environ.get("LANES", (os.cpu_count() or 1) + 1))
LIMIT = float(os.environ.get("LIMIT", 1200))


def built(lines):
    """The test programs that cargo's messages name: (name, program, folder)."""
    for line in lines:
        if not line.startswith("{"):
            continue
        message = json.loads(line)
        if message.get("reason") != "compiler-artifact" or not message["profile"]["test"]:
            continue
        if message["executable"] is None:
            continue
        folder = os.path.dirname(message["manifest_path"])
        package = os.path.basename(folder)
        target = message["target"]
        name = f"{package} {target['kind'][0]} {target['name']}"
        yield name, message["executable"], folder


def run(program, folder, output):
    """Runs one test program. Returns its status, seconds, and seconds of processors."""
    began = time.monotonic()
    child = subprocess.Popen(
        [program],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    limit = threading.Timer(LIMIT, os.killpg, (child.pid, signal.SIGKILL))
    limit.start()
    _, status, usage = os.wait4(child.pid, 0)
    limit.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, time.monotonic() - began, usage.ru_utime + usage.ru_stime


def lane(waiting, failed, lock):
    """Takes programs until none waits."""
    while True:
        with lock:
            if not waiting:
                return
            name, program, folder = waiting.pop(0)
        with tempfile.TemporaryFile() as output:
            status, seconds, processors = run(program, folder, output)
            output.seek(0)
            text = output.read().decode(errors="replace")
        with lock:
            print(f"     Running {name} ({os.path.relpath(program)})\n{text}", end="")
            print(f"{name}: status {status}, {seconds:.1f} s, processors {processors:.1f} s\n", flush=True)
            if status != 0:
                failed.append(f"{name} (status {status})")


def main(first):
    waiting = sorted(built(sys.stdin), key=lambda test: test[0].split()[-1] not in first)
    if not waiting:
        sys.exit("side_by_side: cargo built no test")
    failed, lock = [], threading.Lock()
    lanes = [threading.Thread(target=lane, args=(waiting, failed, lock)) for _ in range(LANES)]
    for one in lanes:
        one.start()
    for one in lanes:
        one.join()
    for name in failed:
        print(f"failed: {name}")
    sys.exit(1 if failed else 0)


main(sys.argv[1:])
