# SPDX-License-Identifier: Apache-2.0
#
# The words that this project is built by. Meson does the work; see `make help`.

BUILD ?= build
PREFIX ?= /usr/local
# What meson is given when a build directory is made: `make MESON_ARGS=-Dbuildtype=release`. Several
# files are compiled as one, which takes half the time; who changes one again and again wants
# MESON_ARGS=-Dunity=off.
MESON_ARGS ?= -Dunity=on -Dunity_size=24
# Groups of tools/deps.txt.
DEPS ?= build demo test lint bench-peers

# Of `make bench-report`: quick or full.
DEPTH ?= quick

NINJA = ninja -C $(BUILD)

.PHONY: all deps demo demo-openflow test test-race test-packet fuzz bench bench-report lint format install deb clean help
.DEFAULT_GOAL := all

## make: builds couad, coua, coua-bench, libcoua and their tests in build/
all: $(BUILD)/build.ninja
	@$(NINJA)

$(BUILD)/build.ninja:
	@tools/deps check build
	@meson setup $(BUILD) --prefix=$(PREFIX) $(MESON_ARGS)

## make deps: installs the Debian packages that anything here needs (DEPS="build demo": fewer)
deps:
	@tools/deps install $(DEPS)

## make demo: hosts in network namespaces talk through the switch; DEMO_PORTS=tap, af_packet or af_xdp
demo:
	@tools/deps ensure build demo
	@$(MAKE) -s --no-print-directory $(BUILD)/build.ninja
	@$(NINJA) --quiet couad coua demo/raw_io
	@tools/osken --try || true
	@demo/run

## make demo-openflow: a controller drives the switch, and a gateway's routes change at full rate
demo-openflow:
	@tools/deps ensure build demo
	@$(MAKE) -s --no-print-directory $(BUILD)/build.ninja
	@$(NINJA) --quiet couad coua demo/raw_io
	@tools/osken
	@demo/run openflow

## make test: every test; STAGES="unit packet" picks some of them (tools/test --list)
test:
	@tools/deps ensure build demo test
	@tools/test $(STAGES)

## make test-race: the race tests under ThreadSanitizer
test-race:
	@tools/deps ensure build test
	@tools/test race

## make test-packet: the daemon and kernel hosts in network namespaces
test-packet:
	@tools/deps ensure build demo test
	@tools/test build packet

## make fuzz: each fuzzer for FUZZ_SECONDS (60), starting from its corpus, which keeps what it finds
fuzz:
	@tools/deps ensure build test
	@tools/test --fuzz-seconds $${FUZZ_SECONDS:-60} --fuzz-keep fuzz

## make bench: coua-bench with every table that it can compare with, and a short run
bench: $(BUILD)/build.ninja
	@tools/deps ensure build bench-peers
	@meson configure $(BUILD) -Dquick=false -Dbench=enabled -Dpeers=enabled
	@$(NINJA) --quiet coua-bench
	@$(BUILD)/coua-bench fib --entries 1M --peers

## make bench-report: measures beside Open vSwitch and other tables, one HTML page (DEPTH=quick or full)
bench-report:
	@tools/deps ensure build
	@$(MAKE) -s --no-print-directory $(BUILD)/build.ninja
	@peers=enabled; tools/deps ensure bench-peers || { peers=auto; \
	echo "make bench-report: some of what to compare with is not here; the page tells" >&2; }; \
	meson configure $(BUILD) -Dquick=false -Dbench=enabled -Dpeers=$$peers
	@$(NINJA) --quiet coua-bench couad coua
	@bench/report/run --depth $(DEPTH) --bench $(BUILD)/coua-bench --out $(BUILD)/report-$(DEPTH)

## make lint: layers, formatting, SPDX lines, spelling, scripts, clang-tidy
lint:
	@tools/deps ensure build lint
	@tools/lint

## make format: rewrites the sources as `make lint` wants them
format:
	@tools/deps ensure lint
	@tools/lint --format

## make install: programs, library and header below PREFIX (/usr/local), or in DESTDIR
install: all
	@meson install -C $(BUILD) --no-rebuild

## make deb: Debian packages of this tree in build-deb/
deb:
	@tools/deps ensure build deb
	@packaging/deb

## make clean: removes the build directories
clean:
	@rm -rf build build-*

## make help: this list
help:
	@sed -n 's/^## //p' Makefile
