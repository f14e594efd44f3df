// Visibility: scripts, logs, metrics, reference, logos and names in answers and pages, by caller.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/app/config/config-values.ts';
import { startWorld } from '../world/world.ts';
import { type AccessWorld, actingBy, startAccessWorld } from './access-world.ts';
import { openMailBox } from './mail-box.ts';

let at: AccessWorld;
beforeAll(async () => {
  at = await startAccessWorld({ METRICS_TOKEN: 'token of the scraper' });
});
afterAll(() => at.close());

test('review security 17: a data flow shows scripts to those who may read device types', async () => {
  const device = await at.world.device({ script: 'function consume() { /* own idea */ }' });
  const path = `/v3/data-flows/${device.dataFlowId}`;
  const without = await (await at.key({ permissions: { dataFlow: ['read'] } })).must('GET', path);
  expect(without.deviceType.name).toEqual(expect.any(String));
  expect(JSON.stringify(without)).not.toContain('own idea');
  const both = await at.key({ permissions: { dataFlow: ['read'], deviceType: ['read'] } });
  expect(JSON.stringify(await both.must('GET', path))).toContain('own idea');
});

test('review behaviour 28: the audit log is read with organization manage, by keys and tokens too', async () => {
  const path = `/v3/audit-logs?organizationId=${at.world.organizationId}`;
  const shipper = await at.key({ permissions: { organization: ['manage'] } });
  expect((await shipper.must('GET', path)).content.length).toBeGreaterThan(0);
  expect(
    (await (await at.client({ permissions: { organization: ['manage'] } })).call('GET', path))
      .status,
  ).toBe(200);
  expect(
    (await (await at.key({ permissions: { organization: ['update'] } })).call('GET', path)).status,
  ).toBe(403);
  const workspaces = [{ id: at.world.workspaceId }];
  const restricted = await at.key({ permissions: { organization: ['manage'] }, workspaces });
  expect((await restricted.call('GET', path)).status).toBe(403);
  const own = await restricted.must('GET', `${path}&workspaceId=${at.world.workspaceId}`);
  expect(new Set(own.content.map((entry: { workspaceId: string }) => entry.workspaceId))).toEqual(
    new Set([at.world.workspaceId]),
  );
});

test.each([
  ['POST', '/v3/tags', { name: '  ' }],
  ['POST', '/v3/tags', { name: '\t\n' }],
  ['PUT', 'organization', { logo: 'https://example.org/logo.png' }],
  ['PUT', 'organization', { logo: 'data:text/html,x' }],
  ['PUT', 'organization', { name: ' ' }],
])('review behaviour 28: %s %s with %j is a 400', async (method, path, body) => {
  const url = path === 'organization' ? `/v3/organizations/${at.world.organizationId}` : path;
  expect(
    (await at.owner.call(method, url, { workspaceId: at.world.workspaceId, ...body })).status,
  ).toBe(400);
});

test('review behaviour 28: a logo is an image', async () => {
  const logo = 'data:image/png;base64,iVBORw0KGgo=';
  expect(
    (await at.owner.must('PUT', `/v3/organizations/${at.world.organizationId}`, { logo })).logo,
  ).toBe(logo);
});

describe('review security 20', () => {
  test('the reference runs the scripts of this server and the one within the page, named by its hash', async () => {
    const { status, headers, body } = await at.nobody.call('GET', '/docs/');
    const scripts = /script-src ([^;]+)/
      .exec(headers.get('content-security-policy')!)![1]!
      .split(' ');
    expect(status).toBe(200);
    expect(scripts[0]).toBe("'self'");
    expect(scripts).not.toContain("'unsafe-inline'");
    const inline = [...String(body).matchAll(/<script(?![^>]*src=)[^>]*>([\s\S]*?)<\/script>/g)];
    expect(inline.length).toBeGreaterThan(0);
    expect(scripts.length).toBe(1 + inline.length);
    for (const one of scripts.slice(1)) expect(one).toMatch(/^'sha256-[A-Za-z0-9+/]{43}='$/);
  });

  test.each([
    ['no token', {}, 401],
    ['another token', { authorization: 'Bearer x' }, 401],
    ['an API key', { 'x-api-key': 'key' }, 401],
    ['the token', { authorization: 'Bearer token-of-the-scraper' }, 200],
  ])('metrics with %s: %i', async (_, headers, status) => {
    const world = await startWorld({ environment: { METRICS_TOKEN: 'token-of-the-scraper' } });
    expect(
      (await actingBy(world.base, headers as Record<string, string>).call('GET', '/metrics'))
        .status,
    ).toBe(status);
    await world.close();
  });
});

test('review security 18: a first start with a password that is guessed first says so', async () => {
  const start = startWorld({ environment: { ADMIN_PASSWORD: 'password1234' } });
  await expect(start).rejects.toThrow(ConfigError);
  await expect(start).rejects.toThrow('Invalid ADMIN_PASSWORD: it is a commonly used password');
});

test('review security 13: in an HTML mail a value is plain, never markup', async () => {
  const box = await openMailBox();
  const world = await startWorld({
    environment: { SMTP_URL: box.url, MAIL_FROM: 'alerts@example.org' },
  });
  const mailProperties = {
    recipients: ['reader@example.org'],
    subjectTemplate: 'Alert <{{data.x}}>',
    messageTemplate: '<html><body title="{{data.y}}">Value {{data.x}}, all {{data}}</body></html>',
  };
  const draft = { name: 'm', workspaceId: world.workspaceId, type: 'MAIL', mailProperties };
  const { id } = await world.must('POST', '/v3/output-connectors', draft);
  const device = await world.device({ outputs: [{ id, topic: '*' }] });
  const hostile = {
    x: '<a href="http://evil.example">reset</a><img src=x>',
    y: '" onload="alert(1)',
  };
  expect((await world.capture(device, hostile)).status).toBe(201);
  const { text } = await box.newest('reader@example.org');
  const body = text.slice(text.indexOf('<html>'));
  expect(body).not.toMatch(/<a|<img|" onload/);
  expect(body).toContain(
    '&#60;a href&#61;'.replace('&#61;', '=') + '&#34;http://evil.example&#34;&#62;reset',
  );
  await world.close();
  await box.close();
});
