# Sourced by the scripts beside it: where the source is, how to say things, compiler cache and linker.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
mkdir -p .cache  # locks

say() { printf '==> %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# One cache for clones at other paths; precompiled headers need the sloppiness.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

# configure FOLDER OPTION...: sets the build folder up once; anew when the options changed or it does not work
# any more, and again when files came or went that meson.build does not name.
configure() {
  ( flock 9; configure_locked "$@" ) 9>".cache/$1.lock"
}

configure_locked() {
  local folder=$1 options listing; shift
  options="${CXX:-} $*"
  listing="$(find include tests examples benchmarks src -name '*.[hic]pp' | sort)"
  if [[ -f $folder/build.ninja && "$(cat "$folder/.options" 2>/dev/null)" == "$options" ]]; then
    [[ "$(cat "$folder/.listing" 2>/dev/null)" != "$listing" ]] || return 0
    say "configuring $folder again"
    if meson setup --reconfigure "$folder" >"$folder/.log" 2>&1; then
      printf '%s' "$listing" >"$folder/.listing"
      return 0
    fi
  fi
  say "configuring $folder"
  rm -rf "$folder"
  if ! meson setup "$folder" "$@" >"$folder.log" 2>&1; then
    cat "$folder.log" >&2
    rm -rf "$folder" "$folder.log"
    die "meson could not configure $folder (see above)"
  fi
  rm "$folder.log"
  printf '%s' "$options" >"$folder/.options"
  printf '%s' "$listing" >"$folder/.listing"
}

# compile FOLDER [TARGET...]: progress on a terminal is one line that moves, elsewhere a line now and then.
compile() {
  local folder=$1; shift
  # Heavy translation units take over a gigabyte each: not more of them than processors. Two runs in one
  # folder would trip over each other.
  local run=(flock -o ".cache/$folder.lock" ninja -C "$folder" -j "$(nproc)" "$@")
  if [[ -t 2 ]]; then
    "${run[@]}" >&2
    return
  fi
  local line last=-1
  "${run[@]}" 2>&1 | while IFS= read -r line; do  # not awk: Debian's reads a pipe in large pieces
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      ((BASH_REMATCH[1] * 20 / BASH_REMATCH[2] != last)) || continue
      last=$((BASH_REMATCH[1] * 20 / BASH_REMATCH[2]))
    fi
    printf '%s\n' "$line"
  done >&2
}
