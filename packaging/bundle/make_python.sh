#!/bin/sh
# Runs within the root of the oldest Debian, where the sources lie in /build. CPython is that of the newest Debian's package, because the
# oldest has none that gpuassist runs on; without what the application does not use: readline (which is GPL), Tk. OpenSSL and SQLite
# are the newest Debian's, too: they read what strangers send, and the oldest's are mended no more.
# libpng and libdbus are the oldest Debian's own, built once more because those of its packages ask for glibc 2.29 and (by libsystemd) 2.30.
set -eu
cd /build
rm -rf python png dbus sqlite openssl && mkdir python png dbus sqlite openssl
tar -xf python3*.orig.tar.xz -C python --strip-components=1
tar -xf libpng1.6*.orig.tar.gz -C png --strip-components=1
tar -xf dbus_*.orig.tar.xz -C dbus --strip-components=1
tar -xf sqlite3_*.orig.tar.xz -C sqlite --strip-components=1
tar -xf openssl_*.orig.tar.gz -C openssl --strip-components=1
FLAGS="-O2 -include /build/older_glibc.h"

cd /build/png
CFLAGS="$FLAGS" ./configure --quiet --prefix=/opt/png --disable-static
make --silent --jobs="${JOBS:-2}" libpng16.la
install -D .libs/libpng16.so.16 /opt/png/libpng16.so.16

cd /build/dbus
CFLAGS="$FLAGS" ./configure --quiet --prefix=/usr --sysconfdir=/etc --localstatedir=/var --disable-systemd --disable-selinux \
    --disable-apparmor --disable-libaudit --without-x --disable-tests --disable-doxygen-docs --disable-xml-docs --disable-ducktype-docs
make --silent --jobs="${JOBS:-2}" -C dbus libdbus-1.la
install -D dbus/.libs/libdbus-1.so.3 /opt/dbus/libdbus-1.so.3

cd /build/sqlite
./configure --quiet --disable-tcl
make --silent sqlite3.c
mkdir -p /opt/sqlite
gcc $FLAGS -fPIC -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_DEPRECATED -c sqlite3.c -o sqlite3.o
ar rcs /opt/sqlite/libsqlite3.a sqlite3.o
cp sqlite3.h sqlite3ext.h /opt/sqlite

# Certificates are those of the system: /etc/ssl is where most distributions have them, SSL_CERT_FILE names another place.
cd /build/openssl
CFLAGS="$FLAGS -fPIC" ./Configure linux-x86_64 --prefix=/opt/openssl --libdir=lib --openssldir=/etc/ssl \
    no-shared no-module no-legacy no-engine no-apps no-tests no-docs no-quic no-comp >/dev/null
make --silent --jobs="${JOBS:-2}" build_libs >/dev/null
make --silent install_dev >/dev/null
# These stand in Libs.private, which Python's configure does not ask for.
sed -i 's/^Libs:.*/& -ldl -pthread/' /opt/openssl/lib/pkgconfig/libcrypto.pc

cd /build/python
# What is linked in statically binds to itself alone: systems differ in which of these libraries they have, and in their names.
ALONE="-Wl,-Bsymbolic -Wl,--exclude-libs,ALL"
# sem_clockwait is glibc 2.30: without it Python waits as it did up to 3.10. libffi goes into Python's own module: systems differ in which
# they have.
LIBFFI_CFLAGS=" " LIBFFI_LIBS="-l:libffi_pic.a" \
LIBSQLITE3_CFLAGS="-I/opt/sqlite" LIBSQLITE3_LIBS="$ALONE -L/opt/sqlite -l:libsqlite3.a" \
PKG_CONFIG_PATH=/opt/openssl/lib/pkgconfig \
ac_cv_func_sem_clockwait=no CFLAGS="$FLAGS" LDFLAGS="-Wl,-rpath,/opt/python/lib" ./configure --quiet \
    --prefix=/opt/python --enable-shared --disable-test-modules --with-ensurepip=install --without-readline --with-pkg-config=yes
make --jobs="${JOBS:-2}" --silent
make --silent install
strip --strip-unneeded /opt/python/lib/libpython3.*.so.1.0 /opt/python/lib/python3.*/lib-dynload/*.so /opt/png/*.so.* /opt/dbus/*.so.*
/opt/python/bin/python3 -c 'import bz2, ctypes, curses, lzma, sqlite3, ssl'  # one that could not be built is left out without a word
