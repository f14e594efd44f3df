// Integration settings: the properties that each network server has, and what it needs them for.
import { integrationSecrets, type IntegrationType } from '../../../../../src/model/integration.ts';
import type { integrationWords } from './integration-words.ts';

export type PropertyName = keyof typeof integrationWords.en.properties;

interface ServerSettings {
  readonly fields: readonly PropertyName[];
  /** Without these nothing can be sent to a device; empty where the server takes no commands. */
  readonly needed: readonly PropertyName[];
}

const thingPark: ServerSettings = {
  fields: ['baseUrl', 'asId', 'asKey'],
  needed: ['baseUrl', 'asId', 'asKey'],
};
const chirpStack: ServerSettings = {
  fields: ['baseUrl', 'apiKey', 'applicationId', 'deviceProfileId'],
  needed: ['baseUrl', 'apiKey'],
};

export const settingsOf: Readonly<Record<IntegrationType, ServerSettings>> = {
  TTN: {
    fields: ['baseUrl', 'apiKey', 'applicationId', 'frequencyPlanId'],
    needed: ['baseUrl', 'apiKey', 'applicationId'],
  },
  CHIRP_STACK: chirpStack,
  LORIOT: {
    fields: ['baseUrl', 'apiKey', 'applicationId'],
    needed: ['baseUrl', 'apiKey', 'applicationId'],
  },
  GENERIC_ACTILITY: thingPark,
  SWISSCOM_ACTILITY: thingPark,
  SWISSCOM_CMP: thingPark,
  EVERYNET: { fields: [], needed: [] },
  HELIUM: chirpStack,
  GENERIC: { fields: ['baseUrl', 'apiKey'], needed: ['baseUrl'] },
};

export function isSecret(name: string): boolean {
  return integrationSecrets.includes(name);
}

interface Configured {
  readonly type: IntegrationType;
  readonly properties: Readonly<Record<string, string>>;
}

/** Settings that commands need and that are empty. */
export function missingOf({ type, properties }: Configured): readonly PropertyName[] {
  return settingsOf[type].needed.filter((name) => (properties[name] ?? '') === '');
}
