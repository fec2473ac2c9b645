"""gRPC without generated code: `python grpc_app.py PORT`. Messages are bytes as they are."""

import sys
import time
from concurrent import futures

import grpc


def plain(data):
    """A message is its bytes."""
    return data


def unary(request, context):
    context.set_trailing_metadata((("x-length", str(len(request))), ("x-data-bin", b"\x00\xff")))
    context.send_initial_metadata((("x-initial", dict(context.invocation_metadata()).get("x-sent", "none")),))
    return b"hello " + request


def failing(request, context):
    context.set_trailing_metadata((("x-why", "as asked"),))
    context.abort(grpc.StatusCode.NOT_FOUND, "not here: \u00fc %")


def slow(request, context):
    time.sleep(1)
    return b"late"


def download(request, context):
    for number in range(int(request)):
        yield b"%d" % number * 1000


def upload(requests, context):
    return b"%d" % sum(len(request) for request in requests)


def both(requests, context):
    for request in requests:
        yield b"echo " + request


KINDS = {
    "Unary": (grpc.unary_unary_rpc_method_handler, unary),
    "Failing": (grpc.unary_unary_rpc_method_handler, failing),
    "Slow": (grpc.unary_unary_rpc_method_handler, slow),
    "Download": (grpc.unary_stream_rpc_method_handler, download),
    "Upload": (grpc.stream_unary_rpc_method_handler, upload),
    "Both": (grpc.stream_stream_rpc_method_handler, both),
}

if __name__ == "__main__":
    handlers = {name: make(call, plain, plain) for name, (make, call) in KINDS.items()}
    server = grpc.server(futures.ThreadPoolExecutor(16))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("world.World", handlers),))
    server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
    server.start()
    server.wait_for_termination()
