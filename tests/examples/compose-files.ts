// Compose files of the example, as Compose merges and fills them in.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export interface ComposeService {
  readonly image: string;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly networks?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly stop_grace_period: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const folder = join(import.meta.dirname, '..', '..', 'examples', 'compose');

export function composeFile(name: string): ComposeFile {
  return parse(readFileSync(join(folder, name), 'utf8')) as ComposeFile;
}

interface Services extends Readonly<Record<string, ComposeService | undefined>> {
  readonly heliograph: ComposeService;
}

/** The services of compose.yaml, with those of the second file and what it adds to the platform. */
export function composeServices(second?: string): Services {
  const alone = composeFile('compose.yaml').services['heliograph']!;
  const added = second === undefined ? {} : composeFile(second).services;
  const environment = { ...alone.environment, ...added['heliograph']?.environment };
  return { ...added, heliograph: { ...alone, environment } };
}

/** A value with its variables: with their defaults, or without one as `value`. */
export function filled(text: string, value: string): string {
  return text.replace(/\$\{\w+:([-?])([^}]*)\}/g, (_, kind: string, word: string) =>
    kind === '-' ? word : value,
  );
}
