# fish completion for agent-exec
# Made from the settings table; see how to change the code in README.md. Edits are lost.

set -g __fish_agent_exec_options mode= profile= weaken= policy= workspace= chdir= read= write= deny-read= deny-write= deny-write-existing= home= tmp= git= nested-repositories= denied= network= env= env-deny= env-file= limit= backend= in-place keep-background root-chown= keep-fd= report= error-format= q/quiet v/verbose print=? show-policy print-schema version h/help

# The command and its arguments, the word under the cursor last; fails while there are only options.
function __fish_agent_exec_command
    set -l tokens (commandline -opc) (commandline -ct)
    set -e tokens[1]
    argparse -s $__fish_agent_exec_options -- $tokens 2>/dev/null
    or return 1
    test (count $argv) -gt 1
    or contains -- -- $tokens[1..-2]
    or return 1
    string join0 -- $argv
end

function __fish_agent_exec_in_options
    not __fish_agent_exec_command >/dev/null
end

function __fish_agent_exec_complete_command
    set -l words (__fish_agent_exec_command | string split0)
    set -l last (commandline -ct)
    if test (count $words) -gt 1
        complete -C (string join ' ' -- (string escape -- $words[1..-2]) "$last")
    else if not string match -q -- '-*' "$last"
        complete -C "$last"
    end
end

complete -c agent-exec -f
complete -c agent-exec -n __fish_agent_exec_in_options -l mode -x -a 'read-only workspace-write danger-full-access' -d 'base profile (default: workspace-write)'
complete -c agent-exec -n __fish_agent_exec_in_options -l profile -x -a 'agent build install' -d 'apply [profile.NAME] of the policy files, or a built-in one'
complete -c agent-exec -n __fish_agent_exec_in_options -l weaken -x -a 'inherit-environment nested-sandbox run-unsandboxed' -d 'Reduces security: accept a named loss of it'
complete -c agent-exec -n __fish_agent_exec_in_options -l policy -r -F -d 'read a policy file; repeatable, later ones win'
complete -c agent-exec -n __fish_agent_exec_in_options -l workspace -x -a '(__fish_complete_directories)' -d 'workspace root (default: the current directory)'
complete -c agent-exec -n __fish_agent_exec_in_options -l chdir -x -a '(__fish_complete_directories)' -d 'where the command starts (default: the current directory)'
complete -c agent-exec -n __fish_agent_exec_in_options -l read -r -F -d 'make PATH visible, read-only'
complete -c agent-exec -n __fish_agent_exec_in_options -l write -r -F -d 'make PATH writable'
complete -c agent-exec -n __fish_agent_exec_in_options -l deny-read -r -F -d 'deny PATH, contents and all below it'
complete -c agent-exec -n __fish_agent_exec_in_options -l deny-write -r -F -d 'protect PATH from changes, and from being created'
complete -c agent-exec -n __fish_agent_exec_in_options -l deny-write-existing -r -F -d 'as --deny-write, but PATH may be created if it is missing'
complete -c agent-exec -n __fish_agent_exec_in_options -l home -x -a 'hidden private workspace read' -d 'what the command\'s home is (default: private)'
complete -c agent-exec -n __fish_agent_exec_in_options -l tmp -x -a 'private workspace host' -d 'what /tmp and /var/tmp are (default: private)'
complete -c agent-exec -n __fish_agent_exec_in_options -l git -x -a 'read-only full' -d 'what git may do to the repository (default: read-only)'
complete -c agent-exec -n __fish_agent_exec_in_options -l nested-repositories -x -a 'protect ignore' -d 'protect the .git of repositories below the workspace root, or not'
complete -c agent-exec -n __fish_agent_exec_in_options -l denied -x -a 'error empty' -d 'what a denied path looks like (default: error)'
complete -c agent-exec -n __fish_agent_exec_in_options -l network -x -a 'none host' -d 'what network the command has (default: none)'
complete -c agent-exec -n __fish_agent_exec_in_options -l env -x -a '(set -xn)' -d 'pass the variable NAME on'
complete -c agent-exec -n __fish_agent_exec_in_options -l env-deny -x -a '(set -xn)' -d 'drop the variables that GLOB matches'
complete -c agent-exec -n __fish_agent_exec_in_options -l env-file -r -F -d 'set variables from the NAME=VALUE lines of FILE'
complete -c agent-exec -n __fish_agent_exec_in_options -l limit -x -a 'tmp-size= file-size= open-files=' -d 'size of each private temporary directory'
complete -c agent-exec -n __fish_agent_exec_in_options -l backend -x -a 'auto bwrap' -d 'what builds the sandbox (default: auto)'
complete -c agent-exec -n __fish_agent_exec_in_options -l in-place -d 'no supervisor: the launched process becomes the command'
complete -c agent-exec -n __fish_agent_exec_in_options -l keep-background -d 'what the command leaves running goes on; the launcher waits for it'
complete -c agent-exec -n __fish_agent_exec_in_options -l root-chown -x -a 'refuse ignore' -d 'what a command of root\'s gets for chown (default: ignore)'
complete -c agent-exec -n __fish_agent_exec_in_options -l keep-fd -x -d 'leave descriptor N open for the command'
complete -c agent-exec -n __fish_agent_exec_in_options -l report -r -F -d 'write what is enforced to FILE or descriptor N, as JSON lines'
complete -c agent-exec -n __fish_agent_exec_in_options -l error-format -x -a 'text json' -d 'how the launcher\'s own messages look (default: text)'
complete -c agent-exec -n __fish_agent_exec_in_options -s q -l quiet -d 'no notices, only errors'
complete -c agent-exec -n __fish_agent_exec_in_options -s v -l verbose -d 'say what was decided before the command starts'
complete -c agent-exec -n __fish_agent_exec_in_options -l print -d 'show what would be run, without running it'
complete -c agent-exec -n __fish_agent_exec_in_options -f -a --print=argv
complete -c agent-exec -n __fish_agent_exec_in_options -f -a --print=json
complete -c agent-exec -n __fish_agent_exec_in_options -f -a --print=script
complete -c agent-exec -n __fish_agent_exec_in_options -l show-policy -d 'show the merged policy, each line with its origin'
complete -c agent-exec -n __fish_agent_exec_in_options -l print-schema -d 'print the JSON schema of policy files'
complete -c agent-exec -n __fish_agent_exec_in_options -l version -d 'print the version'
complete -c agent-exec -n __fish_agent_exec_in_options -s h -l help -d 'print this list'
complete -c agent-exec -a '(__fish_agent_exec_complete_command)'
