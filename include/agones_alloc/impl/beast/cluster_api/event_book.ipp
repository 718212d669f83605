#pragma once

#include <agones_alloc/beast/cluster_api/event_book.hpp>
#include <agones_alloc/json/detail/writer.hpp>
#include <agones_alloc/json/table.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::array<table_column, 5> event_table{
    table_column{"Last Seen", "string", "", "Time since it was last told."}, table_column{"Type", "string", "", "Normal or Warning."},
    table_column{"Reason", "string", "", "What it is about, in a word."}, table_column{"Object", "string", "", "The game server."},
    table_column{"Message", "string", "", "What it says."}};

inline auto event_type(kubernetes_event const& event) noexcept -> std::string_view { return event.warning ? "Warning" : "Normal"; }

inline auto event_field(kubernetes_event const& event, std::string_view field) noexcept -> std::string_view {
  if (field == "metadata.name") return event.name;
  if (field == "metadata.namespace" || field == "involvedObject.namespace") return event.about.namespace_;
  if (field == "type") return event_type(event);
  if (field == "reason") return event.reason;
  if (field == "involvedObject.kind") return "GameServer";
  if (field == "involvedObject.name") return event.about.name;
  if (field == "involvedObject.uid") return event.uid;
  return {};
}

inline void append_event_row(std::string& out, kubernetes_event const& event, timestamp now) {
  wire::writer to{out};
  to.open('{');
  to.key("cells");
  to.open('[');
  to.text(age_text(now - event.last));
  to.text(event_type(event));
  to.text(event.reason);
  to.text("gameserver/" + event.about.name.str());
  to.text(event.message);
  to.close(']');
  to.key("object");
  to.raw(to_json(event));
  to.close('}');
}

}  // namespace detail

AGONES_ALLOC_DECL event_book::event_book(timer& time, recorder* also, std::size_t most)
    : time_{&time}, also_{also}, most_{most} {}

AGONES_ALLOC_DECL void event_book::record(game_server const& about, type kind, std::string_view reason,
                                          std::string_view message) {
  if (also_ != nullptr) also_->record(about, kind, reason, message);
  event_note note;
  note.about = key_of(about.meta);
  note.uid = about.meta.uid;
  note.resource_version = about.meta.resource_version;
  note.warning = kind == type::warning;
  note.reason = shared_string{reason};
  note.message = message;
  note.at = time_->wall_now();
  auto decided = correlator_.take(note);
  auto const told = [&](kubernetes_event& event) {
    event.message = std::move(decided.message);
    event.count = decided.count;
    event.first = std::chrono::floor<std::chrono::seconds>(decided.first);
    event.last = std::chrono::floor<std::chrono::seconds>(decided.last);
  };
  auto const make = [&] {
    kubernetes_event event;
    event.name = decided.name;
    event.about = note.about;
    event.uid = note.uid;
    event.resource_version = note.resource_version;
    event.warning = note.warning;
    event.reason = note.reason;
    event.component = "agones-alloc";
    told(event);
    events_.push_back(std::move(event));
    if (events_.size() > most_) events_.pop_front();
  };
  switch (decided.what) {
    case event_decision::action::skip: break;
    case event_decision::action::create: make(); break;
    case event_decision::action::count: {
      auto const at = std::find_if(events_.begin(), events_.end(), [&](auto const& one) { return one.name == decided.name; });
      if (at == events_.end()) {
        make();
      } else {
        told(*at);
      }
      break;
    }
  }
}

AGONES_ALLOC_DECL auto event_book::list(std::string_view space, std::vector<field_term> const& wanted, api_form form) const
    -> std::string {
  auto const is_wanted = [&](kubernetes_event const& event) {
    return (space.empty() || event.about.namespace_ == space) && std::all_of(wanted.begin(), wanted.end(), [&](field_term const& term) {
             return (detail::event_field(event, term.field) == term.value) == term.equal;
           });
  };
  bool const table = form == api_form::table;
  auto const now = std::chrono::floor<std::chrono::seconds>(time_->wall_now());
  std::string out = table ? R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"columnDefinitions":)"
                          : R"({"kind":"EventList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[)";
  if (table) {
    append_columns(out, detail::event_table);
    out += R"(,"rows":[)";
  }
  bool first = true;
  for (auto const& event : events_) {
    if (!is_wanted(event)) continue;
    if (!std::exchange(first, false)) out += ',';
    if (table) {
      detail::append_event_row(out, event, now);
    } else {
      out += to_json(event);
    }
  }
  out += "]}\n";
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
