// Families kubeapi and rest: the bytes of real HTTP requests to a real server on a loopback socket.
#include "runner.hpp"
#include "wire.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/beast/allocator_backend.hpp>
#include <agones_alloc/beast/http_listener.hpp>
#include <agones_alloc/beast/kubernetes_front_end.hpp>
#include <agones_alloc/beast/rest_front_end.hpp>
#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/yaml/document.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/array.hpp>

#include <cctype>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace conformance {
namespace {

using namespace agones_alloc;
namespace asio = boost::asio;

/// Every update fails in one way.
class failing final : public fault_plan {
 public:
  explicit failing(store_fault::kind what) : what_{what} {}
  auto next(store_operation operation, object_key const&) -> store_fault override {
    store_fault out;
    if (operation == store_operation::update) out.what = what_;
    return out;
  }

 private:
  store_fault::kind what_;
};

/// A fresh cluster with the case's servers behind one front end, asked once.
class cluster {
 public:
  cluster(json::array const& servers, std::uint64_t seed) : random_{seed} {
    for (auto const& one : servers) {
      auto server = read_server(one);
      if (server.meta.namespace_.empty()) server.meta.namespace_ = "default";
      cache_.store(store_.create(std::move(server)).value());
    }
  }

  void fail_updates(store_fault::kind what) { store_.set_faults(std::make_shared<failing>(what)); }

