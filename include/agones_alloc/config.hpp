// Build shape and macros. Every macro of the library is defined here.
//
// Header-only is the default. A program that links the compiled library gets
// AGONES_ALLOC_COMPILED from its pkg-config or CMake flags; the shape is part of
// the inline namespace, so mixing the two fails to link instead of misbehaving.
#pragma once

#define AGONES_ALLOC_VERSION_MAJOR 0
#define AGONES_ALLOC_VERSION_MINOR 1
#define AGONES_ALLOC_VERSION_PATCH 0
#define AGONES_ALLOC_VERSION "0.1.0"

// Blocks of memory of each size that a thread keeps for reuse; none where a checker is to see each one's end.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define AGONES_ALLOC_KEPT_BLOCKS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define AGONES_ALLOC_KEPT_BLOCKS 0
#endif
#endif
#ifndef AGONES_ALLOC_KEPT_BLOCKS
#define AGONES_ALLOC_KEPT_BLOCKS 256
#endif

// For the few instructions that every copy and every end of a value goes through: where everything is one translation unit, compilers
// run out of what they allow themselves for inlining long before they come to these.
#if defined(__GNUC__)
#define AGONES_ALLOC_INLINE [[gnu::always_inline]] inline
#else
#define AGONES_ALLOC_INLINE inline
#endif

#if defined(AGONES_ALLOC_COMPILED)
#define AGONES_ALLOC_DECL
#define AGONES_ALLOC_ABI v0_compiled
#else
#define AGONES_ALLOC_HEADER_ONLY 1
#define AGONES_ALLOC_DECL inline
#define AGONES_ALLOC_ABI v0_header_only
#endif
