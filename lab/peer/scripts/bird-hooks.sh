# BIRD announces the addresses of the link that are in a list. A list may not be
# empty, so each has a documentation address that no link holds.
. "$here/addresses.sh"

list() {
	printf 'define ADVERTISE4 = [ 192.0.2.255/32%s ];\n' "$1"
	printf 'define ADVERTISE6 = [ 2001:db8:ffff::255/128%s ];\n' "$2"
}

publish() {
	list "$@" >"$here/advertise.new"
	mv "$here/advertise.new" "$here/advertise.conf"
	birdc -s "$here/bird.ctl" configure
}

up() { publish "$addresses4" "$addresses6"; }
down() { publish "" ""; }
