# Two commands do everything on a fresh machine: `make demo` and `make test`.

FSLAB := target/release/fslab
PATH  := $(PATH):$(HOME)/.cargo/bin
export PATH

.PHONY: help setup build demo test clean

help:
	@echo "make demo     compare ext4, XFS and Btrfs on this machine; ends with a table and a report"
	@echo "make test     run every check and test"
	@echo "make build    build the command: $(FSLAB)"
	@echo "make clean    remove what was built, and what a killed run left"

# Installs what is missing: Debian packages, by apt.
setup:
	@scripts/setup

build: setup
	cargo build --release --locked --package fslab-cli

# As root: file systems are formatted on image files. Otherwise: the directory at hand is measured.
demo: build
	$(FSLAB) compare ext4 xfs btrfs --out demo --store demo/fslab.db

test: setup
	cargo xtask gate

clean:
	-test ! -x $(FSLAB) || $(FSLAB) clean
	cargo clean
