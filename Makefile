# Three commands matter: `make demo`, `make check` and `make test`. They install what is missing first.

SWIFT ?= swift
CONFIGURATION := -c release
BINARY := .build/release/scanmill

# What is installed is built apart, with the runtime of Swift in it: `make test` and `make demo` do not wait for it.
PREFIX ?= /usr/local
DESTDIR ?=
DIST := .build/dist
INSTALLED := $(DIST)/scanmill
PROGRAMS := scanmill scanmill-receive scanmill-send scanmill-synthesize
# The package manager keeps dependencies of its own there; texts of licenses are taken from them.
STATIC := --static-swift-stdlib --disable-local-rpath --scratch-path $(DIST)/build

# What the build needs beyond the Swift toolchain, and what the tests compare with.
BUILD_PACKAGES := binutils pkg-config libssl-dev zlib1g-dev libpng-dev liblz4-dev libzstd-dev libdeflate-dev libturbojpeg0-dev libcurl4-openssl-dev \
	libavcodec-dev libavformat-dev libavutil-dev libswscale-dev libzimg-dev libhdf5-dev
TEST_PACKAGES := ffmpeg pngcheck chromium chromium-driver python3-selenium tidy systemd jq python3-prometheus-client \
	python3-venv nginx-light rsync samba-common-bin slurmctld slurmd slurm-client bindfs parallel mandoc zsh fish strace

# What `make deb` needs beyond that: it finds the packages that the program depends on.
DEB_PACKAGES := dpkg-dev gcc libc6-dev

# Loaders of other people that the tests open exports with. What Python compiles of them when it first loads them is kept,
# and lies beside no source; also where the environment asks for nothing to be kept.
READERS := .build/readers
PYTHON ?= python3
export PYTHONPYCACHEPREFIX := $(CURDIR)/.build/pycache
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo check test soak build setup setup-test format lint clean program install uninstall deb dist

help:
	@echo "make demo    process sample-data/ into out/"
	@echo "make check   build and test what needs no program of others: minutes, for every change"
	@echo "make test    build and test everything"
	@echo "make soak    the same, with as many kills and repetitions as it takes to meet the rare moments"
	@echo "make build   build the release binary, $(BINARY)"
	@echo "make program build the program that is installed, $(INSTALLED): needs no Swift where it runs"
	@echo "make install install it below PREFIX=$(PREFIX); make uninstall removes it (both know DESTDIR=)"
	@echo "make deb     make a Debian package, $(DIST)/scanmill_<version>_<arch>.deb"
	@echo "make dist    make an archive of the sources and the notes of the release in $(DIST)/"
	@echo "make format  format the sources; make lint checks them"
	@echo "make clean   remove .build/ and out/"

# Silent when nothing is missing; asks for root only when something is.
define install
missing=; for p in $(1); do \
  dpkg-query -W -f='$${db:Status-Status}' $$p 2>/dev/null | grep -qx installed || missing="$$missing $$p"; \
done; \
if [ -n "$$missing" ]; then \
  echo "installing:$$missing"; \
  root=; [ "$$(id -u)" = 0 ] || root=sudo; \
  $$root apt-get update -qq && \
  DEBIAN_FRONTEND=noninteractive $$root apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
fi
endef

setup:
	@$(call install,$(BUILD_PACKAGES))

setup-test: setup
	@$(call install,$(TEST_PACKAGES))
	@.ci/readers $(READERS) $(PYTHON)

# Without the server, whose libraries are not fetched, and without what tests need.
build: setup
	@SCANMILL_PROGRAM_ALONE=1 $(SWIFT) build $(CONFIGURATION) --product scanmill --explicit-target-dependency-import-check error

demo: build
	@$(BINARY) run sample-data --output out
	@$(BINARY) run sample-data --output out --export nerfstudio,euroc,geojson
	@echo "Look into out/: one folder per capture with color/, depth/, aligned/, imu/ and tables/, preview/ to look at,"
	@echo "and capture.json, which says what the capture is and what is wrong with it. Beside them"
	@echo "export-nerfstudio/, export-euroc/ and export-geojson/ where they apply: for radiance fields,"
	@echo "SLAM and maps."