  template <class FrontEnd>
  auto ask(front_end_options const& options, std::string const& request) -> std::string {
    allocator allocate{io_.get_executor(), cache_, store_, time_, random_};
    allocator_backend backend{allocate};
    FrontEnd front_end{backend, time_, options};
    http_listener listener{io_.get_executor(), front_end, time_};
    if (auto const ec = listener.listen("127.0.0.1", 0)) throw std::runtime_error{"cannot listen: " + ec.message()};
    std::string answer;
    bool done = false;
    asio::ip::tcp::socket socket{io_};
    socket.connect({asio::ip::address_v4::loopback(), listener.port()});
    asio::async_write(socket, asio::buffer(request), [](boost::system::error_code, std::size_t) {});
    asio::async_read(socket, asio::dynamic_buffer(answer), [&done](boost::system::error_code, std::size_t) { done = true; });
    // Loopback bytes are there at once: when nothing is ready, only time can bring anything.
    int idle = 0;
    while (!done) {
      io_.restart();
      if (io_.poll() != 0) continue;
      time_.advance_to_next();
      if (++idle > 10'000) throw std::runtime_error{"no answer"};
    }
    socket.close();
    listener.close();
    io_.restart();
    io_.poll();
    return answer;
  }

 private:
  asio::io_context io_{1};
  manual_timer time_{io_.get_executor()};
  memory_store store_{io_.get_executor(), memory_store_options{.clock = &time_}};
  ready_cache cache_;
  seeded_random random_;
};

auto request_text(json::object const& request) -> std::string {
  auto const text = [&request](std::string_view key) {
    auto const* value = request.if_contains(key);
    return value == nullptr || value->is_null() ? std::string{} : std::string{text_of(*value)};
  };
  auto const body = text("body");
  auto out = text("method") + " " + text("path") + " HTTP/1.1\r\nHost: conformance\r\nConnection: close\r\n";
  if (auto const type = text("contentType"); !type.empty()) out += "Content-Type: " + type + "\r\n";
  if (auto const accept = text("accept"); !accept.empty()) out += "Accept: " + accept + "\r\n";
  return out + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// What the vectors replaced: times.
void hide_times(json::value& value) {
  if (auto* array = value.if_array()) {
    for (auto& element : *array) hide_times(element);
  } else if (auto* object = value.if_object()) {
    for (auto& [key, member] : *object) {
      if ((key == "creationTimestamp" || key == "agones.dev/last-allocated") && member.is_string()) {
        member = "<now>";
      } else {
        hide_times(member);
      }
    }
  }
}

/// `{code, contentType, body | bodyText}`, as in the vectors; YAML is compared as the value it stands for.
auto as_answer(int code, std::string type, json::value const* body, std::string text) -> json::value {
  yaml::documents read;
  if (type == "application/yaml") read = yaml::parse(text, "answer");
  if (!read.values.empty()) body = &read.values.front().value;
  json::object out{{"code", code}, {"contentType", std::move(type)}};
  if (body != nullptr) {
    auto shown = *body;
    hide_times(shown);
    out["body"] = std::move(shown);
  } else if (!text.empty()) {
    out["bodyText"] = std::move(text);
  }
  return out;
}

auto expected_of(json::object const& input) -> json::value {
  auto const* body = input.if_contains("body");
  auto const* text = input.if_contains("bodyText");
  bool const parsed_body = body != nullptr && !body->is_null();
  return as_answer(static_cast<int>(input.at("code").as_int64()), std::string{text_of(input.at("contentType"))},
                   parsed_body ? body : nullptr, text == nullptr ? std::string{} : std::string{text_of(*text)});
}

auto actual_of(std::string const& answer) -> json::value {
  auto const head_end = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.1 ") || head_end == std::string::npos) throw std::runtime_error{"no HTTP answer: " + answer};
  auto const head = answer.substr(0, head_end + 2);
  auto body = answer.substr(head_end + 4);
  static constexpr std::string_view field = "\r\nContent-Type: ";
  auto const at = head.find(field);
  auto const type = at == std::string::npos ? std::string{} : head.substr(at + field.size(), head.find("\r\n", at + 2) - at - field.size());
  auto const value = type == "application/json" && !body.empty() ? parse_json(body) : decoded<json::value>{decode_error{}};
  return as_answer(std::stoi(answer.substr(9, 3)), type, value ? &*value : nullptr, std::move(body));
}

auto unallocated_code(json::object const& input) -> int {
  auto const* code = input.if_contains("httpUnallocatedStatusCode");
  return code == nullptr ? 429 : static_cast<int>(code->as_int64());
}

template <class FrontEnd>
auto ask(json::object const& input, bool compatible, std::uint64_t seed) -> json::value {
  cluster fresh{input.at("gameServers").as_array(), seed};
  if (auto const* updates = input.if_contains("updateBehaviour")) {
    if (text_of(*updates) == "fail") fresh.fail_updates(store_fault::kind::unavailable);
    if (text_of(*updates) == "conflict") fresh.fail_updates(store_fault::kind::conflict);
  }
  front_end_options options;
  options.compatible = compatible;
  options.http_unallocated_status_code = unallocated_code(input);
  return actual_of(fresh.ask<FrontEnd>(options, request_text(input.at("request").as_object())));
}

/// Where the choice is a uniform draw, one of these seeds must draw what the reference drew; else the first counts.
template <class FrontEnd>
auto answer_like(json::value const& expected, json::object const& input, bool compatible) -> json::value {
  auto first = ask<FrontEnd>(input, compatible, 1);
  auto const body = text_of(input.at("request").at("body"));
  bool const drawn = body.find("Distributed") != std::string_view::npos || body.find("\"scheduling\":1") != std::string_view::npos;
  if (!drawn || first_difference(expected, first).empty()) return first;
  for (std::uint64_t seed = 2; seed != 64; ++seed) {
    auto other = ask<FrontEnd>(input, compatible, seed);
    if (first_difference(expected, other).empty()) return other;
  }
  return first;
}

template <class FrontEnd>
void run(json::object const& input, report& results) {
  auto const expected = expected_of(input);
  results.expect("answer", expected, answer_like<FrontEnd>(expected, input, false));
  // The codes of --compat are Agones' own; its decoder's words are not copied.
  auto const compatible = answer_like<FrontEnd>(expected, input, true);
  results.expect("compatible code", expected.at("code"), compatible.at("code"));
  results.expect("compatible type", expected.at("contentType"), compatible.at("contentType"));
}

void run_kubeapi(json::object const& input, report& results) { run<kubernetes_front_end>(input, results); }
void run_rest(json::object const& input, report& results) { run<rest_front_end>(input, results); }

registration const kubeapi{"kubeapi", &run_kubeapi};
registration const rest{"rest", &run_rest};

}  // namespace
}  // namespace conformance
