#include "store/postgres/pg_group.h"

#include "base/bytes/crc32c.h"

namespace perdure {
namespace {

// $1–$4 are the turn. Parts that change rows run even if the last SELECT does not read them. An
// existing blob is locked and unchanged, so that it is not removed before its new owner is stored.
// A blob that is only referred to is checked like a head: it must exist as expected. NOTIFY
// serializes commits, so it is only called if other nodes exist.
constexpr const char* group_sql = R"(
WITH life AS (
  UPDATE perdure.lives SET groups = $4 WHERE epoch = $2 AND link = $3 AND node = $1 RETURNING 1),
held AS MATERIALIZED (
  SELECT 1 FROM unnest($5::uuid[], $36::bigint[]) AS w(id, lease)
  JOIN perdure.leases l ON l.session = w.id AND l.node = $1 AND l.epoch = w.lease FOR SHARE OF l),
change AS MATERIALIZED (
  SELECT * FROM unnest($5::uuid[], $6::bigint[], $7::bigint[], $8::uuid[], $9::bigint[],
    $10::boolean[], $11::boolean[], $12::bigint[], $13::bytea[])
  AS c(id, before, head, cursor_exec, cursor_frame, open, archived, updated, summary)),
made AS (
  INSERT INTO perdure.sessions(id, head, cursor_exec, cursor_frame, open, archived, updated,
    summary)
  SELECT id, head, cursor_exec, cursor_frame, coalesce(open, false), coalesce(archived, false),
    coalesce(updated, 0), coalesce(summary, '') FROM change WHERE before IS NULL
  ON CONFLICT DO NOTHING RETURNING 1),
moved AS (
  UPDATE perdure.sessions s SET head = c.head,
    cursor_exec = coalesce(c.cursor_exec, s.cursor_exec),
    cursor_frame = coalesce(c.cursor_frame, s.cursor_frame),
    open = coalesce(c.open, s.open), archived = coalesce(c.archived, s.archived),
    updated = coalesce(c.updated, s.updated), summary = coalesce(c.summary, s.summary)
  FROM change c WHERE s.id = c.id AND s.head = c.before AND s.good IS NULL RETURNING 1),
records AS (
  INSERT INTO perdure.records(session, seq, pos, crc, bytes)
  SELECT r.session, r.seq, (SELECT nextval('perdure.positions')), r.crc, r.bytes
  FROM unnest($14::uuid[], $15::bigint[], $16::bigint[], $17::bytea[])
  AS r(session, seq, crc, bytes)),
undone AS (
  INSERT INTO perdure.outbox(session, number, payload)
  SELECT * FROM unnest($18::uuid[], $19::bigint[], $20::bytea[])
  ON CONFLICT(session, number) DO UPDATE SET payload = excluded.payload),
done AS (
  DELETE FROM perdure.outbox o USING unnest($21::uuid[], $22::bigint[]) AS d(session, number)
  WHERE o.session = d.session AND o.number = d.number),
answers AS (
  INSERT INTO perdure.answers(key, body, answer, expires)
  SELECT * FROM unnest($23::bytea[], $24::bytea[], $25::bytea[], $26::bigint[])),
refs AS (
  INSERT INTO perdure.refs(ref, session) SELECT * FROM unnest($27::bytea[], $28::uuid[])
  ON CONFLICT(ref) DO UPDATE SET session = excluded.session),
snapshots AS (
  INSERT INTO perdure.snapshots(session, seq, bytes)
  SELECT * FROM unnest($29::uuid[], $30::bigint[], $31::bytea[])
  ON CONFLICT(session) DO UPDATE SET seq = excluded.seq, bytes = excluded.bytes),
blobs AS (
  INSERT INTO perdure.blobs AS b (hash, bytes) SELECT * FROM unnest($32::bytea[], $33::bytea[])
  ON CONFLICT(hash) DO UPDATE SET bytes = b.bytes WHERE false),
kept AS MATERIALIZED (
  SELECT hash FROM perdure.blobs WHERE hash = ANY($38::bytea[]) ORDER BY hash FOR KEY SHARE),
owners AS (
  INSERT INTO perdure.blob_owners(session, hash) SELECT * FROM unnest($34::uuid[], $35::bytea[])
  ON CONFLICT DO NOTHING)
SELECT perdure.must((SELECT count(*) FROM life),
  (SELECT count(*) FROM held) + (SELECT count(*) FROM unnest($36::bigint[]) AS w WHERE w IS NULL)
    + cardinality($38::bytea[]),
  (SELECT count(*) FROM made) + (SELECT count(*) FROM moved) + (SELECT count(*) FROM kept),
  cardinality($5::uuid[]) + cardinality($38::bytea[])),
  CASE WHEN $37 <> '' THEN pg_notify('perdure', $37) END
)";

}  // namespace

