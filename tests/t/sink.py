#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of profiles that misbehaves as it is told: tests/t/sink.py FOLDER [CERT KEY]

It listens on a free port of 127.0.0.1, which it writes to FOLDER/port. For each
request it takes the first line from FOLDER/plan, and "ok" when there is none:

    ok              takes the profile and answers 200
    STATUS [SECONDS] answers that, with Retry-After
    stall           reads the request and answers nothing until the client goes
    reset           reads the request and resets the connection
    hang-up         closes the connection before it has read anything
    cut-head        takes the profile and closes within the answer's first line
    cut-body        takes the profile and closes within the answer's body

What it takes is FOLDER/taken/KEY.N.pb.gz, KEY from Idempotency-Key and N from 1.
FOLDER/log has a line for each request: what was done, and its first line;
FOLDER/headers has all headers. It ends after two minutes.
"""

import base64
import json
import pathlib
import signal
import socket
import ssl
import struct
import sys

signal.alarm(120)
folder = pathlib.Path(sys.argv[1])
(folder / "taken").mkdir(parents=True, exist_ok=True)
server = socket.create_server(("127.0.0.1", 0))
tls = None
if len(sys.argv) > 2:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(sys.argv[2], sys.argv[3])


def next_step():
    plan = folder / "plan"
    lines = plan.read_text().splitlines() if plan.exists() else []
    plan.write_text("".join(line + "\n" for line in lines[1:]))
    return lines[0] if lines else "ok"


def read_request(connection):
    stream = connection.makefile("rb")
    first = stream.readline().decode().strip()
    headers = {}
    while line := stream.readline().decode().strip():
        key, _, value = line.partition(":")
        headers[key.lower()] = value.strip()
    return first, headers, stream.read(int(headers.get("content-length", 0)))


def take(first, headers, body):
    if "/writeraw" in first:
        request = json.loads(body)
        (folder / "json").write_text(json.dumps(request, indent=1))
        body = base64.b64decode(request["series"][0]["samples"][0]["raw_profile"])
    key = headers["idempotency-key"]
    number = len(list((folder / "taken").glob(f"{key}.*"))) + 1
    (folder / "taken" / f"{key}.{number}.pb.gz").write_bytes(body)


def answer(connection, step):
    words = step.split()
    if words[0] == "ok":
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    elif words[0].isdigit():
        after = f"Retry-After: {words[1]}\r\n" if len(words) > 1 else ""
        text = f"HTTP/1.1 {words[0]} Status\r\n{after}Content-Length: 11\r\n\r\n"
        connection.sendall(text.encode() + b"what\x1b[31m\nno")
    elif step == "stall":
        connection.recv(1)
    elif step == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif step == "cut-head":
        connection.sendall(b"HTTP/1.1 2")
    elif step == "cut-body":
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf")


def note(step, first, headers):
    with (folder / "headers").open("a") as out:
        print(*(f"{key}: {value}" for key, value in headers.items()), sep="\n", file=out)
    with (folder / "log").open("a") as out:
        print(step, first, sep=": ", file=out)


def serve(connection):
    if tls:
        connection = tls.wrap_socket(connection, server_side=True)
    with connection:
        step = next_step()
        if step == "hang-up":
            note(step, "", {})
            return
        first, headers, body = read_request(connection)
        if step in ("ok", "cut-head", "cut-body"):
            take(first, headers, body)
        note(step, first, headers)
        answer(connection, step)


(folder / "port.new").write_text(str(server.getsockname()[1]))
(folder / "port.new").rename(folder / "port")
while True:
    try:
        serve(server.accept()[0])
    except (OSError, ssl.SSLError) as error:
        print(error, file=sys.stderr, flush=True)
