#include "event_options.hpp"

#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/embedded/durations.hpp>
#include <agones_alloc/select/match.hpp>
#include <agones_alloc/select/selector_text.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

namespace {

using problem = std::optional<std::string>;
using settings = event_sink_settings;

template <class Number>
auto take_number(std::string const& name, std::string const& word, Number min, Number max, Number& target) -> problem {
  Number value{};
  auto const* const end = word.data() + word.size();
  auto const [stopped, fault] = std::from_chars(word.data(), end, value);
  if (fault != std::errc{} || stopped != end || value < min || value > max) {
    return name + "=" + word + ": a number from " + std::to_string(min) + " to " + std::to_string(max) + " is wanted";
  }
  target = value;
  return std::nullopt;
}

auto take_duration(std::string const& name, std::string const& word, std::chrono::nanoseconds min, std::chrono::nanoseconds max,
                   std::chrono::nanoseconds& target) -> problem {
  auto const value = parse_duration(word);
  if (!value || *value < min || *value > max) {
    return name + "=" + word + ": a time from " + to_string(min) + " to " + to_string(max) + " is wanted";
  }
  target = *value;
  return std::nullopt;
}

auto take_types(std::string const& word, settings& out) -> problem {
  auto parsed = parse_event_types(word);
  if (auto* wrong = std::get_if<std::string>(&parsed)) return "types: " + *wrong;
  out.channel.filter.kinds_and_changes = std::get<std::uint32_t>(parsed);
  return std::nullopt;
}

auto take_labels(std::string const& word, settings& out) -> problem {
  auto parsed = parse_label_selector(word);
  if (auto* wrong = std::get_if<std::string>(&parsed)) return "labels: " + *wrong;
  if (auto wrong = compile_labels(std::get<label_selector>(parsed), out.channel.filter.labels)) return "labels: " + *wrong;
  return std::nullopt;
}

auto take_namespaces(std::string const& word, settings& out) -> problem {
  for (std::size_t at = 0; at <= word.size();) {
    auto const end = std::min(word.find(',', at), word.size());
    if (end == at) return std::string{"namespaces: names with commas between them are wanted"};
    out.channel.filter.namespaces.emplace_back(word.substr(at, end - at));
    at = end + 1;
  }
  return std::nullopt;
}

auto take_mode(std::string const& word, settings& out) -> problem {
  if (word == "binary") out.mode = webhook_mode::binary;
  else if (word == "structured") out.mode = webhook_mode::structured;
  else if (word == "batched") out.mode = webhook_mode::batched;
  else return "mode=" + word + ": binary, structured or batched is wanted";
  return std::nullopt;
}

using take = std::function<problem(std::string const& name, std::string const& word, settings&)>;

struct setting {
  take read;
  bool webhook{true};
  bool nats{true};
  bool standard_output{true};
};

auto file_of(std::string settings::*where) -> take {
  return [where](std::string const& name, std::string const& word, settings& out) -> problem {
    if (word.empty()) return name + ": the name of a file is wanted";
    out.*where = word;
    return std::nullopt;
  };
}

template <class Number>
auto number_of(Number event_delivery_options::*where, Number min, Number max) -> take {
  return [=](std::string const& name, std::string const& word, settings& out) {
    return take_number(name, word, min, max, out.channel.delivery.*where);
  };
}

auto all_settings() -> std::map<std::string, setting, std::less<>> const& {
  using std::chrono::nanoseconds;
  static std::map<std::string, setting, std::less<>> const all{
      {"name", {[](std::string const&, std::string const& word, settings& out) -> problem {
         auto const plain = std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
         });
         if (word.empty() || word.size() > 63 || !plain) return "name=" + word + ": up to 63 letters, digits, '-', '_' and '.' are wanted";
         out.channel.name = word;
         return std::nullopt;
       }}},
      {"types", {[](std::string const&, std::string const& word, settings& out) { return take_types(word, out); }}},
      {"labels", {[](std::string const&, std::string const& word, settings& out) { return take_labels(word, out); }}},
      {"namespaces", {[](std::string const&, std::string const& word, settings& out) { return take_namespaces(word, out); }}},
      {"mode", {[](std::string const&, std::string const& word, settings& out) { return take_mode(word, out); }, true, false, false}},
      {"plaintext", {[](std::string const&, std::string const& word, settings& out) -> problem {
         if (word != "true" && word != "false") return "plaintext=" + word + ": true or false is wanted";
         out.allow_plaintext = word == "true";
         return std::nullopt;
       }, true, true, false}},
      {"sign-key", {file_of(&settings::sign_key), true, false, false}},
      {"token", {file_of(&settings::token), true, true, false}},
      {"ca", {file_of(&settings::authorities), true, true, false}},
      {"cert", {file_of(&settings::certificate), true, true, false}},
      {"key", {file_of(&settings::key), true, true, false}},
      {"creds", {file_of(&settings::credentials), false, true, false}},
      {"queue", {[](std::string const& name, std::string const& word, settings& out) {
         return take_number<std::size_t>(name, word, 1, 100'000'000, out.channel.delivery.queue.events);
       }}},
      {"queue-bytes", {[](std::string const& name, std::string const& word, settings& out) {
         return take_number<std::size_t>(name, word, 1, std::size_t{1} << 40U, out.channel.delivery.queue.bytes);
       }}},
      {"merge-from", {[](std::string const& name, std::string const& word, settings& out) {
         return take_number<std::size_t>(name, word, 0, 100'000'000, out.channel.delivery.queue.merge_from);
       }}},
      {"batch", {number_of<std::size_t>(&event_delivery_options::batch, 1, 10'000)}},
      {"batch-bytes", {number_of<std::size_t>(&event_delivery_options::batch_bytes, 1, 64U << 20U)}},
      {"linger", {[](std::string const& name, std::string const& word, settings& out) {
         return take_duration(name, word, nanoseconds{0}, std::chrono::minutes{1}, out.channel.delivery.linger);
       }}},
      {"in-flight", {number_of<std::size_t>(&event_delivery_options::in_flight, 1, 256), true, false, false}},
      {"time", {[](std::string const& name, std::string const& word, settings& out) {
         return take_duration(name, word, std::chrono::milliseconds{10}, std::chrono::hours{1}, out.channel.time);
       }}},
      {"retry-cap", {[](std::string const& name, std::string const& word, settings& out) {
         auto& retry = out.channel.delivery.retry;
         auto const wrong = take_duration(name, word, std::chrono::milliseconds{10}, std::chrono::hours{1}, retry.cap);
         retry.base = std::min(retry.base, retry.cap);
         return wrong;
       }}},
  };
  return all;
}

auto applies(setting const& one, settings::kind what) -> bool {
  switch (what) {
    case settings::kind::webhook: return one.webhook;
    case settings::kind::nats: return one.nats;
    case settings::kind::standard_output: break;
  }
  return one.standard_output;
}

auto take_settings(std::string_view text, settings& out) -> problem {
  while (!text.empty()) {
    auto const piece = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(piece.size() + 1, text.size()));
    if (piece.empty()) continue;
    auto const name = std::string{piece.substr(0, piece.find('='))};
    auto const word = percent_decoded(piece.substr(std::min(name.size() + 1, piece.size())));
    auto const found = all_settings().find(name);
    if (found == all_settings().end() || !applies(found->second, out.what)) {
      std::string known;
      for (auto const& [other, how] : all_settings()) {
        if (applies(how, out.what)) known += (known.empty() ? "" : ", ") + other;
      }
      return "\"" + name + "\" is no setting of such a sink; there are: " + known;
    }
    if (!word || piece.size() == name.size()) return name + ": NAME=VALUE is wanted, with %XX for special characters";
    if (auto wrong = found->second.read(name, *word, out)) return wrong;
  }
  return std::nullopt;
}

auto is_loopback(std::string const& host) -> bool { return host == "localhost" || host == "::1" || host.starts_with("127."); }

auto has_blanks(std::string_view text) -> bool {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
}

/// Scheme, authority and path.
auto take_place(std::string_view place, settings& out) -> problem {
  if (place == "stdout:" || place == "stdout") {
    out.what = settings::kind::standard_output;
    out.channel.name = "stdout";
    out.channel.delivery.batch = 256;
    return std::nullopt;
  }
  auto const scheme = place.substr(0, place.find("://"));
  auto const web = scheme == "http" || scheme == "https";
  if (scheme.size() == place.size() || (!web && scheme != "nats" && scheme != "nats+tls")) {
    return std::string{"begins with none of stdout:, http://, https://, nats://, nats+tls://"};
  }
  auto const path = std::min(place.find('/', scheme.size() + 3), place.size());
  auto const authority = place.substr(scheme.size() + 3, path - scheme.size() - 3);
  if (authority.find('@') != std::string_view::npos) return std::string{"holds a secret, and these do not belong on the command line: token=FILE names a file"};
  if (has_blanks(place)) return std::string{"has control characters"};
  if (place.find('#') != std::string_view::npos) return std::string{"a fragment is never sent: settings stand behind a blank"};
  bool const tls = scheme == "https" || scheme == "nats+tls";
  auto parsed = parse_endpoint((tls ? "https://" : "http://") + std::string{authority}, true);
  if (auto* wrong = std::get_if<std::string>(&parsed)) return *wrong;
  out.endpoint = std::get<client_endpoint>(std::move(parsed));
  out.channel.name = std::string{authority};
  if (web) {
    out.what = settings::kind::webhook;
    out.target = path == place.size() ? "/" : std::string{place.substr(path)};
    return std::nullopt;
  }
  out.what = settings::kind::nats;
  out.url = std::string{tls ? "tls" : "nats"} + "://" + std::string{authority};
  out.channel.delivery.batch = 256;
  if (path + 1 < place.size()) out.subject = place.substr(path + 1);
  auto const bad = std::any_of(out.subject.begin(), out.subject.end(), [](char c) { return c == '*' || c == '>' || c == '/'; });
  if (bad || out.subject.starts_with('.') || out.subject.ends_with('.') || out.subject.find("..") != std::string::npos) {
    return "\"" + out.subject + "\" is no subject to publish under";
  }
  return std::nullopt;
}

}  // namespace