# The test target that runs the built program, with FFmpeg, Slurm, browsers and loaders in Python around it. Tests of the
# other targets leave programs of others out by themselves (ForeignPrograms).
TARGET_WITH_PROGRAMS := EndToEndTests

check: setup
	@$(SWIFT) build $(CONFIGURATION) --build-tests --explicit-target-dependency-import-check error
	@SCANMILL_CHECK=1 $(SWIFT) test $(CONFIGURATION) --skip-build --skip '^$(TARGET_WITH_PROGRAMS)\.'

# Every test, with full rounds (Rounds), and whether the package of the benchmarks still builds.
soak:
	@$(SWIFT) build --package-path Benchmarks
	@SCANMILL_SOAK=1 $(MAKE) --no-print-directory test TEST_SECONDS=14400

# What the tests take is a third of it, on two cores. Who takes longer is stuck, which is told.
TEST_SECONDS ?= 3000

# What only tests need is fetched while the compiler works. What failed is said once more at the end: the lines above it
# are thousands.
test: setup
	@{ $(call install,$(TEST_PACKAGES)) && .ci/readers $(READERS) $(PYTHON); } & fetching=$$!; \
	$(SWIFT) build $(CONFIGURATION) --build-tests --explicit-target-dependency-import-check error; \
	status=$$?; wait $$fetching || status=1; exit $$status
	@{ .ci/stuck $(TEST_SECONDS) $$$$ .build/stuck.log >/dev/null 2>&1 & \
	  $(SWIFT) test $(CONFIGURATION) --skip-build 2>&1; echo $$? > .build/test.status; } | tee .build/test.log
	@status=$$(cat .build/test.status); \
	if [ "$$status" != 0 ]; then \
	  grep -a -e '^✘' -e '^↳' -e '^error:' -e 'Fatal error' .build/test.log | cut -c1-1500 | tail -n 40; \
	  grep -a -A 12 -e 'Program crashed' -e '^Thread .* crashed:' .build/test.log | cut -c1-160 | tail -n 30; \
	  cat .build/stuck.log 2>/dev/null; \
	  exit "$$status"; \
	fi

program: setup
	@for p in $(PROGRAMS); do \
	  SCANMILL_INSTALLED=1 $(SWIFT) build $(CONFIGURATION) --product $$p $(STATIC) && \
	  cp $(DIST)/build/release/$$p $(DIST)/$$p.new && strip $(DIST)/$$p.new && mv $(DIST)/$$p.new $(DIST)/$$p || exit 1; \
	done
	@SWIFT=$(SWIFT) .packaging/licenses.sh $(DIST)/build/checkouts $(DIST)/licenses

# Builds what has changed; root, who may not have the toolchain, installs what others have built: make program, then
# as root make install.
install: $(if $(shell command -v $(SWIFT)),program)
	@if ! [ -x $(INSTALLED) ]; then echo "error: no Swift toolchain, and no $(INSTALLED): make program first"; exit 1; fi
	@.packaging/stage.sh $(INSTALLED) "$(PREFIX)" "$(DESTDIR)"
	@echo "installed $(DESTDIR)$(PREFIX)/bin/scanmill with manual pages, completions, units and documentation:"
	@$(INSTALLED) --version | head -2

uninstall:
	@.packaging/unstage.sh "$(PREFIX)" "$(DESTDIR)"

deb: program
	@$(call install,$(DEB_PACKAGES))
	@.packaging/deb.sh $(INSTALLED) $(DIST)

dist:
	@.packaging/sources.sh $(DIST)

format:
	@$(SWIFT) format -i -r -p Sources Tests Package.swift

lint:
	@$(SWIFT) format lint -r -p --strict Sources Tests Package.swift

clean:
	rm -rf .build out
