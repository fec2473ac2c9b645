"""Java with a pool of database connections: pool.py ADDRESS PORT POOL OPTIONS (those of database.py)."""

import sys

import together


def main():
    address, port, pool, *options = sys.argv[1:]
    with together.Programs() as programs:
        database_port = together.free_port()
        programs.python("database.py", database_port, *options)
        together.await_port(database_port)
        program = together.compiled("Shop.java")
        programs.start(*program, address, port, database_port, pool)
        programs.wait()


if __name__ == "__main__":
    main()
