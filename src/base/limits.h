// Every limit that a user, a client, an agent or another host can reach, and every bound on memory
// kept for them. The behaviour at a limit is stated beside it; docs/limits.md has the same table
// for users. Internal pacing (how much a file reads at once, how soon it looks again, how often it
// tries) stays in that file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perdure {

// JSON: deeper nesting is rejected as invalid input.
inline constexpr std::size_t json_depth_max = 64;
// Of what a client gives to be kept or passed on: effects, packets and snapshots hold it some
// levels deeper. Deeper: invalid_argument.
inline constexpr std::size_t json_depth_given_max = 48;

// A journal record, encoded. Larger payloads go to blobs; a larger record is rejected.
inline constexpr std::size_t record_bytes_max = 64UL << 20;
// An agent's own update that is longer than this is stored as a blob and referenced by hash; all
// other fields stay in the record.
inline constexpr std::size_t blob_threshold_bytes = 256UL << 10;

// agentctl.
// A frame, encoded. If it is longer, the agent's own update is omitted, then its text is cut; the
// frame says so.
inline constexpr std::size_t frame_bytes_max = 48UL << 20;
// Bytes of unacknowledged frames; beyond it the agent's output is not read.
inline constexpr std::size_t spool_bytes_max = 256UL << 20;
inline constexpr std::size_t spool_segment_bytes = 8UL << 20;  // further frames go into a new file
// A packet on the link between daemon and agentctl; a longer one ends the link.
inline constexpr std::size_t packet_bytes_max = 64UL << 20;
// Queued for a daemon that does not read: frames wait in the spool, other packets end the link.
inline constexpr std::size_t link_unsent_bytes_max = 4UL << 20;
// Frames that an agentctl sends ahead of the last one stored; the rest waits in its spool.
inline constexpr std::uint64_t window_frames = 256;
// Queued for an agent that does not read its stdin; beyond it the agent is ended.
inline constexpr std::size_t agent_unread_bytes_max = 64UL << 20;
inline constexpr std::size_t links_max = 8;        // concurrent connections to one agentctl
inline constexpr std::size_t calls_open_max = 64;  // concurrent workspace calls on one link
// Agentctls that serve only a workspace, without agent and shell. They do not count as live agents;
// beyond this number the least recently used one ends.
inline constexpr std::size_t workspaces_live_max = 32;
inline constexpr std::size_t stderr_tail_bytes = 4UL << 10;  // of the agent, kept for its exit
// Settings of an agent known to have been reported; beyond it all are reported again.
inline constexpr std::size_t options_known_max = 1024;
// Messages of a turn for which the amount shown is known; beyond it one may be shown again.
inline constexpr std::size_t messages_known_max = 4096;
// Updates that arrive before their session is open, and their bytes; more are dropped.
inline constexpr std::size_t early_updates_max = 1024;
inline constexpr std::size_t early_bytes_max = 4UL << 20;
// Remembered ids of an agent, in bytes for each kind: tools, messages, settings. At this limit the
// same happens as at the limit of their number.
inline constexpr std::size_t agent_ids_bytes_max = 512UL << 10;
// Terminals of an agent whose tool call is known; beyond it the output of the oldest is recorded as
// received and no longer shown with its tool.
inline constexpr std::size_t agent_terminals_known_max = 256;
// Sessions that an agent could not open, whose late updates are ignored; the oldest is forgotten.
inline constexpr std::size_t sessions_refused_max = 64;
// Settings that wait for an earlier one; one more is rejected, and the rejection is reported.
inline constexpr std::size_t options_waiting_max = 256;
// Unanswered requests of an agent; one more is answered with an error.
inline constexpr std::size_t agent_requests_open_max = 256;
// After this much silence from an agentctl, the daemon requests its status. Without an answer
// within the second time, it is unknown whether the agentctl is alive.
inline constexpr std::int64_t agentctl_quiet_ms = 10'000;
inline constexpr std::int64_t agentctl_answer_ms = 5'000;
// Text of an agent's error; the rest is cut.
inline constexpr std::size_t agent_error_bytes_max = 16UL << 10;
// After this many successive deaths before a session was open, an agent is not started again. The
// wait before each new start doubles, up to the second value.
inline constexpr std::uint64_t early_deaths_max = 5;
inline constexpr std::int64_t start_backoff_ms_max = 30'000;
// How long to wait for a moment when an agent can load a session; then it is loaded anyway.
inline constexpr std::int64_t load_wait_ms_max = 120'000;

