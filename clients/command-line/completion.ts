// Completion: commands and options for bash and zsh.
import { commands, commonOptions, otherCommands } from './command-table.ts';
import { UsageError } from './usage-error.ts';

/** Throws UsageError for another shell. */
export function completionOf(shell: string | undefined): string {
  if (shell === 'bash') return bash;
  // zsh reads completions of bash.
  if (shell === 'zsh') return `autoload -U +X bashcompinit && bashcompinit\n${bash}`;
  throw new UsageError('specify a shell: heliograph completion bash or heliograph completion zsh');
}

const names = [...Object.keys(commands), ...Object.keys(otherCommands)].join(' ');
const common = Object.keys(commonOptions);
const cases = Object.entries(commands).map(([name, { options }]) => {
  const words = [...Object.keys(options), ...common].map((option) => `--${option}`);
  return `    ${name}) words="${words.join(' ')}" ;;`;
});

const bash = `_heliograph() {
  local words="${names}" current="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="" ;;
    esac
    case "$current" in -*) ;; *) words="" ;; esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _heliograph heliograph
`;
