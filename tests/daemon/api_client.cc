// Looks up JSON by path, never by position; a reply that cannot be parsed has no members.
#include "api_client.h"

#include <iostream>
#include <utility>

#include "daemon_process.h"

namespace perdure {
namespace {

std::string_view raw_at(std::string_view json, std::string_view path) {
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const Result<JsonObject> object = JsonObject::parse(json);
    if (!object) return {};
    json = object->find(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return json;
}

}  // namespace

std::string json_at(std::string_view json, std::string_view path) {
  const std::string_view raw = raw_at(json, path);
  if (!raw.starts_with('"')) return std::string(raw);
  return json_string(raw).value_or("");
}

std::vector<std::string> json_list(std::string_view json, std::string_view path) {
  const std::string_view raw = raw_at(json, path);
  if (!raw.starts_with('[')) return {};
  const auto elements = json_elements(raw);
  if (!elements) return {};
  return {elements->begin(), elements->end()};
}

std::string ApiReply::at(std::string_view path) const { return json_at(body, path); }

ApiReply ApiClient::call(const ApiCall& call) {
  HttpRequest request{
      .method = call.method,
      .target = call.path,
      .headers = {{"Host",
                   to_.host.empty() ? "localhost" : to_.host + ":" + std::to_string(to_.port)}},
      .body = call.body};
  if (!call.body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  if (!call.key.empty()) request.headers.push_back({"Idempotency-Key", call.key});
  if (!call.accept.empty()) request.headers.push_back({"Accept", call.accept});
  if (!token_.empty()) request.headers.push_back({"Authorization", "Bearer " + token_});
  Result<HttpResponse> answer =
      http_call(*io_, to_, std::move(request), {.connect_ms = 5'000, .answer_ms = answer_ms});
  if (!answer) return {.body = answer.error().message()};
  return {.status = answer->status, .body = std::move(answer->body)};
}

std::string ApiClient::create_session(const NewSession& wanted) {
  std::string body = R"({"agent":")" + wanted.agent + "\"";
  if (!wanted.more.empty()) body += "," + wanted.more;
  return call({.method = "POST", .path = "/api/sessions", .body = body + "}", .key = wanted.key})
      .at("session_id");
}

ApiReply ApiClient::prompt(const Prompted& prompt) {
  JsonWriter body;
  body.begin_object().key("text").string(prompt.text).end_object();
  return call({.method = "POST",
               .path = "/api/sessions/" + prompt.session + "/prompt",
               .body = std::move(body).take(),
               .key = prompt.key});
}

ApiReply ApiClient::run_in_shell(const ShellCommand& wanted) {
  const std::string path = "/api/sessions/" + wanted.session + "/shells";
  const ApiReply opened = post(path);
  if (!opened.ok()) return opened;
  const std::string shell = opened.at("shell");
  JsonWriter input;
  input.begin_object().key("shell").string(shell);
  input.key("text").string(wanted.command + "; echo 'do''ne'\n").end_object();
  ApiReply read = post(path + "/input", input.text());
  until([&] {
    read = get(path + "/read?shell=" + shell + "&offset=0");
    return read.at("text").find("done\r\n") != std::string::npos;
  });
  return read;
}

std::vector<std::string> ApiClient::records(const std::string& session) {
  std::vector<std::string> all;
  while (true) {
    const ApiReply page =
        get("/api/sessions/" + session + "/events?limit=1000&after=" + std::to_string(all.size()));
    if (!page.ok()) std::cerr << "records: " << page.status << " " << page.body << "\n";
    std::vector<std::string> some = json_list(page.body, "events");
    for (std::string& record : some) all.push_back(std::move(record));
    if (some.empty() || page.at("more") != "true") return all;
  }
}

std::size_t ApiClient::count(const std::string& session, std::string_view kind) {
  std::size_t found = 0;
  for (const std::string& record : records(session)) found += json_at(record, "kind") == kind;
  return found;
}

}  // namespace perdure