// Session machine.
inline constexpr std::size_t queue_prompts_max = 100;       // one more: limit_reached
inline constexpr std::size_t queue_bytes_max = 64UL << 20;  // of all of these; the same
inline constexpr std::size_t prompt_bytes_max = 8UL << 20;  // longer: limit_reached
inline constexpr std::size_t title_bytes_max = 1024;        // longer titles are cut
inline constexpr std::size_t waits_open_max = 256;     // one more question is answered cancelled
inline constexpr std::size_t waits_closed_kept = 64;   // older closed tokens read as not found
inline constexpr std::size_t tools_open_max = 4096;    // one more is not known to be open
inline constexpr std::size_t ladder_attempts_max = 8;  // then the resume fails
// Settings that a session remembers, separately for observed and requested ones. One more from an
// agent is not remembered; one more from a client: limit_reached.
inline constexpr std::size_t options_kept_max = 128;
// An agent's id for a tool call or a message; a session does not remember a longer one.
inline constexpr std::size_t agent_id_bytes_max = 1024;
// A question's options (more are not offered), and the bytes of an option's id (with a longer id it
// is not offered) and of its name and kind (longer ones are cut).
inline constexpr std::size_t question_options_max = 32;
inline constexpr std::size_t question_option_bytes_max = 256;

// The shortest wait for a provider's limit, and the longest: a limit reported to last longer is
// only shown as a failure. Then the bounds of a request to continue automatically at the reset;
// beyond them: invalid_argument.
inline constexpr std::int64_t limit_wait_ms_min = 5'000;
inline constexpr std::int64_t limit_wait_ms_max = 31LL * 24 * 3600'000;
inline constexpr std::int64_t continue_times_max = 100;
inline constexpr std::int64_t continue_hours_max = 31LL * 24;

// Resume context (K31, C12): characters kept of each item, and of the whole.
inline constexpr std::size_t context_message_chars = 2000;
inline constexpr std::size_t context_tool_result_chars = 500;
inline constexpr std::size_t context_total_chars = 60'000;

// Runtime.
// Inputs waiting for a session. Beyond it frames wait, and commands get limit_reached.
inline constexpr std::size_t inbox_inputs_max = 1024;
inline constexpr std::size_t batch_inputs_max = 256;  // inputs decided in one commit
// Written by one commit of a session; the input that reaches it is the last of the batch.
inline constexpr std::size_t batch_bytes_max = 16UL << 20;
inline constexpr std::size_t snapshot_every_records = 256;
// A longer one is omitted: the session is folded from an older one, or from its beginning.
inline constexpr std::size_t snapshot_bytes_max = 64UL << 20;
// The size of one append to a store; more would be a bug, and is rejected.
inline constexpr std::size_t append_bytes_max = 256UL << 20;
// How many records a reader may be behind; a slower one is disconnected with its cursor.
inline constexpr std::size_t subscriber_records_max = 1024;
// Records of a session kept for slower readers, and their bytes (one record may be longer); a
// reader further behind reads from the store.
inline constexpr std::size_t recent_records_max = 256;
inline constexpr std::size_t recent_bytes_max = 1UL << 20;
// Passed to a reader at once; the rest follows.
inline constexpr std::size_t portion_records_max = 200;
// Sessions in memory; before one more is loaded, all idle ones are evicted.
inline constexpr std::size_t actors_idle_max = 1024;
// Followed sessions of other daemons; those without readers are evicted in the same way.
inline constexpr std::size_t followed_idle_max = 256;
// The first answer to an idempotency key; afterwards the key is new again.
inline constexpr std::int64_t answers_kept_ms = 7LL * 24 * 3600'000;
inline constexpr std::size_t page_records_max = 1000;
inline constexpr std::size_t import_bytes_max = 256UL << 20;  // of an exported session; more: 413
// Records that one filtered read examines; the page then ends and reports that there is more.
inline constexpr std::size_t scan_records_max = 5000;
inline constexpr std::size_t rows_max = 500;                // a longer page of rows or turns is cut
inline constexpr std::size_t density_buckets_max = 2000;    // more are reduced to it
inline constexpr std::size_t density_marks_max = 2000;      // more are counted, not shown
inline constexpr std::size_t timeline_moments_max = 16384;  // more are merged in pairs
inline constexpr std::size_t past_sessions_max = 16;        // whose past is kept for the next read
inline constexpr std::size_t past_states_max = 64;          // of each; more: every other is dropped
// Records whose text is returned as one document; a longer session: limit_reached.
inline constexpr std::size_t whole_text_bytes_max = 64UL << 20;
// Beyond this many records, a transcript has no hash on its pages.
inline constexpr std::size_t transcript_hash_records_max = 20'000;
// Between two restarts requested by processes inside sessions.
inline constexpr std::int64_t inside_restart_ms = 600'000;
// API streams.
// Open at once for one principal; one more: limit_reached.
inline constexpr std::size_t streams_per_principal_max = 1024;
inline constexpr std::size_t frames_cached_max = 1024;  // encoded records kept for other readers
inline constexpr std::size_t list_snapshot_rows_max = 200;  // the rest is read in pages
// Of a tool's output: text after it is not found. A longer message is found as several texts.
inline constexpr std::size_t search_text_bytes_max = 64UL << 10;
inline constexpr std::size_t search_hits_max = 200;  // a longer answer is cut to it
// Texts with the searched words that one search filters; the search ends there.
inline constexpr std::size_t search_looked_at_max = 20'000;

