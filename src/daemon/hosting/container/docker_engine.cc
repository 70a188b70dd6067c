// Converts status codes to errors with the engine's own message.
#include "daemon/hosting/container/docker_engine.h"

#include <utility>

#include "daemon/hosting/container/engine_json.h"

namespace perdure {
namespace {

constexpr const char* api_version = "/v1.41";
constexpr HttpCallLimits call_limits{
    .connect_ms = 5'000, .answer_ms = 60'000, .body_bytes_max = 16UL << 20};

constexpr int status_made = 201;
constexpr int status_unchanged = 304;
constexpr int status_missing = 404;
constexpr int status_conflict = 409;

bool is_well(int status) { return status / 100 == 2; }

HttpEndpoint endpoint_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {.unix_folder = ".", .unix_name = path};
  return {.unix_folder = slash == 0 ? "/" : path.substr(0, slash),
          .unix_name = path.substr(slash + 1)};
}

Error engine_trouble(const std::string& socket, const std::string& why) {
  return {Code::engine_unavailable,
          "the container engine at " + socket + " does not answer (" + why +
              "); start it (systemctl start docker, or systemctl start podman.socket), or name "
              "another: containers.socket"};
}

std::unexpected<Error> refused(const HttpResponse& answer, const std::string& doing) {
  return fail(Code::container_failed, doing + ": " + refusal_words(answer.body));
}

// Slashes and colons of an image's name are not encoded in the path.
std::string image_path(const std::string& image) {
  std::string out = "/images/";
  for (const char c : image) {
    out += c == '/' || c == ':' || c == '@' ? std::string(1, c) : percent_encode({&c, 1});
  }
  return out + "/json";
}

std::string container_path(const std::string& name) {
  return "/containers/" + percent_encode(name);
}

std::unexpected<Error> no_image(const std::string& image) {
  return fail(Code::image_missing, "the container engine does not have the image '" + image +
                                       "', and images are never pulled unasked: docker pull " +
                                       image + " (or podman pull, or build it)");
}

}  // namespace

void DockerEngine::ask(Asked asked, OnAnswer done) {
  Result<std::string> socket = find_socket_();
  if (!socket) {
    loop_.post([exists = std::weak_ptr<bool>(exists_), done = std::move(done),
                error = std::move(socket).error()] mutable {
      if (!exists.expired()) done(std::unexpected(std::move(error)));
    });
    return;
  }
  HttpRequest request{.method = std::move(asked.method), .target = api_version + asked.target};
  request.body = std::move(asked.body);
  if (!request.body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  calls_.fetch(endpoint_of(*socket), std::move(request), call_limits,
               [path = *socket, done = std::move(done)](Result<HttpResponse> got) mutable {
                 if (!got)
                   return done(std::unexpected(engine_trouble(path, got.error().message())));
                 done(std::move(got));
               });
}

void DockerEngine::describe(OnEngine<EngineAbilities> done) {
  ask({.target = "/info"}, [done = std::move(done)](Result<HttpResponse> got) mutable {
    if (!got) return done(std::unexpected(std::move(got).error()));
    if (!is_well(got->status)) return done(refused(*got, "ask the container engine"));
    done(decode_abilities(got->body));
  });
}

void DockerEngine::find_image(const std::string& image, OnEngine<> done) {
  ask({.target = image_path(image)},
      [image, done = std::move(done)](Result<HttpResponse> got) mutable {
        if (!got) return done(std::unexpected(std::move(got).error()));
        if (got->status == status_missing) return done(no_image(image));
        if (!is_well(got->status)) return done(refused(*got, "look for the image '" + image + "'"));
        done({});
      });
}

void DockerEngine::create(const ContainerOrder& order, OnEngine<std::string> done) {
  ask({.method = "POST",
       .target = "/containers/create?name=" + percent_encode(order.name),
       .body = encode_container(order)},
      [image = order.image, done = std::move(done)](Result<HttpResponse> got) mutable {
        if (!got) return done(std::unexpected(std::move(got).error()));
        if (got->status == status_missing) return done(no_image(image));
        // podman answers 500 for a name that is in use, with this message.
        const bool is_taken = got->status == status_conflict ||
                              refusal_words(got->body).contains("is already in use");
        if (is_taken) return done(fail(Code::conflict, refusal_words(got->body)));
        if (got->status != status_made) return done(refused(*got, "make the container"));
        done(decode_created(got->body));
      });
}

void DockerEngine::start(const std::string& name, OnEngine<> done) {
  ask({.method = "POST", .target = container_path(name) + "/start"},
      [done = std::move(done)](Result<HttpResponse> got) mutable {
        if (!got) return done(std::unexpected(std::move(got).error()));
        if (is_well(got->status) || got->status == status_unchanged) return done({});
        done(refused(*got, "start the container"));
      });
}

void DockerEngine::look(const std::string& name, OnEngine<ContainerSight> done) {
  ask({.target = container_path(name) + "/json"},
      [name, done = std::move(done)](Result<HttpResponse> got) mutable {
        if (!got) return done(std::unexpected(std::move(got).error()));
        if (got->status == status_missing) return done(fail(Code::not_found, "no " + name));
        // The answer of an engine in trouble says nothing about its containers.
        if (!is_well(got->status)) {
          return done(fail(Code::engine_unavailable, refusal_words(got->body)));
        }
        Result<ContainerSight> sight = decode_container_sight(got->body);
        if (sight) return done(std::move(sight));
        done(fail(Code::engine_unavailable, sight.error().message()));
      });
}

// Kills first, because some engines wait for an orderly end even if a removal is forced.
void DockerEngine::remove(const std::string& name, OnEngine<> done) {
  ask({.method = "POST", .target = container_path(name) + "/kill?signal=KILL"},
      [this, name, done = std::move(done)](Result<HttpResponse> killed) mutable {
        if (!killed) return done(std::unexpected(std::move(killed).error()));
        ask({.method = "DELETE", .target = container_path(name) + "?force=true&v=true"},
            [done = std::move(done)](Result<HttpResponse> got) mutable {
              if (!got) return done(std::unexpected(std::move(got).error()));
              if (is_well(got->status) || got->status == status_missing) return done({});
              done(refused(*got, "remove the container"));
            });
      });
}

void DockerEngine::list(const std::string& label, OnEngine<std::vector<ListedContainer>> done) {
  ask({.target = "/containers/json?" + label_filter(label)},
      [done = std::move(done)](Result<HttpResponse> got) mutable {
        if (!got) return done(std::unexpected(std::move(got).error()));
        if (!is_well(got->status)) return done(refused(*got, "list the containers"));
        done(decode_list(got->body));
      });
}

}  // namespace perdure
