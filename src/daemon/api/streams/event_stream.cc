#include "daemon/api/streams/event_stream.h"

#include <utility>

#include "base/limits.h"
#include "core/wire/journal/record.h"
#include "daemon/api/json/session_json.h"

namespace perdure {
namespace {

// Writes more while fewer bytes than this are unsent; a longer frame is sent alone.
constexpr std::size_t unsent_low_bytes = 512UL << 10;
constexpr std::size_t portion_records = 64;

std::string cursor_json(Seq cursor) {
  JsonWriter out;
  out.begin_object().key("cursor").number_unsigned(cursor).end_object();
  return std::move(out).take();
}

// After this frame the client starts over.
std::string reset_frame(const Error& error, const std::string& log_id) {
  JsonWriter out;
  out.begin_object().key("log_id").string(log_id).key("code").string(code_name(error.code()));
  out.key("message").string(error.message()).end_object();
  return encode_sse({.event = "reset", .data = out.text()});
}

// Events of a stream that is written and ended at once.
class NoEvents final : public HttpStreamEvents {
 public:
  void on_drained() override {}
  void on_closed() override {}
};

void answer_reset(Streams& streams, const Call& call, const Error& error) {
  static NoEvents nobody;
  const std::shared_ptr<HttpStream> stream =
      call.exchange->stream(stream_head(StreamForm::sse), nobody);
  stream->write(std::make_shared<const std::string>(
      reset_frame(error, streams.world().runtime.store().log_id())));
  stream->finish();
}

}  // namespace

void open_event_stream(Streams& streams, Call call, EventStreamOrder order) {
  Result<StreamSlots::Slot> slot = streams.admit(call.principal);
  if (!slot) return call.fail(slot.error());
  const bool resets = order.form == StreamForm::sse && order.cursor.from_header;
  auto stream = std::make_unique<EventStream>(streams, call.principal, std::move(order));
  if (const Result<> subscribed = stream->subscribe(); !subscribed) {
    const bool impossible = subscribed.error().code() == Code::cursor_invalid;
    if (impossible && resets) return answer_reset(streams, call, subscribed.error());
    return call.fail(subscribed.error());
  }
  EventStream& opened = *stream;
  const std::uint64_t number = streams.add(std::move(stream), std::move(*slot));
  opened.begin(*call.exchange, number);
}

EventStream::EventStream(Streams& streams, Principal principal, EventStreamOrder order)
    : streams_(streams),
      principal_(std::move(principal)),
      order_(std::move(order)),
      taken_(order_.cursor.after),
      sent_(order_.cursor.after) {}

EventStream::~EventStream() {
  if (subscription_ != 0) streams_.world().runtime.unsubscribe(subscription_);
}

Result<> EventStream::subscribe() {
  subscription_ = TRY(streams_.world().runtime.subscribe(order_.session, order_.cursor.after,
                                                         order_.cursor.log_id, *this));
  until_ = head();
  return {};
}

void EventStream::begin(HttpExchange& exchange, std::uint64_t number) {
  number_ = number;
  stream_ = exchange.stream(stream_head(order_.form), *this);
  if (order_.form == StreamForm::sse) write_state();
  pump();
}

Seq EventStream::head() const {
  const State* const state = streams_.world().runtime.state_in_memory(order_.session);
  return state ? state->head : 0;
}

void EventStream::write(std::string frame) {
  if (stream_) stream_->write(std::make_shared<const std::string>(std::move(frame)));
}

void EventStream::write_state() {
  Runtime& runtime = streams_.world().runtime;
  const Result<SessionView> view = runtime.view(order_.session);
  if (!view) return;
  const ServedBeside beside = beside_session(streams_.world(), *view);
  JsonWriter out;
  out.begin_object().key("log_id").string(beside.log_id);
  out.key("as_of").number_unsigned(view->seq).key("head").number_unsigned(view->seq);
  out.key("after").number_unsigned(order_.cursor.after);
  out.key("session").raw(session_json(*view, beside)).end_object();
  write(encode_sse({.event = "state", .data = out.text()}));
}

void EventStream::beat() {
  if (!stream_ || stream_->unsent_bytes() >= unsent_low_bytes) return;
  if (order_.form == StreamForm::ndjson) return write("\n");
  JsonWriter out;
  const Seq now = head();
  out.begin_object().key("head").number_unsigned(now).key("as_of").number_unsigned(now);
  out.key("sent").number_unsigned(sent_);
  out.key("log_id").string(streams_.world().runtime.store().log_id());
  out.key("ts").string(format_timestamp(streams_.world().clock.now().wall)).end_object();
  write(encode_sse({.event = "heartbeat", .data = out.text()}));
}

std::size_t EventStream::room() const {
  const bool can_take = stream_ && waiting_.empty() && stream_->unsent_bytes() < unsent_low_bytes;
  return can_take ? portion_records : 0;
}

bool EventStream::is_wanted(const std::string& bytes) const {
  if (order_.filter.kind.empty() && !order_.filter.run) return true;
  const Result<DecodedRecord> decoded = decode_record(bytes);
  return decoded && is_asked(order_.filter, decoded->record);
}

void EventStream::on_records(Seq first,
                             std::span<const std::shared_ptr<const std::string>> records) {
  for (const SharedBytes& bytes : records) {
    taken_ = first++;
    SharedBytes frame;
    if (is_wanted(*bytes)) {
      Result<SharedBytes> made =
          streams_.frames(order_.form).frame({order_.session, taken_, bytes});
      if (!made) return cut();  // an unreadable record must not be skipped
      frame = std::move(*made);
    }
    waiting_.push_back({taken_, std::move(frame)});
  }
  pump();
}

void EventStream::pump() {
  if (!stream_) return;
  while (!waiting_.empty()) {
    const SharedBytes& frame = waiting_.front().frame;
    const std::size_t unsent = stream_->unsent_bytes();
    const bool fits = !frame || unsent == 0 || unsent + frame->size() <= unsent_low_bytes;
    if (!fits) return;
    if (frame) stream_->write(frame);
    sent_ = waiting_.front().seq;
    waiting_.pop_front();
  }
  if (order_.follow == Follow::until_head && sent_ >= until_) finish();
}

void EventStream::on_drained() {
  pump();
  if (subscription_ != 0 && room() > 0) streams_.world().runtime.drained(subscription_);
}

void EventStream::on_cut(Seq) {
  subscription_ = 0;
  cut();
}

void EventStream::cut() {
  // After the last record that was written, not the last one received.
  if (order_.form == StreamForm::sse) {
    write(encode_sse({.event = "cut", .data = cursor_json(sent_)}));
  }
  finish();
}

void EventStream::end() { finish(); }

void EventStream::on_closed() {
  closed_ = std::move(stream_);  // not destroyed within its own call
  finish();
}

void EventStream::finish() {
  if (subscription_ != 0) { streams_.world().runtime.unsubscribe(std::exchange(subscription_, 0)); }
  if (const auto stream = std::move(stream_)) stream->finish();
  waiting_.clear();
  streams_.retire(number_);
}

}  // namespace perdure
