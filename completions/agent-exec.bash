# bash completion for agent-exec
# Made from the settings table; see how to change the code in README.md. Edits are lost.

_agent_exec_options='    --mode --profile --weaken --policy --workspace --chdir --read --write --deny-read
    --deny-write --deny-write-existing --home --tmp --git --nested-repositories --denied
    --network --env --env-deny --env-file --limit --backend --in-place --keep-background
    --root-chown --keep-fd --report --error-format --quiet --verbose --print --print=argv
    --print=json --print=script --show-policy --print-schema --version --help'

# Candidates by compgen, without what readline keeps: it breaks words at "=" and ":".
_agent_exec_add() {
    local candidate kept=
    if [[ $value == *[=:]* && $COMP_WORDBREAKS == *[=:]* ]]; then
        kept=${value%"${value##*[=:]}"}
    fi
    while IFS= read -r candidate; do
        COMPREPLY+=("$before${candidate#"$kept"}")
    done < <(compgen "$@" -- "$value")
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

_agent_exec_files() {
    compopt -o filenames 2>/dev/null
    _agent_exec_add "$@"
}

# What the shell knows about the command that begins at word $1.
_agent_exec_command() {
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif ((COMP_CWORD == $1)); then
        value=${COMP_WORDS[COMP_CWORD]} before=
        _agent_exec_add -c
        [[ $value != */* ]] || _agent_exec_files -f
    else
        value=${COMP_WORDS[COMP_CWORD]} before=
        _agent_exec_files -f
    fi
}

_agent_exec_needs_value() {
    case $1 in
        --mode | --profile | --weaken | --policy | --workspace | --chdir | --read | \
        --write | --deny-read | --deny-write | --deny-write-existing | --home | --tmp | \
        --git | --nested-repositories | --denied | --network | --env | --env-deny | \
        --env-file | --limit | --backend | --root-chown | --keep-fd | --report | \
        --error-format) return 0 ;;
    esac
    return 1
}

_agent_exec_value() {
    case $1 in
        --mode) _agent_exec_add -W 'read-only workspace-write danger-full-access' ;;
        --profile) _agent_exec_add -W 'agent build install' ;;
        --weaken) _agent_exec_add -W 'inherit-environment nested-sandbox run-unsandboxed' ;;
        --policy) _agent_exec_files -f ;;
        --workspace) _agent_exec_files -d ;;
        --chdir) _agent_exec_files -d ;;
        --read) _agent_exec_files -f ;;
        --write) _agent_exec_files -f ;;
        --deny-read) _agent_exec_files -f ;;
        --deny-write) _agent_exec_files -f ;;
        --deny-write-existing) _agent_exec_files -f ;;
        --home) _agent_exec_add -W 'hidden private workspace read' ;;
        --tmp) _agent_exec_add -W 'private workspace host' ;;
        --git) _agent_exec_add -W 'read-only full' ;;
        --nested-repositories) _agent_exec_add -W 'protect ignore' ;;
        --denied) _agent_exec_add -W 'error empty' ;;
        --network) _agent_exec_add -W 'none host' ;;
        --env) _agent_exec_add -e ;;
        --env-deny) _agent_exec_add -e ;;
        --env-file) _agent_exec_files -f ;;
        --limit) _agent_exec_add -W 'tmp-size= file-size= open-files=' ;;
        --backend) _agent_exec_add -W 'auto bwrap' ;;
        --root-chown) _agent_exec_add -W 'refuse ignore' ;;
        --keep-fd) _agent_exec_add -W '' ;;
        --report) _agent_exec_files -f ;;
        --error-format) _agent_exec_add -W 'text json' ;;
        --print) _agent_exec_add -W 'argv json script' ;;
    esac
}

_agent_exec() {
    local -a words=() starts=()
    local i n=0 word glue= option= value= before=
    COMPREPLY=()
    # bash has cut words at '=' and ':'; they are joined again.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((n > 0)) && [[ -n $glue || $word =~ ^[=:]+$ ]]; then
            words[n - 1]+=$word
            glue=
            [[ ! $word =~ ^[=:]+$ ]] || glue=1
        else
            words[n]=$word
            starts[n]=$i
            n=$((n + 1))
        fi
    done
    for ((i = 1; i < n - 1; i++)); do
        word=${words[i]}
        if [[ -n $option ]]; then
            option=
        elif [[ $word == -- ]]; then
            _agent_exec_command "${starts[i + 1]}"
            return
        elif [[ $word != -* ]]; then
            _agent_exec_command "${starts[i]}"
            return
        elif _agent_exec_needs_value "$word"; then
            option=$word
        fi
    done
    value=${words[n - 1]}
    if [[ -n $option ]]; then
        _agent_exec_value "$option"
    elif [[ $value == --*=* ]]; then
        option=${value%%=*}
        [[ $COMP_WORDBREAKS == *=* ]] || before=$option=
        value=${value#*=}
        _agent_exec_value "$option"
    elif [[ $value == -* ]]; then
        _agent_exec_add -W "$_agent_exec_options"
    else
        _agent_exec_command "${starts[n - 1]}"
    fi
}

complete -F _agent_exec agent-exec
