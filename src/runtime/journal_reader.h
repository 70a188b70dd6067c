// Reads what projections need out of a journal: windows of decoded records, and on them the last
// page of a transcript and the history for an injected prompt. Reads only as far as is asked for,
// so the cost does not grow with the session.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "session/resume_context.h"
#include "session/transcript.h"
#include "store/store.h"

namespace perdure {

// The records after+1 … upto. `damaged` when one of them is missing or cannot be read.
Result<std::vector<Record>> read_records(Store& store, SessionId session, Seq after, Seq upto);

// The context for a prompt behind the given boundary.
Result<ResumeContext> read_resume_context(Store& store, SessionId session,
                                          ResumeContextBuilder::Ask ask);

struct TranscriptSlice {
  std::vector<TranscriptMessage> messages;
  std::vector<QuestionAnswer> answers = {};  // between them, by seq
  bool has_older = false;
  Seq last_seq = 0;  // the head it was read at
};

// How a page is read.
struct TranscriptScope {
  std::optional<Seq> at;                              // as of this record, not of the head
  std::function<void(const Record&)> on_record = {};  // told of each record that was read, once
};

// One page of the transcript as of the head (A20).
Result<TranscriptSlice> read_transcript(Store& store, SessionId session, TranscriptPage::Ask ask,
                                        const TranscriptScope& scope = {});

}  // namespace perdure
