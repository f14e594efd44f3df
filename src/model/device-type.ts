// Device type: the decoder and the encoder of one model of device, and the schema of its samples (contract 7).
import type { Json, JsonObject } from './json.ts';
import type { AuditFields } from './record.ts';

export const deviceTypeKinds = ['manual', 'library'] as const;
export type DeviceTypeKind = (typeof deviceTypeKinds)[number];

/** How payloads of devices are read, when that is declared (contract 38). */
export const payloadEncodings = ['HEX', 'JSON', 'BYTES', 'TEXT', 'CBOR'] as const;
export type PayloadEncoding = (typeof payloadEncodings)[number];

/** To clients of the vendor, which know no others, the newer encodings are HEX. */
export function vendorEncoding(encoding: PayloadEncoding | null): PayloadEncoding | null {
  return encoding === null || encoding === 'JSON' ? encoding : 'HEX';
}

/** The encoding after an update. A client of the vendor sends back the HEX that it read. */
export function sentEncoding(
  sent: PayloadEncoding | null,
  current: PayloadEncoding | null,
  isVendor: boolean,
): PayloadEncoding | null {
  return isVendor && sent === 'HEX' && vendorEncoding(current) === 'HEX' ? current : sent;
}

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

/** A key that is computed into the data of samples (contract 38.1). */
export interface CalculatedKey {
  readonly key: string;
  readonly topic: string;
  readonly expression: string;
  readonly title: string | null;
  readonly unit: string | null;
  readonly description: string | null;
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
  readonly calculatedKeys: readonly CalculatedKey[];
  readonly libraryPath: string | null;
  readonly pictureUrl: string | null;
}
