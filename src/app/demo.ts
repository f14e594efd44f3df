// Composes the demo: credentials that outlive restarts, and simulated devices that talk to the platform over HTTP.
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Platform } from './platform-parts.ts';
import { ConfigError } from './config/config-values.ts';
import type { Config } from './config/config.ts';
import { runDemo } from '../../clients/demo/demo.ts';

/** What signs in to a demo; the password is null when the data folder does not keep it. */
export interface DemoCredentials {
  readonly apiKey: string;
  readonly password: string | null;
}

/**
 * The configuration of a demo and what signs in to it. Its first start makes the API key and the
 * password of the owner, unless the operator gave them, and keeps both in the data folder, so that
 * later starts can print them again.
 */
export function demoConfig(config: Config): {
  readonly config: Config;
  readonly credentials: DemoCredentials;
} {
  mkdirSync(config.dataDirectory, { recursive: true });
  const keyPath = join(config.dataDirectory, 'demo-api-key.txt');
  const passwordPath = join(config.dataDirectory, 'demo-password.txt');
  const isFirst = !existsSync(join(config.dataDirectory, 'records.sqlite'));
  const apiKey =
    config.adminApiKey ?? keptSecret(keyPath, `${randomBytes(8).toString('hex')}.${randomUUID()}`);
  // The owner of a folder that exists has a password already, which only a hash is known of.
  const password =
    config.adminPassword ??
    keptSecret(passwordPath, isFirst ? randomBytes(12).toString('base64url') : undefined);
  return {
    config: { ...config, adminApiKey: apiKey, adminPassword: password },
    credentials: { apiKey, password: password ?? null },
  };
}

function keptSecret(path: string, made: string): string;
function keptSecret(path: string, made: string | undefined): string | undefined;
function keptSecret(path: string, made: string | undefined): string | undefined {
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  if (made !== undefined) writeFileSync(path, `${made}\n`, { mode: 0o600, flag: 'wx' });
  return made;
}

/**
 * Runs until the signal is aborted; rejects when the workspace cannot be set up, while the platform
 * runs on.
 */
export async function composeDemo(
  config: Config,
  platform: Platform,
  signal: AbortSignal,
): Promise<void> {
  const baseUrl = `http://127.0.0.1:${platform.port}`;
  const apiKey = config.adminApiKey ?? '';
  const answer = await fetch(`${baseUrl}/v3/organizations?size=1`, {
    headers: { 'x-api-key': apiKey },
    signal,
  });
  if (answer.status === 401) {
    throw new ConfigError(
      'This data folder was not created by the demo. Set ADMIN_API_KEY to one of its API keys, or set DATA_DIR to another folder.',
    );
  }
  const organizations = (await answer.json()) as {
    readonly content: readonly { readonly id: string }[];
  };
  await runDemo({
    baseUrl,
    publicUrl: platform.publicUrl,
    apiKey,
    organizationId: organizations.content[0]!.id,
    signal,
    now: Date.now,
    print: (text) => void process.stdout.write(`${text}\n`),
  });
}
