#include "store/files/views.h"

#include "base/json/fields_json.h"
#include "core/session/machine.h"
#include "core/wire/journal/record.h"
#include "core/wire/journal/snapshot.h"
#include "store/files/log/sealed.h"

namespace perdure {
namespace {

// Records after the last snapshot; the runtime makes a snapshot every 256 records.
constexpr Seq folded_max = 2048;

void text_or_null(JsonWriter& json, std::string_view text) {
  text.empty() ? json.null() : json.string(text);
}

void time_or_null(JsonWriter& json, Timestamp at) {
  at.ms == 0 ? json.null() : json.string(format_timestamp(at));
}

void write_wait(JsonWriter& json, const State& state, const Run& run) {
  for (const auto& [token, wait] : state.waits) {
    if (wait.run != run.id) continue;
    json.begin_object().key("kind").string(enum_text(wait.kind));
    json.key("since_seq").number_unsigned(wait.since_seq);
    json.key("resume_token_id").string(token.text());
    json.key("deadline_at");
    wait.deadline ? time_or_null(json, wait.deadline->wall) : void(json.null());
    json.end_object();
    return;
  }
  json.null();
}

void write_run(JsonWriter& json, const State& state) {
  if (state.run) {
    json.begin_object().key("run_id").string(state.run->id.text());
    json.key("boot_id").string(state.run->boot.text());
    json.key("started_at").string(format_timestamp(state.run->started));
    json.key("ended_at").null();
    write_wait(json.key("wait"), state, *state.run);
    json.end_object();
  } else if (state.last_run) {
    json.begin_object().key("run_id").string(state.last_run->id.text());
    json.key("ended_at").string(format_timestamp(state.last_run->ended));
    json.key("end").string(enum_text(state.last_run->end));
    json.key("wait").null().end_object();
  } else {
    json.null();
  }
}

void write_state(JsonWriter& json, const State& state) {
  json.key("title").string(state.title);
  json.key("working_dir").string(state.workspace.cwd);
  const auto model = state.options.find("model");
  json.key("provider").begin_object().key("type").string(state.agent.name).key("model");
  text_or_null(json, model == state.options.end() ? "" : model->second);
  json.end_object();
  time_or_null(json.key("created_at"), state.created);
  time_or_null(json.key("updated_at"), state.updated);
}

void write_recovery(JsonWriter& json, const State& state) {
  json.begin_object().key("last_boot_seen");
  text_or_null(json, state.last_boot.is_null() ? "" : state.last_boot.text());
  json.key("interruption");
  const bool is_interrupted = !state.run && state.last_run && state.last_run->interrupted;
  is_interrupted ? json.string(enum_text(*state.last_run->interrupted)) : json.null();
  json.end_object();
}

void write_token(JsonWriter& json, std::string_view status, const Hash& secret_hash, WaitKind kind,
                 RunId run) {
  json.begin_object().key("status").string(status);
  json.key("secret_hash").string(secret_hash.hex());
  json.key("wait_kind").string(enum_text(kind));
  json.key("run_id");
  text_or_null(json, run.is_null() ? "" : run.text());
}

}  // namespace

std::optional<State> fold_for_view(const std::optional<StoredSnapshot>& snapshot, Seq head,
                                   const ReadRecords& read) {
  State state;
  if (snapshot) {
    Result<State> decoded = decode_snapshot(snapshot->bytes);
    if (decoded && decoded->head == snapshot->seq) state = *std::move(decoded);
  }
  if (head < state.head || head - state.head > folded_max) return std::nullopt;
  while (state.head < head) {
    const Seq before = state.head;
    const Result<RecordPage> page = read(before);
    if (!page || page->records.empty()) return std::nullopt;
    for (const std::string& bytes : page->records) {
      const Result<DecodedRecord> decoded = decode_record(bytes);
      if (!decoded) return std::nullopt;
      state = evolve(std::move(state), decoded->record.event);
    }
    if (state.head <= before) return std::nullopt;  // not records of a session
  }
  if (state.id.is_null()) return std::nullopt;
  return state;
}

std::string encode_snapshot_view(const SnapshotView& view) {
  JsonWriter json;
  json.begin_object().key("id").string(view.session.text());
  if (view.state) write_state(json, *view.state);
  json.key("last_seq").number_unsigned(view.last_seq);
  if (view.state) {
    write_run(json.key("run"), *view.state);
    write_recovery(json.key("recovery"), *view.state);
  }
  if (view.snapshot) {
    json.key("snapshot").begin_object().key("seq").number_unsigned(view.snapshot->seq);
    write_bytes(json, {.key = "state", .bytes = view.snapshot->bytes});
    json.end_object();
  }
  json.end_object();
  return seal(json.text()) + "\n";
}

std::optional<StoredSnapshot> snapshot_in_view(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const Result<JsonObject> object = open_sealed(text, "a snapshot");
  if (!object || object->find("snapshot").empty()) return std::nullopt;
  const Result<JsonObject> inner = JsonObject::parse(object->find("snapshot"));
  if (!inner) return std::nullopt;
  const Result<std::uint64_t> seq = json_uint(inner->find("seq"));
  Result<std::string> bytes = read_bytes(*inner, "state");
  if (!seq || !bytes) return std::nullopt;
  return StoredSnapshot{.seq = *seq, .bytes = *std::move(bytes)};
}

std::string encode_tokens_view(const State& state) {
  JsonWriter json;
  json.begin_object().key("last_seq").number_unsigned(state.head).key("tokens").begin_object();
  for (const auto& [token, wait] : state.waits) {
    write_token(json.key(token.text()), "active", wait.secret_hash, wait.kind, wait.run);
    json.key("since_seq").number_unsigned(wait.since_seq);
    json.key("expires_at");
    wait.deadline ? time_or_null(json, wait.deadline->wall) : void(json.null());
    json.end_object();
  }
  for (const ClosedWait& wait : state.closed_waits) {
    if (wait.token.is_null()) continue;
    write_token(json.key(wait.token.text()), enum_text(wait.status), wait.secret_hash, wait.kind,
                wait.run);
    json.end_object();
  }
  json.end_object().end_object();
  return seal(json.text()) + "\n";
}

}  // namespace perdure
