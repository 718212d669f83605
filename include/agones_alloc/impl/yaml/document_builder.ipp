#pragma once

#include <agones_alloc/impl/yaml/text_check.ipp>
#include <agones_alloc/yaml/document.hpp>
#include <agones_alloc/yaml/scalar.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {
namespace detail {

/// Leaves the parser at the first problem; never leaves `parse`.
struct stop_parsing {
  problem what;
};

/// A finished value with its lines and what it counts against the limits.
struct built {
  boost::json::value value;
  source_lines lines;
  std::size_t nodes{1};
  std::size_t bytes{0};
};

/// Takes the parser's events and builds one document after the other, within the limits. Working from events
/// and not from the parser's own tree is what bounds depth, aliases and memory.
class document_builder final : public YAML::EventHandler {
 public:
  document_builder(std::string_view text, limits const& bounds) : starts_{text}, limits_{bounds} {}

  auto take() -> std::vector<document> { return std::move(done_); }

  void OnDocumentStart(YAML::Mark const& mark) override;
  void OnDocumentEnd() override;
  void OnNull(YAML::Mark const& mark, YAML::anchor_t anchor) override;
  void OnAlias(YAML::Mark const& mark, YAML::anchor_t anchor) override;
  void OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                std::string const& value) override;
  void OnSequenceStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override;
  void OnMapEnd() override { close(); }

 private:
  struct frame {
    built made;
    YAML::anchor_t anchor{0};
    std::optional<std::string> key;  ///< of a map, between key and value
    std::uint32_t key_line{0};
    bool merging{false};        ///< the key was `<<`
    std::vector<built> merges;  ///< what `<<` brought, applied when the map is whole: its own keys win
  };

  [[noreturn]] void fail(std::size_t line, std::string message) const {
    throw stop_parsing{{{}, line, path(), std::move(message)}};
  }
  auto path() const -> std::string;
  void count(std::size_t nodes, std::size_t bytes, std::size_t line);
  void open(YAML::Mark const& mark, YAML::anchor_t anchor, boost::json::value container);
  void close();
  void finish(built made, YAML::anchor_t anchor, bool plain_merge = false);
  auto expects_key() const -> bool {
    return !frames_.empty() && frames_.back().made.value.is_object() && !frames_.back().key;
  }
  void take_key(built const& made, bool plain_merge);
  void add_merge(frame& map, built made);
  void apply_merges(frame& map);
  auto value_of(scalar const& s, std::string const& text, std::size_t line) const -> boost::json::value;
  auto value_of_tagged(std::string const& tag, std::string const& text, std::size_t line) const -> boost::json::value;
  static auto line_of_mark(YAML::Mark const& mark) -> std::uint32_t {
    return static_cast<std::uint32_t>(mark.line < 0 ? 0 : mark.line + 1);
  }

  document_starts starts_;
  limits limits_;
  std::size_t nodes_{0};
  std::size_t bytes_{0};
  std::size_t started_{0};
  std::vector<frame> frames_;
  std::optional<built> root_;
  std::unordered_map<YAML::anchor_t, built> anchors_;
  std::vector<document> done_;
};

inline auto document_builder::path() const -> std::string {
  static constexpr std::size_t longest = 200;
  std::string out;
  for (auto const& f : frames_) {
    if (out.size() > longest) return out + "...";
    if (f.made.value.is_array()) {
      out += "[" + std::to_string(f.made.value.get_array().size()) + "]";
    } else if (f.key) {
      auto const shown = f.key->substr(0, 64);
      if (shown.find_first_of(".[]/ ") != std::string::npos) {
        out += "[" + shown + "]";
      } else {
        if (!out.empty()) out += '.';
        out += shown;
      }
    }
  }
  return out;
}

inline void document_builder::count(std::size_t nodes, std::size_t bytes, std::size_t line) {
  if (nodes > limits_.max_nodes - nodes_) {
    fail(line, "more than " + std::to_string(limits_.max_nodes) + " values, aliases counted at their full size");
  }
  if (bytes > limits_.max_expanded_bytes - bytes_) {
    fail(line,
         "more than " + std::to_string(limits_.max_expanded_bytes) + " characters, aliases counted at their full size");
  }
  nodes_ += nodes;
  bytes_ += bytes;
}