// Limits that can be requested for a session's agent; outside of these: invalid_argument.
inline constexpr std::uint64_t memory_limit_bytes_min = 16UL << 20;
inline constexpr std::uint64_t processes_limit_min = 4;
inline constexpr std::uint64_t cpu_limit_percent_max = 100'000;  // 100: one whole CPU
inline constexpr std::int64_t run_limit_ms_max = 30LL * 24 * 3600'000;

// The daemon's maintenance of its data.
inline constexpr std::int64_t answers_sweep_ms = 3600'000;  // expired ones are deleted

// Authentication.
inline constexpr std::size_t idempotency_key_bytes_max = 200;     // a longer key is rejected
inline constexpr std::int64_t launch_token_ms = 5 * 60'000;       // then it expires
inline constexpr std::int64_t ticket_ms = 30'000;                 // for a WebSocket; the same
inline constexpr std::size_t launch_tokens_max = 64;              // the oldest is forgotten
inline constexpr std::size_t tickets_max = 4096;                  // the oldest is forgotten
inline constexpr std::int64_t browser_ms = 90LL * 24 * 3600'000;  // then a new launch is required
// How long a failed login counts, and how many may count for one address; more: 429.
inline constexpr std::int64_t auth_failure_ms = 3'000;
inline constexpr std::int64_t auth_failures_max = 20;
inline constexpr std::size_t auth_sources_max = 1024;     // addresses; drops the fewest failures
inline constexpr std::int64_t auth_free_failures = 3;     // then answers are delayed
inline constexpr std::int64_t auth_delay_first_ms = 50;   // doubled for each further one
inline constexpr std::int64_t auth_delay_max_ms = 1'000;  // the longest delay

// The node journal: a daemon's data apart from its sessions.
inline constexpr std::size_t tasks_max = 10'000;                      // one more: limit_reached
inline constexpr std::size_t tasks_bytes_max = 32UL << 20;            // of their texts; the same
inline constexpr std::size_t task_description_bytes_max = 1UL << 20;  // longer: limit_reached
inline constexpr std::size_t tokens_max = 1000;          // expired: replaced; else limit_reached
inline constexpr std::size_t token_sessions_max = 1000;  // of one token; the same
inline constexpr std::size_t browsers_max = 100;         // an expired one makes room, or the oldest
inline constexpr std::size_t rules_max = 1000;           // one more: limit_reached
inline constexpr std::size_t tombstones_max = 10'000;    // the oldest is forgotten
inline constexpr std::size_t node_name_bytes_max = 1024;  // of a token or a rule; longer: rejected

