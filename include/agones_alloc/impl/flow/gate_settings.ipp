#pragma once

#include <agones_alloc/flow/gate_settings.hpp>
#include <agones_alloc/select/kubernetes_names.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto to_string(gate_source source) noexcept -> std::string_view {
  switch (source) {
    case gate_source::watch: return "watch";
    case gate_source::counter: return "counter";
    case gate_source::http: return "http";
    case gate_source::tcp: return "tcp";
    case gate_source::webhook: return "webhook";
    case gate_source::sse: return "sse";
    case gate_source::grpc: return "grpc";
  }
  return {};
}

AGONES_ALLOC_DECL auto to_string(gate_carrier carrier) noexcept -> std::string_view {
  switch (carrier) {
    case gate_carrier::reserved: return "Reserved";
    case gate_carrier::allocated: return "Allocated";
    case gate_carrier::allocating: return "Allocating";
  }
  return {};
}

AGONES_ALLOC_DECL auto to_string(gate_policy policy) noexcept -> std::string_view {
  switch (policy) {
    case gate_policy::shutdown: return "Shutdown";
    case gate_policy::return_to_ready: return "ReturnToReady";
    case gate_policy::mark_unhealthy: return "MarkUnhealthy";
  }
  return {};
}

namespace detail {

inline auto bare_part(std::string_view text) noexcept -> std::string_view {
  auto const blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// `1m30s`, `500ms`: whole numbers with a unit, the sum of them; what gate_duration_text writes.
inline auto parse_gate_duration(std::string_view text) noexcept -> std::optional<std::chrono::nanoseconds> {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> units{
      {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}}};
  if (text == "0") return std::chrono::nanoseconds{0};
  std::int64_t sum = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    std::uint32_t number = 0;
    auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc{} || end == text.data()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    auto const size = std::min(text.find_first_of("0123456789"), text.size());
    auto const unit = std::find_if(units.begin(), units.end(), [&](auto const& one) { return one.first == text.substr(0, size); });
    if (unit == units.end()) return std::nullopt;
    std::int64_t part = 0;
    if (__builtin_mul_overflow(static_cast<std::int64_t>(number), unit->second, &part) || __builtin_add_overflow(sum, part, &sum)) {
      return std::nullopt;
    }
    text.remove_prefix(size);
  }
  return std::chrono::nanoseconds{sum};
}

inline auto gate_duration_text(std::chrono::nanoseconds time) -> std::string {
  using namespace std::chrono;
  if (time.count() == 0) return "0s";
  if (time % seconds{1} == nanoseconds{0}) return std::to_string(time / seconds{1}) + "s";
  if (time % milliseconds{1} == nanoseconds{0}) return std::to_string(time / milliseconds{1}) + "ms";
  // A number has 32 bits at most.
  auto const whole = time / milliseconds{1};
  return (whole == 0 ? std::string{} : std::to_string(whole) + "ms") + std::to_string((time % milliseconds{1}).count()) + "ns";
}

/// The enumerator of that word, case aside.
template <class Enum, std::size_t Size>
auto gate_word(std::array<Enum, Size> const& all, std::string_view word) noexcept -> std::optional<Enum> {
  auto const same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
  for (auto const one : all) {
    auto const name = to_string(one);
    if (name.size() == word.size() && std::equal(name.begin(), name.end(), word.begin(), same)) return one;
  }
  return std::nullopt;
}

inline constexpr std::array gate_sources{gate_source::watch,   gate_source::counter, gate_source::http, gate_source::tcp,
                                         gate_source::webhook, gate_source::sse,     gate_source::grpc};
inline constexpr std::array gate_carriers{gate_carrier::reserved, gate_carrier::allocated, gate_carrier::allocating};
inline constexpr std::array gate_policies{gate_policy::shutdown, gate_policy::return_to_ready, gate_policy::mark_unhealthy};

/// Reads the parts of one text.
class gate_reader {
 public:
  gate_reader(gate_settings& out, std::string_view field, field_errors& errors) : out_{out}, field_{field}, errors_{errors} {}

  void part(std::string_view text) {
    auto const equals = text.find('=');
    if (equals == std::string_view::npos) return word(text);
    auto const name = bare_part(text.substr(0, equals));
    auto const value = bare_part(text.substr(equals + 1));
    using namespace std::chrono;
    if (name == "source") return one_of(name, value, gate_sources, out_.source, "watch, counter, http, tcp, webhook, sse or grpc is wanted");
    if (name == "carrier") return one_of(name, value, gate_carriers, out_.carrier, "Reserved, Allocated or Allocating is wanted");
    if (name == "on-timeout") {
      return one_of(name, value, gate_policies, out_.on_timeout, "Shutdown, ReturnToReady or MarkUnhealthy is wanted");
    }
    if (name == "timeout") return time(name, value, out_.timeout, milliseconds{1}, hours{24});
    if (name == "period") return time(name, value, out_.period, milliseconds{10}, hours{1});
    if (name == "try-timeout") return time(name, value, out_.try_timeout, milliseconds{1}, hours{1});
    if (name == "initial-delay") return time(name, value, out_.initial_delay, nanoseconds{0}, hours{24});
    if (name == "at-least") return number(name, value, out_.at_least, std::int64_t{0}, std::numeric_limits<std::int64_t>::max());
    if (name == "successes") return number(name, value, out_.successes, 1U, 100U);
    if (name == "failures") return number(name, value, out_.failures, 1U, 100U);
    if (name == "servers") return number(name, value, out_.servers, 1U, 100U);
    if (name == "key") return key(value);
    if (name == "port") return port(value);
    if (name == "path") return path(value);
    add(name, value, "is not known", field_error_type::not_supported);
  }

