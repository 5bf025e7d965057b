"""Commands that are run once, measured, and remembered: what makes real_data.py resumable."""

import json
import os
import signal
import subprocess
import sys
import time


class Failed(Exception):
    """A command ended with something else than 0."""


def run_measured(argv, output=None):
    """Runs `argv`, standard output into the file `output`. Returns (exit code, seconds, peak memory
    in bytes). A signal to stop is handed on, and the command's end is waited for."""
    begin = time.monotonic()
    target = open(output, "wb") if output else None
    process = subprocess.Popen([str(a) for a in argv], stdout=target)
    stopped = []

    def hand_on(number, _):
        stopped.append(number)
        process.send_signal(number)

    before = {s: signal.signal(s, hand_on) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if target:
            target.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    code = 128 + stopped[0] if stopped and process.returncode == 0 else process.returncode
    return code, time.monotonic() - begin, usage.ru_maxrss * 1024


class Record:
    """What was done in a folder, in its record.json: one entry a step.

    A step is done when it ended with 0, with the same arguments, on the same model file.
    """

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "record.json"
        self.steps = json.loads(self.path.read_text()) if self.path.exists() else {}

    def save(self):
        scratch = self.path.with_suffix(".tmp")
        scratch.write_text(json.dumps(self.steps, indent=1) + "\n")
        scratch.replace(self.path)

    def model_stamp(self):
        model = self.folder / "model"
        return str(model.stat().st_mtime_ns) if model.exists() else ""

    def step(self, name, argv, output=None):
        """Runs a command unless it is done; returns its entry. Raises Failed."""
        argv = [str(a) for a in argv]
        entry = self.steps.get(name, {})
        done = entry.get("exit") == 0 and (output is None or output.exists())
        if done and entry["argv"] == argv and entry["model"] == self.model_stamp():
            return entry
        print("+ " + " ".join(argv) + (f" > {output}" if output else ""), file=sys.stderr)
        code, seconds, peak = run_measured(argv, output)
        self.steps[name] = {"argv": argv, "model": self.model_stamp(), "exit": code,
                            "seconds": seconds, "peak_bytes": peak}
        self.save()
        if code != 0:
            raise Failed(f"{' '.join(argv)}: exit {code}")
        return self.steps[name]

    def train(self, argv):
        """Runs or goes on with `argv`, a `regard train` with a --log-json of our own. Raises
        Failed; run again, it goes on from the checkpoint."""
        log = self.folder / "log.jsonl"
        argv = [str(a) for a in argv] + ["--log-json", str(log)]
        entry = self.steps.setdefault("train", {"argv": argv, "attempts": []})
        attempts = entry["attempts"]
        if attempts and attempts[-1].get("exit") == 0 and entry["argv"] == argv:
            return
        entry["argv"] = argv
        attempts.append({"log_from": log.stat().st_size if log.exists() else 0})
        self.save()
        print("+ " + " ".join(argv), file=sys.stderr)
        code, seconds, peak = run_measured(argv)
        attempts[-1].update({"exit": code, "seconds": seconds, "peak_bytes": peak,
                             "log_to": log.stat().st_size if log.exists() else 0})
        stopped = code < 0 or code >= 128
        if code != 0 and not stopped:
            attempts.pop()
        self.save()
        if code != 0:
            raise Failed(f"{' '.join(argv)}: exit {code}"
                         + ("; run again, it goes on from there" if stopped else ""))

    def training_figures(self):
        """Seconds, peak memory and rate of all attempts whose end was seen; dev losses."""
        figures = {"seconds": 0.0, "peak_bytes": 0, "updates": 0, "tokens": 0,
                   "best_dev_loss": None}
        attempts = self.steps["train"]["attempts"]
        ended = [a for a in attempts if "seconds" in a]
        with open(self.folder / "log.jsonl", "rb") as log:
            content = log.read()
        for attempt in ended:
            figures["seconds"] += attempt["seconds"]
            figures["peak_bytes"] = max(figures["peak_bytes"], attempt["peak_bytes"])
            for line in content[attempt["log_from"]:attempt["log_to"]].splitlines():
                event = json.loads(line)
                if event["event"] == "update":
                    figures["tokens"] += event["source_tokens"] + event["target_tokens"]
        for line in content.splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                continue  # cut by a kill
            figures["updates"] = max(figures["updates"], event["update"])
            if event["event"] == "validation":
                losses = [event["dev_loss"], figures["best_dev_loss"]]
                figures["best_dev_loss"] = min(x for x in losses if x is not None)
        figures["tokens_per_s"] = figures["tokens"] / figures["seconds"] if ended else 0.0
        figures["attempts"] = len(attempts)
        figures["complete"] = len(ended) == len(attempts)
        return figures
