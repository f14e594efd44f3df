// Every network server's own messages, in the shapes that their documentation shows, and what is read from them (contract 35).
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { Problem } from '../../src/model/problem.ts';
import {
  serverOfDecodingType,
  serverOfIntegration,
} from '../../src/transports/network-servers/network-server-table.ts';
import { otherWebhooks } from './other-webhooks.ts';
import { stackWebhooks } from './stack-webhooks.ts';

const webhookFixtures = [...stackWebhooks, ...otherWebhooks];
const servers = { ...serverOfIntegration, ...serverOfDecodingType };

for (const { server, what, body, query = {}, events } of webhookFixtures) {
  test(`${server}: ${what}`, () => {
    expect(servers[server].read(body, query)).toEqual(events);
  });
}

const refused: [keyof typeof servers, string, JsonObject, RegExp][] = [
  [
    'TTN',
    'no kind of message',
    { end_device_ids: { dev_eui: '0004A30B001C0530' } },
    /^body uplink_message: is required/,
  ],
  ['TTN', 'payload not base64', ttn({ frm_payload: '!!' }), /^body frm_payload: must be base64/],
  [
    'TTN',
    'port out of range',
    ttn({ f_port: 256 }),
    /^body f_port: must be an integer from 0 to 255/,
  ],
  ['TTN', 'gateways no list', ttn({ rx_metadata: {} }), /^body rx_metadata: must be an array/],
  [
    'TTN',
    'payload too long',
    ttn({ frm_payload: 'A'.repeat(1_000) }),
    /^body frm_payload: must have at most 512 bytes/,
  ],
  ['CHIRP_STACK', 'no EUI', { fCnt: 1 }, /^body deviceInfo.devEui: is required/],
  [
    'CHIRP_STACK',
    'no event',
    { deviceInfo: { devEui: '0101010101010101' } },
    /^body fCnt: is required/,
  ],
  ['GENERIC_ACTILITY', 'no report', { DevEUI: 'x' }, /^body DevEUI_uplink: is required/],
  [
    'GENERIC_ACTILITY',
    'odd payload',
    { DevEUI_uplink: { DevEUI: '0018B20000000B20', payload_hex: 'abc' } },
    /two digits/,
  ],
  ['LORIOT', 'no command', { EUI: '0102030405060708' }, /^body cmd: is required/],
  ['LORIOT', 'short EUI', { cmd: 'rx', EUI: '0102' }, /^body EUI: must be an EUI/],
  [
    'EVERYNET',
    'no params',
    { type: 'uplink', meta: { device: '0102030405060708' } },
    /^body params: is required/,
  ],
  ['HELIUM', 'no EUI', { payload: 'AA==' }, /^body dev_eui: is required/],
  [
    'GENERIC',
    'unknown event',
    { deviceEui: '0102030405060708', event: 'dance' },
    /^body event: must be/,
  ],
  [
    'GENERIC',
    'review behaviour 10: payload without port',
    { deviceEui: '0102030405060708', payloadHex: '01' },
    /^body port: is required/,
  ],
  ['SIGFOX', 'no device', { data: '00' }, /^body device: is required/],
  ['SIGFOX', 'no data', { device: '1A2B' }, /^body data: is required/],
  ['DISRUPTIVE_TECHNOLOGIES', 'no event', {}, /^body event: is required/],
  [
    'DISRUPTIVE_TECHNOLOGIES',
    'no target',
    { event: { targetName: 'a/' } },
    /must end with a device ID/,
  ],
];
for (const [server, what, body, message] of refused) {
  test(`${server}: 400 naming the field: ${what}`, () => {
    const refusal = refusalOf(() => servers[server].read(body, {}));
    expect([refusal?.problem, refusal?.message]).toEqual([
      'webhookInvalid',
      expect.stringMatching(message),
    ]);
  });
}

function ttn(message: JsonObject): JsonObject {
  return { end_device_ids: { dev_eui: '0004A30B001C0530' }, uplink_message: message };
}

function refusalOf(work: () => unknown): Problem | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

describe('every input is read or rejected as a Problem 400', () => {
  /** The fixture with the value at a place replaced; the fixture itself is at place 0. */
  function withValueAt(body: JsonObject, place: number, value: unknown): unknown {
    let left = place;
    const replace = (at: unknown): unknown => {
      if (left-- === 0) return value;
      if (Array.isArray(at)) return at.map(replace);
      if (typeof at !== 'object' || at === null) return at;
      return Object.fromEntries(Object.entries(at).map(([key, one]) => [key, replace(one)]));
    };
    return replace(body);
  }

  /** The fixture with one value anywhere replaced. */
  const mangled = (body: JsonObject) =>
    fc
      .tuple(fc.nat(), fc.jsonValue({ maxDepth: 2 }))
      .map(([n, value]) => withValueAt(body, n % (countValues(body) + 1), value));

  for (const { server, what, body, query = {} } of webhookFixtures) {
    test(`${server}: ${what}, with any value anywhere`, () => {
      fc.assert(
        fc.property(mangled(body), (broken) => {
          if (typeof broken !== 'object' || broken === null || Array.isArray(broken)) return;
          refusalOf(() => servers[server].read(broken as JsonObject, query));
        }),
        { numRuns: 300 },
      );
    });
  }

  test('an object that cannot become a string, in place of each value of each webhook', () => {
    for (const { server, body, query = {} } of webhookFixtures)
      for (let place = 1; place <= countValues(body); place++) {
        const broken = withValueAt(body, place, { toString: 0 }) as JsonObject;
        refusalOf(() => servers[server].read(broken, query));
      }
  });

  test('any object, for every server', () => {
    const anything = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(servers)), anything, (server, body) => {
        refusalOf(() => server.read(body as JsonObject, {}));
      }),
      { numRuns: 2_000 },
    );
  });
});

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return 1 + Object.values(value).reduce<number>((sum, one) => sum + countValues(one), 0);
}
