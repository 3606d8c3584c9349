#!/bin/sh
# Runs ccc from wherever the pack is: $CCC_HOME, the folder of this skill, the skill ccc beside it, or the checkout above.
case ${1-} in supervise | coordinate)
	echo "This is no command for a session. [unknown-word]" >&2
	exit 2
	;;
esac
here=$(dirname -- "$0")
real=$(CDPATH='' cd -P -- "$here" && pwd) || exit 70
for home in "$CCC_HOME" "$here" "$here/../ccc" "$real/../ccc" "$real/../.."; do
	if [ -n "$home" ] && [ -f "$home/protocol/CCC_PROTOCOL.md" ] && [ -f "$home/scripts/ccc.mjs" ]; then
		if ! command -v node >/dev/null 2>&1; then
			echo "ccc needs node in PATH. [no-node]" >&2
			exit 70
		fi
		CCC_CALLED_AS=$0 exec node "$home/scripts/ccc.mjs" "$@"
	fi
done
echo "Status: blocked
The installation of ccc is incomplete. [incomplete-install]
  tried: ${CCC_HOME:-(CCC_HOME is not set)}, $here, $here/../ccc, $real/../ccc, $real/../..
  next: run <CCC_HOME>/scripts/ccc-install.sh" >&2
exit 3
