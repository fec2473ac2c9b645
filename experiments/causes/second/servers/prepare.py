"""Compiles what has to be compiled, and looks for gunicorn and uvicorn, so that no first start takes too long."""

import common

if __name__ == "__main__":
    for source in ("site.go", "Site.java"):
        print(*common.build(source))
    for name in ("gunicorn", "uvicorn"):
        print(common.python_tool(name))
