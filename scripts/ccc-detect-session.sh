#!/bin/sh
# ccc detect-session, under the name the protocol promises. Finds the pack through any number of links.
self=$0
while [ -L "$self" ]; do
	link=$(readlink "$self")
	case $link in /*) self=$link ;; *) self=$(dirname "$self")/$link ;; esac
done
exec node "$(dirname "$self")/ccc.mjs" detect-session "$@"
