#!/usr/bin/busybox sh
# The first process of an emulated machine: it has harm try the matrix, and says so on the console.
/usr/bin/busybox --install -s /usr/bin
export PATH=/usr/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t devpts pts /dev/pts
mount -t tmpfs -o mode=1777,size=2g tmp /tmp
ln -s /proc/self/fd /dev/fd
ip link set lo up
echo 3 >/proc/sys/kernel/printk
echo "MACHINE Linux $(uname -r), JDK $($(ls -d /usr/lib/jvm/*/bin/java | head -1) -version 2>&1 | head -1 | cut -d'"' -f2)"
cd /work
harm -patience 10m -rivulet /usr/bin/rivulet -part matrix -jdk VERSION ONLY 2>&1
echo OVER
poweroff -f
