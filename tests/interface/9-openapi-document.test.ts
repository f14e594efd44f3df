// OpenAPI document: valid by the schema of the standard, and compiled by two generators of clients.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@hey-api/openapi-ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { Validator } from '@seriousme/openapi-schema-validator';
import { generate } from 'openapi-typescript-codegen';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startWorld, type World } from '../world/world.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly deprecated?: true;
  readonly parameters?: readonly { readonly name?: string }[];
  readonly description: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: object; readonly example?: unknown }>
    >;
  };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly content?: Readonly<Record<string, { schema: object; example?: unknown }>>;
      }
    >
  >;
}

let world: World;
let folder: string;
let text: string;
let paths: Record<string, Record<string, Operation>>;

beforeAll(async () => {
  world = await startWorld();
  text = await (await fetch(`${world.base}/v3/openapi.json`)).text();
  paths = JSON.parse(text).paths;
  // Next to the packages, whose types the generated code uses.
  folder = mkdtempSync(join(import.meta.dirname, '../../node_modules/.openapi-client-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.close();
});

/** What the compiler says of the client in the folder. */
async function compiled(client: string, more: object): Promise<string> {
  const compiler = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
  const compilerOptions = {
    strict: true,
    skipLibCheck: true,
    target: 'es2022',
    types: [],
    lib: ['es2022', 'dom', 'dom.iterable'],
    ...more,
  };
  const project = join(client, 'tsconfig.json');
  writeFileSync(project, JSON.stringify({ compilerOptions, files: ['index.ts'] }));
  const compiling = promisify(execFile)(process.execPath, [compiler, '-p', project]);
  const { stdout } = await compiling.catch((error: { stdout: string }) => error);
  return stdout;
}

const operations = () =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      where: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );

describe('review behaviour 24: the document', () => {
  test('is valid by the schema of OpenAPI 3.1', async () => {
    const result = await new Validator().validate(JSON.parse(text) as Record<string, unknown>);
    expect(result).toMatchObject({ valid: true });
  });

  test('compiles in a generator of clients, and its output in TypeScript', {
    timeout: 240_000,
  }, async () => {
    const [input, output] = [join(folder, 'openapi.json'), join(folder, 'client')];
    writeFileSync(input, text);
    await createClient({
      input,
      output,
      logs: { level: 'silent' },
      plugins: ['@hey-api/typescript', '@hey-api/sdk'],
    });
    const types = readFileSync(join(output, 'types.gen.ts'), 'utf8');
    for (const name of ['Device', 'DevicePage', 'RuleDraft', 'TimeSeries', 'Error'])
      expect(types).toMatch(new RegExp(`export type ${name} = `));
    expect(readFileSync(join(output, 'sdk.gen.ts'), 'utf8')).toContain(
      'export const postDeviceQueryRawKpi = ',
    );
    expect(
      await compiled(output, { noEmit: true, module: 'esnext', moduleResolution: 'bundler' }),
    ).toBe('');
  });

  test('review behaviour 21: a client of a second generator compiles, creates and reads', {
    timeout: 240_000,
  }, async () => {
    // What is below `node_modules` is not compiled to a program.
    const output = mkdtempSync(join(tmpdir(), 'heliograph-client-'));
    onTestFinished(() => rmSync(output, { recursive: true }));
    await generate({
      input: JSON.parse(text) as Record<string, unknown>,
      output,
      httpClient: 'fetch',
      useOptions: true,
      exportSchemas: false,
    });
    // It writes files without extensions in their imports, which only CommonJS finds.
    writeFileSync(join(output, 'package.json'), '{"type":"commonjs"}');
    expect(await compiled(output, { module: 'nodenext', outDir: output })).toBe('');
    const { OpenAPI, TagsService } = createRequire(output)(output) as {
      OpenAPI: { BASE: string; HEADERS: object };
      TagsService: Record<string, (request: object) => Promise<{ content?: unknown }>>;
    };
    OpenAPI.BASE = world.base;
    OpenAPI.HEADERS = { 'x-api-key': world.apiKey };
    const requestBody = { name: 'Of a generated client', workspaceId: world.workspaceId };
    const tag = await TagsService['createTag']!({ requestBody });
    const listed = await TagsService['getTags']!({ workspaceId: world.workspaceId });
    expect(listed.content).toEqual([tag]);
  });

  test('review behaviour 21: no two schemas have names that differ by case alone', () => {
    const names = Object.keys(JSON.parse(text).components.schemas);
    const folded = Map.groupBy(names, (name) => name.toLowerCase());
    expect([...folded.values()].filter(({ length }) => length > 1)).toEqual([]);
  });

  test('names each operation once, and every schema of a body', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]+$/);
    // Named schemas instead of the same text in every operation.
    const bare = JSON.stringify(JSON.parse(text), (key, value: unknown) =>
      key === 'example' || key === 'description' ? undefined : value,
    );
    expect(bare.length).toBeLessThan(500_000);
  });

  test.each([
    ['POST /v3/auth/logout', '204'],
    ['PUT /v3/auth/password', '204'],
    ['POST /v3/devices/{id}/downlink', '204'],
    ['POST /v3/devices/import', '202'],
  ])('%s documents its status %s', (where, status) => {
    const found = operations().find((one) => one.where === where)!;
    expect(Object.keys(found.operation.responses)).toContain(status);
  });

  test.each([
    ['GET /metrics', ['text/plain']],
    ['GET /v3/blobs/{id}/content', ['*/*']],
    ['GET /v3/devices/{deviceId}/export', ['application/x-ndjson', 'text/csv']],
    ['GET /v3/devices/export', ['text/csv', 'application/json']],
    ['GET /v3/audit-logs/export', ['text/csv', 'application/x-ndjson']],
  ])('%s documents its content types', (where, types) => {
    const found = operations().find((one) => one.where === where)!;
    expect(Object.keys(found.operation.responses['200']!.content!)).toEqual(types);
  });

  test.each([
    ['POST /v3/devices/import', ['text/csv', 'application/json', 'multipart/form-data']],
    ['POST /v3/blobs', ['multipart/form-data', '*/*']],
    ['POST /realms/api-keys/protocol/openid-connect/token', ['application/x-www-form-urlencoded']],
  ])('%s documents the content types that it accepts', (where, types) => {
    const found = operations().find((one) => one.where === where)!;
    expect(Object.keys(found.operation.requestBody!.content)).toEqual(types);
  });

  test('documents the callers: sessions with their csrf token, and routes only for signed-in users', () => {
    const of = (where: string) => operations().find((one) => one.where === where)!.operation;
    expect(of('GET /v3/tags').security).toEqual([{ apiKey: [] }, { bearer: [] }, { session: [] }]);
    expect(of('POST /v3/tags').security).toEqual([
      { apiKey: [] },
      { bearer: [] },
      { session: [], csrf: [] },
    ]);
    expect(of('GET /v3/auth/me/preferences').security).toEqual(of('GET /v3/tags').security);
    expect(of('POST /v3/auth/logout').security).toEqual([{ session: [], csrf: [] }]);
    expect(of('POST /v3/api-keys').security).toEqual([{ session: [], csrf: [] }]);
    expect(of('POST /v3/api-keys').description).toMatch(
      /`organization` `manage`\. User session only/,
    );
    expect(of('POST /v3/capture').security).toEqual([
      { uplinkSecret: [] },
      { uplinkSecretParameter: [] },
    ]);
    for (const { where, operation } of operations())
      expect(operation.description, where).toMatch(
        /^[A-Z].*\. (Requires|Any|No authentication|Authenticated|The user's own)/,
      );
  });

  test('review behaviour 21: every operation, parameter and property says what it is', () => {
    const silent: string[] = [];
    const look = (node: unknown, at: string): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [key, member] of Object.entries(node)) {
        if (key === 'example') continue;
        if (key === 'properties' || key === 'parameters')
          for (const [name, one] of Object.entries(member as Readonly<Record<string, Described>>)) {
            const { description = '', $ref, name: parameter = name } = one;
            const isShared = $ref?.startsWith('#/components/parameters/') === true;
            if (!isShared && !/^[A-Z`0-9].*\.$/s.test(description))
              silent.push(`${at} ${parameter}: ${description}`);
            look(one, `${at}/${key}/${name}`);
          }
        else look(member, `${at}/${key}`);
      }
    };
    look(JSON.parse(text), '');
    expect(silent).toEqual([]);
    for (const { where, operation } of operations())
      expect(operation.summary, where).toMatch(/^[A-Z]\w+.*[^.]$/);
  });

  test('review behaviour 21: accumulators, predicates and filter expressions are typed', () => {
    const { schemas } = JSON.parse(text).components;
    const names = 'MIN MAX AVG SUM COUNT FIRST LAST DISTINCT_COUNT MATCHED_COUNT UNMATCHED_COUNT';
    const later = 'OCCUPANCY STDDEV MEDIAN MODE';
    const inOrder =
      'DELTA INCREASE RATE INTEGRAL TIME_WEIGHTED_AVG DURATION_TRUE TIME_IN_STATE NONE';
    const [listed, quantile] = schemas.Accumulator.anyOf;
    expect(listed.enum).toEqual([...names.split(' '), ...later.split(' '), ...inOrder.split(' ')]);
    expect('P99.9').toMatch(new RegExp(quantile.pattern));
    for (const body of ['KpiBody', 'BatchKpiBody', 'SeriesBody', 'BatchSeriesBody'])
      expect(schemas[body].properties.accumulator.$ref).toMatch(/Accumulator$/);
    expect(schemas.Predicate.enum).toHaveLength(19);
    expect(schemas.Filter.properties.predicate.$ref).toMatch(/Predicate$/);
    expect(schemas.FilterList.properties.operator.enum).toEqual(['AND', 'OR']);
    for (const body of ['AssetListBody', 'BulkSelectionBody', 'LatestSamplesBody'])
      expect(schemas[body].properties.expression.$ref).toMatch(/FilterExpression$/);
  });

  test('review behaviour 21: older forms are deprecated, and lists say what `fields` does', () => {
    const old = operations().filter(({ operation }) => operation.deprecated);
    expect(old.map(({ where }) => where)).toEqual([
      'POST /v3/devices/{deviceId}/query/time-series',
      'POST /v3/devices/{deviceId}/query/time-series/aggregation',
    ]);
    const { schemas } = JSON.parse(text).components;
    expect(schemas.DeviceDraft.properties.loRaProperties.deprecated).toBe(true);
    expect(schemas.DataFlow.properties.isPassThrough.deprecated).toBe(true);
    expect(schemas.UplinkMetrics.properties.akenzaDeviceId.deprecated).toBe(true);
    const narrowed = operations().filter(({ operation: { parameters = [] } }) =>
      parameters.some(({ name }) => name === 'fields'),
    );
    expect(narrowed.length).toBeGreaterThan(20);
    for (const { where, operation } of narrowed)
      expect(operation.responses['200']!.description, where).toContain('With `fields`');
  });

  test('behaviour 21: servers are relative, and every tag says what it is for', () => {
    const { servers, tags } = JSON.parse(text) as {
      servers: { url: string }[];
      tags: { name: string; description: string }[];
    };
    expect(servers.map(({ url }) => url)).toEqual(['/']);
    expect(tags.filter(({ description }) => description === '')).toEqual([]);
  });

  test('behaviour 21: examples were accepted and answered, and fit their schemas', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: true });
    addFormats.default(ajv);
    ajv.addSchema({ $id: 'https://heliograph.invalid/api', ...withoutExamples(text) });
    const withoutBody: string[] = [];
    const withoutAnswer: string[] = [];
    for (const [path, methods] of Object.entries(paths))
      for (const [method, operation] of Object.entries(methods)) {
        const where = `${method.toUpperCase()} ${path}`;
        const at = `https://heliograph.invalid/api#/paths/${pointerStep(path)}/${method}`;
        const check = (content: Content | undefined, place: string, missing: string[]) => {
          const json = content?.['application/json'];
          if (json === undefined) return;
          if (json.example === undefined) return void missing.push(where);
          const pointer = `${at}/${place}/content/application~1json/schema`;
          expect(
            ajv.validate({ $ref: pointer }, json.example),
            `${where}: ${ajv.errorsText()}`,
          ).toBe(true);
        };
        check(operation.requestBody?.content, 'requestBody', withoutBody);
        const status = Object.keys(operation.responses).find((one) => one.startsWith('2'));
        if (status !== undefined)
          check(operation.responses[status]?.content, `responses/${status}`, withoutAnswer);
      }
    expect(withoutBody.toSorted()).toEqual(noBodyExample.toSorted());
    expect(withoutAnswer.toSorted()).toEqual([...noBodyExample, ...noAnswerExample].toSorted());
  });
});

/** Sent as a file or a form, or through a client of its own, which the recorder does not see. */
const noBodyExample = ['POST /query', 'POST /v3/devices/import', 'POST /v3/device-types/import'];
/** Longer than an example may be, a file, or a stream of events. */
const noAnswerExample = [
  'POST /mcp',
  'GET /query',
  'GET /v3/devices/export',
  // Dry runs answer 200.
  'POST /v3/device-types/{id}/recalculate',
  'POST /v3/samples/delete',
  'POST /v3/dashboards/import',
  'GET /v3/assets/filter-options-v2',
  'POST /v3/assets/filter-options-v2',
];

interface Described {
  readonly name?: string;
  readonly description?: string;
  readonly $ref?: string;
}

type Content = Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>;

function withoutExamples(document: string): object {
  return JSON.parse(document, (key, value: unknown) =>
    key === 'example' ? undefined : value,
  ) as object;
}

function pointerStep(path: string): string {
  return encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'));
}
