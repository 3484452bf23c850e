# Two commands matter: `make demo` and `make test`. Both install what is missing first.

SWIFT ?= swift
CONFIGURATION := -c release
BINARY := .build/release/scanmill

# What the build needs beyond the Swift toolchain, and what the tests compare with.
BUILD_PACKAGES := pkg-config zlib1g-dev libsqlite3-dev libpng-dev liblz4-dev libdeflate-dev libturbojpeg0-dev \
	libavcodec-dev libavformat-dev libavutil-dev libswscale-dev
TEST_PACKAGES := ffmpeg pngcheck chromium chromium-driver python3-selenium tidy systemd jq python3-prometheus-client

.PHONY: help demo test build setup setup-test format lint clean

help:
	@echo "make demo    process sample-data/ into out/"
	@echo "make test    build and test"
	@echo "make build   build the release binary, $(BINARY)"
	@echo "make format  format the sources; make lint checks them"
	@echo "make clean   remove .build/ and out/"

# Silent when nothing is missing; asks for root only when something is.
define install
	@missing=; for p in $(1); do \
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
	$(call install,$(BUILD_PACKAGES))

setup-test:
	$(call install,$(BUILD_PACKAGES) $(TEST_PACKAGES))

build: setup
	@$(SWIFT) build $(CONFIGURATION) --product scanmill --explicit-target-dependency-import-check error

demo: build
	@$(BINARY) run sample-data --output out
	@echo "Look into out/: one folder per capture with color/, depth/, aligned/, imu/ and tables/,"
	@echo "and capture.json, which says what the capture is and what is wrong with it."

test: setup-test
	@$(SWIFT) test $(CONFIGURATION)

format:
	@$(SWIFT) format -i -r -p Sources Tests Package.swift

lint:
	@$(SWIFT) format lint -r -p --strict Sources Tests Package.swift

clean:
	rm -rf .build out
