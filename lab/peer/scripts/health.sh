#!/bin/sh
# Checks the resolver for ever. hooks.sh beside it says what to do when the
# service has risen and when it has fallen: it defines up and down.
#
#   health.sh PAUSE TIMEOUT RISE FALL    (seconds, seconds, checks, checks)
pause=$1 timeout=$2 rise=$3 fall=$4
here=$(dirname "$0")
. "$here/hooks.sh"

turn() {
	state=$1
	echo "$(date +%FT%T.%3N) $1"
	"$1"
}

# Ended in order, the node leaves before its daemons do.
trap 'turn down; exit 0' TERM

turn down
good=0 bad=0
while :; do
	if sh "$here/check.sh" "$timeout"; then
		good=$((good + 1)) bad=0
	else
		good=0 bad=$((bad + 1))
	fi
	if [ "$state" = down ] && [ "$good" -ge "$rise" ]; then turn up; fi
	if [ "$state" = up ] && [ "$bad" -ge "$fall" ]; then turn down; fi
	# A shell hears of a signal only when what it waits for is a wait.
	sleep "$pause" &
	wait $!
done
