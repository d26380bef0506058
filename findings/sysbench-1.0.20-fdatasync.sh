#!/bin/sh
# sysbench 1.0.20 fileio (Debian 12): which syncs its summary counts.
#
# Expected: with --file-fsync-mode=fdatasync the summary names fdatasync, or has a line for it, since
# the two calls differ in what they make durable.
# Behaviour: it prints "fsyncs/s" in both modes; strace shows that only fdatasync(2) was called.
#
# Needs apt-get, dpkg-deb, strace, and a network. Exits with 0 while the behaviour is as stated.
set -eu

version=1.0.20+ds-5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"

apt-get download -q "sysbench=$version" libluajit-5.1-2 libluajit-5.1-common libmariadb3 libpq5 \
    strace > download.log 2>&1
for package in *.deb; do
    dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH="$folder/root/usr/lib/x86_64-linux-gnu"
mkdir work
cd work
set -- "$folder/root/usr/bin/sysbench" fileio --file-total-size=4M --file-num=2 \
    --file-test-mode=rndwr --file-fsync-freq=10 --events=200 --time=0 --file-fsync-mode=fdatasync
"$@" prepare > /dev/null
"$folder/root/usr/bin/strace" -f -e trace=fsync,fdatasync -o ../calls "$@" run > ../output.txt
cd ..

data=$(grep -c 'fdatasync(' calls || true)
full=$(grep -c ' fsync(' calls || true)
echo "sysbench $version: $data calls of fdatasync(2), $full of fsync(2)"
grep -i 'sync' output.txt
[ "$data" -gt 0 ] && [ "$full" = 0 ]
grep -q '^ *fsyncs/s:' output.txt
# Seen on Debian 12: 34 calls of fdatasync(2), none of fsync(2), and "fsyncs/s: 1800.40".
