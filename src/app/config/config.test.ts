// What the environment may say, and how a value that makes no sense is refused.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ConfigError } from './config-values.ts';
import { readConfig } from './config.ts';
import { quotaNames, quotaTable, standardQuotas } from '../../model/quota.ts';

test('an empty environment gives the documented defaults', () => {
  expect(readConfig({})).toMatchObject({
    port: 8080,
    publicUrl: 'http://localhost:8080',
    mqttPort: 1883,
    coapPort: 5683,
    adminEmail: 'admin@localhost',
    adminApiKey: undefined,
    rateLimitPerSecond: 0,
    logLevel: 'info',
    vendorAliases: 'header',
    deviceAudience: 'http://localhost:8080',
    revealConnectorSecrets: false,
    egressAllow: [],
    egressOnlyAllowed: false,
    rawUplinkRetentionMs: 7 * 86_400_000,
    rawUplinkBytesMax: 2 ** 31,
    mcp: true,
    exportBytesMax: 10 * 2 ** 30,
    exportRetentionMs: 3 * 86_400_000,
    demo: false,
  });
});

test('a variable set to nothing counts as absent', () => {
  expect(readConfig({ PORT: '', ADMIN_API_KEY: '' })).toMatchObject({
    port: 8080,
    adminApiKey: undefined,
  });
});

test('DEVICE_AUDIENCE follows PUBLIC_URL, which follows PORT (contract 35)', () => {
  expect(readConfig({ PORT: '9000' }).deviceAudience).toBe('http://localhost:9000');
  expect(readConfig({ PUBLIC_URL: 'https://iot.example/' }).deviceAudience).toBe(
    'https://iot.example',
  );
});

for (const [name, value, accepted] of [
  ['PORT', '80a', 'an integer from 0 to 65535'],
  ['PORT', '70000', 'an integer from 0 to 65535'],
  ['LOG_LEVEL', 'loud', 'one of trace, debug, info, warn, error, silent'],
  ['VENDOR_ALIASES', 'maybe', 'one of header, always, off'],
  ['DEMO', 'yes', '1 or 0'],
  ['MCP', '0', 'one of on, off'],
  ['NODE_URL', 'http://10.0.0.1:7070', 'NODE_URL is set but RECORDS_URL is not'],
  ['CLUSTER_SECRET', 'x'.repeat(40), 'CLUSTER_SECRET is set but NODE_URL is not'],
  ['RAW_UPLINK_RETENTION', 'P1M', 'such as P7D, or 0'],
  ['RAW_UPLINK_RETENTION', 'a week', 'such as P7D, or 0'],
  ['MAP_TILES_URL', 'https://tiles.example/{z}/{x}/{y}.png', 'MAP_TILES_ATTRIBUTION is not'],
  ['MAP_TILES_ATTRIBUTION', '© Maps', 'MAP_TILES_URL is not'],
  ['RATE_LIMIT_PER_SECOND', '-1', 'an integer from 0 to 1000000'],
  ['UPLINK_RATE_LIMIT_PER_SECOND', '-1', 'an integer from 0 to 1000000'],
] as const) {
  test(`${name}=${value} is refused and the message says what is accepted`, () => {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
    expect(() => readConfig({ [name]: value })).toThrow(accepted);
  });
}

test('a connection URL that cannot be read is not repeated in the message, for it may hold a password', () => {
  expect(() => readConfig({ RECORDS_URL: 'secret-not-a-url' })).toThrow(/^Invalid RECORDS_URL=…/);
});

test('RAW_UPLINK_RETENTION takes durations of fixed length, and 0', () => {
  const kept = (text: string) => readConfig({ RAW_UPLINK_RETENTION: text }).rawUplinkRetentionMs;
  expect(['P1DT12H', 'P2W', 'PT90S', '0'].map(kept)).toEqual([
    129_600_000, 1_209_600_000, 90_000, 0,
  ]);
});

test('review reliability 19: a secret may stand in a file; both, no file or an empty one are refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const secret = file('secret', 'correct horse\n');
  const url = file('url', 'smtp://user:secret@mail.example:25\r\n');
  const read = readConfig({
    ADMIN_PASSWORD_FILE: secret,
    SECRETS_KEY_FILE: secret,
    SMTP_URL_FILE: url,
  });
  expect(read).toMatchObject({
    adminPassword: 'correct horse',
    secretsKey: 'correct horse',
    smtpUrl: 'smtp://user:secret@mail.example:25',
  });
  expect(readConfig({ PORT_FILE: secret }).port).toBe(8080);
  for (const [environment, message] of [
    [
      { ADMIN_API_KEY: 'a', ADMIN_API_KEY_FILE: secret },
      'ADMIN_API_KEY and ADMIN_API_KEY_FILE are both set',
    ],
    [{ ADMIN_API_KEY_FILE: join(folder, 'none') }, 'ENOENT'],
    [{ ADMIN_API_KEY_FILE: file('empty', '\n') }, 'the file is empty'],
    [{ SMS_GATEWAY_URL_FILE: secret }, /^Invalid SMS_GATEWAY_URL=…/],
  ] as const) {
    expect(() => readConfig(environment)).toThrow(message);
  }
  rmSync(folder, { recursive: true });
});

test('contract 36: every quota has its default and its variable, and the operating manual lists it', () => {
  expect(readConfig({}).quotas).toEqual(standardQuotas);
  const manual = readFileSync(new URL('../../../docs/operating.md', import.meta.url), 'utf8');
  for (const name of quotaNames) {
    const { variable, standard, per } = quotaTable[name];
    expect(readConfig({ [variable]: '7' }).quotas).toEqual({ ...standardQuotas, [name]: 7 });
    expect(() => readConfig({ [variable]: '0' })).toThrow(`Invalid ${variable}=0`);
    expect(manual).toContain(`| \`${name}\` | \`${variable}\` | ${standard} | ${per} |`);
  }
});

test('tiles of a map have an address and an attribution', () => {
  const attribution = '© Maps';
  const tiles = (url: string) =>
    readConfig({ MAP_TILES_URL: url, MAP_TILES_ATTRIBUTION: attribution }).mapTiles;
  const url = 'https://tiles.example/{z}/{x}/{y}.png?key=secret';
  expect(tiles(url)).toEqual({ url, attribution });
  // The key is not repeated in the message.
  expect(() => tiles('https://tiles.example/{z}/{x}.png?key=secret')).toThrow('MAP_TILES_URL=…');
});

test('MAP_ORIGINS names origins, and never every one', () => {
  const origins = (value?: string) =>
    readConfig(value === undefined ? {} : { MAP_ORIGINS: value }).mapOrigins;
  expect(origins()).toEqual(['https://tile.openstreetmap.org']);
  expect(origins('none')).toEqual([]);
  expect(origins('https://a.example, http://b.example:8080')).toEqual([
    'https://a.example',
    'http://b.example:8080',
  ]);
  for (const wrong of [
    '*',
    'https://a.example/x',
    'a.example',
    'data:',
    "https://a.example 'self'",
  ])
    expect(() => origins(wrong)).toThrow('Invalid MAP_ORIGINS');
});

test('SAMPLES_URL names several servers: replicas by comma, shards by semicolon', () => {
  const servers = 'http://a:8123,http://b:8123;http://c:8123,http://d:8123';
  expect(readConfig({ SAMPLES_URL: servers }).samplesUrl).toBe(servers);
});
