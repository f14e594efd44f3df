// A device type library as files: which of them are types, which are data models, and what is wrong with a type (contract 7).
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PayloadEncoding } from '../model/device-type.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { type DataModels, expandedSchema } from './library-schemas.ts';

/** Path within the library, with slashes, to text. */
export type LibraryFiles = ReadonlyMap<string, string>;

export interface LibraryType {
  readonly libraryPath: string;
  readonly name: string;
  readonly description: string | null;
  readonly meta: {
    readonly manufacturer: string;
    readonly url: string | null;
    readonly author: string;
    readonly properties: JsonObject;
    readonly firmwareVersion: string | null;
    readonly encoding: PayloadEncoding;
    readonly connectivity: string;
    readonly availableSensors: readonly string[];
    readonly outputTopics: readonly string[];
  };
  /** Topic to schema as a text, references written out. */
  readonly schemas: Readonly<Record<string, string>>;
  readonly uplinkCode: string | null;
  readonly downlinkCode: string | null;
}

export interface Library {
  readonly types: readonly LibraryType[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

const schemaSuffix = '.schema.json';
const required = ['name', 'version', 'manufacturer', 'author', 'encoding', 'connectivity'] as const;

/** So many documents are read in one turn of the event loop; one may be large. */
const documentsPerTurn = 20;

/** Every folder with a meta.json is a type; every JSON document with an absolute `$id` is a data model for the others. */
export async function readLibrary(files: LibraryFiles): Promise<Library> {
  const problems: { path: string; message: string }[] = [];
  const documents = new Map<string, JsonObject>();
  for (const [path, text] of files) {
    if (!path.endsWith('.json')) continue;
    if (documents.size % documentsPerTurn === 0) await nextTurn();
    try {
      const value = JSON.parse(text) as Json;
      if (isJsonObject(value)) documents.set(path, value);
    } catch (error) {
      problems.push({ path, message: `is not JSON: ${error instanceof Error ? error.message : String(error)}` });
    }
  }
  const models = modelsIn(documents);
  const types: LibraryType[] = [];
  for (const path of [...files.keys()].filter((name) => /(^|\/)meta\.json$/.test(name)).sort()) {
    const meta = documents.get(path);
    if (meta === undefined) continue;
    if (types.length % documentsPerTurn === 0) await nextTurn();
    try {
      types.push(typeIn(path.slice(0, -'meta.json'.length), meta, files, documents, models));
    } catch (error) {
      problems.push({ path, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return { types, problems };
}

function modelsIn(documents: ReadonlyMap<string, JsonObject>): DataModels {
  const models = new Map<string, JsonObject>();
  for (const document of documents.values()) {
    const { $id } = document as Readonly<Record<string, Json | undefined>>;
    if (typeof $id === 'string' && URL.canParse($id)) models.set($id.split('#', 1)[0]!, document);
  }
  return models;
}

function typeIn(
  folder: string,
  meta: JsonObject,
  files: LibraryFiles,
  documents: ReadonlyMap<string, JsonObject>,
  models: DataModels,
): LibraryType {
  const text = (name: string): string | null => {
    const value = meta[name] ?? null;
    if (value !== null && typeof value !== 'string') throw new Error(`${name} must be a text`);
    return value;
  };
  const texts = (name: string): string[] => {
    const value = meta[name] ?? [];
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
      throw new Error(`${name} must be a list of texts`);
    }
    return value;
  };
  for (const name of required) if (!text(name)) throw new Error(`${name} is missing`);
  const encoding = text('encoding')!.toUpperCase();
  if (encoding !== 'HEX' && encoding !== 'JSON') throw new Error(`encoding ${encoding} is neither HEX nor JSON`);
  const outputTopics = texts('outputTopics');
  const schemas = schemasIn(folder, documents, models);
  const missing = outputTopics.find((topic) => schemas[topic] === undefined);
  if (missing !== undefined) throw new Error(`there is no ${missing}${schemaSuffix} for the output topic ${missing}`);
  const loraDeviceClass = text('loraDeviceClass');
  return {
    libraryPath: folder.replace(/\/$/, ''),
    name: text('name')!,
    description: text('description'),
    meta: {
      manufacturer: text('manufacturer')!,
      url: text('url'),
      author: text('author')!,
      properties: { version: text('version'), ...(loraDeviceClass === null ? {} : { loraDeviceClass }) },
      firmwareVersion: text('firmwareVersion'),
      encoding,
      connectivity: text('connectivity')!,
      availableSensors: texts('availableSensors'),
      outputTopics,
    },
    schemas,
    uplinkCode: files.get(`${folder}uplink.js`) ?? null,
    downlinkCode: files.get(`${folder}downlink.js`) ?? null,
  };
}

/** The schema's `topic` says which one it is for, else its file name does. */
function schemasIn(folder: string, documents: ReadonlyMap<string, JsonObject>, models: DataModels) {
  const schemas: Record<string, string> = {};
  for (const [path, document] of documents) {
    const name = path.slice(folder.length);
    if (!path.startsWith(folder) || !name.endsWith(schemaSuffix) || name.includes('/')) continue;
    const { topic, processingType } = document as Readonly<Record<string, Json | undefined>>;
    // Schemas of downlinks describe commands, not samples.
    if (processingType === 'downlink_encoder') continue;
    try {
      const key = typeof topic === 'string' ? topic : name.slice(0, -schemaSuffix.length);
      schemas[key] = JSON.stringify(expandedSchema(document, models));
    } catch (error) {
      throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
  return schemas;
}