// API.
// Connections from this machine for which it is known whether they come from inside a hosted
// session; at the limit, closed ones are forgotten.
inline constexpr std::size_t peers_known_max = 16'384;
// Callers over TCP whose place is being looked up: in all, and with one credential; more:
// unavailable.
inline constexpr std::size_t caller_looks_max = 1024;
inline constexpr std::size_t caller_looks_per_source_max = 64;
inline constexpr std::size_t requests_waiting_max = 256;  // for the daemon to be ready
inline constexpr std::int64_t ready_wait_ms = 30'000;     // then 503

// Calls from one daemon to another on a shared store.
inline constexpr std::size_t peer_calls_max = 64;  // in progress to one of them; more: unavailable
inline constexpr std::size_t peer_body_bytes_max = 64UL << 20;  // of a call; longer: too_large
inline constexpr std::int64_t peer_connect_ms = 10'000;         // then unavailable
inline constexpr std::int64_t peer_answer_ms = 130'000;  // without a byte of the answer; the same
inline constexpr std::int64_t peer_clock_ms = 60'000;    // older or newer calls: unauthenticated
// Calls within that time that are remembered; one more is rejected: unavailable.
inline constexpr std::size_t peer_nonces_max = 1UL << 18;
inline constexpr std::int64_t nodes_known_ms = 1'000;  // then the store is read again

// ACP, both directions.
// A line of an agent. A longer one is skipped up to its newline and reported once.
inline constexpr std::size_t acp_line_bytes_max = 64UL << 20;
inline constexpr std::size_t acp_noise_bytes_max =
    512;  // kept of output that is not a message; the rest is cut
inline constexpr std::size_t acp_calls_open_max = 256;  // unanswered calls; the oldest is forgotten
// Sessions of one connection with known options; the least recently seen one is forgotten.
inline constexpr std::size_t acp_sessions_known_max = 64;
inline constexpr std::size_t acp_tool_input_bytes_max = 2000;  // of a tool's input in readable form
// Workspace of a session: files.
inline constexpr std::size_t fs_read_bytes_max = 4UL << 20;    // a longer range is cut to it
inline constexpr std::size_t fs_write_bytes_max = 16UL << 20;  // a longer body: limit_reached
inline constexpr std::size_t fs_list_entries_max = 1000;       // the page ends there
inline constexpr int tree_depth_max = 256;  // deeper folders: limit_reached; searches skip them
inline constexpr std::size_t search_matches_max = 1000;          // the search ends, marked as cut
inline constexpr std::size_t search_files_max = 100'000;         // files examined; then the same
inline constexpr std::size_t search_file_bytes_max = 4UL << 20;  // a larger file is skipped
inline constexpr std::size_t search_line_bytes_max = 1024;       // a longer line is shown cut
inline constexpr std::size_t search_query_bytes_max = 1024;      // of the words; longer: rejected
inline constexpr std::size_t searches_max = 2;                   // more at once: limit_reached
inline constexpr std::int64_t search_ms = 20'000;  // then the answer has the matches found so far

// Workspace: git.
inline constexpr std::size_t git_processes_max = 2;             // the next one waits its turn
inline constexpr std::size_t git_queue_max = 32;                // one more: limit_reached
inline constexpr std::size_t git_output_bytes_max = 4UL << 20;  // the rest is cut, with `cut`
inline constexpr std::size_t git_log_entries_max = 500;         // the page ends there
inline constexpr std::size_t git_paths_max = 10'000;            // paths in one call; more: rejected
inline constexpr std::size_t git_message_bytes_max = 64UL << 10;  // a longer message: rejected
inline constexpr std::int64_t git_read_ms = 30'000;               // then git is killed: unavailable
inline constexpr std::int64_t git_write_ms = 300'000;             // the same, including hooks

