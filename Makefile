# Two commands do everything on a fresh machine: `make demo` and `make test`.

FSLAB := target/release/fslab
PATH  := $(PATH):$(HOME)/.cargo/bin
export PATH

.PHONY: help setup build demo test bench clean

help:
	@echo "make demo     compare ext4, XFS and Btrfs on this machine; ends with a table and a report"
	@echo "make test     run every check and test"
	@echo "make bench    measure fslab against fio, sysbench, bonnie++ and loops in C: 17 minutes"
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

# With its peers, from Debian. As root also on ext4 over a loop device. BENCH="--quick" to try it,
# BENCH="--help" for more.
bench: build
	@scripts/setup bench
	cargo build --release --locked --package fslab-bench
	PATH="$$PATH:/usr/sbin:/sbin" target/release/fslab-bench $(BENCH)

clean:
	-test ! -x $(FSLAB) || $(FSLAB) clean
	cargo clean