std::int64_t record_crc(const PgPlace& place, std::string_view record) {
  const std::string key =
      pg_bytes(place.session.ulid()) + pg_bytes(Ulid{.high = 0, .low = place.seq});
  return crc32c(record, crc32c(key));
}

void PgGroup::add(const Append& append, const Stored& stored) {
  const auto [at, is_first] = sessions_.try_emplace(append.session);
  Change& change = at->second;
  if (is_first) {
    change.head_before = stored.head;
    change.head = stored.head.value_or(0);
  }
  if (stored.lease) change.lease = stored.lease;
  for (const std::string& record : append.records) change.records.push_back(record);
  change.head += append.records.size();
  for (const OutboxRow& row : append.outbox_add) change.outbox_add[row.number] = row.payload;
  for (const std::uint64_t number : append.outbox_done) {
    if (change.outbox_add.erase(number) == 0) change.outbox_done.insert(number);
  }
  if (append.cursor) change.cursor = append.cursor;
  if (append.listing) change.listing = &*append.listing;
  if (append.snapshot) change.snapshot.emplace(change.head, *append.snapshot);
  for (const StoredAnswer& answer : append.answers) answers_.push_back(&answer);
  for (const std::string& ref : append.refs) refs_[ref] = append.session;
  for (const Blob& blob : append.blobs) {
    blobs_.emplace(blob.hash, blob.bytes);
    change.blobs.insert(blob.hash);
  }
  for (const Hash& hash : append.blob_refs) {
    if (!blobs_.contains(hash)) blob_refs_.insert(hash);
    change.blobs.insert(hash);
  }
  ++appends_;
}

std::vector<SessionId> PgGroup::sessions() const {
  std::vector<SessionId> out;
  for (const auto& [session, change] : sessions_) out.push_back(session);
  return out;
}

std::vector<std::pair<SessionId, Seq>> PgGroup::heads() const {
  std::vector<std::pair<SessionId, Seq>> out;
  for (const auto& [session, change] : sessions_) out.emplace_back(session, change.head);
  return out;
}

std::vector<std::string> PgGroup::answer_keys() const {
  std::vector<std::string> out;
  for (const StoredAnswer* const answer : answers_) out.push_back(answer->key);
  return out;
}

PgStatement PgGroup::statement() { return {"group", group_sql}; }

PgParams PgGroup::params(const PgTurn& turn, std::string_view hint) const {
  PgParams params;
  params.text(turn.node).number(turn.epoch).number(turn.link).number(turn.group);
  put_sessions(params);
  put_records(params);
  put_outbox(params);
  put_answers(params);
  put_refs(params);
  put_snapshots(params);
  put_blobs(params);
  put_leases(params);
  params.text(hint);
  put_blob_refs(params);
  return params;
}

void PgGroup::put_sessions(PgParams& params) const {
  PgArray ids(PgType::uuid), before(PgType::int8), heads(PgType::int8), execs(PgType::uuid),
      frames(PgType::int8), open(PgType::boolean), archived(PgType::boolean), updated(PgType::int8),
      summaries(PgType::bytes);
  for (const auto& [session, change] : sessions_) {
    ids.add(session.ulid());
    change.head_before ? before.add(*change.head_before) : before.add_null();
    heads.add(change.head);
    if (change.cursor) {
      execs.add(change.cursor->exec.ulid());
      frames.add(change.cursor->frame);
    } else {
      execs.add_null();
      frames.add_null();
    }
    if (const Listing* const listing = change.listing) {
      open.add_flag(listing->open ? 1 : 0);
      archived.add_flag(listing->archived ? 1 : 0);
      updated.add(listing->updated.ms);
      summaries.add(listing->summary);
    } else {
      for (PgArray* const array : {&open, &archived, &updated, &summaries}) array->add_null();
    }
  }
  for (const PgArray* const array :
       {&ids, &before, &heads, &execs, &frames, &open, &archived, &updated, &summaries}) {
    params.array(*array);
  }
}

