#!/usr/bin/env python3
"""Other auto-tuners beside ours, on the same recorded tables and live.

    tuners.py --venv <folder> simulate [--seeds N] [--kernels <folder>]
            [--tables <folder>] <kernel>...
    tuners.py --venv <folder> live [--seconds S] [--folder <folder>]

The folder gets a virtual environment with the versions below, from PyPI, and
the script goes on in it.

simulate runs Kernel Tuner's strategies in its own simulation mode: each table
becomes a cache file in its format, and its runner looks settings up there.
Tile sizes stand as they are.  Rewrites have no order: each seed gives them
other small numbers, since some strategies measure their first population in
the order of the numbers, which is the same for every seed.  OpenTuner,
where it can be installed, is asked for settings by its API.  Printed is a line
for each kernel, tuner and seed: these three and after how many different
settings 95 % of the table's best was found, "-" if never.  As for ours the
root is known from the start.

live tunes batch_matmul.c for some seconds with Kernel Tuner's C backend: its
own compiler call, its own timing, its own comparison with the right answer.
Its parameters are the marked tile sizes and, as preprocessor conditions, what
our rewriter would do: restrict, reordering of sums, vector width.  What it
found is written as C for our judge to measure; printed are the settings that
it measured and the seconds that it took.
"""
import argparse
import contextlib
import io
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import warnings

PACKAGES = ["kernel-tuner==1.5.0", "numpy==2.4.6", "scipy==1.17.1"]
OPTIONAL = ["opentuner==0.8.8", "scikit-optimize==0.10.2", "pyatf==0.0.13"]
GOAL = 0.95


# ---- the environment ----

def enter_venv(folder):
    python = os.path.join(folder, "bin", "python")
    if os.path.realpath(sys.prefix) == os.path.realpath(folder):
        return
    done = os.path.join(folder, "done")
    if not os.path.exists(done):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "-q",
               "--disable-pip-version-check"]
        subprocess.run(pip + PACKAGES, check=True, stdout=sys.stderr)
        for package in OPTIONAL:
            if subprocess.run(pip + [package], stdout=sys.stderr).returncode:
                print(f"# {package} cannot be installed here",
                      file=sys.stderr)
        open(done, "w").close()
    os.execv(python, [python] + sys.argv)


# ---- tables ----

class Table:
    """A table of tests/bench/table.h: loci, and ln speedups by setting."""

    def __init__(self, path, sources):
        self.name = None
        self.loci = []          # (name, tunable, needed, words)
        self.lr = {}            # by setting, as a tuple; None: failed
        by_state = {}
        rows = False
        for line in open(path):
            field = line.rstrip("\n").split("\t")
            if field[0] == "done":
                continue
            if rows:
                setting = tuple(-1 if w == "-" else int(w)
                                for w in field[0].split(",") if w)
                if field[3] != "dup":
                    times = by_state.setdefault(field[2],
                                                {"root": [], "best": []})
                    if field[3] in ("slower", "same", "faster"):
                        times[field[8]].append(math.log(float(field[4])))
                self.lr[setting] = field[2]
            elif line == "rows\n":
                rows = True
            elif field[0] == "kernel":
                self.name = field[1]
            elif field[0] == "locus":
                name, kind, need = field[1].split(" ")
                self.loci.append((name, kind == "tunable", need == "needed",
                                  field[2].split(" ")))
        self.lr = {s: self.mean(**by_state[state])
                   for s, state in self.lr.items()}
        self.best = max(x for x in self.lr.values() if x is not None)
        self.numbers(sources)

    def numbers(self, sources):
        """What a setting's index stands for, in order of size."""
        self.values = []        # by locus: {number: index}
        self.named = []         # loci whose values have no order
        text = ""
        for folder in sources:
            for f in sorted(os.listdir(folder)):
                if f.endswith(".c") and \
                        f[:-2].replace("_", "-") == self.name:
                    text = open(os.path.join(folder, f)).read()
        for name, tunable, needed, words in self.loci:
            of = {} if needed else {0: -1}
            if tunable:
                now = re.search(rf"#define\s+{name}\s+(\d+)", text)
                of = {} if needed else {int(now.group(1)): -1}
            else:
                self.named.append(len(self.values))
            for i, word in enumerate(words):
                of[int(word.split("=")[1]) if tunable else i + 1] = i
            self.values.append(dict(sorted(of.items())))

    @staticmethod
    def mean(root, best):
        times = best or root
        return sum(times) / len(times) if times else None

    def shuffle(self, seed):
        """Other numbers for what has no order."""
        rng = random.Random(seed)
        for i in self.named:
            indices = sorted(self.values[i].values())
            rng.shuffle(indices)
            self.values[i] = dict(enumerate(indices))

    def look_up(self, numbers):
        setting = tuple(self.values[i][n] for i, n in enumerate(numbers))
        return self.lr[setting]

    def reached(self, lr):
        return lr is not None and lr >= self.best + math.log(GOAL)


