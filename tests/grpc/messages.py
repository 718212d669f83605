"""Messages by name, of .proto files that are read when the test runs; and calls with them."""
import pathlib
import subprocess
import tempfile

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory


class Protos:
    def __init__(self, folders, *files):
        with tempfile.TemporaryDirectory() as work:
            target = pathlib.Path(work) / "set.pb"
            subprocess.run(["protoc", *(f"-I{folder}" for folder in folders), "--include_imports", f"--descriptor_set_out={target}",
                            *files], check=True)
            self.set = descriptor_pb2.FileDescriptorSet.FromString(target.read_bytes())
        self.pool = descriptor_pool.DescriptorPool()
        for file in self.set.file:
            self.pool.Add(file)
        self.factory = message_factory.MessageFactory(self.pool)

    def __getitem__(self, name):
        return self.factory.GetPrototype(self.pool.FindMessageTypeByName(name))


class Answer:
    """What a unary call came to."""

    def __init__(self, call=None, error=None):
        self.message = call.result() if call else None
        of = call or error
        self.code = of.code()
        self.text = of.details()
        self.trailers = {key: value for key, value in of.trailing_metadata() or ()}


def ask(channel, protos, method, request, answer, meta=(), timeout=60, **fields):
    """`method`: /package.Service/Name."""
    call = channel.unary_unary(method, request_serializer=lambda m: m.SerializeToString(),
                               response_deserializer=protos[answer].FromString)
    message = json_format.ParseDict(fields, protos[request]())
    try:
        _, done = call.with_call(message, timeout=timeout, metadata=list(meta))
        return Answer(DoneCall(_, done))
    except grpc.RpcError as problem:
        return Answer(error=problem)


class DoneCall:
    def __init__(self, result, call):
        self.kept, self.call = result, call

    def result(self):
        return self.kept

    def __getattr__(self, name):
        return getattr(self.call, name)
