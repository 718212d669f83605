// A container whose copies share one block until one of them is changed.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/detail/bring_near.hpp>
#include <agones_alloc/detail/reference_count.hpp>
#include <agones_alloc/detail/small_blocks.hpp>

#include <cstddef>
#include <initializer_list>
#include <new>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Eight bytes, null when empty; used like the container, which it converts from and to. A change first makes the container its
/// owner's alone, so it costs a copy where it is shared, and invalidates iterators; what is looked up through an object that is not const
/// counts as a change. Do not write through an iterator or reference taken before a copy was made. Thread safety: as int.
template <class Container>
class shared_copy {
  template <class C>
  static constexpr bool indexed = requires(C& c, std::size_t index) { c[index]; };

 public:
  using container_type = Container;
  using value_type = typename Container::value_type;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = typename Container::reference;
  using const_reference = typename Container::const_reference;
  using iterator = typename Container::iterator;
  using const_iterator = typename Container::const_iterator;

  shared_copy() noexcept = default;
  shared_copy(Container value) : block_{value.empty() ? nullptr : make(std::move(value))} {}
  shared_copy(std::initializer_list<value_type> values) : shared_copy(Container(values)) {}
  template <class Iterator>
  shared_copy(Iterator first, Iterator last) : shared_copy(Container(first, last)) {}
  AGONES_ALLOC_INLINE shared_copy(shared_copy const& other) noexcept : block_{other.block_} {
    if (block_ != nullptr) block_->references.add();
  }
  AGONES_ALLOC_INLINE shared_copy(shared_copy&& other) noexcept : block_{std::exchange(other.block_, nullptr)} {}
  AGONES_ALLOC_INLINE auto operator=(shared_copy const& other) noexcept -> shared_copy& {
    if (block_ != other.block_) shared_copy{other}.swap(*this);
    return *this;
  }
  AGONES_ALLOC_INLINE auto operator=(shared_copy&& other) noexcept -> shared_copy& {
    shared_copy{std::move(other)}.swap(*this);
    return *this;
  }
  auto operator=(std::initializer_list<value_type> values) -> shared_copy& { return *this = shared_copy(values); }
  AGONES_ALLOC_INLINE ~shared_copy() {
    if (block_ != nullptr && block_->references.drop()) forget(block_);
  }
  AGONES_ALLOC_INLINE void swap(shared_copy& other) noexcept { std::swap(block_, other.block_); }

  /// The container itself.
  auto get() const -> Container const& {
    static Container const none{};
    return block_ == nullptr ? none : block_->value;
  }
  operator Container const&() const { return get(); }
  /// The container to be changed, of this owner alone.
  auto own() -> Container& {
    if (block_ == nullptr) {
      block_ = make({});
    } else if (!block_->references.alone()) {
      shared_copy{make(Container(block_->value)), secret{}}.swap(*this);
    }
    return block_->value;
  }
  /// True when both share one block (a fast path for equality).
  auto same_block(shared_copy const& other) const noexcept -> bool { return block_ == other.block_; }
  /// Asks for the block, before it is needed.
  void bring_near() const noexcept { detail::bring_near(block_); }

  auto size() const noexcept -> size_type { return block_ == nullptr ? 0 : block_->value.size(); }
  auto empty() const noexcept -> bool { return block_ == nullptr || block_->value.empty(); }
  auto begin() const noexcept -> const_iterator { return block_ == nullptr ? const_iterator{} : std::as_const(block_->value).begin(); }
  auto end() const noexcept -> const_iterator { return block_ == nullptr ? const_iterator{} : std::as_const(block_->value).end(); }
  auto cbegin() const noexcept -> const_iterator { return begin(); }
  auto cend() const noexcept -> const_iterator { return end(); }
  auto data() const { return get().data(); }
  auto front() const -> const_reference { return *begin(); }
  auto back() const -> const_reference { return *(end() - 1); }
  template <class Key>
  auto find(Key const& key) const -> const_iterator {
    return block_ == nullptr ? const_iterator{} : std::as_const(block_->value).find(key);
  }
  template <class Key>
  auto contains(Key const& key) const -> bool {
    return block_ != nullptr && block_->value.contains(key);
  }
  template <class Key>
  auto count(Key const& key) const -> size_type {
    return block_ == nullptr ? 0 : block_->value.count(key);
  }
  template <class Key>
    requires(!indexed<Container>)
  auto at(Key const& key) const -> decltype(auto) {
    return get().at(key);
  }
  auto at(size_type index) const -> const_reference
    requires indexed<Container>
  {
    return get().at(index);
  }
  auto operator[](size_type index) const -> const_reference
    requires indexed<Container>
  {
    return get()[index];
  }

  auto begin() -> iterator { return block_ == nullptr ? iterator{} : own().begin(); }
  auto end() -> iterator { return block_ == nullptr ? iterator{} : own().end(); }
  auto front() -> reference { return own().front(); }
  auto back() -> reference { return own().back(); }
  template <class Key>
  auto find(Key const& key) -> iterator {
    return block_ == nullptr ? iterator{} : own().find(key);
  }
  template <class Key>
    requires(!indexed<Container>)
  auto at(Key const& key) -> decltype(auto) {
    return own().at(key);
  }
  template <class Key>
    requires(!indexed<Container>)
  auto operator[](Key&& key) -> decltype(auto) {
    return own()[std::forward<Key>(key)];
  }
  auto at(size_type index) -> reference
    requires indexed<Container>
  {
    return own().at(index);
  }
  auto operator[](size_type index) -> reference
    requires indexed<Container>
  {
    return own()[index];
  }
  void push_back(value_type value) { own().push_back(std::move(value)); }
  template <class... Args>
  auto emplace_back(Args&&... args) -> decltype(auto) {
    return own().emplace_back(std::forward<Args>(args)...);
  }
  template <class... Args>
  auto emplace(Args&&... args) -> decltype(auto) {
    return own().emplace(std::forward<Args>(args)...);
  }
  template <class... Args>
  auto try_emplace(Args&&... args) -> decltype(auto) {
    return own().try_emplace(std::forward<Args>(args)...);
  }
  template <class... Args>
  auto insert(Args&&... args) -> decltype(auto) {
    return own().insert(std::forward<Args>(args)...);
  }
  template <class... Args>
  auto insert_or_assign(Args&&... args) -> decltype(auto) {
    return own().insert_or_assign(std::forward<Args>(args)...);
  }
  template <class... Args>
  auto erase(Args&&... args) -> decltype(auto) {
    return own().erase(std::forward<Args>(args)...);
  }
  void resize(size_type size) { own().resize(size); }
  void resize(size_type size, value_type const& value) { own().resize(size, value); }
  void reserve(size_type size) { own().reserve(size); }
  void clear() noexcept { *this = shared_copy{}; }

  friend auto operator==(shared_copy const& a, shared_copy const& b) -> bool {
    return a.block_ == b.block_ || (a.size() == b.size() && (a.empty() || a.get() == b.get()));
  }
  friend auto operator==(shared_copy const& a, Container const& b) -> bool { return a.get() == b; }

 private:
  struct secret {};
  struct block {
    detail::reference_count references;
    Container value;
  };
  shared_copy(block* made, secret) noexcept : block_{made} {}

  static auto make(Container value) -> block* {
    static_assert(alignof(block) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return ::new (detail::small_blocks::take(sizeof(block))) block{{}, std::move(value)};
  }
  [[gnu::noinline]] static void forget(block* last) noexcept {
    last->~block();
    detail::small_blocks::give(last, sizeof(block));
  }

  block* block_{nullptr};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
