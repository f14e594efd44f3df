// Documented examples: every `api` command of docs/interface succeeds on a platform.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../world/world.ts';

interface Example {
  readonly document: string;
  /** Path with its query, below /v3/. */
  readonly path: string;
  readonly body: string;
}

const folder = join(import.meta.dirname, '../../docs/interface');
const block = /^```sh\n([^]*?)^```$/gm;
const command = /^api "?([^\s"]+)"? -d '([^]*?)'$/gm;

const examples = globSync('**/*.md', { cwd: folder }).toSorted().flatMap(examplesOf);
let world: World;
let values: ReadonlyMap<string, string>;

function examplesOf(document: string): Example[] {
  const text = readFileSync(join(folder, document), 'utf8');
  return [...text.matchAll(block)].flatMap(([, code = '']) =>
    [...code.matchAll(command)].map(([, path = '', body = '']) => ({ document, path, body })),
  );
}

beforeAll(async () => {
  world = await startWorld();
  const { workspaceId } = world;
  const device = await world.device({ script: 'function consume() {}' });
  const tag = await world.must('POST', '/v3/tags', { workspaceId, name: 'climate' });
  const field = await world.must('POST', '/v3/custom-fields/meta', {
    workspaceId,
    name: 'floor',
    type: 'NUMBER',
  });
  const building = await world.must('POST', '/v3/places', {
    workspaceId,
    name: 'Building',
    kind: 'BUILDING',
  });
  values = new Map([
    ['WORKSPACE', workspaceId],
    ['CONNECTOR', device.connectorId],
    ['TYPE', `${device.deviceTypeId}`],
    ['FLOW', device.dataFlowId],
    ['DEVICE', device.id],
    ['TAG', tag.id],
    ['FIELD', field.id],
    ['BUILDING', building.id],
  ]);
});
afterAll(() => world.close());

/** Replaces variables of the shell: `'$NAME'` ends and reopens the quotes of a body. */
function filledIn(text: string): string {
  return text.replaceAll(/'?\$([A-Z]+)'?/g, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`the examples do not define ${name}`);
    return value;
  });
}

test('the documents contain examples', () => {
  expect(examples.length).toBeGreaterThan(5);
});

// A device of HTTP gets no downlinks: the answer is documented in contract 17.
for (const { document, path, body } of examples)
  test(`${document}: api ${path}`, async () => {
    const { status } = await world.call(
      'POST',
      `/v3/${filledIn(path)}`,
      JSON.parse(filledIn(body)),
    );
    if (path.endsWith('/downlink')) expect(status).toBe(400);
    else expect([200, 201, 204]).toContain(status);
  });
