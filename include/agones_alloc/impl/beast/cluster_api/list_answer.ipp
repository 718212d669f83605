#pragma once

#include <agones_alloc/async/detail/object_table.hpp>
#include <agones_alloc/beast/cluster_api/list_answer.hpp>
#include <agones_alloc/json/detail/writer.hpp>
#include <agones_alloc/json/write.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Writes a page piece by piece.
class list_stream final : public http_body_stream {
 public:
  list_stream(feed_page page, object_form const& form, std::size_t piece_bytes)
      : page_{std::move(page)}, form_{form}, piece_bytes_{piece_bytes} {}

  void next(std::function<void(piece)> then) override {
    auto made = ready_.empty() ? make_piece() : std::exchange(ready_, {});
    then(made.empty() ? nullptr : std::make_shared<std::string const>(std::move(made)));
  }
  void stop() override {}

  void put_back(std::string made) { ready_ = std::move(made); }
  auto is_done() const noexcept -> bool { return ended_; }
  auto make_piece() -> std::string {
    std::string out;
    if (ended_) return out;
    if (!std::exchange(begun_, true)) append_head(out);
    while (next_ != page_.objects.size() && out.size() < piece_bytes_) {
      if (next_ != 0) out += ',';
      append_object(out, page_.objects[next_], form_);
      page_.objects[next_++] = game_server_ptr{};  // what is written need not be kept
    }
    if (next_ != page_.objects.size()) return out;
    ended_ = true;
    out += "]}\n";
    return out;
  }

 private:
  void append_head(std::string& out) const {
    bool const table = form_.form == api_form::table;
    out += table ? R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":")"
                 : R"({"kind":")" + std::string{form_.kind->kind} +
                       R"(List","apiVersion":"agones.dev/v1","metadata":{"resourceVersion":")";
    out += page_.resource_version + '"';
    if (!page_.continue_token.empty()) out += R"(,"continue":")" + page_.continue_token + '"';
    if (page_.remaining != 0) out += R"(,"remainingItemCount":)" + std::to_string(page_.remaining);
    out += '}';
    if (table) {
      out += R"(,"columnDefinitions":)";
      append_columns(out, form_.kind->columns);
    }
    out += table ? R"(,"rows":[)" : R"(,"items":[)";
  }

  feed_page page_;
  object_form form_;
  std::size_t piece_bytes_;
  std::string ready_;  ///< made already
  std::size_t next_{0};
  bool begun_{false};
  bool ended_{false};
};

/// Whether a list of this version answers the query; else why not.
inline auto version_problem(list_query const& query, std::string_view current) -> std::optional<api_refusal> {
  auto const asked = version_number(query.resource_version);
  auto const have = version_number(current);
  if (!asked || *asked == 0 || !have) return std::nullopt;
  if (*asked > *have) {
    api_refusal out;
    out.code = 504;
    out.message = "Too large resource version: " + query.resource_version + ", current: " + std::string{current};
    out.retry_after = std::chrono::seconds{1};
    return out;
  }
  if (query.match == version_match::exact && *asked != *have) {
    return expired("The resourceVersion for the provided list is too old: only the newest state is kept.");
  }
  return std::nullopt;
}

}  // namespace detail

AGONES_ALLOC_DECL auto take_page(object_feed& feed, list_pages& pages, list_query const& query, std::string_view space)
    -> std::variant<feed_page, api_refusal> {
  std::shared_ptr<feed_list const> list;
  std::size_t at = 0;
  if (query.continue_token.empty()) {
    list = std::make_shared<feed_list const>(feed.list());
    if (auto problem = detail::version_problem(query, list->resource_version)) return *std::move(problem);
  } else if (!list_pages::is_token(query.continue_token)) {
    api_refusal out;
    out.message = "continue: Invalid value: " + go_quoted(query.continue_token) + ": is none of this server's";
    return out;
  } else {
    auto found = pages.find(query.continue_token);
    if (!found) return expired("The provided continue parameter is too old: begin the list anew, without it.");
    list = std::move(found->list);
    at = found->offset;
  }
  auto const is_wanted = [&](api_object const& object) {
    auto const& meta = meta_of(object);
    return (space.empty() || meta.namespace_ == space) && is_selected(query, meta);
  };
  feed_page out;
  out.resource_version = list->resource_version;
  auto const& all = list->objects;
  for (; at != all.size() && (query.limit == 0 || out.objects.size() < query.limit); ++at) {
    if (is_wanted(all[at])) out.objects.push_back(all[at]);
  }
  auto const more = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(at), all.end(), is_wanted);
  if (more == all.end()) return out;
  if (query.selects_all()) out.remaining = static_cast<std::size_t>(std::count_if(more, all.end(), is_wanted));
  out.continue_token = pages.token(list, static_cast<std::size_t>(more - all.begin()));
  return out;
}

AGONES_ALLOC_DECL void append_object(std::string& out, api_object const& object, object_form const& form) {
  std::visit(
      [&](auto const& one) {
        switch (form.form) {
          case api_form::objects: append_json(out, *one); break;
          case api_form::table: append_row(out, *one, form.rows, form.now); break;
        }
      },
      object);
}

AGONES_ALLOC_DECL auto list_response(feed_page page, object_form const& form, std::size_t piece_bytes) -> http_response {
  auto stream = std::make_shared<detail::list_stream>(std::move(page), form, piece_bytes);
  auto first = stream->make_piece();
  if (stream->is_done()) return json_response(200, std::move(first));
  auto out = json_response(200, {});
  stream->put_back(std::move(first));
  out.stream = std::move(stream);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
