"""Node in front of a database: shop.py ADDRESS PORT CONNECTIONS DATABASE-OPTIONS (those of database.py)."""

import pathlib
import sys

import together


def main():
    address, port, connections, *database = sys.argv[1:]
    database_port = together.free_port()
    with together.Programs() as programs:
        programs.python("database.py", database_port, *database)
        together.await_port(database_port)
        programs.start("node", pathlib.Path(__file__).with_name("shop.js"), address, port, database_port, connections)
        programs.wait()


if __name__ == "__main__":
    main()
