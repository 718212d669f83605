#pragma once

#include <agones_alloc/impl/yaml/manifest_checks.ipp>
#include <agones_alloc/json/read.hpp>
#include <agones_alloc/yaml/manifests.hpp>

#include <boost/json/array.hpp>

#include <unordered_map>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {
namespace detail {

/// Collects the objects of any number of documents.
class manifest_reader {
 public:
  explicit manifest_reader(manifest_options const& options) : options_{options} {}

  void read(document const& doc, std::string const& file) {
    place const top{&doc, file, {}};
    read_object(doc.value, top);
  }
  void fail(problems const& found) { out_.errors.insert(out_.errors.end(), found.begin(), found.end()); }
  auto full() const -> bool { return out_.errors.size() >= options_.max_problems; }
  auto take() -> manifests;

 private:
  /// Where an object is: the document it is in and its path there, "" or `items[3]`.
  struct place {
    document const* doc;
    std::string const& file;
    std::string prefix;

    auto at(std::string const& path) const -> std::string {
      if (prefix.empty() || path.empty()) return prefix + path;
      return prefix + (path.front() == '[' ? "" : ".") + path;
    }
    auto line(std::string const& path) const -> std::size_t { return doc->line_of(at(path)); }
    auto kept() const -> manifest_place {
      return {file, prefix, line(""), line("metadata.name"), line("spec.replicas")};
    }
  };

  void problem_at(place const& where, std::string const& path, std::string message) {
    if (!full()) out_.errors.push_back({where.file, where.line(path), where.at(path), std::move(message)});
  }
  void note_at(place const& where, std::string const& path, std::string message, bool left_out) {
    if (out_.notes.size() < options_.max_notes)
      out_.notes.push_back({where.file, where.line(path), where.at(path), std::move(message), left_out});
  }
  void read_object(boost::json::value const& value, place const& where);
  void read_list(boost::json::object const& list, place const& where);
  void read_fleet_object(boost::json::value const& value, place const& where);
  void read_game_server_object(boost::json::value const& value, place const& where);
  void read_policy_object(boost::json::value const& value, place const& where);
  template <class T>
  auto keep(decoded<T> read, place const& where, T& out) -> bool;
  void note_unknown(std::vector<std::string> const& fields, place const& where);
  void note_kept(boost::json::value const& value, bool is_fleet, object_meta const& meta, place const& where);
  void check_unique(std::string_view kind, object_meta const& meta, place const& where);
  void count_replicas(std::int64_t replicas, std::string const& path, place const& where);
  auto complain_at(place const& where) -> complain {
    return
        [this, &where](std::string const& path, std::string message) { problem_at(where, path, std::move(message)); };
  }

