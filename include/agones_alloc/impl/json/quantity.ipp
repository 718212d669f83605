#pragma once

#include <agones_alloc/json/quantity.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void skip_digits(std::string_view& text) noexcept {
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') text.remove_prefix(1);
}

inline void skip_sign(std::string_view& text) noexcept {
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
}

inline auto is_quantity_suffix(std::string_view suffix) noexcept -> bool {
  static constexpr std::array<std::string_view, 16> words{"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                                          "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  if (std::find(words.begin(), words.end(), suffix) != words.end()) return true;
  if (suffix.front() != 'e' && suffix.front() != 'E') return false;
  suffix.remove_prefix(1);
  skip_sign(suffix);
  if (suffix.empty() || suffix.size() > 9) return false;
  skip_digits(suffix);
  return suffix.empty();
}

/// Walks from a GameServer's spec to what holds quantities.
class pod_check {
 public:
  auto spec(boost::json::value const& value, std::string const& path) -> std::optional<decode_error> {
    auto const* pod = member(member(&value, "template"), "spec");
    if (pod == nullptr) return std::nullopt;
    auto const pod_path = path + ".template.spec";
    for (std::string_view const kind : {"containers", "initContainers"}) {
      each(member(pod, kind), pod_path + "." + std::string{kind},
           [&](boost::json::value const& container, std::string const& at) {
             for (std::string_view const side : {"requests", "limits"}) {
               amounts(member(member(&container, "resources"), side), at + ".resources." + std::string{side});
             }
           });
    }
    each(member(pod, "volumes"), pod_path + ".volumes", [&](boost::json::value const& volume, std::string const& at) {
      if (auto const* limit = member(member(&volume, "emptyDir"), "sizeLimit"))
        amount(*limit, at + ".emptyDir.sizeLimit");
    });
    return std::move(error_);
  }

 private:
  static auto member(boost::json::value const* value, std::string_view name) -> boost::json::value const* {
    auto const* object = value == nullptr ? nullptr : value->if_object();
    return object == nullptr ? nullptr : object->if_contains(name);
  }
  template <class Visit>
  void each(boost::json::value const* value, std::string const& path, Visit visit) {
    auto const* array = value == nullptr ? nullptr : value->if_array();
    if (array == nullptr) return;
    for (std::size_t i = 0; i < array->size() && !error_; ++i) visit((*array)[i], path + "[" + std::to_string(i) + "]");
  }
  void amounts(boost::json::value const* value, std::string const& path) {
    auto const* object = value == nullptr ? nullptr : value->if_object();
    if (object == nullptr) return;
    for (auto const& entry : *object) amount(entry.value(), path + "[" + std::string{entry.key()} + "]");
  }
  void amount(boost::json::value const& value, std::string const& path) {
    if (error_ || value.is_null()) return;
    std::optional<std::string> problem;
    if (value.is_number()) {
      if (value.is_double() ? value.get_double() < 0 : value.is_int64() && value.get_int64() < 0)
        problem = "must not be negative";
    } else if (!value.is_string()) {
      problem = "expected a quantity such as 500m or 64Mi";
    } else {
      std::string_view const text = value.get_string();
      problem = quantity_problem(text);
      if (!problem && text.starts_with('-') && text.find_first_of("123456789") < text.find_first_of("eE")) {
        problem = "must not be negative";
      }
    }
    if (problem) error_ = decode_error{decode_fault::type, path, *std::move(problem), 0, 0, 0};
  }

  std::optional<decode_error> error_;
};

}  // namespace detail::wire

AGONES_ALLOC_DECL auto quantity_problem(std::string_view text) -> std::optional<std::string> {
  if (text.empty()) return "empty quantity";
  auto const shown = "invalid quantity \"" + std::string{text.substr(0, 64)} + "\": ";
  auto rest = text;
  detail::wire::skip_sign(rest);
  auto const whole = rest;
  detail::wire::skip_digits(rest);
  auto digits = whole.size() - rest.size();
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    auto const fraction = rest;
    detail::wire::skip_digits(rest);
    digits += fraction.size() - rest.size();
  }
  if (digits == 0) return shown + "it must begin with a number";
  if (!detail::wire::is_quantity_suffix(rest)) {
    return shown + "unknown unit \"" + std::string{rest.substr(0, 64)} +
           "\", expected n u m k M G T P E, Ki Mi Gi Ti Pi Ei or an exponent";
  }
  return std::nullopt;
}

AGONES_ALLOC_DECL auto check_pod_quantities(boost::json::value const& game_server_spec, std::string_view path)
    -> std::optional<decode_error> {
  return detail::wire::pod_check{}.spec(game_server_spec, std::string{path});
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
