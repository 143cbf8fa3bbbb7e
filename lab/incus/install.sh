#!/bin/sh
# Installs Incus from Debian's backports, and what makes an image. A box that has
# them is left as it is. The suite is added in a file of its own, signed by the
# key that Debian itself ships.
set -eu

# Incus 6 is in Debian itself from 13 (trixie) on.
. /etc/os-release
if [ "${ID:-}" != debian ]; then
	echo "lab-incus: needs Debian, not ${PRETTY_NAME:-this system}: install incus and debootstrap by hand" >&2
	exit 1
fi
missing=""
[ -x /usr/libexec/incus/incusd ] || missing="$missing incus-base"
for p in debootstrap nftables iproute2; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "lab-incus: needs root to install$missing" >&2
	exit 1
fi
suite=""
if [ "$VERSION_CODENAME" = bookworm ]; then
	suite=bookworm-backports
	if ! grep -rqsw "$suite" /etc/apt/sources.list /etc/apt/sources.list.d; then
		keyring=/usr/share/keyrings/debian-archive-keyring.gpg
		if [ ! -f $keyring ]; then
			echo "lab-incus: no $keyring: apt-get install debian-archive-keyring" >&2
			exit 1
		fi
		# The mirror that this box uses already.
		mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1)
		cat >/etc/apt/sources.list.d/recuse-lab-backports.sources <<-EOF
			Types: deb
			URIs: ${mirror:-http://deb.debian.org/debian}
			Suites: $suite
			Components: main
			Signed-By: $keyring
		EOF
	fi
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086  # several words
apt-get install -y -qq --no-install-recommends ${suite:+-t $suite} $missing
