// Network servers: the platform reads each message as an uplink; the form asks for what commands need.
import { expect, test } from 'vitest';
import { decodingTypes, integrationTypes } from '../../../../src/model/connector.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { NetworkServer } from '../../../../src/transports/network-servers/network-server.ts';
import {
  serverOfDecodingType,
  serverOfIntegration,
} from '../../../../src/transports/network-servers/network-server-table.ts';
import { serverMessage, settingsOf } from './connector-kinds.ts';

const nowMs = Date.parse('2026-03-01T12:00:00.000Z');
const eui = '70b3d57ed0001a2b';

function expectUplink(message: object, server: NetworkServer, deviceEui: string) {
  expect(server.read(message as JsonObject, {})).toEqual([
    expect.objectContaining({ kind: 'uplink', deviceEui, time: nowMs }),
  ]);
}

test.each(integrationTypes)('an integration with %s', (type) => {
  expectUplink(serverMessage(type, eui, nowMs), serverOfIntegration[type], eui);
});

test.each(decodingTypes.filter((type) => type !== 'NONE'))('the webhook of %s', (type) => {
  const deviceId = type === 'SIGFOX' ? '1a2b3c' : eui;
  expectUplink(serverMessage(type, deviceId, nowMs), serverOfDecodingType[type], deviceId);
});

test.each(integrationTypes)('the form of %s asks for exactly what commands need', (type) => {
  const { downlinks, registration } = serverOfIntegration[type];
  const { fields, needed } = settingsOf[type];
  expect(needed).toEqual(downlinks?.needs ?? []);
  expect(fields).toEqual(expect.arrayContaining([...(registration?.needs ?? []), ...needed]));
});
