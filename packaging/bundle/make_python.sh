#!/bin/sh
# Runs within the root of the oldest Debian, where the sources lie in /build. CPython is that of the newest Debian's package, because the
# oldest has none that gpuassist runs on; without what the application does not use: TLS, sqlite, readline (which is GPL), Tk.
# libpng and libdbus are the oldest Debian's own, built once more because those of its packages ask for glibc 2.29 and (by libsystemd) 2.30.
set -eu
cd /build
rm -rf python png dbus && mkdir python png dbus
tar -xf python3*.orig.tar.xz -C python --strip-components=1
tar -xf libpng1.6*.orig.tar.gz -C png --strip-components=1
tar -xf dbus_*.orig.tar.xz -C dbus --strip-components=1
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

cd /build/python
# sem_clockwait is glibc 2.30: without it Python waits as it did up to 3.10. libffi goes into Python's own module: systems differ in which
# they have.
LIBFFI_CFLAGS=" " LIBFFI_LIBS="-l:libffi_pic.a" \
ac_cv_func_sem_clockwait=no CFLAGS="$FLAGS" LDFLAGS="-Wl,-rpath,/opt/python/lib" ./configure --quiet \
    --prefix=/opt/python --enable-shared --disable-test-modules --with-ensurepip=install --without-readline --with-pkg-config=yes
make --jobs="${JOBS:-2}" --silent
make --silent install
strip --strip-unneeded /opt/python/lib/libpython3.*.so.1.0 /opt/python/lib/python3.*/lib-dynload/*.so /opt/png/*.so.* /opt/dbus/*.so.*
