# Two commands do everything on a fresh machine: `make run` and `make test`.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.10 python3; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
TORCH := .venv-torch
ARGS ?=

.PHONY: run test lint bench fuzz sweep words screenshots package package-test install-desktop clean

# Findings end the program with 1, 2 or 3: that is an answer, not a failure of make.
run: $(VENV)/.app
	@$(BIN)/gpuassist $(ARGS) || test $$? -le 3

test: $(VENV)/.dev $(TORCH)/.torch .cache/.tests-compiled
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/check_shape.py
	@if command -v shellcheck >/dev/null 2>&1; then shellcheck .ci/run; \
	else echo "NOT RUN: shellcheck; install the package shellcheck"; fi

bench: $(VENV)/.dev $(TORCH)/.torch .cache/peers/.done
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/.dev
	$(BIN)/python -m tools.fuzz $(ARGS)

# What takes hours, each part to its end whatever the others found: 1,000 shapes of start-up files in worlds of their own, an hour of
# hostile input, 10,000 kills in the middle of a change, every recorded cause beside every consequence, every check with every result
# of its operations wrong in one element, every row of the tests that take a share of theirs, every page of the window in every
# size, text size and language.
sweep: $(VENV)/.dev $(TORCH)/.torch
	@test "$$(id -u)" = 0 || { echo "make sweep needs root: every shape of start-up files gets a mount namespace and a user of its own (with the packages util-linux, zsh, fish and tmux)" >&2; exit 1; }
	@found=0; \
	$(BIN)/python tools/shapes.py --count 1000 --program $(BIN)/gpuassist --out .cache/shapes $(ARGS) || found=1; \
	$(BIN)/python -m tools.fuzz --seconds 3600 || found=1; \
	$(BIN)/python tools/soak_apply.py || found=1; \
	$(BIN)/python tools/soak_recording.py || found=1; \
	$(BIN)/python -m tools.cross_causes || found=1; \
	$(BIN)/python -m tools.walk_window || found=1; \
	$(TORCH)/bin/python -m tests.verify.corrupting || found=1; \
	GPUASSIST_ROWS=all $(BIN)/python -m pytest -n auto --dist worksteal || found=1; \
	exit $$found

words: $(VENV)/.dev
	$(BIN)/python tools/words.py $(ARGS)

# pytest rewrites and compiles a thousand files of tests, half a minute's work that each of its processes would do anew in a fresh clone.
.cache/.tests-compiled: $(VENV)/.dev
	@mkdir -p $(@D)
	@$(BIN)/python -m pytest --collect-only --quiet --quiet >/dev/null || true  # what cannot be collected is told by the run itself
	@touch $@

# The pictures of README and docs/guide, light and dark; `tools/screenshots.py` takes any page of any recorded machine.
screenshots: $(VENV)/.dev
	$(BIN)/python tools/guide_pictures.py $(ARGS)

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "gpuassist needs Python 3.10 or newer with the venv module (Debian, Ubuntu: python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.app: $(BIN)/python pyproject.toml hatch_build.py $(wildcard resources/words/*.po)
	$(BIN)/python -m pip install --quiet --editable .
	@$(BIN)/python -m compileall -q gpuassist  # the first start is as fast as the second, also where Python may not write here
	@touch $@

$(VENV)/.dev: $(VENV)/.app
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

# The tests' second environment: a real torch that the child script runs in. Without one those tests skip and say so. Its index
# is asked for torch alone, and only once where it does not answer; pip may know another way to it (a proxy, wheels of its own).
TORCH_WANTED := torch==2.13.0+cpu
TORCH_INDEX := https://download.pytorch.org/whl/cpu
ANSWERS := import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)
$(TORCH)/.torch: pyproject.toml
	@test -x $(TORCH)/bin/python || $(PYTHON) -m venv $(TORCH)
	@once=$$($(TORCH)/bin/python -c '$(ANSWERS)' $(TORCH_INDEX)/torch/ 2>/dev/null || echo --retries 0 --timeout 5); \
		{ $(TORCH)/bin/python -m pip install --quiet --no-deps $$once $(TORCH_WANTED) --extra-index-url $(TORCH_INDEX) \
			&& $(TORCH)/bin/python -m pip install --quiet numpy $(TORCH_WANTED); } \
		|| { $(TORCH)/bin/python -m pip uninstall --quiet --yes torch 2>/dev/null; \
			echo "NOT RUN: the tests that need torch; $(TORCH_WANTED) could not be installed for $(PYTHON)"; }
	@touch $@

# dist/: the wheel and the source distribution, gpuassist.pyz, and as root with debootstrap the application in one folder.
package: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python packaging/make_onefile.py dist/gpuassist-*.whl dist
	$(BIN)/python packaging/make_bundle.py dist
	$(BIN)/python packaging/make_appimage.py dist

# What `make package` made, installed and started as users do; what is missing for one of them is said, and the others go on.
package-test: $(VENV)/.dev
	$(BIN)/python -m pytest packaging/tests -p no:randomly -p no:cacheprovider -o addopts= -o timeout=1800 -rs -s $(ARGS)

# For a checkout: the manual page, the desktop's menu, icons and completions, below ~/.local/share.
install-desktop: $(VENV)/.dev
	$(BIN)/python packaging/make_share.py "$${XDG_DATA_HOME:-$$HOME/.local/share}"
	mkdir -p "$$HOME/.local/bin" && ln -sfn "$(CURDIR)/$(BIN)/gpuassist" "$$HOME/.local/bin/gpuassist"

# What the benchmarks compare with, apart from gpuassist's own environment.
.cache/peers/.done:
	$(PYTHON) -m venv .cache/peers
	@.cache/peers/bin/python -m pip install --quiet 'nvitop>=1.3' || echo "NOT RUN: the comparison with nvitop; it could not be installed"
	@touch $@

clean:
	rm -rf $(VENV) $(TORCH) .cache build dist
