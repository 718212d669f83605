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

auto bounded(std::string_view text) -> std::string_view { return text.substr(0, 2000); }

/// One line stays one line, whatever a client sent.
void append_plain(std::string& out, std::string_view text) {
  for (char const c : bounded(text)) {
    auto const byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? '?' : c;
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
