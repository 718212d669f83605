#pragma once

#include <agones_alloc/flow/event_correlator.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL event_correlator::event_correlator(event_correlator_options options)
    : options_{options}, similar_{options.remembered}, observed_{options.remembered}, buckets_{options.remembered} {}

AGONES_ALLOC_DECL auto event_correlator::take(event_note const& note) -> event_decision {
  // A byte that occurs in none of the parts keeps them apart.
  static constexpr char between = '\x1f';
  std::string key{note.about.namespace_.view()};
  for (auto const part : {note.about.name.view(), note.uid.view()}) (key += between) += part;
  auto const object = key;
  ((key += between) += note.warning ? 'w' : 'n') += note.reason.view();

  event_decision out;
  out.message = note.message.substr(0, options_.message_bytes);
  out.first = out.last = note.at;
  auto& alike = similar_.use(key);
  if (note.at - alike.last > options_.similar_time) alike.messages.clear();
  alike.last = note.at;
  alike.messages.insert(out.message);
  if (alike.messages.size() < options_.similar) {
    (key += between) += out.message;
  } else {
    alike.messages.erase(alike.messages.begin());
    out.message = ("(combined from similar events): " + out.message).substr(0, options_.message_bytes);
  }

  auto& known = observed_.use(key);
  if (known.count == 0) {
    known.name = new_name(note);
    known.first = note.at;
  }
  out.count = ++known.count;
  out.name = known.name;
  out.first = known.first;
  if (!may_write(object, note.at)) return out;
  out.what = out.count == 1 ? event_decision::action::create : event_decision::action::count;
  return out;
}

AGONES_ALLOC_DECL auto event_correlator::may_write(std::string_view object, event_note::wall_time now) -> bool {
  auto& of = buckets_.use(object);
  auto const most = static_cast<double>(options_.burst);
  if (of.tokens < 0) {
    of.tokens = most;
  } else if (now > of.filled) {
    auto const passed = std::chrono::duration<double>{now - of.filled} / std::chrono::duration<double>{options_.refill};
    of.tokens = std::min(most, of.tokens + passed);
  }
  of.filled = now;
  if (of.tokens < 1) return false;
  of.tokens -= 1;
  return true;
}

// As Kubernetes names them: the object's name and a time in nanoseconds, made unique here.
AGONES_ALLOC_DECL auto event_correlator::new_name(event_note const& note) -> std::string {
  static constexpr std::size_t most = 253;  // of an object's name
  last_suffix_ = std::max(last_suffix_ + 1, static_cast<std::int64_t>(note.at.time_since_epoch().count()));
  std::array<char, 20> digits;
  auto const* const end = std::to_chars(digits.data(), digits.data() + digits.size(), last_suffix_, 16).ptr;
  std::string_view const suffix{digits.data(), static_cast<std::size_t>(end - digits.data())};
  return std::string{note.about.name.view().substr(0, most - 1 - suffix.size())} + '.' + std::string{suffix};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
