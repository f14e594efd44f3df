// Sign-in: an API key is tried at its platform and saved for later commands.
import { createInterface } from 'node:readline';
import { createClient } from '../typescript/client.ts';
import { saveCredential } from './saved-credential.ts';
import { UsageError } from './usage-error.ts';

interface SignIn {
  readonly url: string;
  /** Asked for on standard input when absent, because others see the list of processes. */
  readonly key: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Resolves with the path of the file. Throws HeliographError for a key that the platform refuses. */
export async function signIn({ url, key, environment }: SignIn): Promise<string> {
  if (!/^https?:\/\//.test(url))
    throw new UsageError(`--url ${url} does not begin with http:// or https://`);
  const apiKey = key ?? (await lineOfInput());
  if (apiKey === '') throw new UsageError('no API key given on standard input');
  // The smallest call that a key must be valid for.
  await createClient({ url, apiKey }).get('/v3/workspaces', { query: { size: 1 } });
  return saveCredential({ url, key: apiKey }, environment);
}

async function lineOfInput(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write('API key: ');
  const lines = createInterface({ input: process.stdin, terminal: false });
  for await (const line of lines) {
    lines.close();
    return line.trim();
  }
  return '';
}
