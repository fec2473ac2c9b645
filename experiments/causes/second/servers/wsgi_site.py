"""Pages for gunicorn; what each does stands in the environment, in milliseconds.

WAIT; FILE_LOCK: waits with the lock of the file in LEDGER; THREAD_LOCK: waits with a lock of the process;
COMPUTE: of the processor; SCAN: KB that are kept in PostgreSQL, whose socket is in the directory PLACE.
"""

import fcntl
import os
import pathlib
import threading
import time

import records

NAMES = ("WAIT", "FILE_LOCK", "THREAD_LOCK", "COMPUTE")
SET = {name: float(os.environ.get(name, "0")) / 1000 for name in NAMES}
LEDGER = os.environ.get("LEDGER", "")
LOCK = threading.Lock()
SCAN = int(os.environ.get("SCAN", "0"))
DATABASE = records.Database(os.environ.get("PLACE", "/"))


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(2000))


def site(_, start_response):
    if SET["COMPUTE"]:
        compute(SET["COMPUTE"])
    if SET["FILE_LOCK"]:
        with pathlib.Path(LEDGER).open("a") as ledger:
            fcntl.flock(ledger, fcntl.LOCK_EX)
            time.sleep(SET["FILE_LOCK"])
    if SET["THREAD_LOCK"]:
        with LOCK:
            time.sleep(SET["THREAD_LOCK"])
    if SET["WAIT"]:
        time.sleep(SET["WAIT"])
    if SCAN:
        DATABASE.keep(os.urandom(SCAN << 10))
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "6")])
    return [b"total\n"]
