// `npm run demo`: credentials that later starts print again, one workspace, and commands that answer when they are printed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runDemo } from '../../clients/demo/demo.ts';
import { demoConfig } from '../../src/app/demo.ts';
import { startPlatform } from '../../src/app/platform.ts';
import type { Platform } from '../../src/app/platform-parts.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { startText } from '../../src/app/start-message.ts';
import { createLog } from '../../src/telemetry/log.ts';

const directory = mkdtempSync(join(tmpdir(), 'heliograph-demo-'));
const settings = {
  HOST: '127.0.0.1',
  PORT: '0',
  MQTT_PORT: '0',
  MQTT_TLS_PORT: '0',
  COAP_PORT: '0',
  DATA_DIR: directory,
  DEMO: '1',
};
let platform: Platform;
let printed: string;

/** Starts the platform as `npm run demo` does; returns what it prints. */
async function start(): Promise<string> {
  const { config, credentials } = demoConfig(readConfig(settings));
  platform = await startPlatform(config, undefined, createLog('silent'));
  return startText(config, platform, credentials);
}

beforeAll(async () => {
  printed = await start();
}, 240_000);
afterAll(async () => {
  await platform.close('test');
  rmSync(directory, { recursive: true, force: true });
});

function line(name: string): string {
  return new RegExp(`^  ${name} +(.+)$`, 'm').exec(printed)?.[1] ?? '';
}

const base = () => `http://127.0.0.1:${platform.port}`;

test('console H9: the printed password signs in, and the workspace of the demo is the only one', async () => {
  const signedIn = await fetch(`${base()}/v3/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: line('Owner'), password: line('Password') }),
  });
  expect(signedIn.status).toBe(200);
  const workspaces = await fetch(`${base()}/v3/workspaces`, {
    headers: { 'x-api-key': line('API key') },
  });
  const { content } = (await workspaces.json()) as { content: { name: string }[] };
  expect(content.map(({ name }) => name)).toEqual(['Demo']);
  expect(printed.match(/API key/g)).toHaveLength(1);
});

test('console H9: the commands are printed when they answer', async () => {
  const stopping = new AbortController();
  const lines: string[] = [];
  const answers = await new Promise<unknown[]>((resolve, reject) => {
    const print = (text: string) => {
      lines.push(text);
      if (text.includes('curl ')) answersOf(text).then(resolve, reject);
    };
    runDemo({
      baseUrl: base(),
      apiKey: line('API key'),
      organizationId: line('Organization'),
      signal: stopping.signal,
      now: Date.now,
      historyDays: 1,
      print,
    }).catch(reject);
  });
  stopping.abort();
  const [samples, average, capture, , alarmSamples] = answers;
  expect(samples).toHaveLength(3);
  const [{ timestamp }] = samples as [{ timestamp: string }];
  expect(Date.now() - Date.parse(timestamp)).toBeLessThan(60 * 60_000);
  expect(average).toMatchObject({ kpi: expect.any(Number) });
  expect(capture).toMatchObject({ message: expect.any(String) });
  expect(Array.isArray(alarmSamples)).toBe(true);
  expect(lines.findIndex((text) => text.includes('curl '))).toBeGreaterThan(
    lines.findIndex((text) => text.includes('payloads decoded')),
  );
}, 240_000);

test('console H9: a restart prints the same owner, password and key, and keeps one workspace', async () => {
  const first = printed;
  const credentialLines = (text: string) => text.match(/^ {2}(Owner|Password|API key) .*$/gm);
  await platform.close('test');
  printed = await start();
  expect(credentialLines(printed)).toEqual(credentialLines(first));
  expect(credentialLines(printed)).toHaveLength(3);
}, 240_000);

/** The answers of the printed curl lines, one after the other. */
async function answersOf(text: string): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const command of text.split('\n').filter((one) => one.trim().startsWith('curl '))) {
    const [url = '', ...words] = shellWords(command);
    const after = (option: string) => words.filter((_, i) => words[i - 1] === option);
    const headers = after('-H').map((header) => header.split(': ') as [string, string]);
    const [body] = after('-d');
    const answer = await fetch(url, { headers, ...(body && { method: 'POST', body }) });
    answers.push(await answer.json());
  }
  return answers;
}

/** The arguments that a shell gives to curl, without `-s`. */
function shellWords(command: string): string[] {
  const script = `curl() { for a in "$@"; do printf '%s\\0' "$a"; done; }\n${command.trim()}`;
  const output = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
  return output.split('\0').slice(1, -1);
}
