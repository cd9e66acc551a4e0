# Sourced by the scripts beside it: one way to stop, for people who read English and for those who read Russian.
stop() {
    printf 'askwiki: %s\naskwiki: %s\n' "$1" "$2" >&2
    exit 2
}
