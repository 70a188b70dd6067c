// The audit trail: durability when note() reports an entry, the order across segments, crashes and
// several daemons, what is deleted when, and that strangers cannot fill it.
#include "daemon/runtime/audit/audit.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json/fields_json.h"
#include "core/wire/journal/node_record.h"
#include "daemon/registry/node.h"
#include "daemon/runtime/fixture_for_test.h"
#include "daemon/runtime/load.h"
#include "store/line_chain.h"

namespace perdure {
namespace {

constexpr std::int64_t day_ms = 24LL * 3600'000;

class AuditBench {
 public:
  explicit AuditBench(Audit::Setting with = {.segment_records = 4}) : setting(std::move(with)) {
    open();
  }

  void open() {
    store = MemoryStore::open(disk, {.on_fatal = [this](const Error&) { fatal = true; }});
    Result<std::unique_ptr<Audit>> opened = Audit::open({loop, loop, *store}, setting);
    ASSERT_TRUE(opened) << opened.error().message();
    audit = std::move(*opened);
  }
  void crash(CrashChoice choice) {
    audit.reset();
    loop.forget_everything();
    disk.crash(choice);
    open();
  }
  void run() {
    while (loop.run_posted() || store->step()) {}
  }
  void pass_ms(std::int64_t ms) {
    const std::int64_t until = loop.time_ms + ms;
    while (loop.run_timer(until)) run();
    loop.time_ms = until;
  }
  std::optional<Result<Seq>> note(const std::string& what, bool essential = false) {
    std::optional<Result<Seq>> out;
    audit->note({.what = what, .by = "uid:1", .on = {"tok_1"}, .essential = essential},
                [&](Result<Seq> seq) { out = std::move(seq); });
    run();
    return out;
  }
  std::vector<std::string> kinds(Seq after = 0) {
    std::vector<std::string> out;
    for (const AuditRecord& record : audit->read(after, 1000)->records) {
      out.push_back(record.entry.what);
    }
    return out;
  }

