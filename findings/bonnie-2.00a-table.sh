#!/bin/sh
# The table of file operations of bonnie++.
#
# Version:     bonnie++ 2.00a+nmu1 (Debian 12)
# Expectation: the table and the line of CSV after it are two forms of the same figures, so the
#              columns "/sec" of creation and deletion have the rates of the CSV.
# Behaviour:   where the CSV has a rate, the table has the number of files that were created, so
#              that a slower and a faster run print the same there.
# Output seen: sequential creation: the table says 65536 /sec, the CSV 20914 /sec; in another run
#              the table says 65536 /sec, the CSV 7948 /sec.
#
# Needs apt-get, dpkg-deb, awk, and a network. Exits with 0 while the behaviour is as stated.
set -eu

version=2.00a+nmu1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"

apt-get download -q "bonnie++=$version" > download.log 2>&1
dpkg-deb -x bonnie++_*.deb root
mkdir work
user=
if [ "$(id -u)" = 0 ]; then
    user='-u root'
fi
# 64 x 1024 files of no bytes, so that creating them takes more than the half second below which
# nothing is printed.
# shellcheck disable=SC2086
root/usr/sbin/bonnie++ -d work -s 0 -n 64 -m host $user > output.txt 2> messages.txt

echo "bonnie++ $version"
sed -n '/^ *files/,$p' output.txt

table=$(awk '/^ *files/ { getline; print $2 }' output.txt)
csv=$(sed -n 's/^1\.98,2\.00a,.*,64,,,,,\([0-9]*\),.*/\1/p' output.txt)
echo "sequential creation: the table says $table /sec, the CSV $csv /sec"
[ "$table" = 65536 ] && [ -n "$csv" ] && [ "$csv" != 65536 ]
