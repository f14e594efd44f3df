// Interface 4.1 against a whole platform: the schema of a device, declared and measured.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../world/world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.close());

test('interface 2.4: declared properties keep what they declare, measured ones are inferred', async () => {
  const script =
    "function consume(event) { emit('sample', { data: event.data, topic: 'default' }); }";
  const declared = {
    title: 'Climate',
    properties: { temperature: { title: 'Temperature', type: 'number', unit: '°C' } },
  };
  const device = await world.device({
    script,
    schemas: { default: declared, lifecycle: { properties: {} } },
  });
  expect(Object.keys(await world.must('GET', `/v3/devices/${device.id}/infer-schema`))).toEqual([
    'default',
    'lifecycle',
  ]);
  await world.capture(device, { temperature: 21.5, door: true, position: { lat: 47 } });
  const { default: schema } = await world.must('GET', `/v3/devices/${device.id}/infer-schema`);
  expect(schema).toEqual({
    $id: expect.any(String),
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Climate',
    type: 'object',
    properties: {
      temperature: {
        title: 'Temperature',
        type: 'number',
        types: ['number'],
        unit: '°C',
        inferred: false,
      },
      door: { title: 'door', type: 'boolean', types: ['boolean'], inferred: true },
      position: {
        title: 'position',
        type: 'object',
        types: ['object'],
        inferred: true,
        properties: { lat: { title: 'lat', type: 'number', types: ['number'], inferred: true } },
      },
    },
  });
});

test('contract 35: {} when nothing is declared and nothing stored', async () => {
  const device = await world.device();
  expect(await world.must('GET', `/v3/devices/${device.id}/infer-schema`)).toEqual({});
});
