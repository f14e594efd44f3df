// Help: the commands with their summaries, and one command with its options.
import type { Command, Option } from './command-form.ts';
import { commands, commonOptions, otherCommands } from './command-table.ts';

export function allHelp(): string {
  const summaries = [
    ...Object.entries(commands).map(([name, { summary }]) => [name, summary] as const),
    ...Object.entries(otherCommands),
  ];
  const rows = summaries.map(([name, summary]) => `  ${name.padEnd(12)}${summary}`);
  return `usage: heliograph COMMAND [...]        without a command: starts the platform

${rows.join('\n')}

"heliograph COMMAND --help" shows the options of one. The platform and the API key are those of the options --url and --key, else of the
variables HELIOGRAPH_URL and HELIOGRAPH_API_KEY, else of "heliograph sign-in".

Exit codes: 0 done, 1 failed or refused, 2 the command line is wrong, 3 not signed in, 130 interrupted.
`;
}

export function commandHelp(name: string, { summary, words, options }: Command): string {
  const rows = Object.entries({ ...options, ...commonOptions }).map(optionRow);
  const usage = ['heliograph', name, ...words, '[options]'].join(' ');
  return `usage: ${usage}\n\n${summary}\n\n${rows.join('\n')}\n`;
}

function optionRow([name, { value, help }]: [string, Option]): string {
  const written = value === undefined ? `--${name}` : `--${name} ${value}`;
  return `  ${written.padEnd(24)}${help}`;
}
