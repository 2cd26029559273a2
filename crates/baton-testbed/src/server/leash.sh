# Starts a server and holds it on a leash: stdin is a pipe whose other end only the test has.
# When that end closes, for whatever reason, the server and all its descendants are killed with -9.
# $1: the folder that goes with the server, unless the word "keep" came first; the word "free" lets
# the server go. $2: its log.
# The rest: the server's command line. Says the server's process id.
folder=$1 log=$2
shift 2
exec 3<&0
setsid "$@" </dev/null >>"$log" 2>&1 3<&- &
server=$!
echo "$server"
exec >/dev/null

kin() {
    echo "$1"
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do kin "$child"; done
}

read -r word <&3
[ "$word" = free ] && exit
# Stopped first, so that it starts nothing while its descendants are counted.
kill -STOP "$server" 2>/dev/null
for process in $(kin "$server"); do kill -KILL "$process" 2>/dev/null; done
kill -KILL "-$server" 2>/dev/null
wait "$server"
[ "$word" = keep ] || rm -rf "$folder"
