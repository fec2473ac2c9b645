"""Whether the monitor was right in a kernel, by what tools/kernels has written down."""

import json
import sys

lines = open(sys.argv[1], encoding="utf-8", errors="replace").read().splitlines()
said = dict(line.split(" ", 1) for line in lines if " " in line)
wrong = []
# It was interrupted.
if said.get("watch") != "130":
    wrong.append(f"watch ends with {said.get('watch', 'nothing')}")
if said.get("doctor") not in ("0", "1"):
    wrong.append(f"doctor ends with {said.get('doctor', 'nothing')}")
if len(sys.argv) > 2 and said.get("tests") != "0":
    wrong.append("a test fails" if "tests" in said else "the tests do not end")
watched = json.loads(said.get("watched", "{}"))
classes = watched.get("requests", {})
counts = {name: rates["count"] for name, rates in classes.items()}
if counts != {"0-50k": 20}:
    wrong.append(f"requests are {counts}, not 20")
else:
    rates = classes["0-50k"]
    each = rates["bytes_rate"] / rates["rate"]
    if not 10240 <= each < 10740:
        wrong.append(f"{each} bytes each, not 10,240 and a header")
    if not watched["followed"]["counted"]:
        wrong.append("requests are not counted one by one")
    if rates["followed"] != 20 or not 0 < rates["duration"]["mean"] < 1:
        wrong.append(f"{rates['followed']} are followed, {rates['duration']['mean']} s in the mean")
if not 0 < watched.get("kernel", {}).get("cpu_idle", 0) <= 1:
    wrong.append("there is no idle time")
for what in wrong:
    print(what, file=sys.stderr)
sys.exit(bool(wrong))
