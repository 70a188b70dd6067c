// Reads what projections need from a journal: windows of decoded records, and from them the last
// page of a transcript and the history for an injected prompt. It reads only as far as requested,
// so the cost does not grow with the session.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "core/views/resume_context.h"
#include "core/views/transcript.h"
#include "store/store.h"

namespace perdure {

// The records after+1 … upto. `damaged` if one of them is missing or unreadable.
Result<std::vector<Record>> read_records(Store& store, SessionId session, Seq after, Seq upto);

// The context for a prompt after the given boundary.
Result<ResumeContext> read_resume_context(Store& store, SessionId session,
                                          ResumeContextBuilder::Ask ask);

struct TranscriptSlice {
  std::vector<TranscriptMessage> messages;
  std::vector<QuestionAnswer> answers = {};  // between them, by seq
  bool has_older = false;
  Seq last_seq = 0;  // the head when it was read
};

// Options for reading a page.
struct TranscriptScope {
  std::optional<Seq> at;                              // as of this record, not of the head
  std::function<void(const Record&)> on_record = {};  // called once per record read
};

// One page of the transcript as of the head (A20).
Result<TranscriptSlice> read_transcript(Store& store, SessionId session, TranscriptPage::Ask ask,
                                        const TranscriptScope& scope = {});

}  // namespace perdure
