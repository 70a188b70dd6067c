// Names of unix sockets inside a held folder: connecting to one, and binding one that is free or
// stale. Before it replaces a socket, bind checks that no process listens there.
#pragma once

#include <string>

#include "base/result.h"
#include "env/posix/files/fd.h"
#include "env/posix/files/folder.h"

namespace perdure {

// A connected non-blocking socket; the errors of UnixLink::connect.
Result<Fd> connect_unix_socket(const PosixFolder& folder, const std::string& name);

// A bound non-blocking socket (0600) that does not listen yet; the errors of UnixListener::listen.
Result<Fd> bind_unix_socket(const PosixFolder& folder, const std::string& name);

}  // namespace perdure
