#include "core/rules/shell_words.h"

#include <algorithm>
#include <array>
#include <utility>

namespace perdure {
namespace {

constexpr int nesting_max = 4;
constexpr std::size_t commands_max = 4096;  // per text; the rest is ignored
constexpr std::size_t wrapped_words_max = 64;
constexpr std::size_t letters_read_max = 1UL << 20;  // nested texts are read repeatedly

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Characters that are literal in every shell, anywhere in a word.
bool is_plain(char c) { return is_letter_or_digit(c) || std::string_view("_-./:,+@").contains(c); }
bool is_printable(char c) { return c >= ' ' && c <= '~'; }

bool is_reserved(std::string_view word) {
  static constexpr auto reserved = std::to_array<std::string_view>(
      {"if",     "then",  "else",   "elif",      "fi",      "do",     "done",    "case",
       "esac",   "while", "until",  "for",       "in",      "select", "time",    "coproc",
       "repeat", "end",   "always", "nocorrect", "foreach", "noglob", "begin",   "switch",
       "not",    "and",   "or",     "function",  "-",       "return", "declare", "typeset",
       "local",  "alias", "export", "readonly",  "let",     "unset",  "break",   "continue"});
  return std::ranges::find(reserved, word) != reserved.end();
}

// Reserved words that a command follows.
bool leads_to_command(std::string_view word) {
  static constexpr auto leading = std::to_array<std::string_view>(
      {"if", "then", "else", "elif", "do",    "while",  "until",     "time", "coproc", "!",     "{",
       "}",  "not",  "and",  "or",   "begin", "noglob", "nocorrect", "-",    "always", "repeat"});
  return std::ranges::find(leading, word) != leading.end();
}

bool is_shell(std::string_view program) {
  static constexpr auto shells = std::to_array<std::string_view>(
      {"sh",   "bash",    "dash", "ash", "zsh",    "ksh",   "mksh", "fish",  "csh",      "tcsh",
       "eval", "busybox", "su",   "ssh", "script", "watch", "trap", "flock", "parallel", "rbash"});
  return std::ranges::find(shells, program) != shells.end();
}

std::string_view name_of(std::string_view program) {
  const std::size_t slash = program.rfind('/');
  return slash == std::string_view::npos ? program : program.substr(slash + 1);
}

// Reads one text as the exact parser; fails at the first character that may be special.
class SimpleReader {
 public:
  explicit SimpleReader(std::string_view text) : text_(text) {}

  std::optional<Words> read() {
    if (text_.empty() || text_.size() > command_text_bytes_max) return std::nullopt;
    if (!std::ranges::all_of(text_, is_printable)) return std::nullopt;
    while (true) {
      while (at_ < text_.size() && text_[at_] == ' ') ++at_;
      if (at_ == text_.size()) break;
      std::optional<std::string> word = words_.empty() ? program() : argument();
      if (!word) return std::nullopt;
      words_.push_back(*std::move(word));
    }
    if (words_.empty()) return std::nullopt;
    return std::move(words_);
  }

 private:
  bool at_end_of_word() const { return at_ == text_.size() || text_[at_] == ' '; }

  // Unquoted, and not a reserved word.
  std::optional<std::string> program() {
    std::string word;
    for (; !at_end_of_word(); ++at_) {
      if (!is_plain(text_[at_])) return std::nullopt;
      word += text_[at_];
    }
    const char first = word.front();
    const bool can_begin = is_letter_or_digit(first) || first == '_' || first == '/' ||
                           (first == '.' && word.size() > 1);
    if (!can_begin || is_reserved(word)) return std::nullopt;
    return word;
  }

