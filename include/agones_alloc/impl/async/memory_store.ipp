#pragma once

#include <agones_alloc/async/detail/memory_store_core.hpp>
#include <agones_alloc/async/memory_store.hpp>

#include <memory>
#include <stdexcept>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL memory_store::memory_store(boost::asio::any_io_executor executor, memory_store_options options) {
  if (!executor) throw std::invalid_argument{"memory_store: executor: must not be empty"};
  if (options.history == 0) throw std::invalid_argument{"memory_store_options.history: must be at least 1"};
  if (options.watch_batch == 0) throw std::invalid_argument{"memory_store_options.watch_batch: must be at least 1"};
  core_ = std::make_shared<detail::memory_store_core>(std::move(executor), options);
}

AGONES_ALLOC_DECL memory_store::~memory_store() { core_->close(); }

AGONES_ALLOC_DECL auto memory_store::create(game_server server) -> result<game_server_ptr> {
  auto const now = core_->now();
  return core_->change([&](detail::object_table& table) { return table.create(std::move(server), now); });
}

AGONES_ALLOC_DECL auto memory_store::update(game_server const& base, game_server desired) -> result<game_server_ptr> {
  auto own = std::make_shared<game_server>(std::move(desired));
  return core_->change([&](detail::object_table& table) { return table.update(base, std::move(own)); });
}

AGONES_ALLOC_DECL auto memory_store::remove(object_key const& key, std::string_view uid) -> result<game_server_ptr> {
  return core_->change([&](detail::object_table& table) { return table.remove(key, uid); });
}

AGONES_ALLOC_DECL auto memory_store::find(object_key const& key) const -> game_server_ptr {
  return core_->look([&](detail::object_table const& table) { return table.find(key); });
}

AGONES_ALLOC_DECL auto memory_store::list() const -> server_list {
  return core_->look([](detail::object_table const& table) { return table.list(); });
}

AGONES_ALLOC_DECL auto memory_store::size() const -> std::size_t {
  return core_->look([](detail::object_table const& table) { return table.size(); });
}

AGONES_ALLOC_DECL auto memory_store::changes_after(std::string_view resource_version, std::size_t most) const
    -> result<store_changes> {
  auto const from = detail::version_number(resource_version);
  if (!from) return error_code{errc::too_old};
  return core_->look([&](detail::object_table const& table) { return table.full_changes_after(*from, most); });
}

AGONES_ALLOC_DECL void memory_store::set_faults(std::shared_ptr<fault_plan> plan) { core_->set_faults(std::move(plan)); }

AGONES_ALLOC_DECL void memory_store::compact() {
  core_->change([](detail::object_table& table) { return table.forget_history(), true; });
}

AGONES_ALLOC_DECL void memory_store::do_update(update_request request, store::handler done) {
  core_->update(std::move(request), std::move(done));
}
AGONES_ALLOC_DECL void memory_store::do_read(object_key key, store::handler done) {
  core_->read(std::move(key), std::move(done));
}
AGONES_ALLOC_DECL void memory_store::do_list(list_handler done) { core_->list(std::move(done)); }
AGONES_ALLOC_DECL void memory_store::do_watch(std::string from, watch_handler done) {
  core_->watch(std::move(from), std::move(done));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
