# A thin front: CMake and Ninja build, ctest tests. `make help` lists the targets.
# Build talk goes to stderr, so that `make -s demo DEMO_ARGS=--json` leaves stdout to the program.

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SLOTS ?= $(shell expr 2 \* $(JOBS))
FUZZ_SECONDS ?= 30
EXPLORE_BUDGET ?= 3
EXPLORE_STATES ?= 50000000
HOURS ?= 1
N ?= 110
SEED ?= 1
DEMO_ARGS ?=
CTEST_ARGS ?=
KILLS ?= 2000
CRASH_ARGS ?=
INJECT_ARGS ?=
WORLDS ?=
RUNS ?= $(if $(WORLDS),1,40)
GUARD_RUNS ?= 8
YEARS ?= 3000
TARGETS ?= 10000
ROUNDS ?= 7

CCACHE := $(if $(shell command -v ccache 2>/dev/null),-DCMAKE_C_COMPILER_LAUNCHER=ccache)
CONFIGURE = cmake -G Ninja $(CCACHE)
CTEST = ctest --no-tests=error --output-on-failure --parallel $(SLOTS) $(CTEST_ARGS)

.PHONY: scale evaluate evaluate-clean evaluate-guards agreement
.PHONY: check-web all setup soak mutants mutation-sample check asan tsan clang bench crash inject power
.PHONY: demo install fuzz explore docs clean help program

all: program ## set up if something is missing, then a release build: build/trimtab

setup: ## install what building and testing need (Debian; asks for root only if something is missing)
	@scripts/setup build test

program:
	@scripts/setup build >&2
	@$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release >&2
	@cmake --build build --target program --parallel $(JOBS) >&2

check: ## set up, build everything, run all tests
	@scripts/setup build test
	$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DTRIMTAB_TESTS=ON
	cmake --build build --parallel $(JOBS)
	$(CTEST) --test-dir build
	@echo "make check: build and tests passed"

check-web: program ## all tests of the web console, in a real browser; pictures in build/web-shots
	@scripts/setup build test
	@scripts/check-web

asan: ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer (build-asan)
	@scripts/setup build test
	$(CONFIGURE) -B build-asan -DCMAKE_BUILD_TYPE=Debug -DTRIMTAB_TESTS=ON -DTRIMTAB_SANITIZE=address,undefined
	cmake --build build-asan --parallel $(JOBS)
	$(CTEST) --test-dir build-asan
	@echo "make asan: build and tests passed"

tsan: ## the tests under ThreadSanitizer (build-tsan)
	@scripts/setup build test
	$(CONFIGURE) -B build-tsan -DCMAKE_BUILD_TYPE=Debug -DTRIMTAB_TESTS=ON -DTRIMTAB_SANITIZE=thread
	cmake --build build-tsan --parallel $(JOBS)
	$(CTEST) --test-dir build-tsan
	@echo "make tsan: build and tests passed"

clang: ## build with clang 14 and run the tests (build-clang)
	@scripts/setup build test
	$(CONFIGURE) -B build-clang -DCMAKE_BUILD_TYPE=Release -DTRIMTAB_TESTS=ON -DCMAKE_C_COMPILER=clang-14
	cmake --build build-clang --parallel $(JOBS)
	$(CTEST) --test-dir build-clang
	@echo "make clang: build and tests passed"

bench: ## measure; one JSON line a figure on stdout
	@scripts/setup build test >&2
	@$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DTRIMTAB_TESTS=ON >&2
	@cmake --build build --target bench_programs --parallel $(JOBS) >&2
	@scripts/run-benches build

crash: ## kill the real daemon KILLS times (default 2000) and prove its log each time
	@scripts/setup build test >&2
	@$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DTRIMTAB_TESTS=ON >&2
	@cmake --build build --target trimtab system_seed kill_shim --parallel $(JOBS) >&2
	@python3 tests/system/crash.py --kills $(KILLS) --sweep 600 $(CRASH_ARGS)

