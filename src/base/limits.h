// Every limit of the product, in one place. What happens at a limit stands beside it;
// docs/limits.md repeats this table for users.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perdure {

// JSON: deeper nesting is refused as invalid input.
inline constexpr std::size_t json_depth_max = 64;

// A journal record, encoded. Larger payloads go to blobs; a larger record is refused.
inline constexpr std::size_t record_bytes_max = 64UL << 20;
// A field longer than this is stored as a blob and referenced by hash.
inline constexpr std::size_t blob_threshold_bytes = 256UL << 10;

// agentctl.
// A frame, encoded. Of a longer one the agent's own update is left out, then its text cut, and it
// says so.
inline constexpr std::size_t frame_bytes_max = 48UL << 20;
// Bytes of frames that nobody has acked; beyond it the agent is not read.
inline constexpr std::size_t spool_bytes_max = 256UL << 20;
inline constexpr std::size_t spool_segment_bytes = 8UL << 20;  // then a new file is begun
// A packet on the link between daemon and agentctl; a longer one ends the link.
inline constexpr std::size_t packet_bytes_max = 64UL << 20;
// Queued for a daemon that does not read: frames wait in the spool, other packets end the link.
inline constexpr std::size_t link_unsent_bytes_max = 4UL << 20;
// Queued for an agent that does not read its stdin; beyond it the prompt fails.
inline constexpr std::size_t agent_unread_bytes_max = 64UL << 20;
inline constexpr std::size_t links_max = 8;                  // connections to one agentctl at once
inline constexpr std::size_t calls_open_max = 64;            // workspace calls at once on one link
inline constexpr std::size_t stderr_tail_bytes = 4UL << 10;  // of the agent, kept for its exit
inline constexpr std::size_t commands_early_max = 1024;      // that wait for the agent to be ready
// Settings of an agent that are known to be told; beyond it all are told again.
inline constexpr std::size_t options_known_max = 1024;
// Messages of a turn of which is known how much was shown; beyond it one may be shown again.
inline constexpr std::size_t messages_known_max = 4096;
// Of what an agent says of an error; the rest is cut.
inline constexpr std::size_t error_text_bytes_max = 16UL << 10;

// Session machine.
inline constexpr std::size_t queue_prompts_max = 100;       // one more: limit_reached
inline constexpr std::size_t prompt_bytes_max = 8UL << 20;  // longer: limit_reached
inline constexpr std::size_t title_bytes_max = 1024;        // longer titles are cut
inline constexpr std::size_t waits_open_max = 256;     // one more question is answered cancelled
inline constexpr std::size_t waits_closed_kept = 64;   // older closed tokens read as not found
inline constexpr std::size_t tools_open_max = 4096;    // one open tool call is forgotten
inline constexpr std::size_t ladder_attempts_max = 8;  // then the resume fails

// Resume context (K31, C12): characters kept of each item, and of the whole.
inline constexpr std::size_t context_message_chars = 2000;
inline constexpr std::size_t context_tool_result_chars = 500;
inline constexpr std::size_t context_total_chars = 60'000;

// Runtime.
// Inputs waiting for a session. Beyond it frames wait, and commands get limit_reached.
inline constexpr std::size_t inbox_inputs_max = 1024;
inline constexpr std::size_t batch_inputs_max = 256;  // inputs decided in one commit
inline constexpr std::size_t snapshot_every_records = 256;
// Records a reader may be behind in memory; a slower one is cut with its cursor.
inline constexpr std::size_t subscriber_records_max = 1024;
inline constexpr std::size_t page_records_max = 1000;

// ACP, both directions.
// A line of an agent. A longer one is skipped up to its newline and reported once.
inline constexpr std::size_t acp_line_bytes_max = 64UL << 20;
inline constexpr std::size_t acp_noise_bytes_max =
    512;  // kept of what was no message; the rest is cut
inline constexpr std::size_t acp_calls_open_max = 256;  // unanswered calls; the oldest is forgotten
// Sessions of one connection whose options are remembered; the one seen longest ago is forgotten.
inline constexpr std::size_t acp_sessions_known_max = 64;
inline constexpr std::size_t acp_tool_input_bytes_max = 2000;  // of a tool's input in readable form

// Waits in milliseconds.
inline constexpr std::int64_t executor_ready_ms = 60'000;  // K23
inline constexpr std::int64_t session_open_ms = 90'000;    // K13: then it fails, the id is kept
inline constexpr std::int64_t reconcile_probe_ms = 2'000;  // C19

}  // namespace perdure
