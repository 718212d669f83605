#include "logging.hpp"

#include <agones_alloc/select/apply.hpp>

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <utility>

namespace agones_alloc_server {

namespace {

auto word_of(agones_alloc::severity level) -> std::string_view {
  using agones_alloc::severity;
  switch (level) {
    case severity::debug: return "debug";
    case severity::info: return "info";
    case severity::warning: return "warning";
    case severity::error: return "error";
  }
  return "info";
}

constexpr std::size_t longest_text = 2000;

/// Bytes of the UTF-8 character at the front of `text`; 0: there is none.
auto character_length(std::string_view text) -> std::size_t {
  auto const byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto const lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i != length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  bool const overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  bool const surrogate = lead == 0xed && byte(1) > 0x9f;
  bool const beyond = lead == 0xf4 && byte(1) > 0x8f;
  return overlong || surrogate || beyond ? 0 : length;
}

/// One line of UTF-8 stays one line of UTF-8, whatever a client sent; cut between characters.
void append_plain(std::string& out, std::string_view text) {
  for (std::size_t taken = 0; !text.empty();) {
    auto const length = character_length(text);
    auto const lead = static_cast<unsigned char>(text.front());
    auto const step = length == 0 ? 1 : length;
    if ((taken += step) > longest_text) return;
    bool const control = lead < 0x20 || lead == 0x7f || (lead == 0xc2 && length == 2 && static_cast<unsigned char>(text[1]) < 0xa0);
    if (length == 0) {
      out += "\xef\xbf\xbd";  // U+FFFD
    } else if (control) {
      out += '?';
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(step);
  }
}

void append_json_string(std::string& out, std::string_view text) {
  std::string clean;
  append_plain(clean, text);
  out += boost::json::serialize(boost::json::string_view{clean.data(), clean.size()});
}

}  // namespace

line_logger::line_logger(log_format format, agones_alloc::severity least, agones_alloc::timer const& time)
    : format_{format},
      least_{least},
      time_{&time},
      sink_{std::make_shared<spdlog::logger>("agones-alloc-server", std::make_shared<spdlog::sinks::stderr_sink_mt>())} {
  sink_->set_pattern("%v");
  sink_->set_level(spdlog::level::trace);
  sink_->flush_on(spdlog::level::trace);
}

line_logger::~line_logger() = default;

void line_logger::log(agones_alloc::severity level, std::string_view message, std::initializer_list<field> fields) {
  if (level < least_) return;
  auto const line = format_ == log_format::json ? json_line(level, message, fields) : text_line(level, message, fields);
  sink_->log(spdlog::level::info, spdlog::string_view_t{line.data(), line.size()});
}

auto line_logger::text_line(agones_alloc::severity level, std::string_view message, std::initializer_list<field> fields) const
    -> std::string {
  auto out = agones_alloc::rfc3339_nano(std::chrono::floor<std::chrono::milliseconds>(time_->wall_now()));
  out += ' ';
  out += word_of(level);
  out += ": ";
  append_plain(out, message);
  for (auto const& [name, value] : fields) {
    if (value.empty()) continue;
    out += ' ';
    out += name;
    out += '=';
    append_plain(out, value);
  }
  return out;
}

auto line_logger::json_line(agones_alloc::severity level, std::string_view message, std::initializer_list<field> fields) const
    -> std::string {
  std::string out = R"({"time":")" + agones_alloc::rfc3339_nano(time_->wall_now()) + R"(","severity":")";
  out += word_of(level);
  out += R"(","message":)";
  append_json_string(out, message);
  out += R"(,"source":"agones-alloc-server")";
  for (auto const& [name, value] : fields) {
    out += ',';
    append_json_string(out, name);
    out += ':';
    append_json_string(out, value);
  }
  return out + '}';
}

}  // namespace agones_alloc_server