inject: ## let one call of the daemon fail, at each place that makes one: memory, write, sync, SQL, curl and others
	@scripts/setup build test >&2
	@$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DTRIMTAB_TESTS=ON >&2
	@cmake --build build --target trimtab system_seed fault_shim --parallel $(JOBS) >&2
	@CRASH_SPEED=100 python3 tests/system/inject.py $(INJECT_ARGS)

power: ## cut the power at every point of a life of the store
	@scripts/setup build test >&2
	@$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DTRIMTAB_TESTS=ON >&2
	@cmake --build build --target store_power_test --parallel $(JOBS) >&2
	@POWER_CUTS=0 build/src/store/store_power_test

demo: program ## four acts against a live target; DEMO_ARGS goes to `trimtab demo`
	@build/trimtab demo $(DEMO_ARGS)

soak: program ## the swarm on new seeds for HOURS=n
	@scripts/soak build/trimtab $(HOURS)

evaluate: program ## trimtab and others in many worlds: build/evaluation.json; WORLDS=DIR for your own, RUNS=n
	@build/trimtab evaluate $(if $(WORLDS),--worlds $(WORLDS)) --runs $(RUNS) --guard-runs $(GUARD_RUNS) --jobs $(JOBS) \
	  --json build/evaluation.json --each build/evaluation.jsonl

scale: program ## TARGETS real HTTP targets scraped every 10 s, ROUNDS times each: how even, at what cost?
	@scripts/setup build test
	@cmake --build build --target scale_targets >&2
	@TRIMTAB=build/trimtab SCALE_TARGETS=build/tests/scale/scale_targets \
	  python3 tests/scale/scale.py --targets $(TARGETS) --rounds $(ROUNDS)

evaluate-guards: ## guards that stand in the source, each taken out in turn: into build/evaluation.json (build-mutants)
	@scripts/setup build test
	@scripts/ablations $(if $(WORLDS),--worlds $(WORLDS)) --runs $(GUARD_RUNS) --jobs $(JOBS)

evaluate-clean: program ## YEARS of healthy services: how often is something done wrongly? build/evaluation-clean.json
	@build/trimtab evaluate --clean-years $(YEARS) --contenders trimtab --jobs $(JOBS) --json build/evaluation-clean.json

mutants: ## build mutants of our own code and count how many the checkers catch (build-mutants)
	@scripts/setup build test
	@scripts/mutants

mutation-sample: ## N random mutations of the stages that act, and who kills them (build-mutation; needs PyPI)
	@scripts/setup build test
	@scripts/mutation-sample --n $(N) --seed $(SEED)

install: program ## install below $(DESTDIR)$(PREFIX)
	DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"

explore: ## walk all states of the state table within reach: EXPLORE_STATES a variant, budget EXPLORE_BUDGET
	@scripts/setup build test
	$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DTRIMTAB_TESTS=ON
	cmake --build build --target explore --parallel $(JOBS)
	for v in none value version; do build/tests/explore/explore $$v $(EXPLORE_BUDGET) $(EXPLORE_STATES) || exit 1; done

agreement: ## the simulated service request by request against its form as flows, on every family of worlds
	@scripts/setup build test >&2
	@$(CONFIGURE) -B build -DCMAKE_BUILD_TYPE=Release -DTRIMTAB_TESTS=ON >&2
	@cmake --build build --target agreement --parallel $(JOBS) >&2
	@build/tests/agreement/agreement

fuzz: ## run each fuzz target for FUZZ_SECONDS (build-fuzz, clang 14)
	@scripts/setup build test
	$(CONFIGURE) -B build-fuzz -DCMAKE_BUILD_TYPE=Debug -DTRIMTAB_TESTS=ON -DTRIMTAB_FUZZ=ON \
	  -DTRIMTAB_SANITIZE=address,undefined -DCMAKE_C_COMPILER=clang-14
	cmake --build build-fuzz --target fuzz_programs --parallel $(JOBS)
	scripts/run-fuzzers build-fuzz $(FUZZ_SECONDS)

docs: ## write docs/reference and docs/playbook.md again from the tables in the source
	@scripts/docs

clean: ## remove all build folders
	rm -rf build build-asan build-tsan build-clang build-fuzz build-coverage build-mutants build-mutation

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1	\2/p' Makefile | expand -t 18
