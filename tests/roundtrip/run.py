#!/usr/bin/env python3
"""Real input, both ways: dumps of MariaDB into Selkie and back, Selkie's log into MariaDB, with the real programs.

    tests/roundtrip/run.py --selkie PATH [--quick] [--keep] [CASE ...]

Ends with 0 when every case holds, 1 when one does not, 77 when every case was skipped. `--quick` uses less data. Without cases,
all are run. `--keep` leaves the folder with servers, dumps and logs.
"""

import argparse
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from cases import CASES, Bench, Skipped, remove
from servers import Failure, missing_programs

EXIT_SKIPPED = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--selkie", required=True, help="the program to test")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    arguments = parser.parse_args()
    unknown = [c for c in arguments.cases if c not in CASES]
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}")
    missing = missing_programs()
    if missing:
        print(f"SKIPPED: not installed: {', '.join(missing)} (scripts/install-deps.sh test)")
        return EXIT_SKIPPED
    folder = tempfile.mkdtemp(prefix="selkie-roundtrip-")
    bench = Bench(arguments.selkie, folder, arguments.quick)
    failed, held = [], 0
    try:
        for name in arguments.cases or CASES:
            started = time.monotonic()
            try:
                looked_at, differences = CASES[name](bench)
            except Skipped as skipped:
                print(f"SKIPPED {name}: {skipped}", flush=True)
                continue
            except Failure as failure:
                looked_at, differences = "", [str(failure)]
            took = f"{time.monotonic() - started:.1f} s"
            if differences:
                failed.append(name)
                print(f"FAILED {name} ({took}) {looked_at}\n" + "\n".join(differences), flush=True)
            else:
                held += 1
                print(f"ok {name} ({took}): {looked_at}", flush=True)
    finally:
        bench.stop()
        if arguments.keep:
            print(f"kept: {folder}")
        else:
            remove(folder)
    if failed:
        print(f"failed: {', '.join(failed)}")
        return 1
    return 0 if held else EXIT_SKIPPED


if __name__ == "__main__":
    sys.exit(main())