void PgGroup::put_records(PgParams& params) const {
  PgArray ids(PgType::uuid), seqs(PgType::int8), crcs(PgType::int8), bytes(PgType::bytes);
  for (const auto& [session, change] : sessions_) {
    Seq seq = change.head - change.records.size();
    for (const std::string_view record : change.records) {
      ids.add(session.ulid());
      seqs.add(++seq);
      crcs.add(record_crc({.session = session, .seq = seq}, record));
      bytes.add(record);
    }
  }
  params.array(ids).array(seqs).array(crcs).array(bytes);
}

void PgGroup::put_outbox(PgParams& params) const {
  PgArray add_ids(PgType::uuid), add_numbers(PgType::int8), payloads(PgType::bytes);
  PgArray done_ids(PgType::uuid), done_numbers(PgType::int8);
  for (const auto& [session, change] : sessions_) {
    for (const auto& [number, payload] : change.outbox_add) {
      add_ids.add(session.ulid());
      add_numbers.add(number);
      payloads.add(payload);
    }
    for (const std::uint64_t number : change.outbox_done) {
      done_ids.add(session.ulid());
      done_numbers.add(number);
    }
  }
  params.array(add_ids).array(add_numbers).array(payloads).array(done_ids).array(done_numbers);
}

void PgGroup::put_answers(PgParams& params) const {
  PgArray keys(PgType::bytes), bodies(PgType::bytes), answers(PgType::bytes), expires(PgType::int8);
  for (const StoredAnswer* const answer : answers_) {
    keys.add(answer->key);
    bodies.add(answer->body);
    answers.add(answer->answer);
    answer->expires ? expires.add(answer->expires->ms) : expires.add_null();
  }
  params.array(keys).array(bodies).array(answers).array(expires);
}

void PgGroup::put_refs(PgParams& params) const {
  PgArray refs(PgType::bytes), ids(PgType::uuid);
  for (const auto& [ref, session] : refs_) {
    refs.add(ref);
    ids.add(session.ulid());
  }
  params.array(refs).array(ids);
}

void PgGroup::put_snapshots(PgParams& params) const {
  PgArray ids(PgType::uuid), seqs(PgType::int8), bytes(PgType::bytes);
  for (const auto& [session, change] : sessions_) {
    if (!change.snapshot) continue;
    ids.add(session.ulid());
    seqs.add(change.snapshot->first);
    bytes.add(change.snapshot->second);
  }
  params.array(ids).array(seqs).array(bytes);
}

void PgGroup::put_blobs(PgParams& params) const {
  PgArray hashes(PgType::bytes), bytes(PgType::bytes), owners(PgType::uuid), owned(PgType::bytes);
  for (const auto& [hash, blob] : blobs_) {
    hashes.add(hash);
    bytes.add(blob);
  }
  for (const auto& [session, change] : sessions_) {
    for (const Hash& hash : change.blobs) {
      owners.add(session.ulid());
      owned.add(hash);
    }
  }
  params.array(hashes).array(bytes).array(owners).array(owned);
}

void PgGroup::put_blob_refs(PgParams& params) const {
  PgArray hashes(PgType::bytes);
  for (const Hash& hash : blob_refs_) hashes.add(hash);
  params.array(hashes);
}

void PgGroup::put_leases(PgParams& params) const {
  PgArray epochs(PgType::int8);
  for (const auto& [session, change] : sessions_) {
    change.lease ? epochs.add(*change.lease) : epochs.add_null();
  }
  params.array(epochs);
}

}  // namespace perdure
