#!/usr/bin/env python3
"""Builds users' programs against the library as users get it.

consumers.py installed|subproject header_only|compiled SOURCE-FOLDER

installed:  installs into a folder of its own, then builds and runs the programs found through pkg-config
            and through CMake, and checks what they link.
subproject: a Meson project that has this one below subprojects/.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
WAY, SHAPE, SOURCE = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
COMPILED = SHAPE == "compiled"
# Beside the other build folders: there the compiler cache already has the objects of the library.
PLACE = SOURCE / f"build-shapes-{WAY}-{SHAPE}"
# What only who asks for gRPC or NATS may have, and what the core may not have either.
OPTIONAL = {"libgrpc", "libgrpc++", "libgrpc++_reflection", "libgpr", "libprotobuf", "libnats", "libagones_alloc_grpc", "libagones_alloc_nats",
            "libagones_alloc_proto"}
FORBIDDEN = OPTIONAL | {"libssl", "libcrypto", "libboost_json", "libboost_container", "libyaml-cpp"}
CXX = ["ccache", "g++"] if shutil.which("ccache") else ["g++"]
ENV = {**os.environ, "LD_LIBRARY_PATH": str(PLACE / "prefix/lib"),
       "PKG_CONFIG_PATH": str(PLACE / "prefix/lib/pkgconfig"), "CMAKE_GENERATOR": "Ninja"}


def run(*command: str | pathlib.Path, cwd: pathlib.Path = PLACE) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=ENV, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(words)}\n{done.stdout}")
    return done.stdout


def linked(program: pathlib.Path) -> set[str]:
    """The libraries a program or library names, without versions."""
    return set(re.findall(r"\(NEEDED\).*\[([^]]+?)\.so[^]]*\]", run("readelf", "-d", program)))


def check_program(program: pathlib.Path, must: set[str], must_not: set[str]) -> None:
    names = linked(program)
    if not must <= names or names & must_not:
        sys.exit(f"{program.name} links {sorted(names)}: must have {sorted(must)}, must not have {sorted(must_not)}")
    print(f"{program.relative_to(PLACE)} links {', '.join(sorted(names))} and says: {run(program).strip()}")


def check_pair(folder: pathlib.Path) -> None:
    core = {"libagones_alloc"} if COMPILED else set()
    adapters = {"libagones_alloc_beast"} if COMPILED else {"libboost_json"}
    check_program(folder / "core", core, FORBIDDEN | {"libagones_alloc_beast"})
    check_program(folder / "adapters", adapters, OPTIONAL)


def pkg_config(*arguments: str) -> list[str]:
    return run("pkg-config", *arguments).split()


def installed() -> None:
    build, prefix = PLACE, PLACE / "prefix"
    if not (build / "build.ninja").exists():
        shutil.rmtree(PLACE, ignore_errors=True)
        run("meson", "setup", PLACE, SOURCE, f"-Dcompiled={str(COMPILED).lower()}", "-Dtests=false", "-Dexamples=false",
            "-Dbenchmarks=false", f"--prefix={prefix}", "-Dlibdir=lib", "-Ddebug=false", "-Doptimization=1",
            "-Dcpp_args=-g1", "-Dwerror=true", cwd=SOURCE)
    shutil.rmtree(prefix, ignore_errors=True)
    run("ninja", "-j2", "install")
    made = {path.name.split(".")[0] for pattern in ("*.so*", "*.a") for path in prefix.rglob(pattern)}
    if COMPILED:
        for name, others in (("libagones_alloc", FORBIDDEN), ("libagones_alloc_beast", OPTIONAL)):
            if linked(prefix / f"lib/{name}.so") & others:
                sys.exit(f"{name} itself needs what only others may: {linked(prefix / f'lib/{name}.so') & others}")
    elif made - {"libagones_alloc_proto"}:  # code that is made of messages is compiled in both shapes
        sys.exit(f"the header-only shape installs libraries: {made}")

    by_pkg_config = PLACE / "by-pkg-config"
    by_pkg_config.mkdir(exist_ok=True)
    packages = [("core", "agones_alloc"), ("adapters", "agones_alloc_beast")]
    with_grpc = (prefix / "lib/pkgconfig/agones_alloc_grpc.pc").exists()
    if with_grpc:
        packages.append(("grpc", "agones_alloc_grpc"))
    else:
        print("gRPC is not installed: no consumer of agones_alloc_grpc")
    for program, package in packages:
        flags, libraries = pkg_config("--cflags", package), pkg_config("--libs", package)
        if ("-DAGONES_ALLOC_COMPILED" in flags) != COMPILED:
            sys.exit(f"{package}.pc has the flags of the other shape: {flags}")
        run(*CXX, "-std=c++20", *flags, HERE / "consumer" / f"{program}.cpp", "-o", by_pkg_config / program, *libraries)
    check_pair(by_pkg_config)
    if with_grpc:
        own = {"libagones_alloc_grpc"} if COMPILED else {"libgrpc++"}
        check_program(by_pkg_config / "grpc", own | {"libagones_alloc_proto"}, {"libnats", "libagones_alloc_nats"})

    by_cmake = PLACE / "by-cmake"
    shutil.rmtree(by_cmake, ignore_errors=True)
    run("cmake", "-S", HERE / "consumer", "-B", by_cmake, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_COMPILER=g++",
        *(["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if len(CXX) == 2 else []))
    run("cmake", "--build", by_cmake, "-j2")
    check_pair(by_cmake)


def subproject() -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    (PLACE / "project/subprojects").mkdir(parents=True)
    shutil.copy(HERE / "consumer/subproject/meson.build", PLACE / "project")
    shutil.copy(HERE / "consumer/core.cpp", PLACE / "project")
    (PLACE / "project/subprojects/agones_alloc").symlink_to(SOURCE)
    run("meson", "setup", PLACE / "build", PLACE / "project", f"-Dagones_alloc:compiled={str(COMPILED).lower()}",
        "-Dagones_alloc:beast=disabled", "-Doptimization=1", cwd=PLACE)
    run("ninja", "-j2", "-C", PLACE / "build")
    check_program(PLACE / "build/core", {"libagones_alloc"} if COMPILED else set(), FORBIDDEN)


{"installed": installed, "subproject": subproject}[WAY]()
