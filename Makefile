# What there is to do: `make help`.

SERVER ?= origin
SERVERS := origin apache nginx node
ifeq ($(filter $(SERVER),$(SERVERS)),)
$(error SERVER=$(SERVER): no such server; one of: $(SERVERS))
endif

# Experiments that are programs.
EXPERIMENTS_IN_PYTHON := experiments/servers experiments/baseline experiments/coverage experiments/fleet experiments/predictions/run experiments/causes experiments/foresight
# Debian packages that building needs: programs that the kernel runs are written in C.
BUILD_PACKAGES := clang libelf-dev zlib1g-dev pkg-config make
# Debian packages of the servers that can be measured, and of what benchmarks and tests run besides.
apache_PACKAGES := apache2-bin
nginx_PACKAGES := nginx-light libnginx-mod-http-lua
node_PACKAGES := nodejs
haproxy_PACKAGES := haproxy
mod_qos_PACKAGES := apache2-bin libapache2-mod-qos
BENCH_PACKAGES := nginx-light wrk nghttp2-client hey util-linux iproute2
BENCH_WATCH_PACKAGES := apache2-bin nginx-light wrk bpftrace sysstat util-linux iproute2
BENCH_VERDICT_PACKAGES := apache2-bin nginx-light libnginx-mod-http-lua perl-base util-linux iproute2 nodejs php-fpm default-jdk-headless golang-go postgresql python3-venv nftables openssl
BENCH_ATTACH_PACKAGES := apache2-bin haproxy nginx-light wrk util-linux iproute2
BENCH_GATE_PACKAGES := haproxy nginx-light wrk nghttp2-client openssl util-linux iproute2
TEST_PACKAGES := $(apache_PACKAGES) $(nginx_PACKAGES) $(haproxy_PACKAGES) $(mod_qos_PACKAGES) slowhttptest libfaketime chromium fonts-dejavu-core curl caddy nghttp2-client iproute2 nftables util-linux default-jdk-headless lighttpd php-fpm uwsgi-core uwsgi-plugin-python3 musl-tools
WORLD_PACKAGES := $(apache_PACKAGES) $(nginx_PACKAGES) $(haproxy_PACKAGES) caddy php-fpm chromium fonts-dejavu-core curl openssl

PREFIX ?= $(HOME)/.local
BINARY = $(DESTDIR)$(PREFIX)/bin/headworks
DATA = $(DESTDIR)$(PREFIX)/share

export PATH := $(CURDIR)/.tools/bin:$(PATH)
export CARGO_TERM_COLOR ?= auto

# A build with profile-guided optimization takes three times as long. To see whether something works does without.
PGO ?= $(if $(findstring --quick,$(BENCH)),no,yes)
PROGRAM := target/$(if $(filter no,$(PGO)),release,pgo)/headworks

