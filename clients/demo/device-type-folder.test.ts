// Device types of the demo: each is a complete library folder with meta, draft-07 schemas and a decoder.
import { readdirSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'acorn';
import { expect, test } from 'vitest';
import { demoDeviceTypes, readDeviceType } from './device-type-folder.ts';
import { deviceKinds } from './devices/kind-table.ts';

test('every folder has its kind and every kind its folder', () => {
  expect(deviceKinds.map((kind) => kind.folder).toSorted()).toEqual(
    readdirSync(demoDeviceTypes).toSorted(),
  );
});

for (const { folder } of deviceKinds) {
  test(`contract 7: ${folder} has meta, schemas as strings per topic, and a decoder of interface 2.10`, async () => {
    const draft = await readDeviceType(join(demoDeviceTypes, folder));
    const meta = draft['meta'] as Record<string, unknown>;
    for (const key of ['manufacturer', 'author', 'firmwareVersion', 'encoding', 'connectivity']) {
      expect(meta[key]).toEqual(expect.any(String));
    }
    expect(Object.keys(draft.schemas).toSorted()).toEqual(
      (meta['outputTopics'] as string[]).toSorted(),
    );
    for (const [topic, text] of Object.entries(draft.schemas)) {
      const schema = JSON.parse(text) as Record<string, unknown>;
      expect(schema).toMatchObject({
        $schema: 'http://json-schema.org/draft-07/schema#',
        processingType: 'uplink_decoder',
        type: 'object',
        topic,
      });
      expect(schema['title']).toEqual(expect.any(String));
    }
    const program = parse(draft.uplinkScript.code, { ecmaVersion: 2020, sourceType: 'module' });
    const functions = program.body.flatMap((node) =>
      node.type === 'FunctionDeclaration' ? [node.id.name] : [],
    );
    expect(functions).toContain(folder === 'soil-probe' ? 'decodeUplink' : 'consume');
  });
}

test('a topic without a schema is refused by name', async () => {
  const copy = await mkdtemp(join(tmpdir(), 'device-type-'));
  await cp(join(demoDeviceTypes, 'room-climate'), copy, { recursive: true });
  await rm(join(copy, 'lifecycle.schema.json'));
  await expect(readDeviceType(copy)).rejects.toThrow('there is no lifecycle.schema.json');
  await rm(copy, { recursive: true });
});
