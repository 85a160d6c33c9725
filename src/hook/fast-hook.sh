#!/bin/sh
# claude-mem's fast hook: posts the client's payload to the daemon's socket with curl and prints its answer, which takes a
# fraction of a node start. Where that is not possible, or fails in any way, the same payload goes to the hook's own process
# (hook.cjs beside this file), which sends it, spools it and starts a daemon. docs/hook-protocol.md has the rules (P19 to P24).
#
#   fast-hook.sh NODE CURL [--client NAME]
#
# For any POSIX shell. It always exits with 0. The build fills in the version and the names of variables.
set -f +e +u
version='@VERSION@'
node=${1-} curl=${2-}
[ "$#" -lt 2 ] || shift 2
case $0 in */*) hook=${0%/*}/hook.cjs ;; *) hook=./hook.cjs ;; esac
[ -x "$node" ] || node=node
client=claude-code
newline='
'

# The tools of the system come first: the environment of a client may be that of a project.
path_was_set=${PATH+x} path_was=${PATH-} locale_was_set=${LC_ALL+x} locale_was=${LC_ALL-}
PATH=/usr/bin:/bin${PATH:+:$PATH}
# Bytes, not characters.
LC_ALL=C

restore_environment() {
  if [ -n "$path_was_set" ]; then PATH=$path_was; else unset PATH; fi
  if [ -n "$locale_was_set" ]; then LC_ALL=$locale_was; else unset LC_ALL; fi
}

# Only where node is missing. The other clients take no answer.
empty_answer() {
  case $client in claude-code | cursor) printf '{"continue":true}\n' ;; esac
}

# Before the payload is read: the hook's own process reads it.
use_node() {
  restore_environment
  command -v "$node" >/dev/null && exec "$node" "$hook" "$@"
  empty_answer
  exit 0
}

case $# in
  0) ;;
  2) if [ "$1" = --client ]; then client=$2; else use_node "$@"; fi ;;
  *) use_node "$@" ;;
esac
case $client in '' | *[!a-z0-9-]*) use_node "$@" ;; esac

# Variables that only the hook's own process knows how to read.
[ -z "@VARIABLES@" ] || use_node "$@"

# As in src/lib/paths.ts; another form of the path is left to the hook's own process.
data=${CLAUDE_MEM_DATA_DIR:-${HOME-}/.claude-mem}
case $data in /*) ;; *) use_node "$@" ;; esac
socket=$data/daemon.sock
[ "${#socket}" -le 103 ] && [ -S "$socket" ] && [ -x "$curl" ] || use_node "$@"

# The seed is unique to this run. The event's id is derived from it where the client sends none, so that an event that the
# daemon stored without being able to answer is counted once. Field 22 of the file is the time at which the process started.
started=
read_start() { started=${20-}; }
if read -r line 2>/dev/null </proc/$$/stat; then read_start ${line##*\) }; fi
case $started in '' | *[!0-9]*) started=$(date +%s) ;; esac
seed=$$-$started-${RANDOM-0}
case $seed in *[!0-9-]*) seed=$$-$PPID ;; esac

# A signal must not end the script while it has the payload: after it nothing waits for the daemon.
signalled=
trap 'signalled=1' TERM INT HUP

# The payload is kept in memory: in a file of /dev/shm that has no name any more, or in a variable. Blanks in the file show
# that there is space; they are removed again. A script that is killed leaves at most the name of an empty file, which the
# daemon removes. A variable cannot hold a zero byte, which no JSON may contain: as another control character it is refused
# the same way.
memory=/dev/shm/claude-mem-$seed
kept=variable
umask 077
set -C
if [ -d /dev/shm ] && true 2>/dev/null >"$memory"; then
  set +C
  exec 3>>"$memory" 4<"$memory" 5<"$memory"
  rm -f "$memory"
  if printf '%262144s' '' 2>/dev/null >&3 && true 2>/dev/null >/dev/fd/3; then kept=file; fi
fi
set +C
if [ "$kept" = file ]; then
  cat >&3
  exec 3>&-
else
  payload=$(tr '\000' '\001' && printf x)
  case $payload in *x) ;; *) trap - TERM INT HUP; use_node "$@" ;; esac
  payload=${payload%x}
fi

post() {
  # -q: no ~/.curlrc. The time is that of a session start (src/domain/protocol.ts), with what curl needs itself.
  "$curl" -q -s -f -m 2.2 --noproxy '*' --unix-socket "$socket" -H Expect: -H Content-Type:application/json \
    --data-binary @- "http://localhost/hook?client=$client&version=$version&seed=$seed&colors=$colors" 2>/dev/null
}
colors=1
[ -z "${NO_COLOR-}" ] || colors=0
if [ "$kept" = file ]; then answer=$(post <&4); else answer=$(printf %s "$payload" | post); fi
code=$?

# Its last line is the seed: without it the answer is not complete, or not the daemon's.
if [ "$code" -eq 0 ]; then
  case $answer in
    '{'*"}$newline$seed")
      printf '%s\n' "${answer%"$newline$seed"}"
      exit 0
      ;;
    # This client gets no answer to this event.
    "$newline$seed") exit 0 ;;
  esac
fi

# A daemon that did not answer in time (28) is not asked again: the event is spooled.
if [ "$code" -eq 28 ] || [ -n "$signalled" ]; then set -- "$@" --unanswered; fi
restore_environment
if [ "$kept" = file ]; then
  "$node" "$hook" "$@" --seed "$seed" <&5
else
  printf %s "$payload" | "$node" "$hook" "$@" --seed "$seed"
fi
case $? in 126 | 127) empty_answer ;; esac
exit 0
