#pragma once

#include <agones_alloc/json/base64.hpp>
#include <agones_alloc/yaml/kubeconfig.hpp>

#include <boost/json/value.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

namespace detail {

inline constexpr std::size_t most_kubeconfig_bytes = 1U << 20U;

/// One file of the merge.
struct kubeconfig_file {
  std::string name;
  document content;
};

/// Reads the members of one map of one file, and notes what is wrong with them where they stand.
class kube_entry {
 public:
  kube_entry(kubeconfig_file const& file, boost::json::value const* value, std::string path, problems& errors)
      : file_{&file}, path_{std::move(path)}, errors_{&errors} {
    if (value != nullptr && !value->is_null()) {
      object_ = value->if_object();
      if (object_ == nullptr) fail({}, "must be a map");
    }
  }

  void fail(std::string_view name, std::string message) const {
    auto field = path_;
    if (!name.empty()) field.append(field.empty() ? "" : ".").append(name);
    auto const line = file_->content.line_of(field);
    errors_->push_back({file_->name, line, std::move(field), std::move(message)});
  }

  auto has(std::string_view name) const -> bool { return find(name) != nullptr; }

  auto text(std::string_view name) const -> std::string {
    auto const* const value = find(name);
    if (value == nullptr) return {};
    if (auto const* string = value->if_string()) return {string->data(), string->size()};
    fail(name, "must be a string");
    return {};
  }

  auto flag(std::string_view name) const -> bool {
    auto const* const value = find(name);
    if (value == nullptr) return false;
    if (auto const* boolean = value->if_bool()) return *boolean;
    fail(name, "must be true or false");
    return false;
  }

  auto list(std::string_view name) const -> boost::json::array const* {
    auto const* const value = find(name);
    if (value == nullptr) return nullptr;
    auto const* const out = value->if_array();
    if (out == nullptr) fail(name, "must be a list");
    return out;
  }

  auto child(std::string_view name) const -> kube_entry {
    return {*file_, find(name), path_ + (path_.empty() ? "" : ".") + std::string{name}, *errors_};
  }
  auto element(std::string_view name, std::size_t index, boost::json::value const& value) const -> kube_entry {
    auto path = path_ + (path_.empty() ? "" : ".") + std::string{name} + "[" + std::to_string(index) + "]";
    return {*file_, &value, std::move(path), *errors_};
  }

  /// A path, resolved against the file's folder.
  auto path(std::string_view name) const -> std::string {
    auto const written = text(name);
    if (written.empty()) return {};
    return (std::filesystem::path{file_->name}.parent_path() / written).lexically_normal().string();
  }

  /// NAME-data in base64, or the file NAME.
  auto pem(std::string const& name) const -> pem_source {
    pem_source out;
    auto const data = name + "-data";
    if (auto const written = text(data); !written.empty()) {
      auto decoded = decode_base64(written);
      if (!decoded) {
        fail(data, "is not base64");
      } else if (decoded->find("-----BEGIN ") == std::string::npos) {
        fail(data, "holds no PEM text");
      } else {
        out.pem = *std::move(decoded);
        return out;
      }
    }
    out.file = path(name);
    return out;
  }

 private:
  auto find(std::string_view name) const -> boost::json::value const* {
    if (object_ == nullptr) return nullptr;
    auto const* const out = object_->if_contains(name);
    return out == nullptr || out->is_null() ? nullptr : out;
  }

  kubeconfig_file const* file_;
  boost::json::object const* object_{nullptr};
  std::string path_;
  problems* errors_;
};

}  // namespace detail

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
