// Saved credential: the platform and the API key of `heliograph sign-in`, in a file that only its user can read.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Credential {
  readonly url: string;
  readonly key: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

function credentialPath({ XDG_CONFIG_HOME }: Environment): string {
  return join(XDG_CONFIG_HOME || join(homedir(), '.config'), 'heliograph', 'credential.json');
}

export function saveCredential(credential: Credential, environment: Environment): string {
  const path = credentialPath(environment);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // A file that exists keeps its mode.
  rmSync(path, { force: true });
  writeFileSync(path, `${JSON.stringify(credential, undefined, 2)}\n`, { mode: 0o600 });
  return path;
}

/** Returns whether there was one. */
export function removeCredential(environment: Environment): boolean {
  const path = credentialPath(environment);
  const found = savedCredential(environment) !== undefined;
  rmSync(path, { force: true });
  return found;
}

/** Undefined without a file, and for one that is not readable as a credential. */
export function savedCredential(environment: Environment): Credential | undefined {
  try {
    const { url, key } = JSON.parse(
      readFileSync(credentialPath(environment), 'utf8'),
    ) as Partial<Credential>;
    return typeof url === 'string' && typeof key === 'string' ? { url, key } : undefined;
  } catch {
    return undefined;
  }
}
