// The parts of a connection that a handler holds: the exchange, and the stream that it may become.
// They keep the connection in memory, but not open.
#pragma once

#include <memory>

#include "net/server/connection.h"

namespace perdure {

std::shared_ptr<HttpExchange> make_exchange(std::shared_ptr<Connection> connection,
                                            const RequestHead& head);

}  // namespace perdure