// Workspace: shells, and terminals of the agent.
inline constexpr std::size_t shells_max = 16;                         // one more: limit_reached
inline constexpr std::size_t shell_scrollback_bytes_max = 1UL << 20;  // the oldest is overwritten
inline constexpr std::size_t shell_input_bytes_max = 1UL << 20;       // unread; more: rejected
inline constexpr std::size_t shell_read_bytes_max = 256UL << 10;      // a longer read is cut to it
// Sent to a client that acks and not yet acked; beyond it the shell is not read.
inline constexpr std::size_t shell_window_bytes = 1UL << 20;
inline constexpr std::size_t terminals_max = 32;                     // one more is rejected
inline constexpr std::size_t terminal_output_bytes_max = 1UL << 20;  // the oldest is dropped
inline constexpr std::size_t terminal_waits_max = 16;          // for one exit; one more is rejected
inline constexpr std::size_t acp_text_bytes_max = 16UL << 20;  // a longer text is rejected
inline constexpr std::int64_t lend_hold_ms = 20'000;           // then a lender has to retry
inline constexpr std::int64_t lend_return_ms = 5'000;          // for its retry; then lending ends
inline constexpr std::int64_t lend_answer_ms = 120'000;  // of an editor; then the workspace serves
// Agents and shells of sessions created by the processes in one session, at any depth; one more
// start: limit_reached.
inline constexpr std::size_t descendants_live_max = 8;
// The part of limits.live_agents that only people's sessions may use; at most half of them.
inline constexpr std::size_t live_agents_reserved = 8;
inline constexpr std::size_t lenders_max = 8;          // one more: limit_reached
inline constexpr std::size_t lent_requests_max = 64;   // one more is served by the workspace
inline constexpr std::size_t lent_terminals_max = 64;  // one more is not found later
inline constexpr std::size_t probe_runs_max = 2;       // probes at once; one more: limit_reached
inline constexpr std::int64_t probe_run_ms = 30L * 60 * 1000;  // then the probe is killed

// API: bodies.
inline constexpr std::size_t mcp_servers_bytes_max = 256UL << 10;  // a longer list: limit_reached
inline constexpr std::size_t environment_names_max = 256;          // one more: limit_reached
inline constexpr std::size_t environment_bytes_max = 128UL << 10;  // of names and values; the same
inline constexpr std::size_t image_bytes_max = 512;      // of an image's name; longer: rejected
inline constexpr std::size_t options_per_call_max = 64;  // one more: limit_reached
// A longer one: limit_reached; from an agent: recorded as received, and not a setting.
inline constexpr std::size_t option_name_bytes_max = 256;
inline constexpr std::size_t option_value_bytes_max = 4UL << 10;  // the same

// API: a WebSocket.
inline constexpr std::size_t ws_message_bytes_max = 10UL << 20;  // a longer message ends the socket
inline constexpr std::size_t ws_subscriptions_max = 256;         // one more: limit_reached
inline constexpr std::size_t ws_calls_open_max = 64;  // unanswered; one more: limit_reached
// Queued for a client that does not read: beyond it no more is read for the client, and a client
// that stays behind is disconnected with its cursor.
inline constexpr std::size_t ws_unsent_bytes_max = 1UL << 20;
inline constexpr std::uint64_t ws_gather_max_ms = 1'000;  // a longer value: invalid_argument
// How long until list.changed is sent again for a session that only got longer.
inline constexpr std::int64_t ws_list_rest_ms = 500;
// Gathered for a client that wants its records together; beyond it they are sent early.
inline constexpr std::size_t ws_gather_bytes_max = 128UL << 10;

// Processes and sockets.
inline constexpr int link_backlog_max = 64;  // callers not yet accepted; one more is rejected
// The answer of a program that detaches; a longer one is rejected.
inline constexpr std::size_t detach_answer_bytes_max = 64UL << 10;

