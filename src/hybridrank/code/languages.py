"""Which language a file is in, by its name or its first line."""

from __future__ import annotations

import re
from collections.abc import Mapping

_BY_SUFFIX = """
    asm: .asm .s
    bash: .sh .bash .zsh .ksh .bats
    c: .c
    clojure: .clj .cljs .cljc .edn
    cmake: .cmake
    cpp: .cc .cpp .cxx .c++ .h .hh .hpp .hxx .h++ .inl .ipp .tpp .cu .cuh .ino
    crystal: .cr
    csharp: .cs .csx
    css: .css .scss .sass .less
    cython: .pyx .pxd .pxi
    d: .d
    dart: .dart
    elixir: .ex .exs
    elm: .elm
    erlang: .erl .hrl
    fortran: .f .for .f90 .f95 .f03 .f08
    fsharp: .fs .fsi .fsx
    gdscript: .gd
    go: .go
    graphql: .graphql .gql
    groovy: .groovy .gradle
    haskell: .hs .lhs
    hcl: .tf .tfvars .hcl
    html: .html .htm .xhtml .jinja .jinja2 .j2
    ini: .ini .cfg .conf .properties
    java: .java
    javascript: .js .mjs .cjs .jsx
    json: .json .jsonc .json5 .jsonl .geojson .webmanifest
    julia: .jl
    jupyter: .ipynb
    kotlin: .kt .kts
    latex: .tex .sty .cls
    lisp: .lisp .lsp .el
    lua: .lua
    markdown: .md .markdown .mdx .mkd
    nim: .nim
    nix: .nix
    objectivec: .m .mm
    ocaml: .ml .mli
    perl: .pl .pm
    php: .php .phtml .php5
    powershell: .ps1 .psm1 .psd1
    protobuf: .proto
    python: .py .pyi .pyw
    r: .r .rmd
    racket: .rkt
    rst: .rst
    ruby: .rb .rake .gemspec .ru
    rust: .rs
    scala: .scala .sc .sbt
    scheme: .scm .ss
    solidity: .sol
    sql: .sql
    starlark: .bzl .star
    svelte: .svelte
    swift: .swift
    text: .txt .text
    thrift: .thrift
    toml: .toml
    tsx: .tsx
    typescript: .ts .mts .cts
    verilog: .v .sv .svh
    vhdl: .vhd .vhdl
    vim: .vim
    vue: .vue
    xml: .xml .xsd .xsl .svg .plist .csproj .vcxproj .props .targets
    yaml: .yaml .yml
    zig: .zig .zon
"""
_BY_NAME = """
    bash: .bashrc .bash_profile .profile .zshrc PKGBUILD
    cmake: CMakeLists.txt
    dockerfile: Dockerfile Containerfile
    go: go.mod go.work
    groovy: Jenkinsfile
    ini: .gitconfig .pylintrc .flake8 .editorconfig
    json: .babelrc .eslintrc .prettierrc
    make: Makefile GNUmakefile
    python: SConstruct SConscript
    ruby: Rakefile Gemfile Podfile Vagrantfile Brewfile Guardfile
    starlark: BUILD BUILD.bazel WORKSPACE WORKSPACE.bazel
    vim: .vimrc
"""
_BY_INTERPRETER = """
    bash: sh bash zsh ksh dash ash
    elixir: elixir
    groovy: groovy
    javascript: node nodejs bun
    julia: julia
    lua: lua luajit
    perl: perl
    php: php
    powershell: pwsh
    python: python pypy
    r: Rscript
    ruby: ruby
    typescript: deno ts-node tsx
"""
_SHEBANG = re.compile(r"#![ \t]*(\S+)([^\r\n]*)")


def _table(rows: str) -> Mapping[str, str]:
    pairs = (row.split(":") for row in rows.strip().splitlines())
    return {key: name.strip() for name, keys in pairs for key in keys.split()}


SUFFIXES = _table(_BY_SUFFIX)
NAMES = _table(_BY_NAME)
INTERPRETERS = _table(_BY_INTERPRETER)
LANGUAGES = frozenset({*SUFFIXES.values(), *NAMES.values(), *INTERPRETERS.values()})
"""Every name that `language_of` can give."""


def language_of(path: str, text: str = "") -> str:
    """The language's name by file name, suffix or the interpreter in line 1; `""` when none tells it."""
    name = path.rpartition("/")[2]
    if name in NAMES:
        return NAMES[name]
    stem, dot, suffix = name.rpartition(".")
    if stem and dot:
        found = SUFFIXES.get("." + suffix.lower(), "")
        if found:
            return found
    if name.split(".")[0] in ("Dockerfile", "Containerfile", "Makefile"):
        return NAMES[name.split(".")[0]]
    return _interpreter(text) if text.startswith("#!") else ""


def _interpreter(text: str) -> str:
    found = _SHEBANG.match(text)
    words = [found[1], *found[2].split()] if found else []
    if words and words[0].endswith("/env"):
        words = [w for w in words[1:] if not w.startswith("-") and "=" not in w]
    command = words[0].rpartition("/")[2] if words else ""
    return INTERPRETERS.get(command) or INTERPRETERS.get(command.rstrip("0123456789."), "")
