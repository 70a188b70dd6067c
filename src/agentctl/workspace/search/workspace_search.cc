#include "agentctl/workspace/search/workspace_search.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "agentctl/workspace/git/git_repository.h"
#include "agentctl/workspace/search/search_walk.h"
#include "base/limits.h"
#include "base/text.h"

namespace perdure {
namespace {

// How much of a line printed by git is kept: room for a path, two numbers and a shown line.
constexpr std::size_t record_bytes_kept = 4096 + 64 + search_line_bytes_max;

struct SearchParams {
  std::string search_id;
  std::string path;
  std::string name;
  std::string content;
  bool regex = false;
  bool ignore_case = false;
  std::uint64_t max = 0;
  FIELDS {
    visit("search_id", self.search_id);
    visit("path", self.path);
    visit("name", self.name);
    visit("content", self.content);
    visit("regex", self.regex);
    visit("ignore_case", self.ignore_case);
    visit("max", self.max);
  }
};

struct CancelParams {
  std::string search_id;
  FIELDS { visit("search_id", self.search_id); }
};

Result<SearchParams> checked(std::string_view json) {
  auto params = TRY(read_params<SearchParams>(json));
  if (params.name.empty() && params.content.empty()) {
    return fail(Code::invalid_argument, "give name, content or both");
  }
  if (params.name.size() > search_query_bytes_max ||
      params.content.size() > search_query_bytes_max) {
    return fail(Code::invalid_argument, "the pattern is too long");
  }
  const auto odd = [](char c) { return c == '\n' || c == '\0'; };
  if (std::ranges::any_of(params.content, odd) || std::ranges::any_of(params.name, odd)) {
    return fail(Code::invalid_argument, "a search looks at single lines");
  }
  return params;
}

// `PATH NUL LINE NUL COLUMN NUL TEXT`, as git grep prints it.
std::optional<SearchMatch> parse_grep_record(std::string_view record) {
  SearchMatch match;
  std::string_view fields[3];
  for (auto& field : fields) {
    const std::size_t end = record.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    field = record.substr(0, end);
    record.remove_prefix(end + 1);
  }
  match.path = fields[0];
  std::from_chars(fields[1].data(), fields[1].data() + fields[1].size(), match.line);
  std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), match.column);
  match.text = record;
  return match;
}

}  // namespace

// One search from its call to its answer. Its removal from the map, which destroys it, is a
// separate task on the loop.
class SearchCalls::Search {
 public:
  Search(SearchCalls& calls, Key key, SearchParams params, WorkspaceReply reply)
      : calls_(calls), key_(key), params_(std::move(params)), reply_(std::move(reply)) {
    wanted_ = params_.max == 0 ? search_matches_max
                               : std::min<std::uint64_t>(params_.max, search_matches_max);
  }
  ~Search() { stop(); }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  const std::string& id() const { return params_.search_id; }

  void start(TreePath folder) {
    folder_ = std::move(folder);
    timer_ = calls_.setup_.loop.after_ms(search_ms, [this] {
      timer_ = 0;
      finish(Ending::cut);
    });
    open_git_repository(calls_.setup_.git, cwd(),
                        [this, alive = std::weak_ptr(alive_)](Result<GitRepository> opened) {
                          if (alive.expired()) return;
                          if (opened) return start_git(opened->settings);
                          const Code code = opened.error().code();
                          if (code == Code::limit_reached || code == Code::denied) {
                            return finish_failed(opened.error());
                          }
                          start_outside(code);
                        });
  }

  enum class Ending { complete, cut, cancelled };
  void finish(Ending ending) {
    if (!reply_) return;
    stop();
    JsonWriter out;
    out.begin_object().key("matches").begin_array();
    for (const SearchMatch& match : matches_) write(out, match);
    out.end_array().key("cut").boolean(ending != Ending::complete);
    out.key("cancelled").boolean(ending == Ending::cancelled).end_object();
    leave(std::move(out).take());
  }

 private:
  std::string cwd() const {
    const std::string& root = calls_.setup_.files.root();
    return folder_.is_root() ? root : root + "/" + folder_.bytes();
  }

  void start_git(std::vector<std::string> settings) {
    GitJob job{.settings = std::move(settings), .cwd = cwd(), .time_ms = search_ms};
    if (params_.content.empty()) {
      job.arguments = {"ls-files",      "-z", "--cached", "--others", "--exclude-standard",
                       "--deduplicate", "--", "."};
      run(std::move(job), '\0', &Search::take_name);
    } else {
      job.arguments = {"grep", "--untracked", "--no-recurse-submodules"};
      grep(std::move(job));
    }
  }

  // Regular expressions need git's matcher, which also works without a repository.
  void start_outside(Code why) {
    if (params_.regex && !params_.content.empty()) {
      if (why == Code::unavailable) {
        return finish_failed({Code::unavailable, "a regular expression needs git on this host"});
      }
      GitJob job{.arguments = {"grep", "--no-index", "--exclude-standard"},
                 .cwd = cwd(),
                 .time_ms = search_ms};
      return grep(std::move(job));
    }
    SearchQuery query{params_.name, params_.content,
                      params_.ignore_case ? LetterCase::ignored : LetterCase::exact};
    walk_.emplace(calls_.setup_.files, folder_, std::move(query),
                  [this](SearchMatch match) { return take(std::move(match)); });
    walk_on();
  }

  void walk_on() {
    calls_.setup_.loop.post([this, alive = std::weak_ptr(alive_)] {
      if (alive.expired() || !reply_) return;
      const auto progress = walk_->step();
      if (progress == SearchWalk::Progress::finished) return finish(Ending::complete);
      if (progress == SearchWalk::Progress::stopped) return finish(Ending::cut);
      walk_on();
    });
  }