  Audit::Setting setting;
  TestLoop loop;
  MemoryDisk disk;
  std::unique_ptr<MemoryStore> store;
  std::unique_ptr<Audit> audit;
  bool fatal = false;
};

std::string numbered(std::uint64_t number) { return "a.n" + std::to_string(number); }

TEST(Audit, an_entry_is_durable_before_it_is_reported_and_keeps_its_order_over_segments) {
  AuditBench bench;
  for (Seq seq = 1; seq <= 11; ++seq) EXPECT_EQ(**bench.note(numbered(seq)), seq);
  bench.crash(CrashChoice::lose_tail);
  EXPECT_EQ(bench.audit->first(), 1U);
  EXPECT_EQ(bench.audit->last(), 11U);
  const Audit::Page page = *bench.audit->read(3, 1000);
  ASSERT_EQ(page.records.size(), 8U);
  EXPECT_EQ(page.read_to, 11U);
  for (std::size_t i = 0; i < page.records.size(); ++i) {
    EXPECT_EQ(page.records[i].seq, 4 + i);
    EXPECT_EQ(page.records[i].entry.what, numbered(4 + i));
    EXPECT_EQ(page.records[i].entry.by, "uid:1");
    EXPECT_THAT(page.records[i].entry.on, testing::ElementsAre("tok_1"));
  }
  EXPECT_EQ(bench.audit->read(0, 2)->read_to, 2U);
  EXPECT_EQ(**bench.note("later"), 12U);
}

TEST(Audit, nothing_is_reported_before_the_store_has_it) {
  AuditBench bench;
  bench.note("first");
  std::optional<Result<Seq>> out;
  bench.audit->note({.what = "second"}, [&](Result<Seq> seq) { out = std::move(seq); });
  while (bench.loop.run_posted()) {}
  EXPECT_FALSE(out) << "the store has not committed it yet";
  EXPECT_EQ(bench.audit->last(), 1U);
  bench.run();
  EXPECT_EQ(**out, 2U);
}

TEST(Audit, DISK1_after_a_failed_sync_no_action_begins) {
  AuditBench bench;
  bench.note("first");
  bench.store->inject(CommitFault::eio_unknown);
  EXPECT_FALSE(bench.note("second"));
  EXPECT_TRUE(bench.fatal);
}

TEST(Audit, DISK2_on_a_full_disk_an_action_is_refused_and_a_right_can_still_be_taken_away) {
  AuditBench bench;
  bench.note("first");
  bench.store->inject(CommitFault::disk_full);
  EXPECT_EQ(bench.note("token.create")->error().code(), Code::disk_full);
  bench.store->inject(CommitFault::disk_full);
  EXPECT_EQ(**bench.note("token.revoke", true), 2U);
}

TEST(Audit, what_nobody_waited_for_and_was_not_written_is_counted) {
  AuditBench bench;
  bench.note("first");
  bench.store->inject(CommitFault::disk_full);
  bench.audit->note({.what = "lost.one", .count = 3});
  bench.run();
  bench.note("second");
  EXPECT_THAT(bench.kinds(), testing::ElementsAre("first", "audit.lost", "second"));
  EXPECT_EQ(bench.audit->read(1, 1)->records.front().entry.count, 3U);
}

TEST(Audit, two_daemons_on_one_store_write_one_order_and_read_each_other) {
  AuditBench bench({.segment_records = 4, .node = "one"});
  auto other =
      *Audit::open({bench.loop, bench.loop, *bench.store}, {.segment_records = 4, .node = "two"});
  int told = 0;
  other->watch([&] { ++told; });
  std::vector<Seq> seqs;
  for (int i = 0; i < 10; ++i) {
    bench.audit->note({.what = "by.one"}, [&](Result<Seq> seq) { seqs.push_back(*seq); });
    other->note({.what = "by.two"}, [&](Result<Seq> seq) { seqs.push_back(*seq); });
    if (i % 3 == 0) bench.run();
  }
  bench.run();
  ASSERT_EQ(seqs.size(), 20U);
  std::ranges::sort(seqs);
  for (Seq seq = 1; seq <= 20; ++seq) EXPECT_EQ(seqs[seq - 1], seq);
  bench.audit->note({.what = "by.one"});
  bench.run();
  const int before = told;
  ASSERT_TRUE(other->catch_up());
  ASSERT_TRUE(bench.audit->catch_up());
  EXPECT_EQ(told, before + 1);
  EXPECT_EQ(other->last(), 21U);
  const std::vector<AuditRecord> records = other->read(0, 1000)->records;
  ASSERT_EQ(records.size(), 21U);
  EXPECT_EQ(records, bench.audit->read(0, 1000)->records);
  for (const AuditRecord& record : records) {
    EXPECT_EQ(record.entry.node, record.entry.what == "by.one" ? "one" : "two");
  }
}

TEST(Audit, old_entries_are_deleted_and_numbers_go_on) {
  AuditBench bench({.keep_days = 8, .segment_records = 4});
  for (int i = 0; i < 10; ++i) bench.note(numbered(static_cast<Seq>(i) + 1));
  EXPECT_TRUE(bench.store->head(audit_segment_id(1)));
  bench.pass_ms(30 * day_ms);
  EXPECT_FALSE(bench.store->head(audit_segment_id(1))) << "the daemon's own care deletes them";
  EXPECT_EQ(bench.audit->first(), 0U);
  EXPECT_EQ(**bench.note("later"), 11U);
  EXPECT_EQ(bench.audit->first(), 11U);
  EXPECT_THAT(bench.kinds(), testing::ElementsAre("later"));
  bench.crash(CrashChoice::lose_tail);
  EXPECT_THAT(bench.kinds(), testing::ElementsAre("later"));
}

TEST(Audit, the_number_of_entries_is_bounded_and_0_days_keeps_them) {
  AuditBench bench({.keep_days = 0, .segment_records = 4, .records_max = 10});
  for (Seq seq = 1; seq <= 40; ++seq) {
    bench.note(numbered(seq));
    bench.loop.time_ms += 10 * day_ms;
    const Seq kept = bench.audit->last() - bench.audit->first() + 1;
    EXPECT_LE(kept, 10U + 2 * 4) << "segments go as a whole";
    EXPECT_GE(kept, std::min<Seq>(seq, 10));
  }
  EXPECT_EQ(bench.kinds().front(), numbered(bench.audit->first()));
}

TEST(Audit, since_finds_the_first_entry_of_a_time) {
  AuditBench bench;
  for (Seq seq = 1; seq <= 30; ++seq) {
    bench.note(numbered(seq));
    bench.loop.time_ms += 1000;
  }
  for (Seq seq = 1; seq <= 30; ++seq) {
    const Timestamp at = bench.audit->read(seq - 1, 1)->records.front().at;
    EXPECT_EQ(*bench.audit->last_before(at), seq - 1);
    EXPECT_EQ(*bench.audit->last_before({at.ms + 1}), seq);
  }
  EXPECT_EQ(*bench.audit->last_before({0}), 0U);
}

TEST(Audit, J2_the_chain_goes_through_all_segments) {
  AuditBench bench;
  for (Seq seq = 1; seq <= 11; ++seq) bench.note(numbered(seq));
  const AuditIndex index = read_audit_index(*bench.store)->index;
  ASSERT_EQ(index.segments.size(), 3U);
  Hash before;
  for (const AuditSegment& segment : index.segments) {
    EXPECT_EQ(segment.before, before);
    const SessionId id = audit_segment_id(segment.number);
    LineChain lines;
    NodeChain chain;
    for (const std::string& bytes : bench.store->read(id, {.after = 0, .limit = 100})->records) {
      EXPECT_NE(lines.add(bytes), LineChain::Link::broken);
      EXPECT_TRUE(chain.add(bytes));
    }
    before = chain.hash();
  }
}

TEST(Audit, after_damage_the_trail_goes_on_behind_it) {
  AuditBench bench;
  for (Seq seq = 1; seq <= 6; ++seq) bench.note(numbered(seq));
  ASSERT_TRUE(bench.disk.flip_bit(audit_segment_id(2), 2));
  bench.crash(CrashChoice::keep_tail);
  const Seq next = **bench.note("later");
  EXPECT_GT(next, 6U) << "no number is used twice";
  EXPECT_THAT(bench.kinds(),
              testing::IsSupersetOf({numbered(1), numbered(4), std::string("later")}));
}

TEST(Audit, it_is_no_session_for_any_version) {
  AuditBench bench;
  for (Seq seq = 1; seq <= 6; ++seq) bench.note(numbered(seq));
  for (const SessionId id : {audit_index_id(), audit_segment_id(1), audit_segment_id(2)}) {
    EXPECT_TRUE(is_audit_journal(id));
    const Result<LoadedSession> loaded = load_session(*bench.store, id);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code(), Code::not_found);
  }
  EXPECT_FALSE(is_audit_journal(Node::journal_id()));
  EXPECT_TRUE(bench.store->open_sessions()->empty());
  // The session list of a version without an audit trail omits these.
  for (const ListedSession& listed : *bench.store->list(SessionId(), 100)) {
    EXPECT_THAT(listed.listing.summary, testing::HasSubstr(R"("copying":true)"));
  }
}

TEST(Audit, an_entry_is_cut_to_its_bounds) {
  AuditBench bench;
  bench.audit->note({.what = "long",
                     .by = std::string(10'000, 'b'),
                     .on = std::vector<std::string>(100, std::string(10'000, 'i')),
                     .text = std::string(10'000, 't')});
  bench.run();
  EXPECT_LT(bench.store->read(audit_segment_id(1), {.after = 0, .limit = 1})->records[0].size(),
            8'000U);
}

AuditEntry refusal(const std::string& from) {
  return {.what = "sign_in.refuse", .from = from, .outcome = "unauthenticated"};
}

TEST(Audit, a_flood_of_refusals_is_counted_and_fills_nothing) {
  std::vector<AuditEntry> logged;
  AuditBench bench({.on_refusal = [&](const AuditEntry& entry) { logged.push_back(entry); }});
  std::uint64_t sent = 0;
  for (int minute = 0; minute < 24 * 60; ++minute) {
    for (int i = 0; i < 200; ++i) {
      bench.audit->note_refusal(refusal("10.0.0." + std::to_string(i)));
      bench.audit->note_refusal(
          refusal("2001:db8::" + std::to_string(minute) + ":" + std::to_string(i)));
      sent += 2;
    }
    bench.pass_ms(60'000);
  }
  bench.pass_ms(2 * 3600'000);
  const Seq entries = bench.audit->last();
  EXPECT_LT(entries, 2000U) << "of " << sent << " refusals in a day";
  EXPECT_EQ(logged.size(), entries);
  std::uint64_t counted = 0;
  for (Seq after = 0; after < entries;) {
    const Audit::Page page = *bench.audit->read(after, 1000);
    for (const AuditRecord& record : page.records) counted += record.entry.count;
    after = page.read_to;
  }
  EXPECT_EQ(counted, sent) << "none is left out";
}

TEST(Audit, a_single_refusal_is_there_at_once_and_its_repeats_once_a_window) {
  AuditBench bench;
  for (int i = 0; i < 5; ++i) bench.audit->note_refusal(refusal("10.0.0.1"));
  bench.run();
  EXPECT_THAT(bench.kinds(), testing::ElementsAre("sign_in.refuse"));
  bench.pass_ms(refusal_window_ms);
  ASSERT_EQ(bench.audit->last(), 2U);
  EXPECT_EQ(bench.audit->read(1, 1)->records.front().entry.count, 4U);
  bench.pass_ms(10 * refusal_window_max_ms);
  EXPECT_EQ(bench.audit->last(), 2U) << "nothing more came";
}

TEST(Audit, a_refused_login_is_not_counted_among_other_refusals) {
  AuditBench bench;
  AuditEntry other = refusal("10.0.0.1");
  other.text = "GET /api/inbox";
  bench.audit->note_refusal(other);
  AuditEntry login = refusal("10.0.0.1");
  login.text = "POST /api/login";
  login.route = RouteClass::login;
  bench.audit->note_refusal(login);
  bench.run();
  ASSERT_EQ(bench.audit->last(), 2U);
  EXPECT_EQ(bench.audit->read(1, 1)->records.front().entry.text, "POST /api/login");
}

TEST(Audit, a_flood_of_other_refusals_hides_no_refused_login) {
  std::vector<AuditEntry> logged;
  AuditBench bench({.on_refusal = [&](const AuditEntry& entry) { logged.push_back(entry); }});
  for (int i = 0; i < 500; ++i) bench.audit->note_refusal(refusal("10.1.0." + std::to_string(i)));
  AuditEntry login = refusal("10.0.0.1");
  login.route = RouteClass::login;
  bench.audit->note_refusal(login);
  bench.run();
  EXPECT_EQ(bench.audit->read(bench.audit->last() - 1, 1)->records.front().entry.from, "10.0.0.1");
  ASSERT_FALSE(logged.empty());
  EXPECT_EQ(logged.back().from, "10.0.0.1");
}

TEST(Audit, refused_logins_beyond_the_bound_are_reported_as_such) {
  AuditBench bench;
  for (int i = 0; i < 500; ++i) {
    AuditEntry login = refusal("10.0.0." + std::to_string(i));
    login.route = RouteClass::login;
    bench.audit->note_refusal(login);
  }
  bench.pass_ms(refusal_others_ms);
  std::uint64_t counted = 0;
  for (const AuditRecord& record : bench.audit->read(0, 1000)->records) {
    EXPECT_EQ(record.entry.what, "sign_in.refuse");
    counted += record.entry.count;
  }
  EXPECT_EQ(counted, 500U);
}

TEST(Audit, a_million_entries_are_opened_by_reading_two_records) {
  MemoryDisk disk;
  TestLoop loop;
  const auto store = MemoryStore::open(disk, {});
  constexpr std::uint64_t segments = 245;
  AuditIndex index;
  for (std::uint64_t i = 1; i <= segments; ++i) {
    index.segments.push_back(
        {.number = i, .first = (i - 1) * audit_segment_records + 1, .opened = loop.now().wall});
  }
  Append append = audit_append(*store, audit_index_id(), 0);
  append.records.push_back(encode_node_record({.seq = 1,
                                               .at = loop.now().wall,
                                               .kind = std::string(audit_index_kind),
                                               .prev = {},
                                               .fields = {encode_fields(index)}}));
  EXPECT_LT(append.records.front().size(), 64UL << 10);
  store->append(std::move(append), [](Result<>) {});
  while (store->step()) {}
  const auto audit = Audit::open({loop, loop, *store}, {});
  ASSERT_TRUE(audit);
  EXPECT_EQ((*audit)->last(), (segments - 1) * audit_segment_records);
}

}  // namespace
}  // namespace perdure
