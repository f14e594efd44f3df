// Interface 9: the path prefix /v3 of every endpoint, the reference that lists them all, and what supervisors ask.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkedFetch } from '../world/checked-fetch.ts';
import { startWorld, type World } from '../world/world.ts';

interface Operation {
  readonly summary: string;
  readonly tags: string[];
  readonly security: Record<string, string[]>[];
  readonly parameters?: { name: string; in: string; required: boolean; schema: object }[];
  readonly requestBody?: { content: Record<string, { schema: object }> };
  readonly responses: Record<
    string,
    { $ref?: string; description?: string; content?: Record<string, { schema: object }> }
  >;
}
interface OpenApi {
  readonly openapi: string;
  readonly info: Record<string, unknown>;
  readonly servers: { url: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly securitySchemes: Record<string, object> };
}

let world: World;
let document: OpenApi;
beforeAll(async () => {
  world = await startWorld();
  document = (await (await fetch(`${world.base}/v3/openapi.json`)).json()) as OpenApi;
});
afterAll(() => world.close());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
    })),
  );

describe('the reference at /v3/openapi.json', () => {
  test('is a whole OpenAPI 3.1 document', () => {
    expect(document).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\.\d+$/),
      info: {
        title: expect.any(String),
        version: expect.any(String),
        license: { name: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
    });
    for (const { path, method, operation } of operations()) {
      const where = `${method} ${path}`;
      expect(operation.summary, where).toMatch(/\S/);
      expect(operation.tags, where).toHaveLength(1);
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
      expect(inPath.map(({ name }) => name).sort(), where).toEqual(wanted.sort());
      for (const parameter of operation.parameters ?? []) {
        if ('$ref' in parameter) continue;
        expect(parameter, where).toMatchObject({
          name: expect.any(String),
          schema: expect.any(Object),
        });
        expect(['path', 'query', 'header', 'cookie'], where).toContain(parameter.in);
        if (parameter.in === 'path') expect(parameter.required, where).toBe(true);
      }
      const statuses = Object.keys(operation.responses);
      expect(statuses.length, where).toBeGreaterThan(0);
      for (const status of statuses) {
        expect(status, where).toMatch(/^([1-5]\d\d|[1-5]XX|default)$/);
        const { $ref, description } = operation.responses[status]!;
        if ($ref === undefined) expect(description, where).toMatch(/\S/);
      }
      for (const needed of operation.security) {
        for (const name of Object.keys(needed))
          expect(document.components.securitySchemes, where).toHaveProperty(name);
      }
    }
  });

  test('has no reference that leads nowhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(
      (match) => match[1]!,
    );
    for (const reference of references) {
      expect(reference).toMatch(/^#\//);
      const steps = reference.slice(2).split('/');
      expect(
        steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)?.[step], document),
      ).toBeDefined();
    }
  });

  for (const [path, methods] of [
    ['/v3/organizations', 'GET'],
    ['/v3/organizations/{id}', 'GET PUT'],
    ['/v3/workspaces', 'GET POST'],
    ['/v3/workspaces/{id}', 'GET PUT DELETE'],
    ['/v3/workspace-access', 'GET'],
    ['/v3/assets', 'GET'],
    ['/v3/assets/list', 'POST'],
    ['/v3/devices', 'POST'],
    ['/v3/devices/by-device-id', 'GET'],
    ['/v3/devices/{id}', 'GET PUT DELETE'],
    ['/v3/devices/{id}/processing-logs', 'GET'],
    ['/v3/tags', 'GET POST'],
    ['/v3/tags/{id}', 'GET PUT DELETE'],
    ['/v3/device-types', 'GET POST'],
    ['/v3/device-types/{id}', 'GET PUT DELETE'],
    ['/v3/device-connectors', 'GET POST'],
    ['/v3/device-connectors/{id}', 'GET PUT DELETE'],
    ['/v3/output-connectors', 'GET POST'],
    ['/v3/output-connectors/{id}', 'GET PUT DELETE'],
    ['/v3/data-flows', 'GET POST'],
    ['/v3/data-flows/{id}', 'GET PUT DELETE'],
    ['/v3/api-keys', 'GET POST'],
    ['/v3/api-keys/{id}', 'GET DELETE'],
    ['/v3/capture', 'POST'],
    ['/v3/run-script', 'POST'],
    ['/v3/devices/{id}/query', 'GET POST'],
    ['/v3/devices/{id}/query/topics', 'GET'],
    ['/v3/devices/{id}/query/latest-sample', 'GET'],
    ['/v3/devices/{id}/infer-schema', 'GET'],
    ['/v3/devices/{id}/query/raw/kpi', 'POST'],
    ['/v3/devices/{id}/query/aggregated/hourly/kpi', 'POST'],
    ['/v3/devices/{id}/query/raw/time-series', 'POST'],
    ['/v3/devices/{id}/query/aggregated/hourly/time-series', 'POST'],
    ['/v3/devices/{id}/query/time-series', 'POST'],
    ['/v3/devices/{id}/query/time-series/aggregation', 'POST'],
    ['/v3/tags/{id}/query/raw/kpi', 'POST'],
    ['/v3/tags/{id}/query/aggregated/hourly/kpi', 'POST'],
    ['/v3/tags/{id}/query/raw/accumulated-kpi', 'POST'],
    ['/v3/tags/{id}/query/aggregated/hourly/accumulated-kpi', 'POST'],
    ['/v3/devices/query/batch', 'POST'],
    ['/v3/devices/query/batch/raw/kpi', 'POST'],
    ['/v3/devices/query/batch/aggregated/hourly/kpi', 'POST'],
    ['/v3/devices/query/batch/raw/accumulated-kpi', 'POST'],
    ['/v3/devices/query/batch/aggregated/hourly/accumulated-kpi', 'POST'],
  ] as const)
    test(`has ${methods} ${path}`, () => {
      const sameNames = (text: string) => text.replace(/\{\w+\}/g, '{id}');
      const found = operations().filter((operation) => sameNames(operation.path) === path);
      expect(found.map(({ method }) => method)).toEqual(expect.arrayContaining(methods.split(' ')));
    });

  test('creates answer 201, deletes 204 without content', () => {
    for (const { path, method, operation } of operations()) {
      const success = Object.keys(operation.responses).filter((status) => status.startsWith('2'));
      if (method === 'DELETE') expect(success, path).toEqual(['204']);
      if (method === 'DELETE') expect(operation.responses['204']!.content, path).toBeUndefined();
    }
    for (const path of ['/v3/devices', '/v3/tags', '/v3/capture'])
      expect(Object.keys(document.paths[path]!['post']!.responses)).toContain('201');
  });

  test('every documented endpoint exists, and asks for a credential when it says so', async () => {
    for (const { path, method, operation } of operations()) {
      const answer = await checkedFetch(
        world.base,
        method,
        path.replaceAll(/\{\w+\}/g, '0000000000000000'),
        {},
      );
      const text = JSON.stringify(answer.body);
      const where = `${method} ${path}: ${text.slice(0, 100)}`;
      if (operation.security.length > 0) expect(answer.status, where).toBe(401);
      expect(text, where).not.toContain('NO_SUCH_ROUTE');
      expect(answer.status, where).not.toBe(500);
    }
  });
});

describe('health, metrics and the page for people', () => {
  for (const path of ['/health/live', '/health/ready'])
    test(`${path} is open and UP`, async () => {
      const answer = await checkedFetch(world.base, 'GET', path, {});
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ status: 'UP' });
    });

  test('/metrics is the text format of Prometheus', async () => {
    await world.capture(await world.device(), { a: 1 });
    const answer = await fetch(`${world.base}/metrics`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await answer.text();
    for (const line of text.split('\n')) {
      expect(line).toMatch(
        /^(# (HELP|TYPE) [a-zA-Z_:][\w:]* .*|[a-zA-Z_:][\w:]*(\{.*\})? (-?[\d.e+-]+|NaN|[+-]Inf)|)$/,
      );
    }
    expect(text).toMatch(/^\w*live_sessions 0$/m);
  });

  test('/docs is a page whose script is there', async () => {
    const page = await fetch(`${world.base}/docs`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    const script = /<script src="([^"]+)"/.exec(await page.text())![1]!;
    const answer = await fetch(new URL(script, page.url), { method: 'GET' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/javascript/);
    await answer.body?.cancel();
  });
});
