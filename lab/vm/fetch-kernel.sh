#!/bin/sh
# fetch-kernel.sh ARCH DIR: put Debian's cloud kernel for ARCH (arm64, amd64) and
# its modules into DIR, by apt, without root and without a change to this
# machine's packages or architectures. What is in DIR already is kept.
set -eu

arch=$1
dir=$2
[ -e "$dir/complete" ] && exit 0

# A fresh copy beside the old: an interrupted run leaves nothing half done.
work=$dir.new
rm -rf "$work"
mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial" "$work/tree"
work=$(cd "$work" && pwd)

# apt with lists of its own, since this machine's know its own architecture only.
apt() {
	command=$1
	shift
	"$command" -q -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
		-o Dir::State="$work/apt" -o Dir::State::lists="$work/apt/lists" \
		-o Dir::State::status=/dev/null -o Dir::Cache="$work/apt" \
		-o APT::Sandbox::User="" "$@"
}

echo "fetching Debian's cloud kernel for $arch" >&2
apt apt-get update >"$work/apt/log" 2>&1 || { cat "$work/apt/log" >&2; exit 1; }

# The meta package names the kernel of the day.
package=$(apt apt-cache depends "linux-image-cloud-$arch" |
	sed -n 's/^ *Depends: *\(linux-image-[0-9].*\)$/\1/p' | head -n 1)
[ -n "$package" ] || { echo "apt knows no linux-image-cloud-$arch: a Debian with its main archive is needed" >&2; exit 1; }

(cd "$work" && apt apt-get download "$package" >>apt/log 2>&1) || { cat "$work/apt/log" >&2; exit 1; }
dpkg -x "$work"/linux-image-*.deb "$work/tree"
mv "$work"/tree/boot/vmlinuz-* "$work/vmlinuz"
# /lib/modules, or /usr/lib/modules where /lib is a link.
modules=$(find "$work/tree" -type d -path '*lib/modules/*/kernel' | head -n 1)
mv "$modules" "$work/modules"
echo "$package" >"$work/complete"
rm -rf "$work/tree" "$work/apt" "$work"/*.deb "$dir"
mv "$work" "$dir"
