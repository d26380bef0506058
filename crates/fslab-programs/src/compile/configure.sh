#!/bin/sh
# Finds out what this system has, and writes config.h and Makefile for it.
#
# Usage: sh configure [--prefix=FOLDER]; CC, CFLAGS and AR may be set in the environment.

prefix=/usr/local
for argument; do
    case $argument in
    --prefix=*) prefix=${argument#--prefix=} ;;
    *)
        echo "configure: unknown argument: $argument" >&2
        exit 2
        ;;
    esac
done
CC=${CC:-cc}
CFLAGS=${CFLAGS:--O1 -pipe}
AR=${AR:-ar}
LOG=config.log
tests=0

say() {
    tests=$((tests + 1))
    printf 'checking %s... ' "$1"
    printf '%s\n' "test $tests: $1" >>$LOG
}

give_up() {
    echo "no"
    echo "configure: error: $1; $LOG tells why" >&2
    exit 1
}

# Translates conftest.c into an object.
translates() {
    $CC $CFLAGS -c conftest.c -o conftest.o >>$LOG 2>&1
}

# Makes a program of conftest.c.
links() {
    $CC $CFLAGS conftest.c -o conftest.run >>$LOG 2>&1
}

define() {
    printf '#define %s %s\n' "$1" "$2" >>config.new
}

# HAVE_SYS_STAT_H for sys/stat.h.
macro_of() {
    printf 'HAVE_%s' "$1" | tr 'abcdefghijklmnopqrstuvwxyz/.' 'ABCDEFGHIJKLMNOPQRSTUVWXYZ__'
}

: >$LOG
printf '/* Written by configure. */\n' >config.new

say "whether the C compiler works"
printf 'int main(void)\n{\n    return 0;\n}\n' >conftest.c
links || give_up "$CC makes no programs"
echo "yes"

say "whether programs run here"
if ./conftest.run >>$LOG 2>&1; then
    echo "yes"
    define PROGRAMS_RUN 1
else
    echo "no"
fi

for header in assert.h ctype.h errno.h fcntl.h float.h limits.h math.h signal.h stdarg.h stddef.h \
    stdint.h stdio.h stdlib.h string.h sys/stat.h sys/types.h time.h unistd.h no/such/header.h; do
    say "for $header"
    printf '#include <%s>\nint one = 1;\n' "$header" >conftest.c
    if translates; then
        echo "yes"
        define "$(macro_of "$header")" 1
    else
        echo "no"
    fi
done

for function in calloc fseek getenv memmove qsort setvbuf snprintf strchr strtoul time \
    no_such_function; do
    say "for $function"
    printf 'char %s(void);\nint main(void)\n{\n    return %s() == 1;\n}\n' \
        "$function" "$function" >conftest.c
    if $CC $CFLAGS -fno-builtin conftest.c -o conftest.run >>$LOG 2>&1; then
        echo "yes"
        define "$(macro_of "$function")" 1
    else
        echo "no"
    fi
done

for type in short int long "void *"; do
    say "the size of $type"
    size=unknown
    for bytes in 2 4 8; do
        printf 'char right[sizeof(%s) == %s ? 1 : -1];\n' "$type" "$bytes" >conftest.c
        if translates; then
            size=$bytes
            break
        fi
    done
    [ "$size" != unknown ] || give_up "$type has an unknown size"
    echo "$size"
    case $type in
    "void *") define SIZEOF_POINTER "$size" ;;
    *) define "SIZEOF_$type" "$size" ;;
    esac
done

say "whether $AR keeps no times"
if $AR crD conftest.a conftest.o >>$LOG 2>&1; then
    ARFLAGS=crD
    echo "yes"
else
    ARFLAGS=cr
    echo "no"
fi

say "whether ln -s works"
if ln -s conftest.c conftest.ln 2>>$LOG; then
    LN_S='ln -s'
    echo "yes"
else
    LN_S='cp'
    echo "no, using cp"
fi

say "whether chmod works"
if chmod 600 conftest.c 2>>$LOG && chmod 644 conftest.c 2>>$LOG; then
    CHMOD=chmod
    echo "yes"
else
    CHMOD=:
    echo "no"
fi

rm -f conftest.c conftest.o conftest.a conftest.run conftest.ln
mv config.new config.h
sed -e "s|@CC@|$CC|" -e "s|@CFLAGS@|$CFLAGS|" -e "s|@AR@|$AR|" -e "s|@ARFLAGS@|$ARFLAGS|" \
    -e "s|@LN_S@|$LN_S|" -e "s|@CHMOD@|$CHMOD|" -e "s|@prefix@|$prefix|" Makefile.in >Makefile
echo "$tests tests; config.h and Makefile are written"
