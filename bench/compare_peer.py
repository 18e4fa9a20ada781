#!/usr/bin/env python3
"""Speed of `smolbot bench` against a peer's benchmark on the same model file: runs in turn, median ratios.

  bench/compare_peer.py --ours 'build/release/bin/smolbot bench -o json -m m.gguf -p 512 -n 64 -r 1 -t 2' \\
      --peer 'llama-bench -o json -m m.gguf -p 512 -n 64 -r 1 -t 2 -fa 1' --rounds 5

A peer prints the JSON list of llama-bench (fields n_prompt, n_gen, n_depth, avg_ts) or the lines of
`llama-sweep-bench --output-format jsonl` (fields pp, tg, n_kv, speed_pp, speed_tg), which measures at every depth on
its way. Tests that both have run are compared: ratios are taken round by round, so that a change of the machine's
speed meets both sides.
"""
import argparse
import json
import shlex
import statistics
import subprocess
import sys


def run(command):
    done = subprocess.run(shlex.split(command), check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: expected exit status 0, found {done.returncode}\n{done.stderr[-2000:]}")
    return done


def our_speeds(command):
    """{(test, depth): tokens a second}, and what the machine gave in the same run."""
    report = json.loads(run(command).stdout)
    speeds = {(test["name"], test["depth"]): test["tokens_per_second"]
              for test in report["tests"] if test["sequences"] == 1}
    return speeds, report


def speeds_of_list(tests):
    return {(f"pp{test['n_prompt']}" if test["n_prompt"] else f"tg{test['n_gen']}", test.get("n_depth", 0)):
            test["avg_ts"] for test in tests}


def speeds_of_sweep(lines):
    speeds = {}
    for line in lines:
        if line.startswith('{"n_kv'):
            row = json.loads(line)
            speeds[f"pp{row['pp']}", row["n_kv"]] = row["speed_pp"]
            speeds[f"tg{row['tg']}", row["n_kv"]] = row["speed_tg"]
    return speeds


def peer_speeds(command):
    done = run(command)
    if done.stdout.lstrip().startswith("["):
        return speeds_of_list(json.loads(done.stdout))
    # Its rows go where its log goes.
    return speeds_of_sweep([*done.stdout.splitlines(), *done.stderr.splitlines()])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="a smolbot bench command with -o json")
    parser.add_argument("--peer", required=True, help="a llama-bench command with -o json, or llama-sweep-bench")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    ours, peers = [], []
    for number in range(options.rounds):
        speeds, report = our_speeds(options.ours)
        ours.append(speeds)
        peers.append(peer_speeds(options.peer))
        print(f"round {number + 1}: {report['isa']}, {report['threads']} threads, "
              f"{report['bandwidth_gb_per_s']:.1f} GB/s, {report['int8_peak_gmac_per_s']:.0f} GMAC/s", flush=True)
    common = [test for test in ours[0] if test in peers[0]]
    if not common:
        sys.exit(f"expected tests that both sides have, found {sorted(ours[0])} and {sorted(peers[0])}")
    print(f"{'test':<20}{'ours':>10}{'peer':>10}   ratio (least to most)")
    for test in common:
        ratios = sorted(a[test] / b[test] for a, b in zip(ours, peers))
        name, depth = test
        print(f"{name + (f' at {depth}' if depth else ''):<20}"
              f"{statistics.median(run[test] for run in ours):>10.2f}"
              f"{statistics.median(run[test] for run in peers):>10.2f}"
              f"   {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
