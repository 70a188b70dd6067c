// A session's records as a stream, over SSE or as lines: state, replay from the cursor, then live,
// one order, no gap (STREAM1). A client that does not read is cut with its cursor and holds no more
// memory than one portion of records (STREAM4).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "api/query.h"
#include "api/route.h"
#include "api/streams.h"
#include "runtime/reads.h"

namespace perdure {

enum class Follow { until_head, for_ever };

struct EventStreamOrder {
  SessionId session;
  StreamCursor cursor;
  StreamForm form = StreamForm::sse;
  Follow follow = Follow::for_ever;
  EventsAsk filter;  // only its kind and run
};

// Answers the call with a stream. An impossible cursor is refused with 409, or, when a browser
// came back with it by itself, with a reset frame in a stream that ends.
void open_event_stream(Streams& streams, Call call, EventStreamOrder order);

// Owned by Streams; lives until the loop goes on behind its end.
class EventStream final : public OpenStream, public RecordSink, public HttpStreamEvents {
 public:
  EventStream(Streams& streams, Principal principal, EventStreamOrder order);
  ~EventStream() override;

  // Subscribes; cursor_invalid and not_found are those of Runtime::subscribe().
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
  SubscriptionId subscription_ = 0;  // 0: none any more
  std::uint64_t number_ = 0;
  std::shared_ptr<HttpStream> stream_;  // null once it has ended
  std::shared_ptr<HttpStream> closed_;
  std::deque<Waiting> waiting_;
  Seq taken_ = 0;  // the last record that the runtime gave
  Seq sent_ = 0;   // the last record that was written or passed over
  Seq until_ = 0;
};

}  // namespace perdure
