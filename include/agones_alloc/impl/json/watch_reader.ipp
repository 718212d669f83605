#pragma once

#include <agones_alloc/json/detail/look.hpp>
#include <agones_alloc/json/watch_reader.hpp>

#include <array>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline auto at_event(object_reader_options options) noexcept -> object_reader_options {
  options.place = object_place::event;
  return options;
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto read_watch_event(boost::json::value const& value) -> decoded<watch_event> {
  using kind = watch_event::kind;
  using namespace detail::wire;
  static constexpr std::array<std::pair<std::string_view, kind>, 5> words{{{"ADDED", kind::added},
                                                                         {"MODIFIED", kind::modified},
                                                                         {"DELETED", kind::deleted},
                                                                         {"BOOKMARK", kind::bookmark},
                                                                         {"ERROR", kind::error}}};
  auto const refuse = [](decode_fault fault, char const* field, std::string message) {
    return decode_error{fault, field, std::move(message), 0, 0, 0};
  };
  auto const word = text_of(member_of(&value, "type"));
  watch_event out;
  auto const* known = words.begin();
  while (known != words.end() && known->first != word) ++known;
  if (known == words.end()) {
    return refuse(decode_fault::enum_name, "type", "unknown kind of event \"" + std::string{word.substr(0, 64)} + "\"");
  }
  out.what = known->second;
  out.object = member_of(&value, "object");
  if (out.object == nullptr || !out.object->is_object()) {
    return refuse(decode_fault::type, "object", "expected an object");
  }
  if (out.what == kind::error) return out;
  auto const* const meta = member_of(out.object, "metadata");
  out.resource_version = text_of(member_of(meta, "resourceVersion"));
  if (out.resource_version.empty()) {
    return refuse(decode_fault::type, "object.metadata.resourceVersion", "expected a text that is not empty");
  }
  out.initial_events_end = out.what == kind::bookmark && text_of(member_of(member_of(meta, "annotations"),
                                                                           "k8s.io/initial-events-end")) == "true";
  return out;
}

AGONES_ALLOC_DECL watch_reader::watch_reader(std::string from, object_reader_options options)
    : reader_{detail::wire::at_event(options)}, version_{std::move(from)} {}

AGONES_ALLOC_DECL auto watch_reader::next(std::string_view& chunk) -> decoded<watch_event const*> {
  auto const document = reader_.next(chunk);
  if (!document) return document.error();
  if (*document == nullptr) return nullptr;
  auto event = read_watch_event(**document);
  if (!event) return event.error();
  event_ = *event;
  if (!event_.resource_version.empty()) version_ = event_.resource_version;
  return &event_;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
