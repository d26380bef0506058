# Two commands do everything on a fresh machine: `make demo` and `make test`.

FSLAB := target/release/fslab
PATH  := $(PATH):$(HOME)/.cargo/bin
export PATH

.PHONY: help setup build lab demo test dist docs bench mpi clean

help:
	@echo "make demo     a first table, then six file systems in virtual time, with a report"
	@echo "make test     run every check and test"
	@echo "make dist     what is published: dist/"
	@echo "make lab      build the guest kernel that has every file system: 5 minutes, once"
	@echo "make bench    measure fslab against fio, sysbench, bonnie++ and loops in C"
	@echo "make mpi      build fslab-mpi, which runs trials on the ranks of an MPI job"
	@echo "make docs     build the book: book/index.html"
	@echo "make build    build the command: $(FSLAB)"
	@echo "make clean    remove what was built, and what a killed run left"

# Installs what is missing: Debian packages, by apt.
setup:
	@scripts/setup

build: setup
	cargo build --release --locked --package fslab-cli

# The guest kernel, in the user's cache; nothing is done where it is there.
lab: build
	$(FSLAB) lab build

# A first table in real time, then the guest kernel, then virtual time.
demo:
	@scripts/setup demo
	@scripts/demo

# The lab is built by the command that is tested: what `make demo` takes is not needed. Its root image
# has the programs of today: those that a study brings need the same libraries.
test: setup
	cargo build --workspace --locked
	target/debug/fslab lab build --new-root
	-target/debug/fslab lab build --kernel debian:6.1
	-scripts/setup cross && cargo xtask cross x86_64-windows --no-default-features && cargo xtask cross x86_64-windows --tests
	FSLAB_TEST_GUEST=required cargo xtask gate

# Tarballs, packages, licences, checksums of six targets. DIST="--target x86_64-linux" makes one, and
# DIST="--no-guest" leaves the guest out. What this machine cannot build is said.
dist:
	@scripts/setup dist
	-@scripts/setup cross
	@! command -v rustup >/dev/null || rustup target add aarch64-unknown-linux-gnu
	cargo xtask dist $(DIST)

# The book. Debian has no package of mdbook.
docs:
	@command -v mdbook >/dev/null || { echo "mdbook is missing: cargo install mdbook" >&2; exit 1; }
	mdbook build docs

# With its peers, from Debian; also with fs_mark, mdtest and elbencho where they are in PATH, or
# with BENCH="--peer fs_mark=FILE". As root also on ext4 over a loop device. BENCH="--quick" to try it,
# BENCH=sim for the speed of virtual time (after `make lab`), BENCH="--help" for more.
bench: build
	@scripts/setup bench
	cargo build --release --locked --package fslab-bench
	PATH="$$PATH:/usr/sbin:/sbin" target/release/fslab-bench $(BENCH)

# With an MPI library, which the rest does not need; FSLAB and FSLAB-guest beside it, since every rank starts
# the first, and its guests the second.
mpi: build
	@scripts/setup mpi
	cd crates/fslab-mpi && cargo build --release --locked --target-dir ../../target/mpi
	cp $(FSLAB) $(FSLAB)-guest target/mpi/release

clean:
	-test ! -x $(FSLAB) || $(FSLAB) clean
	rm -rf dist
	cargo clean