inline void document_builder::OnDocumentStart(YAML::Mark const& mark) {
  auto const line = line_of_mark(mark);
  if (started_++ > 0 && !starts_.may_begin(line, static_cast<std::size_t>(mark.column < 0 ? 0 : mark.column))) {
    fail(line, "text after the end of the document: `---` is missing, or a bracket or the indentation is wrong");
  }
  if (started_ > limits_.max_documents) fail(line, "more than " + std::to_string(limits_.max_documents) + " documents");
  frames_.clear();
  anchors_.clear();
  root_.reset();
}

inline void document_builder::OnDocumentEnd() {
  anchors_.clear();
  if (!root_ || root_->value.is_null()) return;
  done_.push_back({std::move(root_->value), std::move(root_->lines)});
}

inline void document_builder::OnNull(YAML::Mark const& mark, YAML::anchor_t anchor) {
  auto const line = line_of_mark(mark);
  count(1, 0, line);
  finish({nullptr, {line, {}}}, anchor);
}

inline void document_builder::OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                                       std::string const& value) {
  auto const line = line_of_mark(mark);
  count(1, value.size(), line);
  // The text is UTF-8, but the parser makes single bytes of the escapes \N and \_.
  if (!is_utf8(value)) fail(line, "an escape that does not stand for UTF-8 text; \\u followed by four digits does");
  built made;
  made.lines.line = line;
  made.bytes = value.size();
  bool const plain = tag == "?" || tag.empty();
  made.value = plain ? value_of(resolve_plain(value), value, line) : value_of_tagged(tag, value, line);
  finish(std::move(made), anchor, plain && value == "<<");
}

inline void document_builder::OnAlias(YAML::Mark const& mark, YAML::anchor_t anchor) {
  auto const line = line_of_mark(mark);
  auto const found = anchors_.find(anchor);
  if (found == anchors_.end()) fail(line, "an alias within its own anchor");
  count(found->second.nodes, found->second.bytes, line);
  auto copy = found->second;
  copy.lines.line = line;
  finish(std::move(copy), YAML::NullAnchor);
}

inline void document_builder::OnSequenceStart(YAML::Mark const& mark, std::string const&, YAML::anchor_t anchor,
                                              YAML::EmitterStyle::value) {
  open(mark, anchor, boost::json::array{});
}

inline void document_builder::OnMapStart(YAML::Mark const& mark, std::string const&, YAML::anchor_t anchor,
                                         YAML::EmitterStyle::value) {
  open(mark, anchor, boost::json::object{});
}

inline void document_builder::open(YAML::Mark const& mark, YAML::anchor_t anchor, boost::json::value container) {
  auto const line = line_of_mark(mark);
  if (expects_key()) fail(line, "a list or map as a key");
  if (frames_.size() >= limits_.max_depth)
    fail(line, "nested deeper than " + std::to_string(limits_.max_depth) + " levels");
  count(1, 0, line);
  frame f;
  f.made.value = std::move(container);
  f.made.lines.line = line;
  f.anchor = anchor;
  frames_.push_back(std::move(f));
}

inline void document_builder::close() {
  auto f = std::move(frames_.back());
  frames_.pop_back();
  if (!f.merges.empty()) apply_merges(f);
  finish(std::move(f.made), f.anchor);
}

inline void document_builder::finish(built made, YAML::anchor_t anchor, bool plain_merge) {
  if (anchor != YAML::NullAnchor) {
    count(made.nodes, made.bytes, made.lines.line);  // the copy kept for the aliases
    anchors_.insert_or_assign(anchor, made);
  }
  if (frames_.empty()) {
    root_ = std::move(made);
    return;
  }
  if (expects_key()) return take_key(made, plain_merge);
  auto& parent = frames_.back();
  if (parent.merging) return add_merge(parent, std::move(made));
  parent.made.nodes += made.nodes;
  parent.made.bytes += made.bytes;
  if (parent.key) {
    made.lines.line = parent.key_line;
    parent.made.bytes += parent.key->size();
    parent.made.value.get_object().emplace(*parent.key, std::move(made.value));
    parent.key.reset();
  } else {
    parent.made.value.get_array().push_back(std::move(made.value));
  }
  parent.made.lines.children.push_back(std::move(made.lines));
}

}  // namespace detail
}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
