#include "daemon/api/json/reads_json.h"

#include "base/json/fields_json.h"
#include "daemon/api/json/session_json.h"

namespace perdure {
namespace {

JsonWriter begin_answer(Seq as_of, const std::string& log_id) {
  JsonWriter out;
  out.begin_object().key("log_id").string(log_id);
  out.key("as_of").number_unsigned(as_of);
  return out;
}

// Inserts `head` before the members of a nonempty object.
std::string with_members(std::string head, const std::string& object) {
  return "{" + std::move(head) + object.substr(1);
}

}  // namespace

std::string events_json(const EventsPage& page, const std::string& log_id) {
  JsonWriter out = begin_answer(page.head, log_id);
  out.key("head").number_unsigned(page.head).key("events").begin_array();
  for (const std::string& record : page.records) out.raw(record);
  out.end_array().key("first").number_unsigned(page.first);
  out.key("last").number_unsigned(page.last).key("more").boolean(page.more).end_object();
  return std::move(out).take();
}

std::string message_json(const TranscriptMessage& message) {
  JsonWriter id;
  id.string(message.id());
  return with_members("\"id\":" + id.text() + ",", encode_fields(message));
}

std::string transcript_json(const TranscriptAnswer& answer) {
  JsonWriter out = begin_answer(answer.slice.last_seq, answer.log_id);
  out.key("last_seq").number_unsigned(answer.slice.last_seq).key("hash");
  write_text_or_null(out, answer.hash ? answer.hash->hex() : std::string());
  out.key("has_older").boolean(answer.slice.has_older).key("messages").begin_array();
  for (const TranscriptMessage& message : answer.slice.messages) out.raw(message_json(message));
  out.end_array().key("answers").begin_array();
  for (const QuestionAnswer& one : answer.slice.answers) out.raw(encode_fields(one));
  out.end_array().end_object();
  return std::move(out).take();
}

std::string rows_json(const RowsPage& page, const std::string& log_id) {
  JsonWriter out = begin_answer(page.as_of, log_id);
  out.key("has_older").boolean(page.has_older).key("has_newer").boolean(page.has_newer);
  out.key("segment_seq").number_unsigned(page.segment);
  const bool whole = !page.has_older && !page.has_newer;
  out.key("total");
  if (whole) {
    out.number_unsigned(page.rows.size());
  } else {
    out.null();
  }
  out.key("rows").begin_array();
  for (const Row& row : page.rows) {
    const std::string place =
        "\"seq\":" + std::to_string(row.seq) + ",\"rev\":" + std::to_string(row.rev) + ",";
    if (row.message) {
      out.raw(with_members(place, message_json(*row.message)));
    } else {
      out.begin_object().key("id").string(std::to_string(row.seq));
      out.key("seq").number_unsigned(row.seq).key("rev").number_unsigned(row.rev);
      out.key("role").string("mark").key("record").raw(row.mark).end_object();
    }
  }
  out.end_array().end_object();
  return std::move(out).take();
}

std::string history_json(const HistoryPage& page, const std::string& log_id) {
  JsonWriter out = begin_answer(page.as_of, log_id);
  out.key("has_older").boolean(page.has_older).key("turns").begin_array();
  for (const Turn& turn : page.turns) out.raw(encode_fields(turn));
  out.end_array().end_object();
  return std::move(out).take();
}

std::string density_json(const Timeline& timeline, const std::vector<Timeline::Bucket>& buckets) {
  JsonWriter out;
  out.begin_object().key("as_of").number_unsigned(timeline.last()).key("buckets").begin_array();
  for (const Timeline::Bucket& bucket : buckets) {
    out.begin_object().key("from").string(format_timestamp(bucket.from));
    out.key("records").number_unsigned(bucket.records);
    out.key("first_seq").number_unsigned(bucket.first_seq);
    out.key("last_seq").number_unsigned(bucket.last_seq).end_object();
  }
  out.end_array().key("marks").begin_array();
  for (const Timeline::Mark& mark : timeline.marks()) {
    out.begin_object().key("seq").number_unsigned(mark.seq);
    out.key("ts").string(format_timestamp(mark.at));
    out.key("kind").string(enum_text(mark.kind)).end_object();
  }
  out.end_array().key("marks_left_out").number_unsigned(timeline.marks_left_out()).end_object();
  return std::move(out).take();
}

}  // namespace perdure
