#!/usr/bin/env python3
"""Runs the statements of golden tests on a private MariaDB and writes down its answers.

    capture.py SOCKET FILE.test...

A .test file holds statements, one a line, each behind "> "; everything else is replaced by what MariaDB answers: for
DDL its "Records:" line, for queries the rows (tab-separated), for SHOW CREATE the text, for errors "ERROR number: message",
then warnings and notes. Lines that begin with "#" are kept ("# selkie:" lines are what Selkie answers instead).
Each file starts with an empty database `test` (utf8mb4) of its own.
"""
import re, subprocess, sys

MARK = "=====8<====="

def run(socket, statements):
    answers = []
    # One connection, batch output, markers in between; errors come on stderr in order because of -f and merged pipes.
    cmd = ["mariadb", "--no-defaults", "-uroot", "-S", socket, "-f", "-n", "--unbuffered", "--raw", "-N", "--batch", "-vv",
           "--default-character-set=utf8mb4"]
    p = subprocess.Popen(cmd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
    def ask(sql):
        p.stdin.write(sql + ";\n" + f"select '{MARK}';\n")
        p.stdin.flush()
        lines = []
        seen_mark = False
        while True:
            line = p.stdout.readline()
            if line == "":
                return "\n".join(lines)
            line = line.rstrip("\n")
            if line == MARK:
                # swallow the trailing "1 row in set" and blank lines of the mark
                break
            lines.append(line)
        return "\n".join(lines)
    for s in ["set names utf8mb4", "drop database if exists test", "create database test charset utf8mb4 collate utf8mb4_general_ci", "use test"]:
        ask(s)
    for s in statements:
        raw = ask(s)
        warnings = ask("show warnings")
        answers.append((s, raw, warnings))
    p.stdin.close()
    p.wait()
    return answers

def clean(raw, s):
    """Drops the client's echo and counts."""
    out = []
    low = s.lower()
    skip = False
    for line in raw.split("\n"):
        if line.startswith("--------------"):
            skip = not skip
            continue
        if skip:
            continue
        if re.match(r"^(Query OK|Empty set|\d+ rows? in set|Bye)", line):
            continue
        if line.startswith(("Records:", "Rows matched:")) and low.startswith(("insert", "replace", "update", "delete")):
            continue
        if line.strip() == "":
            continue
        m = re.match(r"^ERROR (\d+) \(\w+\) at line \d+: (.*)$", line)
        if m:
            out.append(f"ERROR {m.group(1)}: {m.group(2)}")
            continue
        out.append(line)
    text = "\n".join(out)
    if low.startswith("show create"):
        text = text.split("\t", 1)[1] if "\t" in text else text
        if "view" in low.split() [2:3]:
            text = text.rsplit("\t", 2)[0]
    return text

def main():
    socket, files = sys.argv[1], sys.argv[2:]
    for f in files:
        lines = open(f).read().split("\n")
        items = []
        for l in lines:
            if l.startswith("> "):
                items.append(("sql", l[2:]))
            elif l.startswith("#") or l == "":
                items.append(("keep", l))
        answers = iter(run(socket, [t for k, t in items if k == "sql"]))
        out = []
        for k, t in items:
            if k == "keep":
                if t != "" or (out and out[-1] != ""):
                    out.append(t)
                continue
            s, raw, warnings = next(answers)
            out.append("> " + s)
            text = clean(raw, s)
            if text:
                out.append(text)
            for w in clean(warnings, "show warnings").split("\n"):
                parts = w.split("\t")
                if len(parts) == 3 and parts[0] != "Error":
                    out.append(f"{parts[0]} {parts[1]}: {parts[2]}")
        open(f, "w").write("\n".join(out).rstrip("\n") + "\n")

main()