// Agentctls on other hosts: the outpost there, and the daemon's calls to it.
inline constexpr std::size_t outpost_links_max = 1024;  // one more is closed at once
// Not yet authenticated, in all and from one address; one more: the oldest of them is closed.
inline constexpr std::size_t outpost_strangers_max = 64;
inline constexpr std::size_t outpost_strangers_per_source_max = 16;
inline constexpr std::size_t outpost_hello_bytes_max = 4096;  // a longer first line: closed
inline constexpr std::int64_t outpost_hello_ms = 10'000;      // for the first line; then closed
inline constexpr std::size_t outpost_line_bytes_max = 17UL << 20;    // a longer call: closed
inline constexpr std::size_t outpost_piece_bytes_max = 256UL << 10;  // of a spool, for one call
// Unsent bytes between the two ends of a tunnel; beyond it the faster end is not read.
inline constexpr std::size_t outpost_unsent_bytes_max = 1UL << 20;
inline constexpr std::size_t outpost_calls_open_max = 1024;  // unanswered; one more: limit_reached
inline constexpr std::int64_t outpost_call_ms = 10'000;      // for an answer; then a new connection
inline constexpr std::int64_t outpost_start_ms = 60'000;     // the same for a start
inline constexpr std::size_t remotes_max = 256;              // one more: limit_reached

// Notifications.
inline constexpr std::size_t notifications_waiting_max = 256;  // beyond it the oldest is dropped
inline constexpr std::size_t notify_commands_max = 4;          // at once; the next one waits
inline constexpr std::int64_t notify_command_ms = 30'000;      // then the command is killed
// HTTP. HttpServerLimits (net/server/server.h) has the limits of one connection.
inline constexpr std::size_t connections_max = 12'000;  // of clients; one more is closed at once
// Of these and of the descriptors: only for callers outside sessions at the unix socket.
inline constexpr std::size_t connections_unix_reserved = 64;
// Over TCP with one token or one browser's login; twice `limits.streams_per_principal` if that is
// more. One more closes the oldest idle one of them, or is answered 429.
inline constexpr std::size_t connections_per_credential_max = 2 * streams_per_principal_max;
// Over the unix socket from processes inside sessions, in all and from one session. One more closes
// the oldest idle one of the session, or is closed at once.
inline constexpr std::size_t http_insiders_max = 512;
inline constexpr std::size_t http_insiders_per_session_max = 64;
// Descriptors not available to clients: for stores, agentctls and files.
inline constexpr std::size_t descriptors_reserved = 256;
// Connections over TCP that have shown no credentials, in all and from one address (IPv6: from one
// /64). One more: the one of them that has been idle longest is closed.
inline constexpr std::size_t http_strangers_max = 128;
inline constexpr std::size_t http_strangers_per_source_max = 64;
inline constexpr std::int64_t http_stranger_ms = 30'000;  // to show credentials; then it is closed
// The time for a body: this much, more with each byte at this rate, and never more than the last;
// then 408.
inline constexpr std::int64_t http_body_grace_ms = 20'000;
inline constexpr std::size_t http_body_bytes_per_second_min = 1024;
inline constexpr std::int64_t http_body_total_ms = 30LL * 60'000;
inline constexpr std::size_t http_headers_max = 100;     // one more: 431
inline constexpr std::size_t http_parameters_max = 256;  // of a query; one more: 400
// Extensions and trailers of a chunked body, which are ignored; more: 400.
inline constexpr std::size_t http_chunk_overhead_bytes_max = 8UL << 10;
// Sent by a client after its request was rejected: read and dropped; then the connection is closed.
inline constexpr std::size_t http_linger_bytes_max = 16UL << 20;
inline constexpr std::int64_t http_linger_ms = 2'000;
// For a WebSocket that we close: to send the rest and to receive the peer's close.
inline constexpr std::int64_t websocket_close_ms = 5'000;
// Of the head of an answer to our own request; a longer one: unavailable.
inline constexpr std::size_t http_answer_head_bytes_max = 64UL << 10;

// Waits in milliseconds.
inline constexpr std::int64_t executor_ready_ms = 60'000;  // K23
inline constexpr std::int64_t session_open_ms = 90'000;    // K13: then it fails, the id is kept
inline constexpr std::int64_t resume_answer_ms = 90'000;   // K13: then 202; the ladder goes on
inline constexpr std::int64_t reconcile_probe_ms = 2'000;  // C19
// Until a resume at boot that the store did not accept is retried.
inline constexpr std::int64_t boot_resume_again_ms = 5'000;
// Between two heartbeats on a stream, and between two checks of its reader's rights.
inline constexpr std::int64_t stream_beat_ms = 4'000;
inline constexpr std::int64_t list_gather_ms = 100;  // changes of the list are sent together
// For a session that is to be deleted to stop; then the deletion is rejected.
inline constexpr std::int64_t removal_stop_ms = 30'000;
// For the end of a dead process's pipes, if others hold them open; then its exit is reported.
inline constexpr std::int64_t output_drain_ms = 200;
// For killed processes to be gone; those left are counted and reported.
inline constexpr std::int64_t kill_wait_ms = 2'000;