class Count:
    """Different settings that were asked for, up to the goal."""

    def __init__(self, table):
        self.table, self.seen = table, set()
        self.at = 0 if table.reached(0.0) else None

    def ask(self, numbers):
        numbers = tuple(numbers)
        lr = self.table.look_up(numbers)
        if numbers not in self.seen:
            self.seen.add(numbers)
            if self.at is None and self.table.reached(lr):
                self.at = len(self.seen)
        return lr


# ---- Kernel Tuner ----

def cache_file(table, path):
    """The table as Kernel Tuner's cache."""
    names = [locus[0] for locus in table.loci]
    cache = {}

    def add(done):
        if len(done) == len(names):
            lr = table.look_up(done)
            entry = dict(zip(names, done))
            entry["time"] = math.exp(-lr) if lr is not None \
                else "RuntimeFailedConfig"
            entry.update(compile_time=0, verification_time=0,
                         benchmark_time=0, strategy_time=0, framework_time=0)
            cache[",".join(map(str, done))] = entry
            return
        for number in table.values[len(done)]:
            add(done + [number])

    add([])
    with open(path, "w") as f:
        json.dump({"device_name": "table", "kernel_name": "kernel",
                   "problem_size": 1, "tune_params_keys": names,
                   "tune_params": {n: list(v) for n, v in
                                   zip(names, table.values)},
                   "objective": "time", "cache": cache}, f)
    return {n: list(v) for n, v in zip(names, table.values)}


def kernel_tuner_once(table, cache, params, strategy, seed):
    import kernel_tuner
    import numpy
    from kernel_tuner.runners.simulation import SimulationRunner
    from kernel_tuner.util import StopCriterionReached

    count = Count(table)
    inner = SimulationRunner.run

    def run(self, space, options):
        space = list(space)
        for element in space:
            count.ask(element)
            if count.at is not None:
                raise StopCriterionReached("the goal is reached")
        return inner(self, space, options)

    if count.at is not None:
        return count.at
    random.seed(seed)
    numpy.random.seed(seed)
    SimulationRunner.run = run
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            kernel_tuner.tune_kernel(
                "kernel", "void kernel(void) { }", 1, [], params,
                lang="C", quiet=True, strategy=strategy, cache=cache,
                simulation_mode=True, seed=seed,
                strategy_options={"max_fevals": len(table.lr)})
    except StopCriterionReached:
        pass
    finally:
        SimulationRunner.run = inner
    return count.at


def strategies():
    from kernel_tuner.interface import strategy_map
    return [s for s in strategy_map if s != "brute_force"]


def simulate_kernel_tuner(table, seed, broken, spent, limit_s):
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder, "cache.json")
        params = cache_file(table, cache)
        for strategy in strategies():
            if strategy in broken:
                continue
            began = time.time()
            try:
                at = kernel_tuner_once(table, cache, params, strategy, seed)
            except Exception as e:  # whatever it trips over
                broken[strategy] = f"{type(e).__name__}: {e}"
                continue
            print(table.name, f"kt:{strategy}", seed,
                  "-" if at is None else at, sep="\t", flush=True)
            spent[strategy] = spent.get(strategy, 0) + time.time() - began
            if spent[strategy] > limit_s:
                broken[strategy] = f"over {limit_s:.0f} s for a table"


# ---- OpenTuner ----

def opentuner_once(table, seed):
    import logging
    import opentuner
    from opentuner.api import TuningRunManager
    from opentuner.measurement.interface import DefaultMeasurementInterface
    from opentuner.resultsdb.models import Result
    from opentuner.search.manipulator import (ConfigurationManipulator,
                                              EnumParameter)
    logging.disable(logging.CRITICAL)
    count = Count(table)
    if count.at is not None:
        return count.at
    random.seed(seed)
    space = ConfigurationManipulator()
    for (name, _, _, _), values in zip(table.loci, table.values):
        space.add_parameter(EnumParameter(name, list(values)))
    with tempfile.TemporaryDirectory() as folder:
        parser = argparse.ArgumentParser(parents=opentuner.argparsers())
        args = parser.parse_args(
            ["--no-dups", "--database", os.path.join(folder, "db")])
        api = TuningRunManager(DefaultMeasurementInterface(
            args=args, manipulator=space, project_name="table",
            program_name=table.name, program_version="1"), args)
        idle = 0
        while count.at is None and idle < 50 and \
                len(count.seen) < len(table.lr):
            wanted = api.get_next_desired_result()
            if wanted is None:
                idle += 1
                continue
            idle = 0
            lr = count.ask([wanted.configuration.data[locus[0]]
                            for locus in table.loci])
            api.report_result(wanted, Result(
                time=math.exp(-lr) if lr is not None else float("inf"),
                state="OK" if lr is not None else "ERROR"))
        with contextlib.suppress(AttributeError):
            api.finish()        # trips when nothing has been good yet
    return count.at


