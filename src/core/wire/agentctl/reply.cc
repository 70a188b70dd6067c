// Replies encoded by the field codec.
#include "core/wire/agentctl/reply.h"

#include <concepts>
#include <type_traits>
#include <utility>

#include "base/json/fields_json.h"

namespace perdure {

template <class Self>
  requires std::same_as<std::remove_const_t<Self>, Reply>
void wire_fields(Self& self, auto&& visit) {
  visit("seq", self.seq);
  visit("session_id", self.session);
  visit("run_id", self.run);
  visit("message_id", self.message);
  visit("queue_position", self.queue_position);
  visit("placed", self.placed);
  visit("already_running", self.already_running);
  visit("nothing_to_do", self.nothing_to_do);
  visit("resume_pending", self.resume_pending);
  visit("outcome", self.outcome);
  visit("option_id", self.option_id);
  visit("option_name", self.option_name);
  visit("decided_by", self.decided_by);
}

std::string encode_reply(const Reply& reply) { return encode_fields(reply); }

Result<Reply> decode_reply(std::string_view text) {
  return std::move(TRY(decode_fields<Reply>(text)).value);
}

}  // namespace perdure
