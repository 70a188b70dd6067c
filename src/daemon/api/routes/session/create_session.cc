// Creates a session: first checks everything that can be refused, then makes its folder and its
// environment, and finally the session. A repeat of the key creates nothing.
#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "daemon/api/json/agent_json.h"
#include "daemon/api/routes/session/commands.h"

namespace perdure {
namespace {

constexpr std::size_t made_title_chars = 80;

// The title if the request gives none: the first line of the prompt.
std::string made_title(const std::optional<Prompt>& prompt) {
  if (!prompt) return "";
  const std::string_view text = prompt->text;
  return std::string(utf8_prefix_chars(text.substr(0, text.find('\n')), made_title_chars));
}

// Image names have letters, digits and these characters; none is special in a request.
bool is_image_name(std::string_view image) {
  constexpr std::string_view others = "-._/:@+";
  const auto is_good = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.contains(c);
  };
  return std::ranges::all_of(image, is_good) && !image.contains("..");
}

}  // namespace

// One creation in progress.
class CreateJob {
 public:
  CreateJob(SessionCommands& commands, Asker asker)
      : commands_(commands), asker_(std::move(asker)) {}

  // Checks everything and changes nothing.
  Result<> read(std::string_view text) {
    ApiWorld& world = commands_.world_;
    body_ = TRY(read_body<CreateBody>(text));
    TRY_VOID(commands_.check_may_make(asker_.principal));
    const std::string& name = body_.agent.empty() ? world.agents.default_name() : body_.agent;
    const AgentDefinition& agent = *TRY(world.agents.find(name));
    TRY_VOID(choose_runtime(agent));
    // Containers and other hosts look for the program themselves.
    if (is_here()) TRY_VOID(check_presence(agent, programs_of(world, agent)));
    input_.what.agent = agent.profile;
    if (!body_.cwd.empty() && !is_remote()) {
      TRY_VOID(commands_.check_folder(asker_.principal, {body_.cwd}));
    }
    TRY_VOID(commands_.check_task(asker_.principal, body_.task));
    TRY_VOID(check_mcp_servers(body_.mcp_servers));
    TRY_VOID(check_environment(body_.env));
    input_.what.policy = TRY(body_.policy.on(world.policy));
    TRY_VOID(take_limits_of_parent());
    if (body_.policy.limits && world.check_limits && is_here()) {
      TRY_VOID(world.check_limits(*body_.policy.limits));
    }
    input_.prompt = TRY(read_first_prompt(body_.prompt));
    if (body_.worktree && body_.cwd.empty()) {
      return fail(Code::invalid_argument, "worktree: it needs the cwd of a repository");
    }
    if (body_.worktree && !world.make_worktree) {
      return fail(Code::unavailable, "worktree: this daemon cannot make worktrees");
    }
    if (body_.worktree) TRY_VOID(check_branch(body_.worktree->branch));
    return {};
  }

  // Asks the container engine or the other host first: until they agree, nothing is created.
  static void run(const std::shared_ptr<CreateJob>& job, OnAnswer done) {
    if (job->is_remote()) return make_there(job, std::move(done));
    if (!job->in_container()) return make(job, std::move(done));
    job->commands_.world_.find_image(job->input_.what.image,
                                     [job, alive = std::weak_ptr<bool>(job->commands_.alive_),
                                      done = std::move(done)](Result<> found) mutable {
                                       if (alive.expired()) return;
                                       if (!found)
                                         return done(std::unexpected(std::move(found).error()));
                                       make(job, std::move(done));
                                     });
  }

 private:
  static void make(const std::shared_ptr<CreateJob>& job, OnAnswer done) {
    const Result<> made = job->make_folder();
    if (!made) return done(std::unexpected(made.error()));
    if (!job->body_.worktree) return keep_and_submit(job, std::move(done));
    const WorktreeOrder order{job->input_.what.session, job->body_.cwd,
                              job->body_.worktree->branch};
    job->commands_.world_.make_worktree(order,
                                        [job, alive = std::weak_ptr<bool>(job->commands_.alive_),
                                         done = std::move(done)](Result<Workspace> made) mutable {
                                          if (alive.expired()) return;
                                          if (!made)
                                            return done(std::unexpected(std::move(made).error()));
                                          job->input_.what.workspace = std::move(*made);
                                          keep_and_submit(job, std::move(done));
                                        });
  }

  // The other host must answer before anything is created here.
  static void make_there(const std::shared_ptr<CreateJob>& job, OnAnswer done) {
    job->choose_id();
    RemoteOrder order{
        .remote = job->body_.remote, .session = job->input_.what.session, .cwd = job->body_.cwd};
    if (job->body_.worktree) order.branch = job->body_.worktree->branch;
    job->commands_.world_.make_remote_workspace(
        std::move(order), [job, alive = std::weak_ptr<bool>(job->commands_.alive_),
                           done = std::move(done)](Result<Workspace> made) mutable {
          if (alive.expired()) return;
          if (!made) return done(std::unexpected(std::move(made).error()));
          job->body_.cwd = made->cwd;
          const Result<> prepared = job->make_folder();
          if (!prepared) return done(std::unexpected(prepared.error()));
          job->input_.what.workspace = std::move(*made);
          keep_and_submit(job, std::move(done));
        });
  }

