#!/usr/bin/env python3
"""Speed of `smolbot bench` against a peer's benchmark on the same model file: runs in turn, median ratios.

  bench/compare_peer.py --ours 'build/release/bin/smolbot bench -o json -m m.gguf -p 512 -n 64 -r 1 -t 2' \\
      --peer 'llama-bench -o json -m m.gguf -p 512 -n 64 -r 1 -t 2 -fa 1' --rounds 5

A peer prints the JSON list of llama-bench (fields n_prompt, n_gen, n_depth, avg_ts). Tests that both have run are
compared: ratios are taken round by round, so that a change of the machine's speed meets both sides.
"""
import argparse
import json
import shlex
import statistics
import subprocess
import sys


def output_of(command):
    done = subprocess.run(shlex.split(command), check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: expected exit status 0, found {done.returncode}")
    return json.loads(done.stdout)


def our_speeds(command):
    """{(test, depth): tokens a second}, and what the machine gave in the same run."""
    report = output_of(command)
    speeds = {(test["name"], test["depth"]): test["tokens_per_second"]
              for test in report["tests"] if test["sequences"] == 1}
    return speeds, report


def peer_speeds(command):
    speeds = {}
    for test in output_of(command):
        name = f"pp{test['n_prompt']}" if test["n_prompt"] else f"tg{test['n_gen']}"
        speeds[name, test.get("n_depth", 0)] = test["avg_ts"]
    return speeds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="a smolbot bench command with -o json")
    parser.add_argument("--peer", required=True, help="a llama-bench command with -o json")
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
