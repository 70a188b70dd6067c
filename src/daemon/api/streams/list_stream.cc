#include "daemon/api/streams/list_stream.h"

#include <utility>

#include "base/limits.h"
#include "daemon/api/json/list_json.h"

namespace perdure {
namespace {

constexpr std::size_t unsent_max_bytes = 1UL << 20;

}  // namespace

ListStreams::ListStreams(Streams& streams) : streams_(streams) {
  watch_ = streams_.world().runtime.watch([this](SessionId session) { changed(session); });
}

ListStreams::~ListStreams() {
  streams_.world().runtime.unwatch(watch_);
  streams_.world().loop.cancel(timer_);
}

void ListStreams::open(Call call) {
  Result<StreamSlots::Slot> slot = streams_.admit(call.principal);
  if (!slot) return call.fail(slot.error());
  auto stream = std::make_unique<ListStream>(*this, call.principal);
  ListStream& opened = *stream;
  const std::uint64_t number = streams_.add(std::move(stream), std::move(*slot));
  open_.insert(&opened);
  opened.begin(*call.exchange, number);
}

void ListStreams::changed(SessionId session) {
  if (open_.empty()) return;
  stale_.insert(session);
  if (timer_ != 0) return;
  timer_ =
      streams_.world().loop.after_ms(list_gather_ms, [this, alive = std::weak_ptr<bool>(alive_)] {
        if (alive.expired()) return;
        timer_ = 0;
        flush();
      });
}

void ListStreams::flush() {
  Runtime& runtime = streams_.world().runtime;
  const std::set<ListStream*> open = open_;
  const std::vector<SessionId> stale(stale_.begin(), stale_.end());
  stale_.clear();
  const RowsBeside beside(streams_.world(), stale);
  for (const SessionId session : stale) {
    const Result<const SessionRow*> row = runtime.sessions().find(session);
    if (!row) continue;  // the store cannot be read; direct requests report that
    const std::string data =
        *row ? row_json(**row, beside.of(session)) : R"({"id":")" + session.text() + R"("})";
    const auto frame = std::make_shared<const std::string>(
        encode_sse({.event = *row ? "session" : "removed", .data = data}));
    for (ListStream* const stream : open) stream->tell(session, frame);
  }
  for (ListStream* const stream : open) stream->tell_inbox();
}

ListStream::ListStream(ListStreams& all, Principal principal)
    : all_(all), principal_(std::move(principal)) {}

ListStream::~ListStream() { all_.open_.erase(this); }

void ListStream::begin(HttpExchange& exchange, std::uint64_t number) {
  number_ = number;
  stream_ = exchange.stream(stream_head(StreamForm::sse), *this);
  write_snapshot();
}

MaySee ListStream::may_see() const {
  return [this](SessionId session) { return principal_.may_see(session); };
}

void ListStream::write(std::string frame) {
  if (stream_) stream_->write(std::make_shared<const std::string>(std::move(frame)));
}

void ListStream::write_snapshot() {
  behind_ = false;
  Runtime& runtime = all_.streams_.world().runtime;
  const auto page =
      runtime.sessions().page({.limit = list_snapshot_rows_max, .may_see = may_see()});
  if (!page) return finish();
  JsonWriter out;
  out.begin_object().key("log_id").string(runtime.store().log_id());
  out.key("sessions");
  write_rows(out, all_.streams_.world(), page->rows);
  out.key("next");
  if (page->next.empty()) {
    out.null();
  } else {
    out.string(page->next);
  }
  const auto inbox = runtime.sessions().inbox(may_see());
  if (!inbox) return finish();
  inbox_ = inbox_counts_json(*inbox);
  out.key("inbox").raw(inbox_).end_object();
  write(encode_sse({.event = "snapshot", .data = out.text()}));
}

void ListStream::tell(SessionId session, const SharedBytes& frame) {
  if (!stream_ || behind_ || !principal_.may_see(session)) return;
  if (stream_->unsent_bytes() > unsent_max_bytes) {
    behind_ = true;
    return;
  }
  stream_->write(frame);
}

void ListStream::tell_inbox() {
  if (!stream_ || behind_) return;
  const auto inbox = all_.streams_.world().runtime.sessions().inbox(may_see());
  if (!inbox) return;
  std::string counts = inbox_counts_json(*inbox);
  if (counts == inbox_) return;
  inbox_ = std::move(counts);
  write(encode_sse({.event = "inbox", .data = inbox_}));
}

void ListStream::beat() {
  if (!stream_ || stream_->unsent_bytes() > unsent_max_bytes) return;
  JsonWriter out;
  out.begin_object().key("ts");
  out.string(format_timestamp(all_.streams_.world().clock.now().wall)).end_object();
  write(encode_sse({.event = "heartbeat", .data = out.text()}));
}

void ListStream::on_drained() {
  if (behind_) write_snapshot();
}

void ListStream::on_closed() {
  closed_ = std::move(stream_);  // not destroyed within its own call
  finish();
}

void ListStream::finish() {
  all_.open_.erase(this);
  if (const auto stream = std::move(stream_)) stream->finish();
  all_.streams_.retire(number_);
}

}  // namespace perdure
