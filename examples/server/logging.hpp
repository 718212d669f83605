// The logger port over spdlog: lines for people, or JSON lines (spec 10.3).
#pragma once

#include "options.hpp"

#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <memory>
#include <string>

namespace spdlog {
class logger;
}

namespace agones_alloc_server {

/// Writes to standard error. Thread-safe. Values are bounded: what is longer than 2,000 bytes is cut.
class line_logger final : public agones_alloc::logger {
 public:
  line_logger(log_format, agones_alloc::severity least, agones_alloc::timer const&);
  ~line_logger() override;
  void log(agones_alloc::severity, std::string_view message, std::initializer_list<field> fields = {}) override;

 private:
  auto text_line(agones_alloc::severity, std::string_view message, std::initializer_list<field>) const -> std::string;
  auto json_line(agones_alloc::severity, std::string_view message, std::initializer_list<field>) const -> std::string;

  log_format format_;
  agones_alloc::severity least_;
  agones_alloc::timer const* time_;
  std::shared_ptr<spdlog::logger> sink_;
};

}  // namespace agones_alloc_server
