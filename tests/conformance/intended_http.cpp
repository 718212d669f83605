// Intended answers over HTTP.
#include "intended.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace conformance {
namespace {

auto text_at(json::value const& value, std::string_view pointer) -> std::string_view {
  boost::system::error_code ec;
  auto const* found = value.find_pointer(pointer, ec);
  return found != nullptr && found->is_string() ? std::string_view{found->get_string().data(), found->get_string().size()}
                                                : std::string_view{};
}

auto code_of(json::value const& answer) -> std::int64_t {
  auto const* object = answer.if_object();
  auto const* code = object == nullptr ? nullptr : object->if_contains("code");
  return code != nullptr && code->is_int64() ? code->get_int64() : 0;
}

/// A Status of this code and reason. Its words are ours to choose, so they are taken from the answer; they must be there.
auto status_answer(answer const& given, int code, std::string_view reason) -> intended_answer {
  auto const message = text_at(given.actual, "/body/message");
  if (message.empty()) return std::nullopt;
  json::object body{{"kind", "Status"},
                    {"apiVersion", "v1"},
                    {"metadata", json::object{}},
                    {"status", "Failure"},
                    {"message", json::string_view{message.data(), message.size()}},
                    {"code", code}};
  if (!reason.empty()) body["reason"] = json::string_view{reason.data(), reason.size()};
  return json::object{{"code", code}, {"contentType", "application/json"}, {"body", std::move(body)}};
}

auto request_kind(answer const& given) -> std::string {
  auto const body = text_at(given.input.at("request"), "/body");
  boost::system::error_code ec;
  auto const parsed = json::parse(json::string_view{body.data(), body.size()}, ec);
  if (ec || !parsed.is_object()) return {};
  return std::string{text_at(parsed, "/apiVersion")} + "/" + std::string{text_at(parsed, "/kind")};
}

auto request_document(answer const& given) -> json::value {
  auto const body = text_at(given.input.at("request"), "/body");
  boost::system::error_code ec;
  auto parsed = json::parse(json::string_view{body.data(), body.size()}, ec);
  return ec ? json::value{} : parsed;
}

auto as_double(json::value const& number) -> double {
  if (number.is_int64()) return static_cast<double>(number.get_int64());
  if (number.is_uint64()) return static_cast<double>(number.get_uint64());
  return number.is_double() ? number.get_double() : 0;
}

/// Puts back the exact integers of `actual` where `expected` has what a double makes of them.
auto put_back_integers(json::value& expected, json::value const& actual) -> bool {
  bool changed = false;
  if (expected.is_object() && actual.is_object()) {
    for (auto& [key, member] : expected.get_object()) {
      if (auto const* other = actual.get_object().if_contains(key)) changed = put_back_integers(member, *other) || changed;
    }
  } else if (expected.is_number() && actual.is_int64() && expected != actual) {
    auto const exact = actual.get_int64();
    bool const large = exact > (std::int64_t{1} << 53) || exact < -(std::int64_t{1} << 53);
    if (large && as_double(expected) == as_double(actual)) {
      expected = exact;
      changed = true;
    }
  }
  return changed;
}

}  // namespace

auto with_exact_integers(answer const& given) -> intended_answer {
  auto out = given.expected;
  if (!put_back_integers(out, given.actual)) return std::nullopt;
  return out;
}

auto with_full_api_version(answer const& given) -> intended_answer {
  if (text_at(given.expected, "/body/apiVersion") != "v1" || text_at(given.expected, "/body/kind") != "GameServerAllocation") {
    return std::nullopt;
  }
  auto out = given.expected;
  out.at("body").as_object()["apiVersion"] = "allocation.agones.dev/v1";
  return out;
}

auto with_own_status(answer const& given) -> intended_answer {
  auto const request = request_document(given);
  boost::system::error_code ec;
  auto const* sent = request.find_pointer("/status", ec);
  if (sent == nullptr || !sent->is_object() || text_at(given.expected, "/body/kind") != "GameServerAllocation") return std::nullopt;
  auto out = given.expected;
  auto& status = out.at("body").at("status").as_object();
  if (text_at(out, "/body/status/state") == "UnAllocated") {
    status = json::object{{"state", "UnAllocated"}, {"gameServerName", ""}, {"source", ""}};
    return out;
  }
  auto const* sent_addresses = sent->get_object().if_contains("addresses");
  auto* addresses = status.if_contains("addresses");
  if (sent_addresses == nullptr || addresses == nullptr) return std::nullopt;
  auto& list = addresses->as_array();
  auto const count = sent_addresses->as_array().size();
  if (list.size() < count) return std::nullopt;
  list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count));
  if (list.empty()) status.erase("addresses");
  return out;
}

