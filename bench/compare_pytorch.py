#!/usr/bin/env python3
"""Training speed of regard and of plain PyTorch, side by side on this machine.

Both train the same `bahdanau` model from the same start weights on the same batches with the same
optimiser on all cores, in turns. Before anything is timed, both must compute the same loss from
the same weights to 1e-4, and the same gradient norm; then their losses must stay together for a
few updates. See README.md beside this file for how to set it up.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from safetensors.torch import load_file

import pytorch_peer

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOSS_TOLERANCE = 1e-4  # of the first batch's loss a token, from the same weights
CHECKED_UPDATES = 4
LATER_TOLERANCE = 2e-3  # Adam's first steps turn rounding in tiny gradients into whole steps

# Arguments of train_speed; paths are below the data folder.
ROWS = {
    "multi30k": {
        "title": "Multi30k de-en, words",
        "data": ["--source", "multi30k/tok/train.lc.norm.tok.de.gz",
                 "--target", "multi30k/tok/train.lc.norm.tok.en.gz"],
        "options": ["--tokens", "word", "--min-count", "2", "--embedding", "256",
                    "--hidden", "512", "--batch-tokens", "2000"],
        "updates": 20,
    },
    "cmudict": {
        "title": "CMUdict, characters to phones",
        "data": ["g2p-cmudict/cmudict-g014b2b.train.tsv.gz"],
        "options": ["--source-tokens", "char", "--target-tokens", "word", "--embedding", "128",
                    "--hidden", "128", "--batch-tokens", "512"],
        "updates": 150,
    },
}


def flops(config, pairs, source_tokens, target_tokens):
    """Flops of one forward and backward pass that count for the share of the peak.

    2mnk of the products with parameter matrices over real tokens, end markers included, and
    nothing else: no padding, no element-wise work, neither the scores nor the weighted sum of
    attention (under 1 per cent here), no embedding look-ups, no optimiser. A product y = W x with W
    [m,k] costs 2mk a row forward; backward costs twice that, once for d_x and once for d_W.
    """
    e_source, e_target = config["source_embedding"], config["target_embedding"]
    h, u = config["encoder_hidden"], config["hidden"]
    a, r, v = config["attention_width"], config["readout"], config["target_vocabulary"]
    m = 2 * h
    source = (
        2 * 3 * h * e_source  # both directions: three gates from the embedding
        + 2 * 3 * h * h  # and from the state before
        + a * m  # the key
    )
    target = (
        3 * u * (e_target + m)  # three gates from [E y; c]
        + 3 * u * u  # and from the state before
        + a * u  # the query
        + r * (u + e_target + m)  # read-out: W1 s + W2 E y + W3 c
        + v * r  # vocabulary
    )
    start = u * m  # s_0, once a pair
    forward = 2 * (source * source_tokens + target * target_tokens + start * pairs)
    return 3 * forward


class Regard:
    """bench/train_speed taking orders."""

    def __init__(self, program, row, data, options, scratch):
        arguments = [a if a.startswith("--") else str(data / a) for a in row["data"]]
        self.model_file, self.batches_file = scratch / "start.model", scratch / "batches.json"
        self.process = subprocess.Popen(
            [program, "--orders", "--decoder", "bahdanau", "--attention", "additive",
             "--write-model", self.model_file, "--write-batches", self.batches_file]
            + arguments + row["options"] + options,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = self.order("about")  # both files are there once it answers
        self.tensors = load_file(self.model_file)
        self.batches = [pytorch_peer.Batch(b["source"], b["target"])
                        for b in json.loads(self.batches_file.read_text())]

    def order(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"compare_pytorch: train_speed ended with status {self.process.wait()}")
        return json.loads(line)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        self.process.wait()


def check_same(ours, name):
    """Ends the program unless both sides compute the same; returns the largest differences."""
    peer = pytorch_peer.Trainer(ours.tensors, packed=True)
    answer = ours.order(f"updates {CHECKED_UPDATES}")
    differences = []
    for i, batch in enumerate(ours.batches[:CHECKED_UPDATES]):
        loss, norm = peer.update(batch, with_norm=True)
        our_loss, our_norm = answer["loss"][i], answer["gradient_norm"][i]
        differences.append(abs(loss - our_loss))
        if i == 0:
            norm_difference = abs(norm - our_norm) / norm
            print(f"  same weights, first batch: loss {our_loss:.6f} regard, {loss:.6f} PyTorch; "
                  f"gradient norm {our_norm:.6f} and {norm:.6f}")
            if not (differences[0] <= LOSS_TOLERANCE and norm_difference <= 1e-4):
                sys.exit(f"compare_pytorch: {name}: the two sides compute different things; "
                         "nothing was timed")
    print(f"  differences of loss over {len(differences)} updates: "
          + " ".join(f"{d:.1e}" for d in differences))
    if not max(differences) <= LATER_TOLERANCE:
        sys.exit(f"compare_pytorch: {name}: the two sides drift apart; nothing was timed")
    return {"loss": differences, "gradient_norm_relative": norm_difference}


def peer_round(peer, batches):
    begin = time.perf_counter()
    for batch in batches:
        peer.update(batch)
    return time.perf_counter() - begin


def choose_encoder(tensors, batches, dropout):
    """The peer's faster form on a few batches: its encoder packed, or running through padding."""
    few = batches[:max(2, len(batches) // 5)]
    seconds = {}
    for packed in (True, False):
        peer = pytorch_peer.Trainer(tensors, dropout, packed)
        peer_round(peer, few[:2])
        seconds[packed] = min(peer_round(peer, few) for _ in range(2))
    return min(seconds, key=seconds.get)


def time_rounds(ours, arguments):
    tensors, batches = ours.tensors, ours.batches
    packed = {"packed": True, "padded": False}.get(arguments.encoder)
    if packed is None:
        packed = choose_encoder(tensors, batches, arguments.dropout)
    peer = pytorch_peer.Trainer(tensors, arguments.dropout, packed)
    ours.order("updates 2")
    peer_round(peer, batches[:2])
    rounds = {"regard": [], "PyTorch": []}
    peaks = []
    for i in range(arguments.rounds):
        time.sleep(0.3)  # until idle threads of the side before sleep
        peaks.append(ours.order("peak")["gflops"])
        last = ours.order("round")
        rounds["regard"].append(last["seconds"])
        rounds["PyTorch"].append(peer_round(peer, batches))
        print(f"  round {i + 1}: {rounds['regard'][-1]:.2f} s regard, "
              f"{rounds['PyTorch'][-1]:.2f} s PyTorch, peak {peaks[-1]:.1f} GFLOP/s", flush=True)
    return rounds, peaks, last, packed


def compare(name, arguments, scratch):
    row = ROWS[name]
    options = ["--updates", str(arguments.updates or row["updates"]),
               "--threads", str(arguments.threads)]
    if arguments.batch_tokens:
        options += ["--batch-tokens", str(arguments.batch_tokens)]
    print(f"{name}: {row['title']}")
    with Regard(arguments.train_speed, row, arguments.data, options, scratch) as ours:
        differences = check_same(ours, name)
    options += ["--dropout", str(arguments.dropout)]
    with Regard(arguments.train_speed, row, arguments.data, options, scratch) as ours:
        rounds, peaks, counted, packed = time_rounds(ours, arguments)
        about, batches = ours.about, ours.batches

    config = about["model"]
    tokens = counted["source_tokens"] + counted["target_tokens"]
    pairs = sum(len(b.source_length) for b in batches)
    work = flops(config, pairs, counted["source_tokens"], counted["target_tokens"])
    if tokens != sum(b.tokens for b in batches) or abs(work / counted["flops"] - 1) > 1e-9:
        sys.exit(f"compare_pytorch: {name}: the two sides count tokens or flops differently")
    peak = max(peaks)
    result = {"row": name, "about": about, "tokens_a_round": tokens, "pairs_a_round": pairs,
              "flops_a_round": work, "peak_gflops": peak, "peaks_gflops": peaks,
              "differences": differences, "peer_encoder": "packed" if packed else "padded",
              "seconds": rounds}
    print(f"  embedding {config['target_embedding']}, hidden {config['hidden']}, vocabularies "
          f"{config['source_vocabulary']} and {config['target_vocabulary']}, "
          f"{about['batches']} batches of {about['batch_tokens']} padded tokens a side "
          f"({tokens} real tokens), {about['shards']} shards, dropout {arguments.dropout:g}, "
          f"{about['isa']}, {about['threads']} threads; the peer's encoder is "
          f"{result['peer_encoder']}")
    print(f"  peak {peak:.1f} GFLOP/s, {work / tokens * 1e-6:.2f} MFLOP a token")
    print(f"  {'':10}{'tokens/s best':>15}{'median':>10}{'spread':>9}"
          f"{'peak best':>11}{'median':>9}")
    rates = {}
    for side, seconds in rounds.items():
        best, median = tokens / min(seconds), tokens / statistics.median(seconds)
        rates[side] = best, median
        spread = (max(seconds) - min(seconds)) / statistics.median(seconds)
        share = [100 * rate * work / tokens * 1e-9 / peak for rate in (best, median)]
        result[side] = {"best": best, "median": median, "share_best": share[0],
                        "share_median": share[1]}
        print(f"  {side:10}{best:15,.0f}{median:10,.0f}{spread:9.0%}{share[0]:10.1f}%"
              f"{share[1]:8.1f}%")
    ratio = [rates["regard"][i] / rates["PyTorch"][i] for i in (0, 1)]
    result["ratio"] = {"best": ratio[0], "median": ratio[1]}
    print(f"  {'ratio':10}{ratio[0]:15.2f}{ratio[1]:10.2f}\n", flush=True)
    return result


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(l.split(":", 1)[1].strip() for l in lines if l.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def commit():
    try:
        return subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], text=True,
                              capture_output=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=pathlib.Path, help="the folder of the data sets")
    parser.add_argument("rows", nargs="*", help=f"of {', '.join(ROWS)}; default: all")
    parser.add_argument("--train-speed", type=pathlib.Path,
                        default=ROOT / "build" / "release" / "bench" / "train_speed")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--updates", type=int, default=0, help="batches of a round")
    parser.add_argument("--batch-tokens", type=int, default=0, help="instead of the row's own")
    parser.add_argument("--dropout", type=float, default=0.0,
                        help="of the timed rounds, on both sides at the same sites: embeddings, "
                        "memory, read-out")
    parser.add_argument("--encoder", choices=["faster", "packed", "padded"], default="faster",
                        help="how the peer's encoder treats padding while it is timed")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", type=pathlib.Path, help="all figures, for machines")
    arguments = parser.parse_intermixed_args()
    unknown = [name for name in arguments.rows if name not in ROWS]
    if unknown:
        parser.error(f"no row {unknown[0]}; there are {', '.join(ROWS)}")
    if not arguments.train_speed.exists():
        parser.error(f"no {arguments.train_speed}: build it first (README.md beside this file)")

    torch.set_num_threads(arguments.threads)
    print(f"regard {commit()}, PyTorch {torch.__version__}, {processor()}, "
          f"{arguments.threads} threads, load {os.getloadavg()[0]:.2f}")
    if os.getloadavg()[0] > 0.5:
        print("this machine is not quiet: the figures below are no measurement")
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in arguments.rows or ROWS:
            results.append(compare(name, arguments, pathlib.Path(scratch)))
    if arguments.json:
        arguments.json.write_text(json.dumps(
            {"commit": commit(), "torch": torch.__version__, "processor": processor(),
             "threads": arguments.threads, "rows": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
