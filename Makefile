# make help lists the targets. Everything is set up by the targets themselves in $(VENV).
VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEMO   := out/demo
CORES  := $(shell getconf _NPROCESSORS_ONLN)
# a worker more than there are cores, for many tests wait. A file is one worker's: its fixtures are made once. Files are dealt in pytest's
# order (testpaths), those that need a server to half the workers: tests/neo4j/conftest.py
DEALT  := -n $(shell expr $(CORES) + 1) --dist loadfile --no-loadscope-reorder
# tests start Python hundreds of times: without bytecode each start compiles kgeval anew
export PYTHONDONTWRITEBYTECODE :=
# the line of Neo4j that is not the default one
OTHER  := 2026.01
# of make test-random and make test-alone: SEED=4711 repeats an order, FILES=tests/unit chooses
SEED   ?= $(shell od -An -N2 -tu2 /dev/urandom | tr -d ' ')
RANDOM := --random-order --random-order-seed=$(SEED)
FILES  ?= tests/unit tests/models tests/neo4j
# the same commit gives the same bytes: all times in what is built are the commit's (in an unpacked sdist, which has no git, a day of 2020)
DATED  := SOURCE_DATE_EPOCH=$(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),1580601600)
DOCKER ?= docker
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' kgeval/__init__.py)
# every package that develops and releases, with its hashes; `make LOCKED=1 ...` installs exactly these
LOCK   := requirements/dev.txt
LOCK_SBOM := requirements/sbom.txt
# writes the list of what a release brings
CYCLONEDX := cyclonedx-bom>=7.5,<8
COMPILE := pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header

.DEFAULT_GOAL := help
.PHONY: help demo unit test test-all test-other-line test-random test-alone defects check lint types docs goldens e2e e2e-systems writers bench precision weather dist sbom lock image clean

help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

INSTALL = UV_HTTP_TIMEOUT=300 $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -e '.[dev,docs]' || $(BIN)/python -m pip install --quiet -e '.[dev,docs]'

$(READY): pyproject.toml $(if $(LOCKED),$(LOCK))
	@$(PYTHON) -c 'import sys; sys.exit("kgeval needs Python 3.11 or later, this is %d.%d; try: make PYTHON=python3.12 ..." % sys.version_info[:2]) if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(if $(LOCKED),$(BIN)/python -m pip install --quiet --require-hashes -r $(LOCK),$(BIN)/python -m pip install --quiet uv)
	@# earlier checkouts were installed as kgeval: uninstalled later, that would take the command away from this one
	test -z "$$(ls -d $(VENV)/lib/python3*/site-packages/kgeval-*.dist-info 2>/dev/null)" || $(BIN)/python -m pip uninstall --quiet --yes kgeval
	$(if $(LOCKED),$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .,$(INSTALL))
	@touch $(READY)

demo: $(READY) ## Embedded Neo4j, sample graph: audit, questions, three systems, scores, a comparison, one report
	@tools/demo.sh $(BIN)/kgeval $(DEMO)

unit: $(READY) ## The quick tests: no server, no network (a minute on two cores)
	$(BIN)/python -m pytest -n $(CORES) --dist worksteal -m 'not slow and not long' tests/unit

test: $(READY) ## All tests but the long ones; each worker starts an embedded Neo4j of its own (ten minutes on two cores)
	$(BIN)/python -m pytest $(if $(KGEVAL_TEST_URI),,$(DEALT)) -m 'not long'

test-all: $(READY) test-other-line ## All tests, the long ones too (killed runs, 1,000 simulations, wheels, Ray), and the other line of Neo4j
	$(BIN)/python -m pytest $(if $(KGEVAL_TEST_URI),,$(DEALT))

test-other-line: $(READY) ## What sends Cypher, on the other line of Neo4j (KGEVAL_TEST_URI is not used)
	env -u KGEVAL_TEST_URI KGEVAL_NEO4J_LINE=$(OTHER) $(BIN)/python -m pytest $(DEALT) -m 'not long or both_lines' tests/neo4j

test-random: $(READY) ## The tests of make test in a random order of files and within each; SEED=... repeats one, FILES=... chooses
	$(BIN)/python -m pytest $(DEALT) -m 'not long' $(RANDOM) $(FILES)

test-alone: $(READY) ## Each file of make test in a process of its own, in a random order (an hour); SEED=..., FILES=...
	@failed=; for file in $$(find $(FILES) -name 'test_*.py' | sort); do \
	  echo "$(BIN)/python -m pytest -m 'not long' $(RANDOM) $$file"; \
	  $(BIN)/python -m pytest --quiet -m 'not long' $(RANDOM) $$file || test $$? -eq 5 || failed="$$failed $$file"; \
	done; test -z "$$failed" || { echo "fail alone:$$failed"; exit 1; }

defects: $(READY) ## Plant the defects of tests/defects one by one, and say which test of make test catches each (an hour)
	$(BIN)/python tests/defects/plant.py all

lint: $(READY) ## ruff
	$(BIN)/ruff check .

types: $(READY) ## mypy --strict
	$(BIN)/mypy kgeval

