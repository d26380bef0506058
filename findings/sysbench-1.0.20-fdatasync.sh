#!/bin/sh
# The syncs in the summary of sysbench fileio.
#
# Version:     sysbench 1.0.20+ds-5 (Debian 12)
# Expectation: with --file-fsync-mode=fdatasync the summary names fdatasync, since the two calls
#              differ in what they make durable.
# Behaviour:   it says fsync() and "fsyncs/s", although only fdatasync(2) is called.
# Output seen: 34 calls of fdatasync(2), 0 of fsync(2); "fsyncs/s: 1800.40".
#
# Needs apt-get, dpkg-deb, strace, and a network. Exits with 0 while the behaviour is as stated.
set -eu

version=1.0.20+ds-5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"

luajit=2.1.0~beta3+git20220320+dfsg-4.1+deb12u1
apt-get download -q "sysbench=$version" "libluajit-5.1-2=$luajit" "libluajit-5.1-common=$luajit" \
    libmariadb3=1:10.11.19-0+deb12u1 libpq5=15.20-0+deb12u1 strace=6.1-0.1 > download.log 2>&1
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