 private:
  void add(std::string_view name, std::string_view value, std::string detail, field_error_type type = field_error_type::invalid) {
    auto path = name.empty() ? std::string{field_} : std::string{field_} + "." + std::string{name.substr(0, 64)};
    errors_.push_back({type, std::move(path), go_quoted(value.substr(0, 64)), std::move(detail)});
  }

  void word(std::string_view text) {
    if (text == "on" || text == "off") {
      out_.enabled = text == "on";
      return;
    }
    auto const source = gate_word(gate_sources, text);
    if (!source) return add({}, text, "on, off, a source, or name=value is wanted");
    out_.source = *source;
    out_.enabled = true;
  }

  template <class Enum, std::size_t Size>
  void one_of(std::string_view name, std::string_view value, std::array<Enum, Size> const& all, Enum& to, char const* wanted) {
    if (auto const found = gate_word(all, value)) {
      to = *found;
      if (name == "source") out_.enabled = true;
    } else {
      add(name, value, wanted);
    }
  }

  void time(std::string_view name, std::string_view value, std::chrono::nanoseconds& to, std::chrono::nanoseconds least,
            std::chrono::nanoseconds most) {
    auto const read = parse_gate_duration(value);
    if (!read) return add(name, value, "a duration such as 30s or 500ms is wanted");
    if (*read < least || *read > most) {
      return add(name, value, "must be between " + gate_duration_text(least) + " and " + gate_duration_text(most));
    }
    to = *read;
  }

  template <class Number>
  void number(std::string_view name, std::string_view value, Number& to, Number least, Number most) {
    Number read{};
    auto const [end, fault] = std::from_chars(value.data(), value.data() + value.size(), read);
    if (fault != std::errc{} || end != value.data() + value.size()) return add(name, value, "a number is wanted");
    if (read < least || read > most) {
      return add(name, value, "must be between " + std::to_string(least) + " and " + std::to_string(most));
    }
    to = read;
  }

  // A key of the SDK has its prefix already; a counter's name is none of either, and passes, too.
  void key(std::string_view value) {
    if (auto const problems = qualified_name_problems(value); !problems.empty()) return add("key", value, problems.front());
    out_.key = value;
  }

  void port(std::string_view value) {
    auto const plain = std::all_of(value.begin(), value.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (value.size() > 63 || !plain) return add("port", value, "the name of a port of the game server is wanted");
    out_.port = value;
  }

  void path(std::string_view value) {
    auto const plain = std::all_of(value.begin(), value.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '#'; });
    if (value.empty() || value.front() != '/' || value.size() > 512 || !plain) {
      return add("path", value, "a path such as /ready is wanted, of at most 512 visible characters of ASCII");
    }
    out_.path = value;
  }

  gate_settings& out_;
  std::string_view field_;
  field_errors& errors_;
};

}  // namespace detail

AGONES_ALLOC_DECL void change_gate(gate_settings& settings, std::string_view text, std::string_view field, field_errors& errors) {
  constexpr std::size_t most = 2048;
  if (text.size() > most) {
    errors.push_back({field_error_type::too_long, std::string{field}, {}, "must have at most 2048 characters"});
    return;
  }
  detail::gate_reader reader{settings, field, errors};
  while (!text.empty()) {
    auto const end = std::min(text.find(';'), text.size());
    auto const part = detail::bare_part(text.substr(0, end));
    text.remove_prefix(end == text.size() ? end : end + 1);
    if (!part.empty()) reader.part(part);
  }
  if (settings.initial_delay >= settings.timeout) {
    errors.push_back({field_error_type::invalid, std::string{field} + ".initial-delay",
                      go_quoted(detail::gate_duration_text(settings.initial_delay)), "must be less than timeout"});
    settings.initial_delay = std::chrono::nanoseconds{0};
  }
}

AGONES_ALLOC_DECL auto to_text(gate_settings const& settings) -> std::string {
  std::string out{"source="};
  auto const add = [&out](std::string_view name, std::string_view value) {
    out.append(";").append(name).append("=").append(value);
  };
  out += to_string(settings.source);
  add("carrier", to_string(settings.carrier));
  add("on-timeout", to_string(settings.on_timeout));
  add("initial-delay", "0s");  // whatever it was: not longer than what comes
  add("timeout", detail::gate_duration_text(settings.timeout));
  add("key", settings.key);
  add("at-least", std::to_string(settings.at_least));
  add("port", settings.port);
  add("path", settings.path);
  add("period", detail::gate_duration_text(settings.period));
  add("try-timeout", detail::gate_duration_text(settings.try_timeout));
  add("initial-delay", detail::gate_duration_text(settings.initial_delay));
  add("successes", std::to_string(settings.successes));
  add("failures", std::to_string(settings.failures));
  add("servers", std::to_string(settings.servers));
  return out + (settings.enabled ? ";on" : ";off");
}

AGONES_ALLOC_DECL auto choose_gate(gate_settings const& otherwise, game_server const& server, std::string_view request_text,
                                   field_errors& template_errors) -> gate_settings {
  auto out = otherwise;
  if (auto const text = server.meta.annotations.find(keys::gate_annotation)) {
    change_gate(out, *text, "metadata.annotations[" + std::string{keys::gate_annotation} + "]", template_errors);
  }
  // It was checked where it came from; what does not go together with the template is less important than the request.
  field_errors ignored;
  if (!request_text.empty()) change_gate(out, request_text, "options.gate", ignored);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
