# A Debian system in namespaces of this one, with its own root, users and systemd. Loaded by
# install.bats. It needs root, and Debian's mirror for the first use and for dependencies.

# make_machine ARCHIVE FOLDER: unpacks a bare Debian with systemd into the folder. The archive is
# made if it is missing.
make_machine() {
    if [ ! -e "$1" ]; then
        mkdir -p "$(dirname "$1")"
        mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus,libpam-systemd \
            bookworm "$1.new.tar" http://deb.debian.org/debian
        mv "$1.new.tar" "$1"
    fi
    mkdir "$2"
    tar -C "$2" -xpf "$1"
    cp /etc/resolv.conf "$2/etc/resolv.conf"
}

# boot_machine FOLDER PACKAGES: becomes the init of the system; runs in new namespaces.
boot_machine() {
    local root=$1 device
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t tmpfs tmpfs "$root/run"
    mount -t tmpfs tmpfs "$root/tmp"
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    for device in null zero full random urandom tty; do
        touch "$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
    mkdir "$root"/dev/{pts,shm} "$root/packages"
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /run/systemd/journal/dev-log "$root/dev/log"
    mount -t tmpfs tmpfs "$root/dev/shm"
    mount --bind "$2" "$root/packages"
    if [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]; then
        mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    else
        mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
        mkdir "$root/sys/fs/cgroup/systemd"
        mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
    fi
    cd "$root"
    mkdir -p former
    pivot_root . former
    umount -l /former
    exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
}

# start_machine FOLDER PACKAGES: starts the system, and waits until it runs. The folder PACKAGES is
# /packages there.
start_machine() {
    unshare --mount --pid --uts --ipc --cgroup --fork --kill-child bash -euc \
        "$(declare -f boot_machine); boot_machine '$1' '$2'" </dev/null >machine.log 2>&1 3>&- &
    machine_parent=$!
    until machine=$(cat "/proc/$machine_parent/task/$machine_parent/children") &&
        [ "$(cat "/proc/${machine// /}/comm" 2>/dev/null)" = systemd ]; do
        kill -0 "$machine_parent" || { cat machine.log && return 1; }
    done
    machine=${machine// /}
    until in_machine systemctl is-system-running --wait >machine.state 2>&1 ||
        grep -qx degraded machine.state; do
        kill -0 "$machine_parent"
    done
}

# in_machine COMMAND…: runs a command there as root.
in_machine() {
    nsenter --target "$machine" --mount --pid --uts --ipc --cgroup --root --wd=/ env -i \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@" 3>&-
}

# as USER COMMAND…: runs a command there as a user, with the groups that the user has now.
as() {
    local user=$1
    shift
    in_machine setpriv --reuid "$user" --regid "$user" --init-groups env HOME="/home/$user" \
        XDG_RUNTIME_DIR="/run/user/$(in_machine id -u "$user")" "$@"
}

stop_machine() {
    [ -z "${machine-}" ] || kill -KILL "$machine" 2>/dev/null || true
    [ -z "${machine_parent-}" ] || wait "$machine_parent" 2>/dev/null || true
    machine=
}
