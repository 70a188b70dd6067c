#include "daemon/api/routes/audit_routes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/json/json.h"
#include "daemon/api/gate/query.h"
#include "daemon/api/json/session_json.h"
#include "daemon/api/streams/event_stream.h"

namespace perdure {
namespace {

// Writes more while fewer bytes than this are unsent. A slow reader gets the rest later from the
// store, so it uses no memory.
constexpr std::size_t unsent_low_bytes = 512UL << 10;
constexpr std::size_t portion_records = 64;
constexpr std::uint64_t page_usual = 100;

struct AuditAsk {
  Seq after = 0;
  StreamForm form = StreamForm::sse;
  Follow follow = Follow::for_ever;
};

// Owned by Streams.
class AuditStream final : public OpenStream, public HttpStreamEvents {
 public:
  AuditStream(Streams& streams, Principal principal, AuditAsk ask)
      : streams_(streams),
        audit_(*streams.world().audit),
        principal_(std::move(principal)),
        ask_(ask),
        sent_(ask.after),
        until_(audit_.last()),
        watch_(audit_.watch([this] { pump(); })) {}
  ~AuditStream() override { audit_.unwatch(watch_); }

  void begin(HttpExchange& exchange, std::uint64_t number) {
    number_ = number;
    stream_ = exchange.stream(stream_head(ask_.form), *this);
    if (ask_.form == StreamForm::sse) write_place("state");
    pump();
  }

  const Principal& principal() const override { return principal_; }
  void beat() override {
    if (!stream_ || stream_->unsent_bytes() >= unsent_low_bytes) return;
    if (ask_.form == StreamForm::ndjson) return write("\n");
    write_place("heartbeat");
  }
  void end() override { finish(); }
  void on_drained() override { pump(); }
  void on_closed() override {
    closed_ = std::move(stream_);  // not destroyed within its own call
    finish();
  }

 private:
  void write(std::string frame) {
    if (stream_) stream_->write(std::make_shared<const std::string>(std::move(frame)));
  }

  void write_place(std::string_view event) {
    JsonWriter out;
    out.begin_object().key("log_id").string(streams_.world().runtime.store().log_id());
    out.key("as_of").number_unsigned(audit_.last()).key("head").number_unsigned(audit_.last());
    out.key("oldest").number_unsigned(audit_.first()).key("sent").number_unsigned(sent_);
    out.key("ts").string(format_timestamp(streams_.world().clock.now().wall)).end_object();
    write(encode_sse({.event = event, .data = out.text()}));
  }

  void pump() {
    while (stream_ && sent_ < audit_.last() && stream_->unsent_bytes() < unsent_low_bytes) {
      const Result<Audit::Page> page = audit_.read(sent_, portion_records);
      if (!page) return finish();  // the client reconnects with its cursor
      for (const AuditRecord& record : page->records) {
        const std::string json = audit_record_json(record);
        write(ask_.form == StreamForm::ndjson
                  ? json + "\n"
                  : encode_sse({.event = "record", .id = record.seq, .data = json}));
      }
      sent_ = page->read_to;
    }
    if (ask_.follow == Follow::until_head && sent_ >= until_) finish();
  }

  void finish() {
    if (const auto stream = std::move(stream_)) stream->finish();
    streams_.retire(number_);
  }

