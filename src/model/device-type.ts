// Device type: the decoder and the encoder of one model of device, and the schema of its samples (contract 7).
import type { Json, JsonObject } from './json.ts';
import type { AuditFields } from './record.ts';

export const deviceTypeKinds = ['manual', 'library'] as const;
export type DeviceTypeKind = (typeof deviceTypeKinds)[number];

export const payloadEncodings = ['HEX', 'JSON'] as const;
export type PayloadEncoding = (typeof payloadEncodings)[number];

export interface Script {
  readonly code: string;
  /** One more with every change of the code. */
  readonly version: number;
}

export interface DeviceTypeMeta {
  readonly manufacturer: string | null;
  readonly url: string | null;
  readonly author: string | null;
  readonly properties: JsonObject | null;
  readonly firmwareVersion: string | null;
  readonly encoding: PayloadEncoding | null;
  readonly connectivity: string | null;
  readonly availableSensors: readonly string[] | null;
  readonly outputTopics: readonly string[] | null;
}

export interface DeviceType extends AuditFields {
  readonly id: string;
  /** Null for library types, which every organization sees. */
  readonly organizationId: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly type: DeviceTypeKind;
  readonly meta: DeviceTypeMeta;
  /** Topic to JSON Schema as a string. */
  readonly schemas: Readonly<Record<string, string>>;
  readonly sampleData: Json;
  readonly uplinkScript: Script | null;
  readonly downlinkScript: Script | null;
  readonly libraryPath: string | null;
  readonly pictureUrl: string | null;
}
