"""What a running server uses and counts."""
import os
import urllib.request


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid):
    """Of all threads, in steps of the system's clock (mostly 0.01 s)."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def counters(port):
    """The metrics without labels, by name; the prefix left out."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    found = {}
    for line in lines:
        name, _, value = line.partition(" ")
        if name.startswith("smolbot_") and "{" not in name:
            found[name.removeprefix("smolbot_")] = float(value)
    return found


def quantile(values, share):
    """The value that `share` of them do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values):
    return quantile(values, 0.5)
