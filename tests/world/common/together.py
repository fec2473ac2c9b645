"""Runs modules at the same time, and tells what each said when it has ended.

python -m common.together MODULE...    fails where one of them does
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed


def run(module: str) -> tuple[str, subprocess.CompletedProcess[str]]:
    """Its exit code and all that it said."""
    command = [sys.executable, "-m", module]
    return module, subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def main() -> int:
    """One after the other as they end."""
    modules = sys.argv[1:]
    failed = []
    with ThreadPoolExecutor(len(modules)) as pool:
        for ended in as_completed([pool.submit(run, module) for module in modules]):
            module, process = ended.result()
            print(process.stdout, end="", flush=True)
            if process.returncode != 0:
                failed.append(f"{module} failed ({process.returncode})")
    for failure in failed:
        print(failure, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