check: lint types test-all ## Everything that CI runs; the last line is the summary of the whole suite on the default line

goldens: $(READY) ## Renew the goldens: what every command and every form of report shows (tests/goldens); then read their diff
	KGEVAL_RENEW_GOLDENS=1 $(BIN)/python -m pytest -q tests/unit/test_goldens_reports.py tests/unit/test_goldens_commands.py \
	  tests/models/test_goldens_models.py tests/neo4j/test_goldens_graphs.py

docs: $(READY) ## Make the generated docs and schemas anew, and the site of docs/ in out/site; a dead link or anchor fails
	$(BIN)/python tools/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "out/site is the site: $(PYTHON) -m http.server --bind 127.0.0.1 --directory out/site"

e2e: $(READY) ## Build a graph with a real local model (the first time its server is built: minutes), and resume it
	$(BIN)/python tests/e2e/local_model.py --folder out/e2e

e2e-systems: $(READY) ## Install the six GraphRAG packages, index and answer with each of them (gigabytes, minutes)
	$(BIN)/python tests/e2e/systems/run.py --folder out/e2e-systems

writers: $(READY) ## Make the dumps of tests/writers anew with the real writers of graphs (gigabytes, minutes)
	$(BIN)/python tests/writers/run.py --folder out/writers

bench: $(READY) ## Speed against other ways of doing the same, as ratios of one run: audit, models, completeness, loading, and load on others
	$(BIN)/python tests/bench/audit_speed.py
	$(BIN)/python tests/bench/small_audit.py
	$(BIN)/python tests/bench/scale.py --sizes 100000,1000000
	$(BIN)/python tests/bench/llm_throughput.py
	$(BIN)/python tests/bench/completeness_speed.py
	$(BIN)/python tests/bench/build_speed.py
	$(BIN)/python tests/bench/writer_speed.py
	$(BIN)/python tests/bench/walk_speed.py
	$(BIN)/python tests/bench/names.py
	$(BIN)/python tests/bench/far_away.py
	$(BIN)/python tests/bench/load_on_others.py

precision: $(READY) ## How many of an audit's errors and warnings on the shared graphs are true, by check and kind of graph (labels: tests/labelled/hits)
	$(BIN)/python tests/bench/precision.py --write

weather: $(READY) ## Commands while connections break at 200 moments: the same comes out, or what has no answer is said (half an hour)
	$(BIN)/python tests/e2e/weather.py

dist: $(READY) ## Build the sdist and the wheel in dist/, have twine check them, and test what is in them (the build's backend is fetched; LOCKED=1: as locked)
	rm -rf dist
	$(DATED) $(BIN)/python -m build $(if $(LOCKED),--no-isolation) --outdir dist
	$(BIN)/twine check --strict dist/*
	$(DATED) KGEVAL_DIST=dist $(BIN)/python -m pytest -q tests/models/test_wheel.py
	$(BIN)/python -m pip hash dist/*

sbom: $(READY) ## List what the wheel in dist/ brings, in out/sbom/ as CycloneDX (make dist first)
	rm -rf out/sbom
	$(PYTHON) -m venv --without-pip out/sbom/core
	$(BIN)/uv pip install --quiet --python out/sbom/core/bin/python dist/*.whl
	@# the tool takes name and version of what the list is of from a pyproject.toml, and reads no file for a dynamic version
	sed "s/^dynamic = .*/version = \"$(VERSION)\"/" pyproject.toml > out/sbom/pyproject.toml
	$(PYTHON) -m venv --without-pip out/sbom/tool
	$(BIN)/uv pip install --quiet --require-hashes --python out/sbom/tool/bin/python -r $(LOCK_SBOM)
	out/sbom/tool/bin/cyclonedx-py environment --pyproject out/sbom/pyproject.toml \
	  --output-reproducible --output-file out/sbom/kgeval-toolkit.cdx.json out/sbom/core/bin/python
	rm -rf out/sbom/core out/sbom/tool out/sbom/pyproject.toml

lock: $(READY) ## Renew requirements/: the newest versions that pyproject.toml allows, with their hashes; then run make LOCKED=1 VENV=.venv-locked check
	mkdir -p requirements
	@# editables: with it the build's backend installs a checkout
	printf 'uv\neditables\n' | $(BIN)/uv $(COMPILE) --extra dev --extra docs --output-file $(LOCK) pyproject.toml -
	echo '$(CYCLONEDX)' | $(BIN)/uv $(COMPILE) --output-file $(LOCK_SBOM) -

image: dist ## Build the image of kgeval's core from the wheel in dist/, and fetch Neo4j's (DOCKER=podman where that is what you have)
	$(DOCKER) build --file docker/Dockerfile --tag kgeval-toolkit:$(VERSION) .
	$(DOCKER) pull $$(sed -n 's/^ *image: \(neo4j:.*\)/\1/p' docker/compose.yaml)

clean: ## Remove what make demo made
	-@test -d $(DEMO)/home && $(BIN)/kgeval server stop --home $(DEMO)/home
	rm -rf out
