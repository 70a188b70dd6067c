// A session's records as a stream, over SSE or as lines: state, replay from the cursor, then live
// records, in one order without gaps (STREAM1). A client that does not read is disconnected with
// its cursor and uses no more memory than one portion of records (STREAM4).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "daemon/api/gate/query.h"
#include "daemon/api/gate/route.h"
#include "daemon/api/streams/streams.h"
#include "daemon/runtime/reads/reads.h"

namespace perdure {

enum class Follow { until_head, for_ever };

struct EventStreamOrder {
  SessionId session;
  StreamCursor cursor;
  StreamForm form = StreamForm::sse;
  Follow follow = Follow::for_ever;
  EventsAsk filter;  // only its kind and run
};

// Answers the call with a stream. An impossible cursor is refused with 409. If a browser
// reconnected with it automatically, it gets a stream with only a reset frame instead.
void open_event_stream(Streams& streams, Call call, EventStreamOrder order);

// Owned by Streams, which destroys it on the loop after it has ended.
class EventStream final : public OpenStream, public RecordSink, public HttpStreamEvents {
 public:
  EventStream(Streams& streams, Principal principal, EventStreamOrder order);
  ~EventStream() override;

  // Subscribes. Its errors cursor_invalid and not_found come from Runtime::subscribe().
  Result<> subscribe();
  void begin(HttpExchange& exchange, std::uint64_t number);

  const Principal& principal() const override { return principal_; }
  void beat() override;
  void end() override;

  std::size_t room() const override;
  void on_records(Seq first, std::span<const std::shared_ptr<const std::string>> records) override;
  void on_cut(Seq cursor) override;

  void on_drained() override;
  void on_closed() override;

 private:
  struct Waiting {
    Seq seq = 0;
    SharedBytes frame;
  };

  bool is_wanted(const std::string& bytes) const;
  void write(std::string frame);
  void write_state();
  void pump();
  void cut();
  void finish();
  Seq head() const;

  Streams& streams_;
  Principal principal_;
  EventStreamOrder order_;
  SubscriptionId subscription_ = 0;  // 0: not subscribed
  std::uint64_t number_ = 0;
  std::shared_ptr<HttpStream> stream_;  // null after it has ended
  std::shared_ptr<HttpStream> closed_;
  std::deque<Waiting> waiting_;
  Seq taken_ = 0;  // the last record that the runtime delivered
  Seq sent_ = 0;   // the last record that was written or skipped
  Seq until_ = 0;
};

}  // namespace perdure
