// A shell over a WebSocket. Binary messages are its bytes, both ways; text messages are control:
//   to the client    {"type":"opened","shell":"sh_1","offset":0}   the first, `offset` of what
//   follows
//                    {"type":"lost","bytes":n}                     overwritten before it was read
//                    {"type":"exit","code":0} or {…"signal":9}     the last
//                    {"type":"error","code":"…","message":"…"}
//   from the client  {"type":"resize","columns":80,"rows":24}
//                    {"type":"ack","offset":n}                     read so far; from the first on
//                    at
//                                                                  most shell_window_bytes are
//                                                                  ahead
// `?shell=ID&offset=N` goes on with one that runs, from that byte. Closing leaves the shell alone.
#pragma once

#include "api/route.h"
#include "api/streams.h"

namespace perdure {

// A socket counts as a stream: it ends with its principal's right to operate.
void open_shell_socket(Streams& streams, Call call);

}  // namespace perdure
