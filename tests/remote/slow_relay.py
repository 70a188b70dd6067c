"""A slow network where the kernel cannot make one: passes TCP on, each way later by a time.

slow_relay.py HOST PORT DELAY_MS   listens on HOST at any port, prints it, and calls PORT there
"""
import asyncio
import sys

HOST, PORT, DELAY_S = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) / 1000


async def pass_on(reader, writer):
    loop = asyncio.get_running_loop()
    while data := await reader.read(65536):
        loop.call_later(DELAY_S, writer.write, data)
    loop.call_later(DELAY_S, writer.close)


async def take(reader, writer):
    far_reader, far_writer = await asyncio.open_connection(HOST, PORT)
    await asyncio.gather(pass_on(reader, far_writer), pass_on(far_reader, writer),
                         return_exceptions=True)


async def main():
    server = await asyncio.start_server(take, HOST, 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