// Clients of the daemon: the command line.
// One server-sent event, as long as a record can be; a longer one ends the stream.
inline constexpr std::size_t sse_event_bytes_max = record_bytes_max + (1UL << 20);
// A followed stream without any data, not even a heartbeat, is opened again.
inline constexpr std::int64_t stream_silence_ms = 25'000;
inline constexpr std::int64_t reconnect_first_ms = 200;       // doubled after each failure
inline constexpr std::int64_t reconnect_longest_ms = 10'000;  // the longest wait
inline constexpr int call_retries_max = 4;          // of a call without an answer; then it fails
inline constexpr std::int64_t call_retry_ms = 100;  // before the first, then doubled
inline constexpr std::int64_t daemon_probe_ms = 5'000;   // for its first answer; then: unavailable
inline constexpr std::int64_t daemon_ready_ms = 30'000;  // for one just started; then the same
inline constexpr std::int64_t completion_ms = 200;       // then a shell completes without sessions
// Of the standard input, for a prompt or an import; more: limit_reached.
inline constexpr std::size_t input_bytes_max = 256UL << 20;
// Adopting sessions that other programs left on disk. A longer file is named and not read.
inline constexpr std::size_t adopt_file_bytes_max = 256UL << 20;
// A longer line counts as unreadable.
inline constexpr std::size_t adopt_line_bytes_max = 32UL << 20;
inline constexpr std::size_t adopt_text_bytes_max = 1UL << 20;  // of one message; the rest is cut
inline constexpr std::size_t adopt_files_max = 20'000;    // examined; more are counted, not read
inline constexpr std::size_t adopt_folders_max = 20'000;  // entered; the same
// The attached view.
inline constexpr std::size_t attach_replay_records = 2000;       // older ones are named, not shown
inline constexpr std::size_t prompt_line_bytes_max = 1UL << 20;  // further input is ignored
inline constexpr std::size_t prompt_history_max = 500;           // the oldest is forgotten
inline constexpr std::size_t tool_cards_max = 256;   // open at once; the oldest is no longer shown
inline constexpr std::size_t diff_lines_max = 2000;  // of either text; a longer one is only counted

// Perdure as an agent for editors (editor/).
// A longer line or message from an editor is skipped and answered with an error.
inline constexpr std::size_t face_line_bytes_max = 32UL << 20;
inline constexpr std::size_t face_sessions_max = 64;  // open on a connection; one more is rejected
inline constexpr std::size_t face_calls_open_max = 256;  // unanswered; one more request is rejected
inline constexpr std::size_t face_list_rows = 50;        // of a page of session/list
// Records that wait for one whose update is a blob; beyond it that update is shown in short form.
inline constexpr std::size_t face_held_bytes_max = 16UL << 20;
// Written and not read by the editor: until it is read, no more is read from the daemon.
inline constexpr std::size_t face_unsent_bytes_max = 1UL << 20;
inline constexpr std::int64_t face_write_ms = 60'000;     // without a byte taken: disconnected
inline constexpr std::int64_t face_revive_ms = 3'000;     // without a daemon: a new one is started
inline constexpr std::int64_t call_patience_ms = 60'000;  // for a call that may wait; then it fails

// The agent's half of ACP (the demo agent, the test agent).
// A longer line from the client is dropped whole and counted.
inline constexpr std::size_t agent_line_bytes_max = 32UL << 20;
inline constexpr std::size_t demo_file_bytes_max = 256UL << 10;       // longer files are not read
inline constexpr std::size_t demo_command_output_bytes = 16UL << 10;  // the rest is not shown
inline constexpr std::int64_t demo_command_ms = 10'000;               // then the command is killed
inline constexpr std::size_t demo_turns_kept = 200;                   // older turns are forgotten

}  // namespace perdure