  manifest_options const& options_;
  manifests out_;
  std::unordered_map<std::string, std::string> seen_;  ///< kind, namespace and name -> file and line
  std::int64_t total_{0};
};

inline auto manifest_reader::take() -> manifests {
  if (!out_.ok()) {
    out_.fleets.clear();
    out_.game_servers.clear();
    out_.policies.clear();
    out_.fleet_places.clear();
    out_.game_server_places.clear();
    out_.policy_places.clear();
  }
  return std::move(out_);
}

inline auto text_field(boost::json::object const& object, char const* key) -> std::string_view {
  auto const* found = object.if_contains(key);
  auto const* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string_view{} : std::string_view{text->data(), text->size()};
}

inline void manifest_reader::read_object(boost::json::value const& value, place const& where) {
  if (full()) return;
  auto const* object = value.if_object();
  if (object == nullptr)
    return problem_at(where, "", "is no Kubernetes object: a map with apiVersion and kind is expected");
  auto const kind = text_field(*object, "kind");
  auto const version = text_field(*object, "apiVersion");
  if (kind.empty()) return problem_at(where, "kind", "is missing, or is no text");
  if (version.empty()) return problem_at(where, "apiVersion", "is missing, or is no text");
  auto const group = version.substr(0, version.find('/'));
  if (version == "v1" && kind == "List") return read_list(*object, where);
  auto const refuse_version = [&](std::string_view wanted) {
    problem_at(where, "apiVersion",
               std::string{kind} + " of " + quoted(version) + " is not read: use " + std::string{wanted});
  };
  if (kind == "Fleet" && group.ends_with("agones.dev")) {
    return version == "agones.dev/v1" ? read_fleet_object(value, where) : refuse_version("agones.dev/v1");
  }
  if (kind == "GameServer" && group.ends_with("agones.dev")) {
    return version == "agones.dev/v1" ? read_game_server_object(value, where) : refuse_version("agones.dev/v1");
  }
  if (kind == "GameServerAllocationPolicy") {
    bool const known = version == "multicluster.agones.dev/v1" || version == "multicluster.agones.dev/v1alpha1";
    return known ? read_policy_object(value, where) : refuse_version("multicluster.agones.dev/v1");
  }
  auto const* meta = object->if_contains("metadata");
  auto const name = meta != nullptr && meta->is_object() ? text_field(meta->get_object(), "name") : std::string_view{};
  note_at(where, "",
          "left out: " + std::string{kind.substr(0, 64)} + (name.empty() ? "" : " " + quoted(name)) + " (" +
              std::string{version.substr(0, 64)} + ") is of no kind that is read",
          true);
}

inline void manifest_reader::read_list(boost::json::object const& list, place const& where) {
  auto const* items = list.if_contains("items");
  if (items == nullptr || items->is_null()) return;
  if (!items->is_array()) return problem_at(where, "items", "must be a list");
  if (!where.prefix.empty()) return problem_at(where, "", "a List within a List is not read");
  for (std::size_t i = 0; i < items->get_array().size(); ++i) {
    place const item{where.doc, where.file, "items[" + std::to_string(i) + "]"};
    read_object(items->get_array()[i], item);
  }
}

/// Takes a reader's value, or its error as a problem.
template <class T>
auto manifest_reader::keep(decoded<T> read, place const& where, T& out) -> bool {
  if (read) {
    out = std::move(*read);
    return true;
  }
  problem_at(where, read.error().field, read.error().message);
  return false;
}

inline void manifest_reader::note_unknown(std::vector<std::string> const& fields, place const& where) {
  for (auto const& field : fields) note_at(where, field, "left out: no such field", true);
}

inline void manifest_reader::note_kept(boost::json::value const& value, bool is_fleet, object_meta const& meta,
                                       place const& where) {
  auto const fields = kept_only(value, is_fleet);
  if (fields.empty()) return;
  note_at(where, "",
          std::string{is_fleet ? "Fleet " : "GameServer "} + to_string(key_of(meta)) +
              ": kept, but not simulated: " + fields,
          false);
}

inline void manifest_reader::check_unique(std::string_view kind, object_meta const& meta, place const& where) {
  if (meta.name.empty()) return;
  auto const key = std::string{kind} + " " + to_string(key_of(meta));
  auto const here = where.file + ":" + std::to_string(where.line("metadata.name"));
  auto const [found, fresh] = seen_.emplace(key, here);
  if (!fresh) problem_at(where, "metadata.name", "there are two of " + key + ": the first is at " + found->second);
}

inline void manifest_reader::count_replicas(std::int64_t replicas, std::string const& path, place const& where) {
  if (replicas <= 0 || total_ > options_.max_total_replicas) return;
  total_ += replicas;
  if (total_ > options_.max_total_replicas) {
    problem_at(where, path, "brings the servers of all manifests over " + std::to_string(options_.max_total_replicas));
  }
}

inline void manifest_reader::read_fleet_object(boost::json::value const& value, place const& where) {
  std::vector<std::string> unknown;
  json_read_options how;
  how.unknown_fields = &unknown;
  fleet f;
  if (!keep(read_fleet(value, how), where, f)) return;
  if (f.meta.namespace_.empty()) f.meta.namespace_ = options_.default_namespace;
  f.status = {};  // whatever was exported with the manifest is not the state of this process
  check_fleet(f, options_.max_replicas, complain_at(where));
  check_unique("Fleet", f.meta, where);
  count_replicas(f.replicas, "spec.replicas", where);
  note_unknown(unknown, where);
  note_kept(value, true, f.meta, where);
  out_.fleets.push_back(std::move(f));
  out_.fleet_places.push_back(where.kept());
}

inline void manifest_reader::read_game_server_object(boost::json::value const& value, place const& where) {
  std::vector<std::string> unknown;
  json_read_options how;
  how.unknown_fields = &unknown;
  game_server_manifest made;
  if (!keep(read_game_server(value, how), where, made.server)) return;
  how.unknown_fields = nullptr;
  if (!keep(read_game_server_template(value, how), where, made.shape)) return;
  if (made.server.meta.namespace_.empty()) made.server.meta.namespace_ = options_.default_namespace;
  check_game_server(made.server, made.shape, complain_at(where));
  check_unique("GameServer", made.server.meta, where);
  count_replicas(1, "", where);
  note_unknown(unknown, where);
  note_kept(value, false, made.server.meta, where);
  out_.game_servers.push_back(std::move(made));
  out_.game_server_places.push_back(where.kept());
}

inline void manifest_reader::read_policy_object(boost::json::value const& value, place const& where) {
  std::vector<std::string> unknown;
  json_read_options how;
  how.unknown_fields = &unknown;
  game_server_allocation_policy policy;
  if (!keep(read_game_server_allocation_policy(value, how), where, policy)) return;
  if (policy.meta.namespace_.empty()) policy.meta.namespace_ = options_.default_namespace;
  check_policy(policy, complain_at(where));
  check_unique("GameServerAllocationPolicy", policy.meta, where);
  note_unknown(unknown, where);
  out_.policies.push_back(std::move(policy));
  out_.policy_places.push_back(where.kept());
}

}  // namespace detail
}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
