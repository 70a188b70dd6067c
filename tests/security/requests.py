"""Several HTTP requests of an attacker over a unix socket, in order. requests.py SOCKET JSON, where
JSON is a list of [method, path, body]; prints a list of [status, body]."""

import http.client
import json
import socket
import sys

answers = []
for method, path, body in json.loads(sys.argv[2]):
    connection = http.client.HTTPConnection("localhost", timeout=30)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(sys.argv[1])
    connection.request(method, path, body or None, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answers.append([answer.status, answer.read().decode(errors="replace")])
    connection.close()
print("answers=" + json.dumps(answers))