# The report's page and the gate's console, built together.
WEB := web/dist/report.html
WEB_MODULES := web/node_modules/.package-lock.json
WEB_SOURCES := $(shell find web/src -type f) $(wildcard web/*.html web/*.json web/*.ts)

# What tests write that were not run, or that counted something: a line each.
TOLD := $(addprefix $(or $(CARGO_TARGET_DIR),target)/,counted skipped)

STAGE = @printf '\n==== %s  %s\n' "$$(date +%T)"

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help differences kernels demo play side-by-side webmonitor configuration-methodology response-time-phases test test-world world bench bench-attach bench-policy bench-gate bench-load bench-sim bench-watch bench-verdict soak simulate fuzz lint fmt clean web report-types rust lint-sources lint-rest web-lint web-test program install

help: ## says this
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

demo: rust $(WEB) ## overloads a server, bare and behind the gate, and reports; SERVER=origin|apache|nginx|node
	@$(if $($(SERVER)_PACKAGES),tools/need debian $($(SERVER)_PACKAGES))
	cargo build --profile demo -p headworks
	@echo 'headworks lab run experiments/overload.toml --set server.kind=$(SERVER)'
	@target/demo/headworks lab run experiments/overload.toml --set server.kind=$(SERVER) || \
		{ [ $$? -eq 4 ] && echo 'A test that does not count is explained above; a quieter machine helps.'; }
	@# Where somebody looks on there is more to see.
	@if [ -t 1 ] && [ -z "$$CI" ]; then tools/play target/demo/headworks; \
		else echo 'make play: a gate under overload, and its console to move the knobs on'; fi

play: rust $(WEB) ## a gate under overload with its console, until Ctrl-C; PLAY=5 for five times what the server can carry
	cargo build --profile demo -p headworks
	@tools/play target/demo/headworks $(PLAY)

side-by-side: rust $(WEB) ## overloads a server behind the gate, HAProxy, nginx and mod_qos, and reports
	@tools/need debian $(apache_PACKAGES) $(nginx_PACKAGES) $(haproxy_PACKAGES) $(mod_qos_PACKAGES)
	cargo build --release -p headworks
	@target/release/headworks lab run experiments/side-by-side.toml || \
		{ [ $$? -eq 4 ] && echo 'A test that does not count is explained above; a quieter machine helps.'; }

kernels: rust $(WEB) ## the monitor under Debian's other kernels, each booted in a virtual machine (a quarter of an hour); KERNELS="PACKAGE .."
	@tools/need debian qemu-system-x86 cpio python3-minimal
	cargo build --profile demo -p headworks
	tools/kernels target/demo/headworks $(KERNELS)

configuration-methodology: rust $(WEB) ## what an Apache study measured, measured today (as root, fifteen minutes)
	$(STUDY)

response-time-phases: rust $(WEB) ## phases of requests against the number of clients (as root, ten minutes)
	$(STUDY)

# All specs of a folder of experiments/, each with its record below runs/, anew each time; in full with REPEATS=10.
STAMP := $(shell date +%Y%m%d-%H%M%S)
define STUDY
@tools/need debian $(apache_PACKAGES) util-linux iproute2
cargo build --release -p headworks
@for spec in experiments/$@/*.toml; do \
	out=runs/$@/$(STAMP)/$$(basename $$spec .toml); \
	target/release/headworks lab run $$spec --quiet --out $$out $(if $(REPEATS),--set design.repeats=$(REPEATS)) || [ $$? -eq 4 ] || exit 1; \
done
endef

# A test run compiles all of it anyway, and clippy and rustdoc look at it then: cargo-clippy hands clippy its arguments
# like this, and cargo compiles anew where they are not what they were.
CHECKED := RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/tools/checked-rustc CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings

test: lint-sources ## everything that must hold: lint, documentation, all tests
	$(STAGE) 'clippy and documentation, and all that is tested is built'
	$(CHECKED) cargo test --workspace --no-run
	$(CHECKED) cargo test --workspace --bench '*' --no-run
	@$(MAKE) --no-print-directory lint-rest
	$(STAGE) 'policy without std'
	tools/no-std
	@BUILT=$(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/debug; FIXTURE=$$BUILT/examples/fixture HEADWORKS=$$BUILT/headworks \
		$(MAKE) --no-print-directory web-test
	@tools/need debian $(TEST_PACKAGES)
	@tools/need h2spec promtool gunicorn newest-node
	$(STAGE) 'tests'
	@rm -f $(TOLD)
	$(CHECKED) cargo test --workspace --no-fail-fast --config 'target."cfg(unix)".runner = "$(CURDIR)/tools/run-test"'; status=$$?; tools/told $(TOLD); exit $$status
	@$(MAKE) --no-print-directory world
	$(STAGE) 'make test: all passed'

test-world: rust $(WEB) ## servers and clients of every kind with and without the gate, the gate beside HAProxy and nginx, counts beside logs
	cargo build -p headworks
	@$(MAKE) --no-print-directory world

# With the binary that the tests have built: built for itself it has other features, and all of it is built once more.
world:
	@tools/need debian $(WORLD_PACKAGES)
	@tools/need world
	$(STAGE) 'counts: the load generator beside the logs of servers'
	cd tests/world && ../../.tools/world/bin/python -m counts
	$(STAGE) 'world: with and without the gate; differential: the gate beside HAProxy and nginx'
	cd tests/world && ../../.tools/world/bin/python -m common.together differential suite

differences: ## writes docs/differences.md from tests/world/differential/differences.toml
	@tools/need world
	cd tests/world && ../../.tools/world/bin/python -m differential --write

webmonitor: rust $(WEB) ## what Webmonitor measured in 1997, measured today (as root, five minutes)
	@tools/need debian $(BENCH_WATCH_PACKAGES)
	cargo build --release -p headworks
	experiments/webmonitor/run

bench: bench-policy bench-attach bench-gate bench-load bench-sim bench-watch bench-verdict ## all benchmarks

bench-policy: rust ## what a decision of the policy costs
	cargo bench -p policy

bench-attach: program ## what a server carries that the gate is attached to, beside the bare server and proxies (as root); BENCH=--quick tries it
	@tools/need debian $(BENCH_ATTACH_PACKAGES)
	cargo build --release -p bench
	target/release/bench attach --headworks $(PROGRAM) $(BENCH)

bench-gate: program ## what a request costs the gate, beside HAProxy and nginx; BENCH=--quick tries it
	@tools/need debian $(BENCH_GATE_PACKAGES)
	cargo build --release -p bench
	target/release/bench gate --headworks $(PROGRAM) $(BENCH)

bench-load: program ## what a request costs the load generator, beside others; BENCH=--quick tries it
	@tools/need debian $(BENCH_PACKAGES)
	@tools/need shb
	cargo build --release -p bench
	target/release/bench load --headworks $(PROGRAM) $(BENCH)

bench-sim: rust $(WEB) ## how fast the simulator is, beside C++, SimPy and Ciw; BENCH=--quick tries it
	@tools/need debian g++ util-linux
	@tools/need simulators
	cargo build --release -p headworks -p bench
	target/release/bench sim $(BENCH)

bench-watch: rust $(WEB) ## what it costs a server to be watched, beside bpftrace and sysstat; BENCH=--quick tries it
	@tools/need debian $(BENCH_WATCH_PACKAGES)
	cargo build --release -p headworks -p bench
	target/release/bench watch $(BENCH)

bench-verdict: rust $(WEB) ## whether the bottleneck that was planted is the one that is named (as root); BENCH='--seeds 1' tries it
	@tools/need debian $(BENCH_VERDICT_PACKAGES)
	@tools/need gunicorn
	cargo build --release -p headworks -p bench
	target/release/bench verdict $(BENCH)

soak: rust $(WEB) ## whether the gate grows in half an hour of overload; SOAK='--minutes 2' tries it
	@tools/need debian openssl util-linux iproute2
	cargo build --release -p headworks -p bench
	target/release/bench soak $(SOAK)

simulate: rust ## the whole gate on virtual time and simulated sockets, for a minute of the processor; SIMULATE='--seed 7 --trace' shows a world
	cargo run --release -p simulate -- $(SIMULATE)

fuzz: rust ## random input for what reads strangers' bytes, a minute each
	@tools/need debian g++
	tools/fuzz

lint: lint-sources ## formatting, clippy, tidy, what the service may do, dependencies, spelling
	$(STAGE) 'clippy'
	cargo clippy --workspace --all-targets -- -D warnings
	@$(MAKE) --no-print-directory lint-rest

lint-sources: rust $(WEB) web-lint
	$(STAGE) 'formatting'
	cargo fmt --all --check
	@tools/need debian clang-format
	clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')
	@tools/need ruff
	.tools/ruff/bin/ruff format --quiet --check tests/world
	.tools/ruff/bin/ruff format --quiet --config tests/world/ruff.toml --check $(EXPERIMENTS_IN_PYTHON)
	web/node_modules/.bin/prettier --config web/.prettierrc.json --log-level warn --check 'tests/world/**/*.mjs'
	$(STAGE) 'ruff'
	.tools/ruff/bin/ruff check --quiet tests/world
	.tools/ruff/bin/ruff check --quiet --config tests/world/ruff.toml $(EXPERIMENTS_IN_PYTHON)

lint-rest:
	$(STAGE) 'tidy'
	cargo xtask tidy
	$(STAGE) 'service'
	@tools/need debian systemd
	systemd-analyze security --offline=true --no-pager --threshold=30 contrib/systemd/headworks.service > /dev/null
	$(STAGE) 'dependencies'
	@tools/need cargo-deny
	cargo deny check bans licenses sources
	tools/advisories
	$(STAGE) 'spelling'
	@tools/need typos
	.tools/typos/bin/typos

fmt: rust $(WEB_MODULES) ## formats all code
	@tools/need debian clang-format
	cargo fmt --all
	clang-format -i $$(git ls-files '*.c' '*.h')
	npm --prefix web run fmt
	@tools/need ruff
	.tools/ruff/bin/ruff format --quiet tests/world
	.tools/ruff/bin/ruff format --quiet --config tests/world/ruff.toml $(EXPERIMENTS_IN_PYTHON)
	web/node_modules/.bin/prettier --config web/.prettierrc.json --log-level warn --write 'tests/world/**/*.mjs'

report-types: rust $(WEB_MODULES) ## writes what the pages' types are made of: web/src/report.ts, docs/openapi.json and what follows from it
	UPDATE_REPORT_TYPES=1 cargo test --quiet --package report --lib typescript
	npx --prefix web prettier --log-level warn --write web/src/report.ts
	cargo run --quiet --package headworks -- gate openapi > docs/openapi.json
	npm --prefix web run api-types

web: $(WEB) ## builds the report's page and the gate's console, which the binary holds

program: rust $(WEB) ## the binary that is installed, built for what it is for (a quarter of an hour); PGO=no leaves that out
ifeq ($(PGO),no)
	cargo build --release -p headworks
else
	@tools/need llvm-tools
	@tools/need debian openssl
	tools/pgo
endif

install: program ## binary, manual pages and completions go under PREFIX=~/.local; PGO=no builds in a third of the time
	install -D $(PROGRAM) '$(BINARY)'
	'$(BINARY)' man '$(DATA)/man/man1'
	install -d '$(DATA)/bash-completion/completions' '$(DATA)/zsh/site-functions' '$(DATA)/fish/vendor_completions.d'
	'$(BINARY)' completions bash > '$(DATA)/bash-completion/completions/headworks'
	'$(BINARY)' completions zsh > '$(DATA)/zsh/site-functions/_headworks'
	'$(BINARY)' completions fish > '$(DATA)/fish/vendor_completions.d/headworks.fish'

clean: ## deletes all that was built
	cargo clean
	rm -rf .tools web/dist web/node_modules

rust:
	@tools/need rust
	@tools/need debian $(BUILD_PACKAGES)

web-lint: $(WEB_MODULES)
	$(STAGE) 'web: formatting, eslint, types'
	npm --prefix web run lint

web-test: $(WEB)
	$(STAGE) 'web: tests'
	@tools/need debian chromium fonts-dejavu-core
	npm --prefix web test

# What npm writes when it is done; the bundle is part of the binary, so it comes before all of cargo's.
$(WEB_MODULES): web/package.json web/package-lock.json
	@tools/need node
	$(STAGE) 'web: modules'
	npm --prefix web ci --no-audit --no-fund
	@touch $@

$(WEB): $(WEB_MODULES) $(WEB_SOURCES)
	$(STAGE) 'web: bundle'
	npm --prefix web run build
	@touch $@
