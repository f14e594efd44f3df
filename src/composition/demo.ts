// Composes the demo: an API key that outlives restarts, and simulated devices that talk to the platform over HTTP.
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Platform } from './platform-parts.ts';
import { ConfigError } from '../config-values.ts';
import type { Config } from '../config.ts';
import { runDemo } from '../../clients/demo/demo.ts';

/**
 * The configuration of a demo: with the key that its first start made, unless the operator gave
 * one.
 */
export function demoConfig(config: Config): Config {
  if (config.adminApiKey !== undefined) return config;
  mkdirSync(config.dataDirectory, { recursive: true });
  return { ...config, adminApiKey: readOrMakeKey(join(config.dataDirectory, 'demo-api-key.txt')) };
}

function readOrMakeKey(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    const secret = `${randomBytes(8).toString('hex')}.${randomUUID()}`;
    writeFileSync(path, `${secret}\n`, { mode: 0o600, flag: 'wx' });
    return secret;
  }
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
      'The data folder was made without the demo: set ADMIN_API_KEY to one of its API keys, or DATA_DIR to another folder',
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
