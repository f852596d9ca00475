#!/bin/sh
# Runs within the root of the oldest Debian: CPython, built from the sources of the newest one's package (which lie in /build), because
# the oldest has none that gpuassist runs on. Without what the application does not use: TLS, sqlite, readline (which is GPL), Tk.
set -eu
cd /build
rm -rf source && mkdir source
tar -xf python3*.orig.tar.xz -C source --strip-components=1
cd source
# sem_clockwait is glibc 2.30; Python then waits by the clock of the day as it did up to 3.10
# and libffi within Python's own module, whose name in newer systems is another
LIBFFI_CFLAGS=" " LIBFFI_LIBS="-l:libffi_pic.a" \
ac_cv_func_sem_clockwait=no CFLAGS="-O2 -include /build/older_glibc.h" LDFLAGS="-Wl,-rpath,/opt/python/lib" ./configure --quiet \
    --prefix=/opt/python --enable-shared --disable-test-modules --with-ensurepip=install --without-readline --with-pkg-config=yes
make --jobs="${JOBS:-2}" --silent
make --silent install