  std::optional<std::string> argument() {
    std::string word;
    bool was_quoted = false;  // a second quote directly after one differs among shells
    const std::size_t start = at_;
    while (!at_end_of_word()) {
      const char c = text_[at_];
      if (c == '\'' || c == '"') {
        if (was_quoted || !quoted(c, word)) return std::nullopt;
        was_quoted = true;
        continue;
      }
      // zsh reads `=program` as its path, fish `%job`, and both only at the start.
      const bool plain = is_plain(c) || ((c == '=' || c == '%') && at_ != start);
      if (!plain) return std::nullopt;
      word += c;
      was_quoted = false;
      ++at_;
    }
    return word;
  }

  // No backslash: fish treats it as special even here. No `!`: a shell with history expands it.
  bool quoted(char quote, std::string& word) {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == quote) {
        ++at_;
        return true;
      }
      if (c == '\\') return false;
      if (quote == '"' && (c == '$' || c == '`' || c == '!')) return false;
      word += c;
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Words words_;
};

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  if (word[0] >= '0' && word[0] <= '9') return false;
  return std::ranges::all_of(word.substr(0, equals), [](char c) {
    return is_letter_or_digit(c) || c == '_' || c == '+' || c == '[' || c == ']';
  });
}

// Reads everything, splits wherever a command may begin, and removes quotes.
class EveryCommand {
 public:
  explicit EveryCommand(std::vector<Words>& found) : found_(found) {}

  void scan(std::string_view text, int depth) {
    if (depth > nesting_max) return;
    Line line{.text = text, .depth = depth};
    while (line.at < text.size() && may_go_on()) step(line);
    end_command(line);
  }

 private:
  struct Line {
    std::string_view text;
    int depth = 0;
    std::size_t at = 0;
    Words words = {};
    std::string word = {};
    bool in_word = false;
    bool is_quoted = false;  // part of the word is: not a reserved word then
    bool is_target = false;  // of a redirection: not part of the command
  };

  bool may_go_on() { return found_.size() < commands_max && ++letters_read_ < letters_read_max; }

  void step(Line& line) {
    const char c = line.text[line.at];
    const char next = line.at + 1 < line.text.size() ? line.text[line.at + 1] : '\0';
    line.at += 1;
    switch (c) {
      case ' ':
      case '\t': return end_word(line);
      case ';':
      case '&':
      case '|':
      case '\n':
      case '\r':
      case '(':
      case ')':
      case '`': return end_command(line);
      case '<':
      case '>': return redirect(line, next);
      case '\\':
        if (line.at < line.text.size()) take_escaped(line);
        return;
      case '\'':
      case '"': return quoted(line, c);
      case '$':
        if (next == '(') return end_command(line);
        if (next == '\'' || next == '"') return;  // the quote follows
        break;
      default: break;
    }
    line.word += c;
    line.in_word = true;
  }

  static void take_escaped(Line& line) {
    if (line.text[line.at] != '\n') {
      line.word += line.text[line.at];
      line.in_word = true;
    }
    line.at += 1;
  }

  void redirect(Line& line, char next) {
    const bool is_number = !line.word.empty() && std::ranges::all_of(line.word, [](char c) {
      return c >= '0' && c <= '9';
    });
    if (is_number) {
      line.word.clear();
      line.in_word = false;
    }
    if (next == '(') return end_command(line);
    end_word(line);
    while (line.at < line.text.size() && std::string_view("<>&|-").contains(line.text[line.at])) {
      line.at += 1;
    }
    line.is_target = true;
  }

  void quoted(Line& line, char quote) {
    line.in_word = true;
    line.is_quoted = true;
    for (; line.at < line.text.size() && may_go_on(); ++line.at) {
      const char c = line.text[line.at];
      if (c == quote) {
        line.at += 1;
        return;
      }
      if (quote == '"' && c == '\\' && line.at + 1 < line.text.size()) {
        line.at += 1;
        if (line.text[line.at] != '\n') line.word += line.text[line.at];
        continue;
      }
      const bool opens = quote == '"' && (c == '`' || (c == '$' && line.at + 1 < line.text.size() &&
                                                       line.text[line.at + 1] == '('));
      // Its end is not searched for: what follows is read as commands, too.
      if (opens) scan(line.text.substr(line.at + (c == '`' ? 1 : 2)), line.depth + 1);
      line.word += c;
    }
  }

