#pragma once

#include <agones_alloc/beast/cluster_api/list_pages.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

inline void list_pages::forget_old() {
  auto const oldest = time_->now() - kept_;
  while (!entries_.empty() && (entries_.size() > most_ || entries_.front().used < oldest)) entries_.pop_front();
}

AGONES_ALLOC_DECL auto list_pages::token(std::shared_ptr<feed_list const> list, std::size_t offset) -> std::string {
  auto const known = std::find_if(entries_.begin(), entries_.end(), [&](entry const& one) { return one.list == list; });
  auto const id = known == entries_.end() ? next_id_++ : known->id;
  if (known != entries_.end()) entries_.erase(known);
  // The version tells tokens of this process from those of one before it.
  auto out = list->resource_version + "." + std::to_string(id) + "." + std::to_string(offset);
  entries_.push_back({id, time_->now(), std::move(list)});
  forget_old();
  return out;
}

AGONES_ALLOC_DECL auto list_pages::is_token(std::string_view text) noexcept -> bool {
  int parts = 0;
  for (bool more = true; more; ++parts) {
    auto const end = std::min(text.find('.'), text.size());
    auto const part = text.substr(0, end);
    if (part.empty() || part.size() > 20 || part.find_first_not_of("0123456789") != std::string_view::npos) return false;
    more = end != text.size();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts == 3;
}

AGONES_ALLOC_DECL auto list_pages::find(std::string_view token) -> std::optional<place> {
  forget_old();
  auto const first = token.find('.');
  auto const second = token.find('.', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  std::uint64_t id = 0;
  std::size_t offset = 0;
  auto const* const middle = token.data() + second;
  auto const* const end = token.data() + token.size();
  if (std::from_chars(token.data() + first + 1, middle, id).ptr != middle) return std::nullopt;
  if (std::from_chars(middle + 1, end, offset).ptr != end) return std::nullopt;
  auto const at = std::find_if(entries_.begin(), entries_.end(), [&](entry const& one) {
    return one.id == id && one.list->resource_version == token.substr(0, first);
  });
  if (at == entries_.end() || offset > at->list->objects.size()) return std::nullopt;
  auto found = std::move(*at);
  entries_.erase(at);
  found.used = time_->now();
  entries_.push_back(found);
  return place{std::move(found.list), offset};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