auto refusing_other_kinds(answer const& given) -> intended_answer {
  if (request_kind(given) != "v1/Pod") return std::nullopt;
  if (given.part == "compatible code") return json::value(500);
  if (given.part == "compatible type") return json::value("text/plain; charset=utf-8");
  return status_answer(given, 400, "BadRequest");
}

auto refusing_null(answer const& given) -> intended_answer {
  if (given.family != "kubeapi" || given.part != "answer" || text_at(given.input.at("request"), "/body") != "null") return std::nullopt;
  return status_answer(given, 400, "BadRequest");
}

auto negotiating_first(answer const& given) -> intended_answer {
  if (text_at(given.input.at("request"), "/accept") != "application/vnd.kubernetes.protobuf") return std::nullopt;
  if (given.part == "compatible code") return json::value(406);
  if (given.part == "compatible type") return json::value("application/json");
  return status_answer(given, 406, "NotAcceptable");
}

auto with_status_for_bad_input(answer const& given) -> intended_answer {
  if (given.part != "answer" || code_of(given.expected) != 500) return std::nullopt;
  auto const said = text_at(given.expected, "/bodyText");
  if (said.starts_with("no multi-cluster allocation policy")) return status_answer(given, 500, "InternalError");
  if (said.starts_with("error parsing mediatype") || said.starts_with("Could not find deserializer")) {
    return status_answer(given, 415, "UnsupportedMediaType");
  }
  if (said.starts_with("error decoding body") || said.find("is not a valid label selector operator") != std::string_view::npos) {
    return status_answer(given, 400, "BadRequest");
  }
  return std::nullopt;
}

auto with_plain_message(answer const& given) -> intended_answer {
  auto const said = text_at(given.expected, "/body/message");
  auto plain = said.substr(0, said.find("%!(EXTRA"));
  static constexpr std::string_view inner = "%!b(string=GameServerAllocation.";
  if (auto const at = said.find(inner); at != std::string_view::npos) {  // the message, as an argument of itself
    auto const begin = at + std::string_view{"%!b(string="}.size();
    plain = said.substr(begin, said.find(") %!b(v1.StatusReason", begin) - begin);
  }
  if (plain == said) return std::nullopt;
  auto out = given.expected;
  out.at("body").as_object()["message"] = json::string_view{plain.data(), plain.size()};
  return out;
}

auto with_invalid_argument(answer const& given) -> intended_answer {
  if (given.part != "answer" || code_of(given.expected) != 500) return std::nullopt;
  auto const* body = given.expected.get_object().if_contains("body");
  if (body == nullptr || code_of(*body) != 422) return std::nullopt;
  auto out = given.expected;
  out.as_object()["code"] = 400;
  out.at("body").as_object()["code"] = 3;
  return out;
}

auto with_own_parser_text(answer const& given) -> intended_answer {
  auto const message = text_at(given.actual, "/body/message");
  auto const* body = given.expected.is_object() ? given.expected.get_object().if_contains("body") : nullptr;
  if (given.family != "rest" || message.empty() || body == nullptr || code_of(given.expected) != 400 || code_of(*body) != 3) return std::nullopt;
  if (text_at(*body, "/message").starts_with("there is no available")) return std::nullopt;
  auto out = given.expected;
  out.at("body").as_object()["message"] = json::string_view{message.data(), message.size()};
  return out;
}

auto telling_update_failures(answer const& given) -> intended_answer {
  auto const* updates = given.input.if_contains("updateBehaviour");
  auto const how = updates == nullptr ? std::string_view{} : text_at(*updates, "");
  if (how.empty()) return std::nullopt;
  bool const conflict = how == "conflict";
  if (given.part == "compatible code") return json::value(conflict ? 409 : 503);
  if (given.part != "answer") return std::nullopt;
  auto message = text_at(given.actual, "/body/message");
  // After the first words the store's own may follow.
  if (!message.starts_with("the game servers' store cannot be reached; nothing was written")) message = "";
  if (conflict) message = "too many concurrent requests have overwhelmed the system";
  return json::object{{"code", conflict ? 409 : 503},
                      {"contentType", "application/json"},
                      {"body", json::object{{"code", conflict ? 10 : 14},
                                            {"message", json::string_view{message.data(), message.size()}},
                                            {"details", json::array{}}}}};
}

}  // namespace conformance
