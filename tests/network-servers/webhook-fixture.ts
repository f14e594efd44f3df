// Webhook fixture: one message of a network server, and the events that it contains.
import type { JsonObject } from '../../src/model/json.ts';
import type {
  ServerEvent,
  WebhookQuery,
} from '../../src/transports/network-servers/network-server.ts';
import type {
  serverOfDecodingType,
  serverOfIntegration,
} from '../../src/transports/network-servers/network-server-table.ts';

export interface WebhookFixture {
  readonly server: keyof typeof serverOfIntegration | keyof typeof serverOfDecodingType;
  readonly what: string;
  readonly body: JsonObject;
  readonly query?: WebhookQuery;
  readonly events: readonly ServerEvent[];
}

/** The device of all of them. */
export const eui = '0004a30b001c0530';
/** When they were heard. */
export const time = Date.parse('2026-02-12T15:15:00.123Z');