  void end_word(Line& line) {
    if (!line.in_word) return;
    std::string word = std::exchange(line.word, {});
    line.in_word = false;
    const bool is_quoted = std::exchange(line.is_quoted, false);
    if (std::exchange(line.is_target, false)) return;
    if (!is_quoted && is_separator(word)) return finish(line);
    line.words.push_back(std::move(word));
  }

  static bool is_separator(std::string_view word) {
    return word == "{" || word == "}" || word == "do" || word == "then" || word == "else";
  }

  void end_command(Line& line) {
    end_word(line);
    line.is_target = false;
    finish(line);
  }

  void finish(Line& line) {
    Words words = std::exchange(line.words, {});
    while (!words.empty() && (is_assignment(words.front()) || leads_to_command(words.front()))) {
      words.erase(words.begin());
    }
    if (words.empty() || found_.size() >= commands_max) return;
    if (is_shell(name_of(words.front()))) scan_arguments(words, line.depth);
    if (runs_other_commands(words.front())) {
      for (std::size_t i = 1; i < std::min(words.size(), wrapped_words_max); ++i) {
        Words wrapped(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
        if (is_shell(name_of(wrapped.front()))) scan_arguments(wrapped, line.depth);
        found_.push_back(std::move(wrapped));
      }
    }
    found_.push_back(std::move(words));
  }

  void scan_arguments(const Words& words, int depth) {
    std::string all;
    for (std::size_t i = 1; i < std::min(words.size(), wrapped_words_max); ++i) {
      if (words[i].contains(' ') || words[i].contains(';')) scan(words[i], depth + 1);
      all += words[i] + ' ';
    }
    scan(all, depth + 1);
  }

  std::vector<Words>& found_;
  std::size_t letters_read_ = 0;
};

}  // namespace

std::optional<Words> simple_command(std::string_view text) { return SimpleReader(text).read(); }

std::optional<Words> simple_words(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    if (word.empty() || word.contains(' ') || word.contains('\'') || word.contains('"')) {
      return std::nullopt;
    }
    text += text.empty() ? word : ' ' + word;
  }
  return simple_command(text);
}

bool runs_other_commands(std::string_view program) {
  static constexpr auto runners = std::to_array<std::string_view>(
      {"env",      "sudo",   "doas",     "xargs",     "nohup",       "nice",    "ionice",
       "timeout",  "setsid", "stdbuf",   "exec",      "command",     "builtin", "source",
       ".",        "chroot", "unshare",  "nsenter",   "strace",      "ltrace",  "gdb",
       "find",     "time",   "chrt",     "taskset",   "systemd-run", "runuser", "pkexec",
       "fakeroot", "bwrap",  "firejail", "caffeinate"});
  const std::string_view name = name_of(program);
  return is_shell(name) || std::ranges::find(runners, name) != runners.end();
}

std::vector<Words> commands_within(std::string_view text) {
  std::vector<Words> found;
  if (text.size() <= 4 * command_text_bytes_max) EveryCommand(found).scan(text, 0);
  // A deny rule also sees what an allow rule would, even if it contains reserved words.
  if (auto whole = simple_command(text); whole && std::ranges::find(found, *whole) == found.end()) {
    found.push_back(std::move(*whole));
  }
  return found;
}

bool has_prefix(const Words& words, const Words& prefix) {
  return !prefix.empty() && words.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), words.begin());
}

bool has_program_prefix(const Words& words, const Words& prefix) {
  if (has_prefix(words, prefix)) return true;
  if (words.empty() || prefix.empty() || prefix.front().contains('/')) return false;
  Words named = words;
  named.front() = name_of(named.front());
  return has_prefix(named, prefix);
}

}  // namespace perdure