def simulate(o):
    broken = {}
    sources = o.sources or [o.kernels]
    for name in o.kernel:
        table = Table(os.path.join(o.tables, name + ".tsv"), sources)
        spent = {}
        for seed in range(1, o.seeds + 1):
            table.shuffle(seed)
            simulate_kernel_tuner(table, seed, broken, spent, o.limit)
            if "opentuner" in broken:
                continue
            try:
                at = opentuner_once(table, seed)
            except Exception as e:
                broken["opentuner"] = f"{type(e).__name__}: {e}"
                continue
            print(table.name, "opentuner", seed, "-" if at is None else at,
                  sep="\t", flush=True)
    for what, why in broken.items():
        print("# left out:", what + ":", " ".join(why.split())[:200],
              flush=True)


# ---- live ----

HEAD = """
#if VW && defined(__AVX512F__)
#if VW == 512
#pragma GCC target("prefer-vector-width=512")
#else
#pragma GCC target("prefer-vector-width=256")
#endif
#endif
#if ASSOC
#pragma GCC optimize("no-math-errno", "no-trapping-math", "no-signed-zeros", \
	"associative-math", "reciprocal-math")
#endif
#if RESTRICT
#define MK_RESTRICT __restrict
#else
#define MK_RESTRICT
#endif
"""
TIMED = """
#include <time.h>
float timed(const float *a, const float *b, float *c, int B)
{
	struct timespec s, e;

	clock_gettime(CLOCK_MONOTONIC, &s);
	batch_matmul(a, b, c, B);
	clock_gettime(CLOCK_MONOTONIC, &e);
	return (e.tv_sec - s.tv_sec) * 1e3f + (e.tv_nsec - s.tv_nsec) * 1e-6f;
}
"""


def live_space(text):
    """The marked numbers, and the text without them."""
    params = {}

    def take(m):
        params[m.group(1)] = sorted(
            {int(m.group(2))} | set(map(int, m.group(3).split())))
        return ""

    text = re.sub(r"#define (\w+) (\d+)\t*\s*/\* tunable: ([\d ]+) \*/\n", take,
                  text)
    text = re.sub(r"\bfloat \*(?=\w)", "float *MK_RESTRICT ", text)
    params.update(RESTRICT=[0, 1], ASSOC=[0, 1], VW=[0, 256, 512])
    return params, text


def live(o):
    import kernel_tuner
    import numpy
    params, text = live_space(open(o.source).read())
    rng = numpy.random.default_rng(1)
    a, b = (rng.standard_normal((o.batch, 60, 60), dtype=numpy.float32)
            for _ in range(2))
    right = (a.astype(float) @ b.astype(float)).astype(numpy.float32)
    began = time.time()
    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = kernel_tuner.tune_kernel(
            "timed", HEAD + text + TIMED, 1,
            [a, b, numpy.zeros_like(a), numpy.int32(o.batch)], params,
            lang="C", answer=[None, None, right, None], atol=1e-3,
            compiler_options=["-O3", "-march=native"], block_size_names=["BLOCK_X"],
            strategy=o.strategy, strategy_options={"time_limit": o.seconds},
            quiet=True)
    took = time.time() - began
    good = [r for r in results if "__error__" not in r]
    best = min(good, key=lambda r: r["time"])
    with open(o.out, "w") as f:
        for name in params:
            f.write(f"#define {name} {best[name]}\n")
        f.write(HEAD + text)
    different = {tuple(r[name] for name in params) for r in results}
    print(len(different), f"{took:.1f}",
          " ".join(f"{n}={best[n]}" for n in params), sep="\t")


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--venv", required=True)
    commands = parser.add_subparsers(dest="command", required=True)
    p = commands.add_parser("simulate")
    p.add_argument("--seeds", type=int, default=20)
    p.add_argument("--limit", type=float, default=120)
    p.add_argument("--kernels", default="tests/bench/kernels")
    p.add_argument("--sources", action="append")
    p.add_argument("--tables", default="tests/bench/tables")
    p.add_argument("kernel", nargs="+")
    p.set_defaults(run=simulate)
    commands.add_parser("prepare").set_defaults(run=lambda o: None)
    p = commands.add_parser("live")
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--strategy", default="hybrid_vndx")
    p.add_argument("--batch", type=int, default=15)
    p.add_argument("--source", required=True)
    p.add_argument("--out", required=True)
    p.set_defaults(run=live)
    o = parser.parse_args()
    enter_venv(o.venv)
    o.run(o)


if __name__ == "__main__":
    main()
