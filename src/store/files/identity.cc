#include "store/files/identity.h"

#include "store/files/log/sealed.h"

namespace perdure {
namespace {

constexpr std::uint64_t store_format = 1;

Result<StoreIdentity> read_identity(const JsonObject& object) {
  if (TRY(json_uint(object.find("format"))) > store_format) {
    return fail(Code::format_too_new, "the store was written by a newer version");
  }
  StoreIdentity out{.log_id = TRY(json_string(object.find("log_id"))),
                    .epoch = TRY(json_uint(object.find("epoch")))};
  if (const auto raw = object.find("backup"); !raw.empty()) out.is_backup = TRY(json_bool(raw));
  if (const auto raw = object.find("lost"); !raw.empty()) out.has_lost = TRY(json_bool(raw));
  return out;
}

}  // namespace

std::string encode_identity(const StoreIdentity& identity) {
  JsonWriter json;
  json.begin_object().key("engine").string("files");
  json.key("format").number_unsigned(store_format);
  json.key("log_id").string(identity.log_id);
  json.key("epoch").number_unsigned(identity.epoch);
  if (identity.is_backup) json.key("backup").boolean(true);
  if (identity.has_lost) json.key("lost").boolean(true);
  json.end_object();
  return seal(json.text()) + "\n";
}

Result<StoreIdentity> decode_identity(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const JsonObject object = TRY(open_sealed(text, identity_name));
  Result<StoreIdentity> out = read_identity(object);
  if (out || out.error().code() == Code::format_too_new) return out;
  return fail(Code::damaged, std::string(identity_name) + ": " + out.error().message());
}

}  // namespace perdure
