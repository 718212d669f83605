#pragma once

#include <agones_alloc/beast/fleets/event_reader.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto event_reader::next(std::string_view& chunk) -> std::optional<server_sent_event> {
  while (!chunk.empty() && !failed_) {
    if (std::exchange(after_return_, false) && chunk.front() == '\n') {
      chunk.remove_prefix(1);
      continue;
    }
    auto const end = chunk.find_first_of("\r\n");
    line_ += chunk.substr(0, end);
    if (line_.size() + data_.size() > most_) {
      failed_ = true;
      break;
    }
    if (end == std::string_view::npos) {
      chunk = {};
      break;
    }
    after_return_ = chunk[end] == '\r';
    chunk.remove_prefix(end + 1);
    if (!line_.empty()) {
      take_line();
      line_.clear();
      continue;
    }
    auto what = std::exchange(what_, {});
    if (!std::exchange(has_data_, false)) continue;
    data_.pop_back();  // the last line's end
    return server_sent_event{what.empty() ? std::string{"message"} : std::move(what), std::exchange(data_, {}), id_};
  }
  return std::nullopt;
}

inline void event_reader::take_line() {
  std::string_view const line{line_};
  auto const colon = line.find(':');
  auto const name = line.substr(0, colon);
  auto value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "event") {
    what_ = value;
  } else if (name == "data") {
    data_.append(value).append(1, '\n');
    has_data_ = true;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    id_ = value;
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