auto parse_event_sink(std::string_view text) -> std::variant<event_sink_settings, std::string> {
  settings out;
  auto const blank = text.find(' ');
  if (auto wrong = take_place(text.substr(0, blank), out)) return *std::move(wrong);
  if (blank != std::string_view::npos) {
    auto const later = text.substr(blank + 1);
    // What the mode brings by itself, settings may change.
    if ((" " + std::string{later} + " ").find(" mode=batched ") != std::string::npos) {
      out.channel.delivery.batch = 100;
      out.channel.delivery.linger = std::chrono::milliseconds{100};
    }
    if (auto wrong = take_settings(later, out)) return *std::move(wrong);
  }
  if (out.what == settings::kind::webhook && out.mode != webhook_mode::batched && out.channel.delivery.batch != 1) {
    return std::string{"batch needs mode=batched"};
  }
  if (out.certificate.empty() != out.key.empty()) return std::string{"cert and key are wanted together"};
  auto const secure = out.endpoint.tls || out.what == settings::kind::standard_output;
  if (!secure && (!out.certificate.empty() || !out.authorities.empty())) return std::string{"ca, cert and key need TLS"};
  if (!secure && !is_loopback(out.endpoint.host) && !out.allow_plaintext) {
    return std::string{"is not encrypted and leaves this machine: add plaintext=true if that is meant"};
  }
  return out;
}

}  // namespace agones_alloc_server
