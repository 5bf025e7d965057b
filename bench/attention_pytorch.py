#!/usr/bin/env python3
"""Attention of the library beside PyTorch's, shape by shape, in turns on one machine.

    attention_pytorch.py [--threads N] [--seconds S] [--compiled] [NAME_PART]

Runs attention_bench for each shape and, right after it, the same operator in PyTorch: for additive
scores the usual eager expression (and, with --compiled, torch.compile's), for products
scaled_dot_product_attention. Prints slots or shares of the peak, which attention_bench measures
beside each shape, and how many times faster ours is. Backward is PyTorch's backward alone.
"""

import argparse
import json
import os
import pathlib
import subprocess
import time

import torch
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parent.parent


def additive(q, k, v, values, projected=True):
    """q [B,T,A], k [B,S,A] projected; the T x S x A tensor is written, as everybody does."""
    scores = torch.tanh(q.unsqueeze(2) + k.unsqueeze(1)) @ v
    return torch.softmax(scores, -1) @ values


def best(seconds, run):
    run()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 2:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def peer(row, seconds, compiled):
    """Best seconds forward and backward."""
    torch.manual_seed(1)
    b, t, s, d, n = (row[x] for x in ("batch", "rows", "keys", "width", "heads"))
    if row["additive"]:
        q, k, values = (torch.rand(b, x, d, requires_grad=True) for x in (t, s, s))
        v = torch.rand(d, requires_grad=True)
        function = torch.compile(additive) if compiled else additive
        inputs, call = (q, k, v, values), lambda: function(q, k, v, values)
    else:
        q, k, values = (torch.rand(b, n, x, d, requires_grad=True) for x in (t, s, s))
        scale = 1.0 if row["name"].startswith("dot") else None
        inputs = (q, k, values)
        call = lambda: F.scaled_dot_product_attention(q, k, values, is_causal=bool(row["causal"]),
                                                      scale=scale)
    with torch.no_grad():
        forward = best(seconds, call)
    if row["step"]:
        return forward, 0.0
    out = call()
    d_out = torch.rand_like(out)
    backward = best(seconds, lambda: torch.autograd.grad(out, inputs, d_out, retain_graph=True))
    return forward, backward


def cost(row, seconds, flops):
    pairs = row["batch"] * row["rows"] * row["keys"] * row["width"] * row["heads"]
    peak = row["peak_gflops"] * 1e9
    if row["additive"]:
        return f"{seconds * peak / 2 / pairs:7.2f} slots"
    return f"{100 * flops * pairs * (0.5 if row['causal'] else 1) / seconds / peak:6.1f} %peak"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="?", default="", help="shapes whose name holds this")
    parser.add_argument("--bench", type=pathlib.Path,
                        default=ROOT / "build" / "release" / "bench" / "attention_bench")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=0.5, help="a shape and direction")
    parser.add_argument("--compiled", action="store_true")
    arguments = parser.parse_args()
    if not arguments.bench.exists():
        parser.error(f"no {arguments.bench}: build it first (README.md beside this file)")
    torch.set_num_threads(arguments.threads)
    print(f"PyTorch {torch.__version__}, {arguments.threads} threads, load "
          f"{os.getloadavg()[0]:.2f}")
    names = subprocess.run([arguments.bench, "--list", arguments.part], check=True, text=True,
                           capture_output=True).stdout.splitlines()
    for number in names:
        row = json.loads(subprocess.run(
            [arguments.bench, "--json", "--only", number, "--threads", str(arguments.threads),
             "--seconds", str(arguments.seconds)],
            check=True, text=True, capture_output=True).stdout)
        forward, backward = peer(row, arguments.seconds, arguments.compiled)
        text = (f"{row['name']:24} B {row['batch']:3} N {row['heads']} T {row['rows']:4} "
                f"S {row['keys']:4} D {row['width']:3}  forward {cost(row, row['forward_s'], 4)} "
                f"against {cost(row, forward, 4)}, {forward / row['forward_s']:6.2f} times")
        if not row["step"]:
            both = (forward + backward) / (row["forward_s"] + row["backward_s"])
            text += (f"; backward {cost(row, row['backward_s'], 10)} against "
                     f"{cost(row, backward, 10)}, {backward / row['backward_s']:6.2f} times; "
                     f"both {both:6.2f}")
        print(f"{text}; difference {row['difference']:.0e}", flush=True)


if __name__ == "__main__":
    main()
