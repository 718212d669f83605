#pragma once

#include <agones_alloc/flow/ready_events.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto same_field_name(std::string_view a, std::string_view b) noexcept -> bool {
  auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

inline auto bare_field_value(std::string_view text) noexcept -> std::string_view {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace detail

AGONES_ALLOC_DECL auto ready_events::take(std::string_view bytes) -> std::optional<probe_answer> {
  size_ += bytes.size();
  while (!bytes.empty()) {
    if (std::exchange(after_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    auto const end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, std::min(end, most_line + 1));
    if (line_.size() > most_line) return probe_answer::pending;
    if (end == std::string_view::npos) break;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (auto const answer = end_line()) return answer;
    line_.clear();
  }
  bool const too_much = size_ > (part_ == part::events ? most_bytes : most_head);
  return too_much ? std::optional{probe_answer::pending} : std::nullopt;
}

inline auto ready_events::end_line() -> std::optional<probe_answer> {
  std::string_view line{line_};
  switch (part_) {
    case part::status: {
      bool const good = line.starts_with("HTTP/1.") && line.size() >= 12 && line.substr(8, 4) == " 200" && (line.size() == 12 || line[12] == ' ');
      part_ = part::fields;
      return good ? std::nullopt : std::optional{probe_answer::pending};
    }
    case part::fields: return line.empty() ? end_of_head() : head_field(line);
    case part::events: break;
  }
  if (std::exchange(first_line_, false) && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  if (line.empty()) return end_event();
  event_field(line);
  return std::nullopt;
}

inline auto ready_events::end_of_head() noexcept -> std::optional<probe_answer> {
  part_ = part::events;
  return is_stream_ ? std::nullopt : std::optional{probe_answer::pending};
}

inline auto ready_events::head_field(std::string_view line) -> std::optional<probe_answer> {
  auto const colon = std::min(line.find(':'), line.size());
  auto const name = line.substr(0, colon);
  if (detail::same_field_name(name, "transfer-encoding")) return probe_answer::pending;
  if (detail::same_field_name(name, "content-type") && colon != line.size()) {
    auto const value = line.substr(colon + 1);
    is_stream_ = detail::same_field_name(detail::bare_field_value(value.substr(0, value.find(';'))), "text/event-stream");
  }
  return std::nullopt;
}

inline auto ready_events::end_event() -> std::optional<probe_answer> {
  auto const what = std::exchange(what_, {});
  auto const data = std::exchange(data_, {});
  auto const lines = std::exchange(data_lines_, 0);
  bool const meant = lines <= 1 && (data.empty() || data == "true" || data == id_);
  if (!meant) return std::nullopt;
  if (what == "ready") return probe_answer::ready;
  if (what == "failed") return probe_answer::failed;
  return std::nullopt;
}

inline void ready_events::event_field(std::string_view line) {
  auto const colon = line.find(':');
  auto const name = line.substr(0, colon);
  auto value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "event") {
    what_ = value;
  } else if (name == "data") {
    data_ = value;  // an answer has one line; of more only the number counts
    ++data_lines_;
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
