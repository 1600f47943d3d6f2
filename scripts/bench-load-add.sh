#!/usr/bin/env bash
# Measures `fulgurite load --add`, into a running server, next to `fulgurite load` of the same file.
#
#   scripts/bench-load-add.sh [OPTION VALUE]...
#
#   --people N         people of the file: 100000
#   --rounds N         rounds, each with both commands: 3
#   --disk FOLDER      folder for the databases, on the disk to measure: build/bench-load-add
#   --program PROGRAM  the program to measure; without it a release is built
#   --other PROGRAM    another build, to take part too
#   --alone yes        without another client
#
# Each round makes new databases. Both have the default indexes, the suffix and its entries. The
# table has the median of the rounds: wall-clock time, and processor time of all processes. Each
# ratio to `load` is the median of the ratios of the rounds. The last columns are the waits of
# another client, which changes an entry every 20 ms.
set -euo pipefail
cd "$(dirname "$0")/.."

people=100000 rounds=3 disk=build/bench-load-add program= other=
alone=
while [ $# -gt 0 ]; do
    case $1 in
        --people) people=$2 ;;
        --rounds) rounds=$2 ;;
        --disk) disk=$2 ;;
        --program) program=$2 ;;
        --other) other=$2 ;;
        --alone) alone=$2 ;;
        *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    shift 2
done
if [ -z "$program" ]; then
    cargo build --quiet --release --package fulgurite-cli
    program=target/release/fulgurite
fi
export PEOPLE=$people ROUNDS=$rounds DISK=$disk PROGRAM=$program OTHER=$other ALONE=$alone
exec python3 - <<'PYTHON'
import os, resource, shutil, signal, socket, statistics, subprocess, threading, time

people, rounds = int(os.environ["PEOPLE"]), int(os.environ["ROUNDS"])
disk = os.path.abspath(os.environ["DISK"])
programs = {"fulgurite": os.environ["PROGRAM"], "other": os.environ["OTHER"]}
programs = {name: os.path.abspath(path) for name, path in programs.items() if path}
suffix, root = "dc=example,dc=com", "cn=admin,dc=example,dc=com"
shutil.rmtree(disk, ignore_errors=True)
os.makedirs(disk)
whole, base, password = (os.path.join(disk, name) for name in ("all.ldif", "base.ldif", "password"))
with open(whole, "wb") as out:
    subprocess.run([programs["fulgurite"], "generate", "--users", str(people)], stdout=out, check=True)
with open(base, "w") as out:
    out.write(f"dn: {suffix}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: x\n\n")
    out.write(f"dn: ou=others,{suffix}\nobjectClass: organizationalUnit\nou: others\n")
with open(password, "w") as out:
    out.write("secret")
os.chmod(password, 0o600)


def spent():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def load(program, data):
    subprocess.run([program, "load", "-q", "--data", data, "--suffix", suffix, whole], check=True)


def ber(tag, *parts):
    content = b"".join(parts)
    length = bytes([len(content)]) if len(content) < 128 else b"\x82" + len(content).to_bytes(2, "big")
    return bytes([tag]) + length + content


def other_client(path, stop, waits):
    """Modifies an entry every 20 ms by another connection, and notes how long each change took."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    bind = ber(0x60, ber(2, b"\x03"), ber(4, root.encode()), ber(0x80, b"secret"))
    client.sendall(ber(0x30, ber(2, b"\x01"), bind))
    client.recv(1000)
    number = 1
    while not stop.is_set():
        number += 1
        value = ber(0x31, ber(4, str(number).encode()))
        change = ber(0x30, ber(0x0A, b"\x02"), ber(0x30, ber(4, b"description"), value))
        modify = ber(0x66, ber(4, f"ou=others,{suffix}".encode()), ber(0x30, change))
        begun = time.monotonic()
        client.sendall(ber(0x30, ber(2, number.to_bytes(4, "big")), modify))
        answer = client.recv(1000)
        assert b"\x0a\x01\x00" in answer, answer
        waits.append(time.monotonic() - begun)
        time.sleep(0.02)
    client.close()


def add(program, data):
    subprocess.run([program, "load", "-q", "--data", data, "--suffix", suffix, base], check=True)
    path = os.path.join(disk, "socket")
    url = "ldapi://" + path.replace("/", "%2F")
    login = ["--suffix", suffix, "--root-dn", root, "--root-password-file", password]
    server = subprocess.Popen([program, "serve", "--data", data, "--listen", url, *login], stderr=subprocess.DEVNULL)
    while not os.path.exists(path):
        time.sleep(0.01)
    stop, waits = threading.Event(), []
    other = threading.Thread(target=other_client, args=(path, stop, waits))
    if not os.environ["ALONE"]:
        other.start()
    begun = time.monotonic()
    words = [program, "load", "--add", "-q", whole, "-H", url, "-D", root, "-y", password]
    subprocess.run(words, check=True)
    took = time.monotonic() - begun
    stop.set()
    if not os.environ["ALONE"]:
        other.join()
    server.send_signal(signal.SIGTERM)
    server.wait()
    return took, waits or [0]


figures = {}
for number in range(rounds):
    for name, program in programs.items():
        for kind, run in (("load", load), ("load --add", add)):
            data = os.path.join(disk, "data")
            shutil.rmtree(data, ignore_errors=True)
            os.sync()
            before, begun = spent(), time.monotonic()
            wall, waits = run(program, data) or (time.monotonic() - begun, [0])
            figures.setdefault((name, kind), []).append((wall, spent() - before, sorted(waits)))

print(f"{people} people, {rounds} rounds, {os.cpu_count()} cores")
print("| program | command | seconds | ratio | processor | ratio | others wait, ms: median | longest |")
print("| --- | --- | --- | --- | --- | --- | --- | --- |")
for (name, kind), held in figures.items():
    of_load = figures[name, "load"]
    row = [name, kind]
    for column in (0, 1):
        ratio = [one[column] / other[column] for one, other in zip(held, of_load)]
        row += [f"{statistics.median(one[column] for one in held):.2f}", f"{statistics.median(ratio):.2f}"]
    for of_round in (statistics.median, max):
        row.append(f"{1000 * statistics.median(of_round(one[2]) for one in held):.0f}")
    print("| " + " | ".join(row) + " |")
shutil.rmtree(disk)
PYTHON
