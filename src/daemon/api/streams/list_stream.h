// The stream over all sessions: a snapshot of the list, then its changes in short batches, and the
// counts of the inbox. It has no cursor: a client that reconnects gets a new snapshot.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "daemon/api/gate/route.h"
#include "daemon/api/streams/streams.h"
#include "daemon/runtime/reads/session_list.h"

namespace perdure {

class ListStream;

class ListStreams {
 public:
  explicit ListStreams(Streams& streams);
  ~ListStreams();
  ListStreams(const ListStreams&) = delete;
  ListStreams& operator=(const ListStreams&) = delete;

  // Answers the call with a stream.
  void open(Call call);

 private:
  friend class ListStream;
  void changed(SessionId session);
  void flush();

  Streams& streams_;
  std::set<ListStream*> open_;
  std::set<SessionId> stale_;
  std::uint64_t watch_ = 0;
  Loop::TimerId timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class ListStream final : public OpenStream, public HttpStreamEvents {
 public:
  ListStream(ListStreams& all, Principal principal);
  ~ListStream() override;

  void begin(HttpExchange& exchange, std::uint64_t number);
  // Sends a frame about this session, unless the principal may not know about it.
  void tell(SessionId session, const SharedBytes& frame);
  void tell_inbox();

  const Principal& principal() const override { return principal_; }
  void beat() override;
  void end() override { finish(); }
  void on_drained() override;
  void on_closed() override;

 private:
  MaySee may_see() const;
  void write(std::string frame);
  void write_snapshot();
  void finish();

  ListStreams& all_;
  Principal principal_;
  std::uint64_t number_ = 0;
  std::shared_ptr<HttpStream> stream_;  // null after it has ended
  std::shared_ptr<HttpStream> closed_;
  std::string inbox_;    // the counts that were sent last
  bool behind_ = false;  // too slow for changes: gets a snapshot after it has read
};

}  // namespace perdure
