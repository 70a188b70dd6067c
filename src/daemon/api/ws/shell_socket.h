// A shell over a WebSocket. Binary messages are its bytes, both ways; text messages are control:
//   to the client    {"type":"opened","shell":"sh_1","offset":0}   the first message; `offset` is
//                                                                  that of the bytes that follow
//                    {"type":"lost","bytes":n}                     overwritten before it was read
//                    {"type":"exit","code":0} or {…"signal":9}     the last message
//                    {"type":"error","code":"…","message":"…"}
//   from the client  {"type":"resize","columns":80,"rows":24}
//                    {"type":"ack","offset":n}                     read up to here; after the first
//                                                                  ack at most shell_window_bytes
//                                                                  are sent ahead
// `?shell=ID&offset=N` resumes a running shell from that byte. Closing does not end the shell.
#pragma once

#include "daemon/api/gate/route.h"
#include "daemon/api/streams/streams.h"

namespace perdure {

// A socket counts as a stream: it ends when its principal loses the right to operate.
void open_shell_socket(Streams& streams, Call call);

}  // namespace perdure