  // The values are on disk before the session is in the journal.
  static void keep_and_submit(const std::shared_ptr<CreateJob>& job, OnAnswer done) {
    if (job->body_.env.empty()) return job->submit(std::move(done));
    job->commands_.world_.keep_environment(
        job->input_.what.session, job->body_.env,
        [job, alive = std::weak_ptr<bool>(job->commands_.alive_),
         done = std::move(done)](Result<> kept) mutable {
          if (alive.expired()) return;
          if (!kept) return done(std::unexpected(std::move(kept).error()));
          job->submit(std::move(done));
        });
  }

  void choose_id() {
    ApiWorld& world = commands_.world_;
    IdSource ids(world.clock.now().wall, world.random.next());
    if (!input_.what.session) input_.what.session = ids.next<SessionId>();
  }

  Result<> make_folder() {
    ApiWorld& world = commands_.world_;
    choose_id();
    input_.what.task = body_.task;
    input_.what.title = body_.title.empty() ? made_title(input_.prompt) : body_.title;
    input_.what.mcp_servers = body_.mcp_servers;
    input_.key = asker_.key;
    input_.what.workspace.cwd = body_.cwd;
    for (const auto& [variable, value] : body_.env) input_.what.env_names.push_back(variable);
    if (body_.cwd.empty()) {
      if (!world.make_workspace) return fail(Code::invalid_argument, "cwd: it is missing");
      input_.what.workspace.cwd = TRY(world.make_workspace(input_.what.session));
    }
    if (body_.env.empty() || world.keep_environment) return {};
    return fail(Code::unavailable, "env: this daemon cannot store it");
  }

  bool in_container() const { return input_.what.runtime == "local_docker"; }
  bool is_remote() const { return input_.what.runtime == "remote"; }
  bool is_here() const { return !in_container() && !is_remote(); }

  // Sessions made by an agent have the agent's own limits.
  Result<> take_limits_of_parent() {
    const SessionId parent = asker_.principal.hosted;
    if (!parent) return {};
    if (body_.policy.limits) {
      return fail(Code::denied, "A process inside a session cannot choose limits.");
    }
    input_.what.policy.limits = TRY(commands_.world_.runtime.state(parent)).policy.limits;
    return {};
  }

  Result<> choose_remote() {
    if (asker_.principal.hosted) {
      return fail(Code::denied,
                  "A process inside a session cannot start agents on other hosts. Do it in a "
                  "terminal or on the page.");
    }
    if (!body_.image.empty()) {
      return fail(Code::invalid_argument, "image: only a session in a container has one");
    }
    if (!commands_.world_.make_remote_workspace) {
      return fail(Code::unavailable, "runtime: this daemon reaches no other hosts");
    }
    if (body_.remote.empty()) {
      return fail(Code::invalid_argument, "remote: which host is missing; perdure remote ls");
    }
    if (!body_.cwd.empty() && !body_.cwd.starts_with('/')) {
      return fail(Code::invalid_argument, "cwd: it must be absolute, on the other host");
    }
    input_.what.remote = body_.remote;
    return {};
  }

  Result<> choose_runtime(const AgentDefinition& agent) {
    ApiWorld& world = commands_.world_;
    std::string& runtime = input_.what.runtime;
    if (!agent.runtime.empty()) runtime = agent.runtime;
    if (!body_.image.empty()) runtime = "local_docker";
    if (!body_.remote.empty()) runtime = "remote";
    if (!body_.runtime.empty()) runtime = body_.runtime;
    if (is_remote()) return choose_remote();
    if (!body_.remote.empty()) {
      return fail(Code::invalid_argument, "remote: only a session with the runtime remote has one");
    }
    if (runtime == "standalone" && body_.image.empty()) return {};
    if (runtime == "standalone") {
      return fail(Code::invalid_argument, "image: only a session in a container has one");
    }
    if (!in_container()) {
      return fail(Code::invalid_argument,
                  "runtime: standalone, local_docker and remote are known here");
    }
    if (!world.find_image) {
      return fail(Code::unavailable, "runtime: this daemon has no container engine");
    }
    std::string& image = input_.what.image;
    image = body_.image.empty() ? agent.image : body_.image;
    if (image.empty()) image = world.default_image;
    if (image.empty()) {
      return fail(Code::invalid_argument, "image: a session in a container needs one");
    }
    if (image.size() > image_bytes_max || !is_image_name(image)) {
      return fail(Code::invalid_argument, "image: not a valid image name");
    }
    if (body_.cwd == "/" || body_.cwd == "/perdure" || body_.cwd.starts_with("/perdure/")) {
      return fail(Code::invalid_argument, "cwd: this folder cannot be shared with a container");
    }
    return {};
  }

  void submit(OnAnswer done) {
    const SessionId session = input_.what.session;
    commands_.send(asker_, session, std::move(input_),
                   [&commands = commands_, done = std::move(done)](Result<Reply> reply) mutable {
                     if (!reply) return done(std::unexpected(std::move(reply).error()));
                     done(commands.answer(reply->session, *reply, 201));
                   });
  }

  SessionCommands& commands_;
  Asker asker_;
  CreateBody body_;
  CreateSession input_;
};

void SessionCommands::create(Asker asker, std::string_view body, OnAnswer done) {
  Result<std::optional<Reply>> known = world_.runtime.stored_reply(asker.key, asker.body_hash);
  if (!known) return done(std::unexpected(std::move(known).error()));
  if (*known) return done(answer((*known)->session, **known, 201));
  const auto job = std::make_shared<CreateJob>(*this, std::move(asker));
  const Result<> made = job->read(body);
  if (!made) return done(std::unexpected(made.error()));
  CreateJob::run(job, std::move(done));
}

}  // namespace perdure
