#include "agentctl/workspace/workspace_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/bytes/base64.h"
#include "base/limits.h"

namespace perdure {
namespace {

constexpr std::size_t remove_part_entries = 500;

struct ListParams {
  std::string path;
  std::string after;
  std::uint64_t max = 0;
  FIELDS {
    visit("path", self.path);
    visit("after", self.after);
    visit("max", self.max);
  }
};

struct PathParams {
  std::string path;
  bool parents = false;
  FIELDS {
    visit("path", self.path);
    visit("parents", self.parents);
  }
};

struct ReadParams {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  ContentForm as = ContentForm::automatic;
  FIELDS {
    visit("path", self.path);
    visit("offset", self.offset);
    visit("bytes", self.bytes);
    visit("as", self.as);
  }
};

struct WriteParams {
  std::string path;
  std::optional<std::string> text;
  std::optional<std::string> base64;
  std::optional<std::string> expected;
  bool parents = false;
  FIELDS {
    visit("path", self.path);
    visit("text", self.text);
    visit("base64", self.base64);
    visit("expected", self.expected);
    visit("parents", self.parents);
  }
};

struct RemoveParams {
  std::string path;
  bool recursive = false;
  FIELDS {
    visit("path", self.path);
    visit("recursive", self.recursive);
  }
};

struct RenameParams {
  std::string from;
  std::string to;
  bool replace = false;
  FIELDS {
    visit("from", self.from);
    visit("to", self.to);
    visit("replace", self.replace);
  }
};

void write_entry(JsonWriter& out, const FileEntry& entry) {
  out.begin_object();
  out.key("name").string(escape_name(entry.name));
  write_stat(out, entry.stat);
  if (entry.stat.kind == FileKind::symlink) {
    out.key("link").string(escape_name(entry.link));
    out.key("leads_to");
    if (entry.leads_to) {
      out.string(enum_text(*entry.leads_to));
    } else {
      out.null();
    }
  }
  out.end_object();
}

Result<std::string> body_of(WriteParams& params) {
  if (params.text.has_value() == params.base64.has_value()) {
    return fail(Code::invalid_argument, "give either text or base64");
  }
  std::string bytes = params.text ? std::move(*params.text) : TRY(base64_decode(*params.base64));
  if (bytes.size() > fs_write_bytes_max) {
    return fail(Code::limit_reached, "more than fs_write_bytes_max in one write");
  }
  return bytes;
}

Result<WriteTerms> terms_of(const std::optional<std::string>& expected) {
  if (!expected) return WriteTerms{};
  if (*expected == "absent") return WriteTerms{.expect = Expect::absent};
  return WriteTerms{.expect = Expect::version, .version = TRY(parse_version(*expected))};
}

}  // namespace

Result<> make_folders(FileTree& files, const TreePath& folder) {
  for (const TreePath& step : folder.ancestors_and_self()) {
    const auto made = files.make_folder(step);
    if (made) continue;
    if (made.error().code() != Code::conflict) return made;
    const FileEntry there = TRY(files.stat(step));
    if (there.leads_to.value_or(there.stat.kind) != FileKind::folder) {
      return fail(Code::conflict, step.text() + ": not a folder");
    }
  }
  return {};
}

Result<std::string> FileCalls::list(std::string_view json) {
  const auto params = TRY(read_params<ListParams>(json));
  const TreePath path = TRY(TreePath::parse(params.path));
  ListPage page{.after = TRY(unescape_name(params.after))};
  page.entries_max = params.max == 0 ? fs_list_entries_max
                                     : std::min<std::uint64_t>(params.max, fs_list_entries_max);
  const FolderListing listing = TRY(files_.list(path, page));
  JsonWriter out;
  out.begin_object().key("path").string(path.text()).key("entries").begin_array();
  for (const FileEntry& entry : listing.entries) write_entry(out, entry);
  out.end_array().key("more").boolean(listing.more).end_object();
  return std::move(out).take();
}

Result<std::string> FileCalls::stat(std::string_view json) {
  const auto params = TRY(read_params<PathParams>(json));
  const FileEntry entry = TRY(files_.stat(TRY(TreePath::parse(params.path))));
  JsonWriter out;
  write_entry(out, entry);
  return std::move(out).take();
}

Result<std::string> FileCalls::read(std::string_view json) {
  const auto params = TRY(read_params<ReadParams>(json));
  const TreePath path = TRY(TreePath::parse(params.path));
  const std::uint64_t wanted = params.bytes == 0 ? fs_read_bytes_max : params.bytes;
  const FilePart part = TRY(files_.read(
      path, {params.offset,
             static_cast<std::size_t>(std::min<std::uint64_t>(wanted, fs_read_bytes_max))}));
  const bool ends = params.offset + part.bytes.size() >= part.stat.version.bytes;
  JsonWriter out;
  out.begin_object().key("path").string(path.text());
  out.key("version").string(version_text(part.stat.version));
  out.key("file_bytes").number_unsigned(part.stat.version.bytes);
  out.key("offset").number_unsigned(params.offset);
  const std::size_t written = TRY(
      write_content(out, part.bytes, params.as, ends ? PartEnd::at_end : PartEnd::more_follows));
  out.key("bytes").number_unsigned(written);
  out.key("at_end").boolean(ends && written == part.bytes.size()).end_object();
  return std::move(out).take();
}

Result<std::string> FileCalls::write(std::string_view json) {
  auto params = TRY(read_params<WriteParams>(json));
  const TreePath path = TRY(TreePath::parse(params.path));
  const std::string bytes = TRY(body_of(params));
  const WriteTerms terms = TRY(terms_of(params.expected));
  if (params.parents) TRY_VOID(make_folders(files_, path.parent()));
  const FileStat stat = TRY(files_.write(path, bytes, terms));
  JsonWriter out;
  out.begin_object().key("path").string(path.text());
  write_stat(out, stat);
  out.end_object();
  return std::move(out).take();
}

Result<std::string> FileCalls::make_folder(std::string_view json) {
  const auto params = TRY(read_params<PathParams>(json));
  const TreePath path = TRY(TreePath::parse(params.path));
  if (params.parents) {
    TRY_VOID(make_folders(files_, path));
  } else {
    TRY_VOID(files_.make_folder(path));
  }
  return std::string("{}");
}

Result<std::string> FileCalls::rename(std::string_view json) {
  const auto params = TRY(read_params<RenameParams>(json));
  TRY_VOID(files_.rename({.from = TRY(TreePath::parse(params.from)),
                          .to = TRY(TreePath::parse(params.to)),
                          .existing = params.replace ? AtTarget::replace : AtTarget::refuse}));
  return std::string("{}");
}

void FileCalls::remove(std::string_view json, WorkspaceReply reply) {
  const auto params = read_params<RemoveParams>(json);
  if (!params) return reply(std::unexpected(params.error()));
  auto path = TreePath::parse(params->path);
  if (!path) return reply(std::unexpected(path.error()));
  if (params->recursive) return remove_part(*std::move(path), 0, std::move(reply));
  const auto removed = files_.remove(*path);
  reply(removed ? Result<std::string>("{\"removed\":1}") : std::unexpected(removed.error()));
}

void FileCalls::remove_part(TreePath path, std::uint64_t removed, WorkspaceReply reply) {
  const auto part = files_.remove_tree(path, remove_part_entries);
  if (!part) return reply(std::unexpected(part.error()));
  removed += part->removed;
  if (part->done) return reply("{\"removed\":" + std::to_string(removed) + "}");
  loop_.post([this, alive = std::weak_ptr(alive_), path = std::move(path), removed,
              reply = std::move(reply)]() mutable {
    if (!alive.expired()) remove_part(std::move(path), removed, std::move(reply));
  });
}

}  // namespace perdure
