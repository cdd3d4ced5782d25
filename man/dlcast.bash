# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of dlcast in bash: verbs and options are what `dlcast --help` and `dlcast VERB --help` say.
_dlcast_words() { "$1" "${@:2}" --help 2>/dev/null | sed -nE "$_dlcast_pattern"; }

_dlcast() {
  local current=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} i
  local -a verbs=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == [a-z]* ]] && verbs+=("${COMP_WORDS[i]}")
    [[ ${verbs[0]-} == evaluate || ${#verbs[@]} == 0 ]] || break
    ((${#verbs[@]} < 2)) || break
  done
  if [[ $current == -* ]]; then
    local _dlcast_pattern='s/^ +(-[a-z],)?(--[a-z0-9-]+).*/\2/p'
    mapfile -t COMPREPLY < <(compgen -W "$(_dlcast_words "$program" "${verbs[@]}")" -- "$current")
  elif [[ ${#verbs[@]} == 0 || ${verbs[*]} == evaluate ]]; then
    local _dlcast_pattern='/^Subcommands:/,$ s/^  ([a-z]+) .*/\1/p'
    mapfile -t COMPREPLY < <(compgen -W "$(_dlcast_words "$program" "${verbs[@]}")" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _dlcast dlcast
