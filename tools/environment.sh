# Sourced by the scripts beside it: where the source is, how to say things, compiler cache and linker.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

say() { printf '==> %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# One cache for clones at other paths; precompiled headers need the sloppiness.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

# configure FOLDER OPTION...: sets the build folder up once; again when it does not work any more, or when
# files came or went that meson.build does not name.
configure() {
  local folder=$1; shift
  local listing="$folder/.listing" now
  now="$(find include tests examples benchmarks src -type f \( -name '*.hpp' -o -name '*.ipp' -o -name '*.cpp' \) | sort
         printf '%s\n' "$@")"
  if [[ -f $folder/build.ninja && -f $listing && "$(cat "$listing")" == "$now" ]]; then
    return 0
  fi
  say "configuring $folder"
  # The compilers of a folder cannot change after its first set-up, and a half-made one is no use.
  if [[ -f $folder/build.ninja ]]; then
    meson setup --reconfigure "$folder" "$@" >"$folder/configure.log" 2>&1 || { rm -rf "$folder"; }
  fi
  if [[ ! -f $folder/build.ninja ]]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    meson setup "$folder" "$@" >"$folder/configure.log" 2>&1 || {
      cat "$folder/configure.log" >&2
      rm -f "$folder/build.ninja"
      die "meson could not configure $folder (see above)"
    }
  fi
  printf '%s' "$now" >"$listing"
}

# compile FOLDER [TARGET...]: progress on a terminal is one line that moves, elsewhere a line now and then.
compile() {
  local folder=$1; shift
  if [[ -t 2 ]]; then
    ninja -C "$folder" "$@" >&2
  else
    ninja -C "$folder" "$@" 2>&1 | awk '
      /^\[[0-9]+\/[0-9]+\]/ && !/FAILED/ {
        split(substr($1, 2), part, /[\/\]]/)
        step = int(part[1] * 10 / part[2])
        if (step != last) { print; fflush(); last = step }
        next
      }
      { print; fflush() }' >&2
  fi
}