  Streams& streams_;
  Audit& audit_;
  Principal principal_;
  AuditAsk ask_;
  Seq sent_;
  Seq until_;
  std::uint64_t watch_;
  std::uint64_t number_ = 0;
  std::shared_ptr<HttpStream> stream_;  // null after it has ended
  std::shared_ptr<HttpStream> closed_;
};

Result<> check_cursor(const Audit& audit, const std::string& log_id, const StreamCursor& cursor) {
  const bool is_other = !cursor.log_id.empty() && cursor.log_id != log_id;
  if (!is_other && cursor.after <= audit.last()) return {};
  return fail(Code::cursor_invalid,
              is_other ? "the cursor belongs to another log; start over without one"
                       : "the cursor is beyond the newest entry; start over without one");
}

std::string page_json(const Audit& audit, const Audit::Page& page, bool has_more,
                      const std::string& log_id) {
  JsonWriter out;
  out.begin_object().key("entries").begin_array();
  for (const AuditRecord& record : page.records) out.raw(audit_record_json(record));
  out.end_array();
  out.key("first").number_unsigned(page.records.empty() ? 0 : page.records.front().seq);
  out.key("last").number_unsigned(page.read_to);
  out.key("more").boolean(has_more);
  out.key("oldest").number_unsigned(audit.first()).key("head").number_unsigned(audit.last());
  out.key("log_id").string(log_id).end_object();
  return std::move(out).take();
}

// The number after which reading begins; nullopt for a request of the newest entries.
Result<std::optional<Seq>> start_of(const Audit& audit, const HttpRequest& request) {
  const StreamCursor cursor = TRY(stream_cursor(request));
  const auto since = TRY(time_parameter(request, "since"));
  if (request.parameter("after") || cursor.from_header) return cursor.after;
  if (since) return TRY(audit.last_before(*since));
  if (const auto last = TRY(number_parameter(request, "last"))) {
    return audit.last() > *last ? audit.last() - *last : 0;
  }
  return std::nullopt;
}

Result<> answer_page(const Audit& audit, const Call& call, std::optional<Seq> start,
                     const std::string& log_id) {
  const std::uint64_t limit = std::clamp<std::uint64_t>(
      TRY(number_parameter(call.request, "limit")).value_or(page_usual), 1, audit_page_max);
  if (start) {
    const Audit::Page page = TRY(audit.read(*start, limit));
    call.answer(page_json(audit, page, page.read_to < audit.last(), log_id));
    return {};
  }
  const Seq before = std::min(
      TRY(number_parameter(call.request, "before")).value_or(audit.last() + 1), audit.last() + 1);
  const Seq from = before > limit + 1 ? before - limit - 1 : 0;
  Audit::Page page = TRY(audit.read(from, limit));
  std::erase_if(page.records, [&](const AuditRecord& record) { return record.seq >= before; });
  call.answer(page_json(audit, page, audit.first() != 0 && from + 1 > audit.first(), log_id));
  return {};
}

Result<> serve(Streams& streams, Call& call) {
  Audit* const audit = streams.world().audit;
  if (!audit) return fail(Code::unavailable, "this daemon keeps no audit trail");
  if (streams.world().runtime.store().is_shared()) TRY_VOID(audit->catch_up());
  const std::string log_id = streams.world().runtime.store().log_id();
  TRY_VOID(check_cursor(*audit, log_id, TRY(stream_cursor(call.request))));
  const std::optional<Seq> start = TRY(start_of(*audit, call.request));
  const Wanted wanted = wanted_form(call.request);
  const bool follows = flag_parameter(call.request, "follow") || wanted == Wanted::sse;
  if (wanted != Wanted::sse && wanted != Wanted::ndjson && !follows) {
    return answer_page(*audit, call, start, log_id);
  }
  StreamSlots::Slot slot = TRY(streams.admit(call.principal));
  auto stream = std::make_unique<AuditStream>(
      streams, call.principal,
      AuditAsk{.after = start.value_or(0),
               .form = wanted == Wanted::sse ? StreamForm::sse : StreamForm::ndjson,
               .follow = follows ? Follow::for_ever : Follow::until_head});
  AuditStream& opened = *stream;
  const std::uint64_t number = streams.add(std::move(stream), std::move(slot));
  opened.begin(*call.exchange, number);
  return {};
}

}  // namespace

std::string audit_record_json(const AuditRecord& record) {
  const AuditEntry& entry = record.entry;
  JsonWriter out;
  out.begin_object().key("seq").number_unsigned(record.seq);
  out.key("ts").string(format_timestamp(record.at)).key("what").string(entry.what);
  out.key("by").string(entry.by).key("how").string(entry.how).key("from").string(entry.from);
  out.key("on").begin_array();
  for (const std::string& id : entry.on) out.string(id);
  out.end_array().key("outcome").string(entry.outcome).key("text").string(entry.text);
  out.key("count").number_unsigned(entry.count).key("of");
  if (entry.of == 0) {
    out.null();
  } else {
    out.number_unsigned(entry.of);
  }
  out.key("node");
  write_text_or_null(out, entry.node);
  out.end_object();
  return std::move(out).take();
}

void add_audit_routes(Router& router, Streams& streams) {
  router.add({.method = "GET",
              .pattern = "/api/audit",
              .access = Access::admin,
              .summary = "The audit trail: who signed in, was refused and decided what",
              .handler = [&streams](Call call) {
                if (const Result<> served = serve(streams, call); !served) {
                  call.fail(served.error());
                }
              }});
}

}  // namespace perdure
