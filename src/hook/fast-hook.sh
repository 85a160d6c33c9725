#!/bin/sh
# claude-mem's fast hook: posts the client's payload to the daemon's socket with curl and prints its answer, which takes a
# fraction of a node start. Where that is not possible, or fails in any way, the same payload goes to the hook's own process
# (hook.cjs beside this file), which sends it, spools it and starts a daemon. docs/hook-protocol.md has the rules (P19 to P24).
#
#   fast-hook.sh NODE CURL --data-dir DIR [--client NAME]
#
# For any POSIX shell. It always exits with 0. The build fills in the version and the names of variables.
set -f +aeuvx
# Neither this shell nor what it starts has anything to say: a client may show it as an error.
exec 2>/dev/null
# A signal must not end the script: it may have the payload.
signalled=
trap 'signalled=1' TERM INT HUP QUIT PIPE
# Nor may a limit of file sizes, which is met below.
trap '' XFSZ
# Functions that bash takes from the environment would be called instead of these.
unset -f printf read true command umask rm tee tr cat date cd [
# A closed standard input would become the first file that is opened.
true 3<&0 || exec </dev/null
# What is left of it, for the other hook.
exec 5<&0
# A limit that can be lifted would cut the payload.
ulimit -S -f unlimited
# What the environment has under these names would be exported.
unset payload answer
# Programs of a project that node would run before the hook.
unset NODE_OPTIONS NODE_PATH
version='@VERSION@'
node=${1-} curl=${2-}
[ "$#" -lt 2 ] || shift 2
case $0 in */*) hook=${0%/*}/hook.cjs ;; *) hook=./hook.cjs ;; esac
[ -f "$node" ] && [ -x "$node" ] || node=node
client=claude-code
newline='
'

# The tools of the system come first: the environment of a client may be that of a project.
path_was_set=${PATH+x} path_was=${PATH-} locale_was_set=${LC_ALL+x} locale_was=${LC_ALL-}
PATH=/usr/bin:/bin${PATH:+:$PATH}
# Bytes, not characters, also for the tools.
export LC_ALL=C

restore_environment() {
  if [ -n "$path_was_set" ]; then PATH=$path_was; else unset PATH; fi
  if [ -n "$locale_was_set" ]; then LC_ALL=$locale_was; else unset LC_ALL; fi
}

# Only where node is missing. The other clients take no answer.
empty_answer() {
  case $client in claude-code | cursor) printf '{"continue":true}\n' ;; esac
}

# Before the payload is read: the hook's own process reads it. It always exits with 0: another code means that it did not run.
use_node() {
  restore_environment
  "$node" "$hook" "$@"
  [ "$?" -ne 0 ] && [ -z "$signalled" ] && empty_answer
  exit 0
}

case $#,${1-},${3-} in
  2,--data-dir,) data=$2 ;;
  4,--data-dir,--client) data=$2 client=$4 ;;
  *) use_node "$@" ;;
esac
case $client in '' | *[!a-z0-9-]*) use_node "$@" ;; esac

# Variables that only the hook's own process knows how to read.
[ -z "@VARIABLES@" ] || use_node "$@"

# As in src/lib/paths.ts; another form of the path is left to the hook's own process.
case $data in /*) ;; *) use_node "$@" ;; esac
socket=$data/daemon.sock
[ "${#socket}" -le 103 ] && [ -S "$socket" ] && [ -x "$curl" ] || use_node "$@"
# A daemon that hangs was met a moment ago (src/hook/hung-daemon.ts): the hook's own process knows how long that counts.
[ ! -e "$data/hung" ] || use_node "$@"

# As in src/lib/own-directory.ts, before a byte is sent. The daemon makes its directory sticky once it has checked its mode:
# then nobody else can replace the socket. What does not fit is left to the hook's own process, which says why.
[ -O "$data" ] && [ -k "$data" ] && [ -O "$socket" ] && cd -P . || use_node "$@"
case $data/ in "${PWD%/}"/*) use_node "$@" ;; esac

# The seed is unique to this run. The event's id is derived from it where the client sends none, so that an event that the
# daemon stored without being able to answer is counted once.
started=
if read -r started line </proc/uptime; then started=${started%.*}${started#*.}; fi
case $started in '' | *[!0-9]*) started=$(date +%s) ;; esac
seed=$$-$started-${RANDOM-0}
case $seed in *[!0-9-]*) seed=$$-$PPID ;; esac

# The payload is kept in memory: in a file of /dev/shm whose name is removed before it gets the payload, or in a variable.
# Blanks show that there is space; they are removed again. A script that is killed leaves at most the name of a file without
# it, which the daemon removes. A variable cannot hold a zero byte, which no JSON may contain: as another control character it is
# refused the same way.
memory=/dev/shm/claude-mem-$seed
kept=variable
umask 077
set -C
# What exists already is not ours, and may be a FIFO, which would be opened.
if [ -d /dev/shm ] && [ ! -e "$memory" ] && true >"$memory"; then
  set +C
  if printf '%65536s' '' >"$memory" && true >"$memory" && exec 4<"$memory" && [ -f /dev/fd/4 ] && [ -w /dev/fd/4 ]; then
    kept=file
  else
    rm -f "$memory"
  fi
fi
set +C

# Reads the payload. Nothing ends it before the payload's end: no signal, and no curl that ended.
keep() {
  trap '' TERM INT HUP QUIT PIPE
  rm -f "$memory"
  exec tee /dev/fd/4 4<&4
}
post() {
  # -q: no ~/.curlrc. The time is that of a session start (src/domain/protocol.ts), with what curl needs itself.
  "$curl" -q -s -f -m 2.2 --noproxy '*' --unix-socket "$socket" -H Expect: -H Content-Type:application/json \
    -X POST -T - "http://localhost/hook?client=$client&version=$version&seed=$seed&colors=$colors"
}
# A tee that is ended when curl ends early would lose what it has read.
post_all() {
  trap : TERM INT HUP QUIT
  post && return
  code=$?
  trap '' TERM INT HUP QUIT
  cat >/dev/null
  return "$code"
}
colors=1
[ -z "${NO_COLOR-}" ] || colors=0
if [ "$kept" = file ]; then
  # curl starts while the payload is read. A signal ends curl, but not the wait for the end of the payload.
  answer=$(trap : TERM INT HUP QUIT; keep | post_all)
  code=$?
else
  # A printf that is another program takes only short arguments.
  case $(command -v printf) in printf) ;; *) use_node "$@" ;; esac
  payload=$(trap '' TERM INT HUP QUIT PIPE; tr '\000' '\001' && printf x)
  case $payload in
    *x)
      payload=${payload%x}
      answer=$(printf %s "$payload" | post)
      code=$?
      ;;
    # Not all of it could be read.
    *) code=1 ;;
  esac
fi

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

# A daemon that did not answer in time (28) is not asked again: the event is spooled. The same after a signal.
[ "$code" -ne 28 ] || true >"$data/hung"
if [ "$code" -eq 28 ] || [ -n "$signalled" ]; then set -- "$@" --unanswered; fi
[ "$kept" = variable ] || rm -f "$memory"
restore_environment
# The other hook reads what is kept, and then what is left of the input: of one that does not wait for its writer, tee may
# have read a part only. ksh passes on only what is named.
hand_over() {
  if [ "$kept" = variable ]; then
    printf %s "$payload" | "$node" "$hook" "$@" --seed "$seed" --rest 5<&5
  else
    "$node" "$hook" "$@" --seed "$seed" --rest </dev/fd/4 5<&5
  fi
}
answer=$(trap : TERM INT HUP QUIT; hand_over "$@")
code=$?
# A signal that ended node while it started: once more.
if [ "$code" -gt 128 ] && [ -z "$answer" ]; then
  answer=$(trap : TERM INT HUP QUIT; hand_over "$@" --unanswered)
  code=$?
fi
if [ -n "$answer" ]; then
  printf '%s\n' "$answer"
elif [ "$code" -ne 0 ]; then
  empty_answer
fi
exit 0
