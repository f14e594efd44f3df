// The network servers: one row per decoding type of HTTP connectors and per type of integration (contract 8, 35).
import type { DecodingType, IntegrationType } from '../../model/connector.ts';
import type { NetworkServer } from './network-server.ts';
import { actility } from './servers/actility.ts';
import { chirpstack } from './servers/chirpstack.ts';
import { disruptiveTechnologies } from './servers/disruptive-technologies.ts';
import { everynet } from './servers/everynet.ts';
import { generic } from './servers/generic.ts';
import { helium } from './servers/helium.ts';
import { loriot } from './servers/loriot.ts';
import { sigfox } from './servers/sigfox.ts';
import { theThingsStack } from './servers/the-things-stack.ts';

export const serverOfDecodingType: Readonly<Record<Exclude<DecodingType, 'NONE'>, NetworkServer>> =
  {
    CHIRP_STACK: chirpstack,
    DISRUPTIVE_TECHNOLOGIES: disruptiveTechnologies,
    EVERYNET: everynet,
    HELIUM: helium,
    SIGFOX: sigfox,
  };

export const serverOfIntegration: Readonly<Record<IntegrationType, NetworkServer>> = {
  TTN: theThingsStack,
  LORIOT: loriot,
  GENERIC_ACTILITY: actility,
  SWISSCOM_ACTILITY: actility,
  SWISSCOM_CMP: actility,
  CHIRP_STACK: chirpstack,
  EVERYNET: everynet,
  HELIUM: helium,
  GENERIC: generic,
};
