// Integration settings: the form asks for exactly what the platform needs for commands.
import { expect, test } from 'vitest';
import { integrationTypes } from '../../../../../src/model/integration.ts';
import { serverOfIntegration } from '../../../../../src/transports/network-servers/network-server-table.ts';
import { settingsOf } from './integration-settings.ts';

test.each(integrationTypes)('%s', (type) => {
  const { downlinks, registration } = serverOfIntegration[type];
  const { fields, needed } = settingsOf[type];
  expect(needed).toEqual(downlinks?.needs ?? []);
  expect(fields).toEqual(expect.arrayContaining([...(registration?.needs ?? []), ...needed]));
});
