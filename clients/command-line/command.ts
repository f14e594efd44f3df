// `heliograph COMMAND`: devices, samples and configurations of a running platform from a terminal.
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { createClient, HeliographError } from '../typescript/client.ts';
import type { Command } from './command-form.ts';
import { commands, commonOptions } from './command-table.ts';
import { completionOf } from './completion.ts';
import { allHelp, commandHelp } from './help-text.ts';
import { removeCredential, savedCredential } from './saved-credential.ts';
import { signIn } from './sign-in.ts';
import { NotSignedIn, UsageError } from './usage-error.ts';

const exitCodes = { failed: 1, usage: 2, notSignedIn: 3, interrupted: 130 } as const;

const stopping = new AbortController();
const { signal } = stopping;
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());

async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

function report(line: string): void {
  process.stderr.write(`${line}\n`);
}

type Values = Readonly<Record<string, string | boolean | undefined>>;

/** Throws UsageError for what the command does not have. */
function parsed(args: readonly string[], options: Command['options']) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: Object.fromEntries(
        Object.entries({ ...options, ...commonOptions }).map(([name, { type }]) => [
          name,
          { type },
        ]),
      ),
      allowPositionals: true,
    });
    return { values: values as Values, words: positionals };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function credentialFrom({ url, key }: Values) {
  const { HELIOGRAPH_URL, HELIOGRAPH_API_KEY } = process.env;
  const saved = savedCredential(process.env);
  const chosen = {
    url: url ?? HELIOGRAPH_URL ?? saved?.url,
    key: key ?? HELIOGRAPH_API_KEY ?? saved?.key,
  };
  if (chosen.url === undefined || chosen.key === undefined)
    throw new NotSignedIn('not signed in. Run "heliograph sign-in --url URL".');
  return { url: String(chosen.url), key: String(chosen.key) };
}

async function runCommand(name: string, command: Command, args: readonly string[]): Promise<void> {
  const { values, words } = parsed(args, command.options);
  if (values['help'] === true) return write(commandHelp(name, command));
  const needed = command.words.filter((word) => !word.startsWith('['));
  const isOpen = command.words.at(-1)?.endsWith('...') === true;
  if (words.length < needed.length || (!isOpen && words.length > command.words.length))
    throw new UsageError(`it takes ${command.words.join(' ') || 'no further words'}`);
  const { url, key } = credentialFrom(values);
  const client = createClient({ url, apiKey: key });
  const isJson = values['json'] === true;
  await command.run({ client, url, key, words, options: values, isJson, signal, write, report });
}

const ownCommands: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  async 'sign-in'(args) {
    const { values } = parsed(args, {});
    const { url = process.env['HELIOGRAPH_URL'] ?? 'http://localhost:8080', key } = values;
    const about = { url: String(url), key: key === undefined ? undefined : String(key) };
    report(`saved in ${await signIn({ ...about, environment: process.env })}`);
  },
  async 'sign-out'() {
    report(removeCredential(process.env) ? 'signed out' : 'not signed in');
  },
  completion: ([shell]) => write(completionOf(shell)),
  help: () => write(allHelp()),
};

async function main([name = 'help', ...args]: readonly string[]): Promise<void> {
  if (name === '--help' || name === '-h') return write(allHelp());
  const own = Object.hasOwn(ownCommands, name) ? ownCommands[name] : undefined;
  if (own !== undefined) return own(args);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined)
    throw new UsageError(`unknown command "${name}". Run "heliograph help".`);
  await runCommand(name, command, args);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return exitCodes.usage;
  const isRefused = error instanceof HeliographError && error.status === 401;
  return error instanceof NotSignedIn || isRefused ? exitCodes.notSignedIn : exitCodes.failed;
}

// The reader of a pipe may end first, such as `head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

try {
  await main(process.argv.slice(2));
  if (signal.aborted) process.exitCode = exitCodes.interrupted;
} catch (error) {
  if (signal.aborted) process.exitCode = exitCodes.interrupted;
  else {
    report(`heliograph: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = exitCodeOf(error);
  }
}
