// Limits of requests: rate per credential, headers, bodies, and pages of other origins (contract 0.2).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AccessWorld, startAccessWorld } from './access-world.ts';

let limited: AccessWorld;
let open: AccessWorld;
beforeAll(async () => {
  limited = await startAccessWorld({
    RATE_LIMIT_PER_SECOND: '1000',
    CORS_ORIGINS: 'https://app.example',
  });
  open = await startAccessWorld();
});
afterAll(async () => {
  await limited.close();
  await open.close();
});

describe('requests a second and credential', () => {
  const figures = (headers: Headers) =>
    ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) =>
      headers.get(name),
    );

  test('headers have limit, rest and seconds as whole numbers; without a limit they are absent', async () => {
    const key = await limited.key();
    const { headers } = await key.call('GET', '/v3/organizations');
    for (const figure of figures(headers)) expect(figure).toMatch(/^\d+$/);
    expect(figures(headers)[0]).toBe('1000');
    const unlimited = await (await open.key()).call('GET', '/v3/organizations');
    expect(figures(unlimited.headers)).toEqual([null, null, null]);
  });

  test('above it 429 with Retry-After; another credential continues; remaining is 0 only when it is true', async () => {
    const clock = { now: () => Date.now() };
    const options = { now: () => clock.now() };
    const strict = await startAccessWorld({ RATE_LIMIT_PER_SECOND: '20' }, options);
    const [greedy, modest] = [await strict.key(), await strict.client()];
    // All arrive within one second, however long the machine needs.
    const at = Date.now();
    clock.now = () => at;
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => greedy.call('GET', '/v3/organizations')),
    );
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused).toHaveLength(40);
    expect(refused[0]!.body).toMatchObject({
      errorCode: '42900_RATE_LIMITED',
      status: 429,
      error: 'Too Many Requests',
    });
    expect(refused[0]!.headers.get('retry-after')).toBe('1');
    expect(refused[0]!.headers.get('x-ratelimit-remaining')).toBe('0');
    expect((await modest.call('GET', '/v3/organizations')).status).toBe(200);
    expect(answers.filter((answer) => answer.status === 200).length).toBeGreaterThanOrEqual(20);
    await strict.close();
  });
});

describe('sizes', () => {
  test('headers beyond 16 KiB: 431 with the error body', async () => {
    const answer = await open.nobody.call('GET', '/v3/organizations', undefined, {
      'x-long': 'x'.repeat(20_000),
    });
    expect([answer.status, answer.body.errorCode]).toEqual([431, '43100_HEADERS_TOO_LARGE']);
  });
  test('a body beyond 4 MiB: 413; a form where JSON is due: 415; JSON too deep: 400', async () => {
    const { owner, nobody, world } = open;
    const tag = { workspaceId: world.workspaceId, name: 'x', description: 'x'.repeat(5_000_000) };
    expect((await owner.call('POST', '/v3/tags', tag)).status).toBe(413);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await nobody.call('POST', '/v3/auth/login', 'email=a', form)).status).toBe(415);
    const deep = `{"workspaceId":"x","name":"x","a":${'['.repeat(100)}${']'.repeat(100)}}`;
    const json = { 'content-type': 'application/json' };
    expect((await owner.call('POST', '/v3/tags', deep, json)).status).toBe(400);
  });
});

describe('browsers', () => {
  test.each([
    '/v3/organizations',
    '/health/live',
    '/v3/nothing',
    '/realms/api-keys/protocol/openid-connect/certs',
    '/%zz',
  ])('%s: nothing runs, nothing is framed, nothing is guessed', async (path) => {
    const { headers } = await open.nobody.call('GET', path);
    expect(headers.get('content-security-policy')).toContain(
      "default-src 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  const preflight = (world: AccessWorld, origin: string) =>
    world.nobody.call('OPTIONS', '/v3/assets/list', undefined, {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key,content-type',
    });
  test('other origins are rejected unless they are listed', async () => {
    for (const [world, origin] of [
      [open, 'https://app.example'],
      [limited, 'https://evil.example'],
      [limited, 'null'],
    ] as const) {
      const answer = await preflight(world, origin);
      expect(answer.status).not.toBe(204);
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
  test('a listed origin may, without cookies', async () => {
    const { status, headers } = await preflight(limited, 'https://app.example');
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(headers.get('access-control-allow-headers')).toContain('x-api-key');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('vary')).toBe('Origin');
    const key = await limited.key();
    const answer = await key.call('GET', '/v3/organizations', undefined, {
      origin: 'https://app.example',
    });
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-ratelimit-remaining');
    const refused = await limited.nobody.call('GET', '/v3/organizations', undefined, {
      origin: 'https://app.example',
    });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      401,
      'https://app.example',
    ]);
  });
});