  void grep(GitJob job) {
    auto& arguments = job.arguments;
    arguments.insert(arguments.end(),
                     {"-z", "-n", "--column", "-I", "--no-color", "--no-textconv"});
    arguments.emplace_back(params_.regex ? "--extended-regexp" : "--fixed-strings");
    if (params_.ignore_case) arguments.emplace_back("--ignore-case");
    arguments.insert(arguments.end(), {"-e", params_.content, "--", "."});
    run(std::move(job), '\n', &Search::take_line);
  }

  // Reads records that end with the mark; only the beginning of a long one is kept.
  void run(GitJob job, char mark, bool (Search::*take_record)(std::string_view)) {
    job.sink = [this, mark, take_record](std::string_view bytes) {
      while (!bytes.empty()) {
        const std::size_t end = bytes.find(mark);
        const std::string_view piece = bytes.substr(0, end);
        record_ += piece.substr(0, record_bytes_kept - std::min(record_.size(), record_bytes_kept));
        if (end == std::string_view::npos) return true;
        bytes.remove_prefix(end + 1);
        const std::string record = std::exchange(record_, {});
        if (!(this->*take_record)(record)) return false;
      }
      return true;
    };
    job_ = calls_.setup_.git.run(std::move(job), [this](Result<GitOutput> output) {
      job_ = 0;
      if (!output) {
        const bool busy = output.error().code() == Code::limit_reached;
        return busy ? finish_failed(output.error()) : finish(Ending::cut);
      }
      // Exit code 1 means "nothing found"; above 1 git reports an error, usually in the expression.
      if (output->exit_code > 1) {
        return finish_failed({Code::invalid_argument, git_complaint(*output)});
      }
      finish(output->cut ? Ending::cut : Ending::complete);
    });
  }

  bool take_name(std::string_view path) {
    if (++files_seen_ > search_files_max) return false;
    const auto letters = params_.ignore_case ? LetterCase::ignored : LetterCase::exact;
    std::string whole = folder_.is_root() ? "" : folder_.bytes() + "/";
    whole += path;
    return !glob_matches(params_.name, whole, letters) || take({.path = std::move(whole)});
  }

  bool take_line(std::string_view record) {
    auto match = parse_grep_record(record);
    if (!match) return true;
    if (!folder_.is_root()) match->path.insert(0, folder_.bytes() + "/");
    const auto letters = params_.ignore_case ? LetterCase::ignored : LetterCase::exact;
    if (!params_.name.empty() && !glob_matches(params_.name, match->path, letters)) return true;
    return take(*std::move(match));
  }

  // One match more than wanted shows that the result was cut.
  bool take(SearchMatch match) {
    if (matches_.size() == wanted_) return false;
    if (match.text.size() > search_line_bytes_max) {
      match.text.resize(utf8_prefix(match.text, search_line_bytes_max).size());
    }
    matches_.push_back(std::move(match));
    return true;
  }

  static void write(JsonWriter& out, const SearchMatch& match) {
    out.begin_object().key("path").string(escape_name(match.path));
    if (match.line > 0) {
      out.key("line").number_unsigned(match.line).key("column").number_unsigned(match.column);
      out.key("text").string(utf8_scrub(match.text));
    }
    out.end_object();
  }

  void finish_failed(Error error) {
    if (!reply_) return;
    stop();
    leave(std::unexpected(std::move(error)));
  }

  void leave(Result<std::string> answer) {
    calls_.setup_.loop.post([&calls = calls_, alive = std::weak_ptr(alive_), key = key_] {
      if (!alive.expired()) calls.searches_.erase(key);
    });
    std::exchange(reply_, nullptr)(std::move(answer));
  }

  void stop() {
    if (timer_ != 0) calls_.setup_.loop.cancel(std::exchange(timer_, 0));
    if (job_ != 0) calls_.setup_.git.cancel(std::exchange(job_, 0));
  }

  SearchCalls& calls_;
  Key key_;
  SearchParams params_;
  WorkspaceReply reply_;
  std::size_t wanted_ = 0;
  TreePath folder_;
  std::string record_;
  std::size_t files_seen_ = 0;
  std::vector<SearchMatch> matches_;
  std::optional<SearchWalk> walk_;
  GitRunner::JobId job_ = 0;
  Loop::TimerId timer_ = 0;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

SearchCalls::SearchCalls(Setup setup) : setup_(setup) {}
SearchCalls::~SearchCalls() = default;

void SearchCalls::search(std::string_view json, WorkspaceReply reply) {
  auto params = checked(json);
  if (!params) return reply(std::unexpected(std::move(params).error()));
  auto folder = TreePath::parse(params->path);
  if (!folder) return reply(std::unexpected(std::move(folder).error()));
  const auto there = setup_.files.stat(*folder);
  if (!there) return reply(std::unexpected(there.error()));
  if (there->leads_to.value_or(there->stat.kind) != FileKind::folder) {
    return reply(fail(Code::conflict, folder->text() + ": not a folder"));
  }
  if (searches_.size() >= searches_max) {
    return reply(fail(Code::limit_reached, "too many searches at once"));
  }
  const Key key = ++last_key_;
  auto& search = searches_[key] =
      std::make_unique<Search>(*this, key, *std::move(params), std::move(reply));
  search->start(*std::move(folder));
}

Result<std::string> SearchCalls::cancel(std::string_view json) {
  const auto params = TRY(read_params<CancelParams>(json));
  if (params.search_id.empty()) return fail(Code::invalid_argument, "search_id is missing");
  std::size_t ended = 0;
  for (auto& [key, search] : searches_) {
    if (search->id() != params.search_id) continue;
    search->finish(Search::Ending::cancelled);
    ++ended;
  }
  return "{\"cancelled\":" + std::to_string(ended) + "}";
}

}  // namespace perdure
