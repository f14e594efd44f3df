// Names of the network servers, as their makers write them.
import type { DecodingType, IntegrationType } from '../../../../src/model/integration.ts';

export type ServerKind = IntegrationType | Exclude<DecodingType, 'NONE'>;

export const serverNames: Readonly<Record<ServerKind, string>> = {
  TTN: 'The Things Stack',
  CHIRP_STACK: 'ChirpStack',
  LORIOT: 'LORIOT',
  GENERIC_ACTILITY: 'Actility ThingPark',
  SWISSCOM_ACTILITY: 'Swisscom (ThingPark)',
  SWISSCOM_CMP: 'Swisscom CMP',
  EVERYNET: 'Everynet',
  HELIUM: 'Helium',
  SIGFOX: 'Sigfox',
  DISRUPTIVE_TECHNOLOGIES: 'Disruptive Technologies',
  GENERIC: 'HTTP (any server)',
};
