// A folder of the device type library as the body of `POST /v3/device-types` (contract 7).
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/model/json.ts';

/** Folder of the device types of the demo, relative to the sources and to the built program. */
export const demoDeviceTypes = fileURLToPath(new URL('../../demo/device-types/', import.meta.url));

interface LibraryMeta {
  readonly name: string;
  readonly version: string;
  readonly manufacturer: string;
  readonly author: string;
  readonly description?: string;
  readonly url?: string;
  readonly firmwareVersion?: string;
  readonly encoding: string;
  readonly connectivity: string;
  readonly availableSensors?: readonly string[];
  readonly outputTopics: readonly string[];
}

export interface DeviceTypeDraft extends JsonObject {
  readonly name: string;
  readonly schemas: Readonly<Record<string, string>>;
  readonly uplinkScript: { readonly code: string };
}

const schemaSuffix = '.schema.json';

/**
 * Reads meta.json, uplink.js and every <topic>.schema.json. Throws when a topic of the meta has no
 * schema.
 */
export async function readDeviceType(folder: string): Promise<DeviceTypeDraft> {
  const meta = JSON.parse(await readFile(join(folder, 'meta.json'), 'utf8')) as LibraryMeta;
  const schemas: Record<string, string> = {};
  for (const file of (await readdir(folder)).sort()) {
    if (!file.endsWith(schemaSuffix)) continue;
    schemas[file.slice(0, -schemaSuffix.length)] = await readFile(join(folder, file), 'utf8');
  }
  for (const topic of meta.outputTopics) {
    if (schemas[topic] === undefined)
      throw new Error(`${folder}: there is no ${topic}${schemaSuffix}`);
  }
  return {
    name: meta.name,
    description: meta.description ?? null,
    type: 'manual',
    meta: {
      manufacturer: meta.manufacturer,
      author: meta.author,
      url: meta.url ?? null,
      firmwareVersion: meta.firmwareVersion ?? null,
      encoding: meta.encoding,
      connectivity: meta.connectivity,
      availableSensors: meta.availableSensors ?? [],
      outputTopics: meta.outputTopics,
      properties: { version: meta.version },
    },
    schemas,
    uplinkScript: { code: await readFile(join(folder, 'uplink.js'), 'utf8') },
  };
}
