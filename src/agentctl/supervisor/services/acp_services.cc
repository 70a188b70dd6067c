#include "agentctl/supervisor/services/acp_services.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "agentctl/supervisor/services/acp_terminals.h"
#include "agentctl/workspace/workspace_files.h"
#include "base/json/fields_json.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/text.h"

namespace perdure {
namespace {

constexpr std::size_t chunk_bytes = 1UL << 20;
// How far into a file a line is searched.
constexpr std::uint64_t scanned_bytes_max = 256UL << 20;

struct ReadParams {
  std::string path;
  std::optional<std::uint64_t> line;
  std::optional<std::uint64_t> limit;
  FIELDS {
    visit("path", self.path);
    visit("line", self.line);
    visit("limit", self.limit);
  }
};

struct WriteParams {
  std::string path;
  std::optional<std::string> content;
  FIELDS {
    visit("path", self.path);
    visit("content", self.content);
  }
};

// Extracts the wanted lines from a file that arrives in pieces.
class LineWindow {
 public:
  LineWindow(std::uint64_t skip, std::optional<std::uint64_t> limit) : skip_(skip), left_(limit) {}

  // Returns false when it has all the lines.
  bool feed(std::string_view bytes) {
    while (!bytes.empty() && left_ != 0U) {
      const std::size_t end = bytes.find('\n');
      const std::string_view line = bytes.substr(0, end == std::string_view::npos ? end : end + 1);
      bytes.remove_prefix(line.size());
      if (skip_ == 0) text_ += line;
      if (end == std::string_view::npos) continue;
      if (skip_ > 0) {
        --skip_;
      } else if (left_) {
        --*left_;
      }
    }
    return left_ != 0U;
  }
  std::string& text() { return text_; }

 private:
  std::uint64_t skip_;
  std::optional<std::uint64_t> left_;
  std::string text_;
};

Result<std::string> read_lines(FileTree& files, const TreePath& path, const ReadParams& params) {
  const std::uint64_t line = std::max<std::uint64_t>(params.line.value_or(1), 1);
  LineWindow window(line - 1, params.limit);
  std::optional<FileVersion> version;
  for (std::uint64_t offset = 0;;) {
    const FilePart part = TRY(files.read(path, {offset, chunk_bytes}));
    if (version && *version != part.stat.version) {
      return fail(Code::unavailable, path.text() + ": changed while it was read");
    }
    version = part.stat.version;
    const bool wants_more = window.feed(part.bytes);
    if (window.text().size() > acp_text_bytes_max) {
      return fail(Code::limit_reached, path.text() + ": too long; read it by line and limit");
    }
    offset += part.bytes.size();
    if (!wants_more || part.bytes.size() < chunk_bytes) break;
    if (offset >= scanned_bytes_max) return fail(Code::limit_reached, path.text() + ": too long");
  }
  // The agent would later write an incomplete text back as the whole file.
  if (!is_utf8(window.text())) {
    return fail(Code::invalid_argument, path.text() + ": no UTF-8 text");
  }
  return std::move(window.text());
}

}  // namespace

AcpServices::AcpServices(AcpServicesSetup setup) : setup_(std::move(setup)) {
  setup_.root_aliases.insert(setup_.root_aliases.begin(), setup_.files.root());
}
AcpServices::~AcpServices() = default;

AcpTerminals& AcpServices::terminals() {
  if (!terminals_) {
    terminals_ = std::make_unique<AcpTerminals>(AcpTerminals::Setup{
        setup_.loop, setup_.processes, setup_.files, setup_.environment, setup_.root_aliases});
  }
  return *terminals_;
}

bool AcpServices::serve(std::string_view method, std::string_view params, AcpReply& reply) {
  if (method == "fs/read_text_file") {
    reply(read_text_file(params));
  } else if (method == "fs/write_text_file") {
    reply(write_text_file(params));
  } else if (method == "terminal/create") {
    reply(terminals().create(params));
  } else if (method == "terminal/output") {
    reply(terminals().output(params));
  } else if (method == "terminal/wait_for_exit") {
    terminals().wait_for_exit(params, std::move(reply));
  } else if (method == "terminal/kill") {
    reply(terminals().kill(params));
  } else if (method == "terminal/release") {
    reply(terminals().release(params));
  } else {
    return false;
  }
  return true;
}

void AcpServices::release_all() {
  if (terminals_) terminals_->release_all();
}

AcpResult AcpServices::read_text_file(std::string_view json) {
  return acp_result([&]() -> Result<std::string> {
    const auto params = TRY(decode_fields<ReadParams>(json)).value;
    const TreePath path = TRY(tree_path_of(params.path, setup_.root_aliases));
    const std::string text = TRY(read_lines(setup_.files, path, params));
    JsonWriter out;
    out.begin_object().key("content").string(text).end_object();
    return std::move(out).take();
  }());
}

AcpResult AcpServices::write_text_file(std::string_view json) {
  return acp_result([&]() -> Result<std::string> {
    const auto params = TRY(decode_fields<WriteParams>(json)).value;
    const TreePath path = TRY(tree_path_of(params.path, setup_.root_aliases));
    if (!params.content) return fail(Code::invalid_argument, "content is missing");
    if (params.content->size() > acp_text_bytes_max) {
      return fail(Code::limit_reached, "the text is longer than acp_text_bytes_max");
    }
    TRY_VOID(make_folders(setup_.files, path.parent()));
    TRY_VOID(setup_.files.write(path, *params.content, {}));
    return std::string("{}");
  }());
}

}  // namespace perdure
