// Device type library import: creates or updates types by their path, all in one transaction (contract 7).
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Blob } from '../../model/blob.ts';
import {
  type DeviceType,
  type PayloadEncoding,
  payloadEncodings,
  type Script,
} from '../../model/device-type.ts';
import { errorMessage, problem, Problem } from '../../model/problem.ts';
import { newId } from '../../model/ids.ts';
import { parsedJson } from '../../model/json-keys.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Records } from '../../storage/records/records.ts';
import { blobRows } from '../../storage/records/rows/blobs.ts';
import { deviceTypeRows } from '../../storage/records/rows/device-types.ts';
import { change, firstVersion, nextVersion, type Step } from '../record-crud.ts';
import { blobLimits, checkedContentType, sha256Of } from '../workspaces/blobs.ts';

// Device type library files: types, data models, and the problems of each type (contract 7, 36).

/** Path within the library, with slashes, to text. */
type LibraryFiles = ReadonlyMap<string, string>;

interface LibraryType {
  /** Path of the type's folder, as sent. */
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
  /** Topic to schema as a text, references written out; a downlink schema stands under the name of its file. */
  readonly schemas: Readonly<Record<string, string>>;
  readonly uplinkCode: string | null;
  readonly downlinkCode: string | null;
}

interface LibraryNote {
  readonly path: string;
  readonly message: string;
}

const metaName = 'meta.json';
const schemaSuffix = '.schema.json';
const required = ['name', 'version', 'manufacturer', 'author', 'encoding', 'connectivity'] as const;

/** Whether the file belongs to the library: hidden folders and installed packages do not. */
function isLibraryPath(path: string): boolean {
  return !path.split('/').some((name) => name.startsWith('.') || name === 'node_modules');
}

/** The same for a type wherever inside a library the import began: its path from the folder `types`, where there is one. */
function identityOf(libraryPath: string): string {
  return libraryPath.replace(/^(?:.*\/)?types\//, '');
}

/** The content of a path: a JSON document, or why it is not one. */
type Documents = ReadonlyMap<string, Json | NoDocument>;

/** The message continues the path: `is not JSON: ...`. */
class NoDocument extends Error {}
class TooLong extends NoDocument {}

/** So many documents, or so many characters of them, are read in one turn of the event loop; a longer one is left out. */
const documentsPerTurn = 20;
const charactersPerTurn = 512 * 1024;
const documentLengthMax = 4 * 1024 * 1024;

/** Every folder with a meta.json is a type; every JSON document with an absolute `$id` is a data model for the others. */
async function readLibrary(files: LibraryFiles): Promise<{
  readonly types: readonly LibraryType[];
  /** Why a type is refused. */
  readonly problems: readonly LibraryNote[];
  /** What is missing or odd about a type that is taken. */
  readonly warnings: readonly LibraryNote[];
}> {
  const paths = [...files.keys()].filter(isLibraryPath).sort();
  const documents = new Map<string, Json | NoDocument>();
  const rest = turnsOf();
  for (const path of paths.filter((name) => name.endsWith('.json'))) {
    const text = files.get(path) ?? '';
    documents.set(path, parsed(text));
    await rest(text.length);
  }
  const models = modelsIn(documents);
  const types: LibraryType[] = [];
  const problems: LibraryNote[] = [];
  const warnings = tooLong(documents);
  const schemasOf = schemaPathsByFolder(paths);
  for (const path of paths) {
    const folder = folderOf(path);
    if (path !== folder + metaName) continue;
    const told: LibraryNote[] = [];
    await rest(
      (schemasOf.get(folder) ?? []).reduce((sum, name) => sum + (files.get(name)?.length ?? 0), 0),
    );
    try {
      const meta = documents.get(path);
      if (meta instanceof NoDocument) throw meta;
      if (meta === undefined || !isJsonObject(meta)) throw new Error('is not a JSON object');
      const schemas = schemasIn(schemasOf.get(folder) ?? [], documents, models, told);
      types.push(
        typeIn(folder, meta, files, schemas, (message) => void told.push({ path, message })),
      );
      warnings.push(...told);
    } catch (error) {
      problems.push({ path, message: errorMessage(error) });
    }
  }
  return { types, problems, warnings };
}

/** To be told the characters of each document; waits for the next turn when enough were read in this one. */
function turnsOf(): (characters: number) => Promise<void> {
  let documents = 0;
  let sum = 0;
  return async (characters) => {
    documents += 1;
    sum += characters;
    if (documents < documentsPerTurn && sum < charactersPerTurn) return;
    documents = 0;
    sum = 0;
    await nextTurn();
  };
}

function parsed(text: string): Json | NoDocument {
  if (text.length > documentLengthMax)
    return new TooLong(`must be at most ${documentLengthMax} characters`);
  try {
    return parsedJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return new NoDocument(`is not valid JSON: ${error.message}`);
    throw error;
  }
}

/** Schemas and data models alike; a meta.json is a problem of its type. */
function tooLong(documents: Documents): LibraryNote[] {
  return [...documents].flatMap(([path, document]) => {
    if (!(document instanceof TooLong) || path === folderOf(path) + metaName) return [];
    return [{ path, message: `skipped: it ${document.message}` }];
  });
}

/** With its last slash; empty for the root. */
function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

function schemaPathsByFolder(paths: readonly string[]): ReadonlyMap<string, string[]> {
  const byFolder = new Map<string, string[]>();
  for (const path of paths) {
    if (!path.endsWith(schemaSuffix)) continue;
    const folder = folderOf(path);
    const known = byFolder.get(folder);
    if (known === undefined) byFolder.set(folder, [path]);
    else known.push(path);
  }
  return byFolder;
}

function modelsIn(documents: Documents): DataModels {
  const models = new Map<string, JsonObject>();
  for (const document of documents.values()) {
    if (document instanceof NoDocument || !isJsonObject(document)) continue;
    const { $id } = document as Readonly<Record<string, Json | undefined>>;
    if (typeof $id === 'string' && URL.canParse($id))
      models.set($id.replace(/#.*$/s, ''), document);
  }
  return models;
}

/** Throws Error for invalid metadata; `warn` gets the topics without a schema. */
function typeIn(
  folder: string,
  meta: JsonObject,
  files: LibraryFiles,
  schemas: Readonly<Record<string, string>>,
  warn: (message: string) => void,
): LibraryType {
  for (const name of required) requiredText(meta, name);
  const encoding = encodingNamed(requiredText(meta, 'encoding').toUpperCase());
  const outputTopics = textsIn(meta, 'outputTopics');
  for (const topic of outputTopics) {
    if (!Object.hasOwn(schemas, topic))
      warn(`the output topic ${topic} has no ${topic}${schemaSuffix}`);
  }
  const type = {
    libraryPath: folder.replace(/\/$/, ''),
    name: requiredText(meta, 'name'),
    description: textIn(meta, 'description'),
    meta: {
      manufacturer: requiredText(meta, 'manufacturer'),
      url: textIn(meta, 'url'),
      author: requiredText(meta, 'author'),
      properties: propertiesIn(meta),
      firmwareVersion: textIn(meta, 'firmwareVersion'),
      encoding,
      connectivity: requiredText(meta, 'connectivity'),
      availableSensors: textsIn(meta, 'availableSensors'),
      outputTopics,
    },
  };
  return {
    ...type,
    schemas,
    uplinkCode: files.get(`${folder}uplink.js`) ?? null,
    downlinkCode: files.get(`${folder}downlink.js`) ?? null,
  };
}

function propertiesIn(meta: JsonObject): JsonObject {
  const version = requiredText(meta, 'version');
  const loraDeviceClass = textIn(meta, 'loraDeviceClass');
  if (loraDeviceClass === null) return { version };
  return { version, loraDeviceClass };
}

function encodingNamed(name: string): PayloadEncoding {
  const encoding = payloadEncodings.find((known) => known === name);
  if (encoding !== undefined) return encoding;
  throw new Error(`encoding ${name} must be one of ${payloadEncodings.join(', ')}`);
}

function textIn(meta: JsonObject, name: string): string | null {
  const value = meta[name] ?? null;
  if (value === null || typeof value === 'string') return value;
  throw new Error(`${name} must be a string`);
}

function requiredText(meta: JsonObject, name: string): string {
  const text = textIn(meta, name);
  if (!text) throw new Error(`${name} is required`);
  return text;
}

function textsIn(meta: JsonObject, name: string): string[] {
  const value = meta[name] ?? [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw new Error(`${name} must be an array of strings`);
}

/** A schema belongs to the topic that its file is named after, whatever else it says. */
function schemasIn(
  paths: readonly string[],
  documents: Documents,
  models: DataModels,
  told: LibraryNote[],
) {
  const schemas: Record<string, string> = {};
  for (const path of paths) {
    const warn = (message: string): void => void told.push({ path, message });
    const document = documents.get(path);
    if (document instanceof TooLong) continue;
    if (document instanceof NoDocument) {
      warn(`skipped: it ${document.message}`);
      continue;
    }
    if (document === undefined || !isJsonObject(document)) {
      warn('skipped: not a JSON object');
      continue;
    }
    const name = path.slice(folderOf(path).length, -schemaSuffix.length);
    const { topic, processingType } = document as Readonly<Record<string, Json | undefined>>;
    if (processingType === 'downlink_encoder') warn('describes downlinks, not samples');
    else if (topic !== undefined && topic !== name) {
      warn(
        `declares topic ${JSON.stringify(topic)} but is imported as ${name}, after its file name`,
      );
    }
    schemas[name] = JSON.stringify(expandedOrAsSent(document, models, warn));
  }
  return schemas;
}

function expandedOrAsSent(
  document: JsonObject,
  models: DataModels,
  warn: (message: string) => void,
): JsonObject {
  try {
    return expandedSchema(document, models);
  } catch (error) {
    warn(`keeps its references: ${errorMessage(error)}`);
    return document;
  }
}

// Schemas of a device type library: references into shared data models, by absolute URL, are written out (contract 7).

/** Shared data models by the URL that references name. */
type DataModels = ReadonlyMap<string, JsonObject>;

const depthMax = 32;
const membersMax = 20_000;

/** Throws Error with the reference that does not resolve. Never reads from the network. */
function expandedSchema(schema: JsonObject, models: DataModels): JsonObject {
  let members = 0;
  const documentOf = (url: string, root: JsonObject): JsonObject => {
    if (url === '') return root;
    const model = models.get(url);
    if (model === undefined) throw new Error(`data model ${url} does not exist in the folder`);
    return model;
  };
  const expand = (value: Json, root: JsonObject, depth: number): Json => {
    if (depth > depthMax)
      throw new Error(`the schema exceeds the nesting depth of ${depthMax} or is recursive`);
    if (++members > membersMax)
      throw new Error(`the resolved schema has more than ${membersMax} members`);
    if (Array.isArray(value))
      return (value as readonly Json[]).map((item) => expand(item, root, depth + 1));
    if (!isJsonObject(value)) return value;
    const { $ref, ...others } = value as Readonly<Record<string, Json>>;
    const own = Object.fromEntries(
      Object.entries(others).map(([name, item]) => [name, expand(item, root, depth + 1)]),
    );
    if (typeof $ref !== 'string') return own;
    const [base = '', pointer = ''] = $ref.split('#', 2);
    const document = documentOf(base, root);
    const target = pointedAt(document, pointer);
    if (target === undefined) throw new Error(`${$ref} does not resolve to a schema`);
    const expanded = expand(target, document, depth + 1);
    // Members beside a reference override those of its target.
    if (!isJsonObject(expanded)) return expanded;
    return { ...expanded, ...own };
  };
  const { $defs: _, ...rest } = schema as Readonly<Record<string, Json>>;
  return expand(rest, schema, 0) as JsonObject;
}

/** RFC 6901. */
function pointedAt(document: JsonObject, pointer: string): Json | undefined {
  let at: Json | undefined = document;
  for (const part of pointer.split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) at = (at as readonly Json[])[Number(name)];
    else if (isJsonObject(at) && Object.hasOwn(at, name)) at = at[name];
    else return undefined;
  }
  return at;
}

const scriptBytesMax = 1024 * 1024;

interface ImportSummary {
  readonly types: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Why a type is refused. */
  readonly problems: readonly LibraryNote[];
  /** What is missing or odd about a type that is taken. */
  readonly warnings: readonly LibraryNote[];
}

function scriptOf(current: Script | null, code: string | null): Script | null {
  if (code === null) return null;
  if (Buffer.byteLength(code) > scriptBytesMax) {
    throw problem('invalidRequest', { reason: `a script must be at most ${scriptBytesMax} bytes` });
  }
  if (current?.code === code) return current;
  return { code, version: (current?.version ?? -1) + 1 };
}

type Content = Omit<DeviceType, 'id' | 'created' | 'updated' | 'version'>;

function contentOf(
  type: LibraryType,
  organizationId: string,
  current: DeviceType | undefined,
  pictureUrl: string | null,
): Content {
  return {
    organizationId,
    name: type.name,
    description: type.description,
    type: 'library',
    meta: type.meta,
    schemas: type.schemas,
    sampleData: current?.sampleData ?? null,
    calculatedKeys: current?.calculatedKeys ?? [],
    uplinkScript: scriptOf(current?.uplinkScript ?? null, type.uplinkCode),
    downlinkScript: scriptOf(current?.downlinkScript ?? null, type.downlinkCode),
    libraryPath: longer(type.libraryPath, current?.libraryPath ?? ''),
    pictureUrl,
  };
}

/** Both name the same folder; the longer one starts nearer to the library's root. */
function longer(left: string, right: string): string {
  if (right.length > left.length) return right;
  return left;
}

function isSame(current: DeviceType, content: Content): boolean {
  const fields = Object.keys(content) as (keyof Content)[];
  return fields.every((field) => JSON.stringify(current[field]) === JSON.stringify(content[field]));
}

/**
 * Creates new types and updates changed ones. An invalid type is a problem in the summary and does
 * not stop the others. The same files again change nothing. Problems of schemas and pictures are
 * warnings (contract 36).
 */
export async function importLibrary(
  records: Records,
  organizationId: string,
  { files, pictures }: { readonly files: LibraryFiles; readonly pictures: LibraryPictures },
): Promise<ImportSummary> {
  const { types, problems, warnings } = await readLibrary(files);
  const told = { problems: [...problems], warnings: [...warnings] };
  const counts = { created: 0, updated: 0, unchanged: 0 };
  const byFolder = picturesByFolder(pictures);
  await change(records, async (step) => {
    const stored = await deviceTypeRows.library(step.db, organizationId);
    const known = new Map(stored.map((type) => [identityOf(type.libraryPath ?? ''), type]));
    for (const type of types) {
      const current = known.get(identityOf(type.libraryPath));
      const warn = (path: string, message: string): void =>
        void told.warnings.push({ path, message });
      try {
        const own = byFolder.get(type.libraryPath);
        // A refused type must leave no picture behind.
        const content = contentOf(type, organizationId, current, current?.pictureUrl ?? null);
        const pictureUrl = await pictureOf(step, {
          organizationId,
          current: content.pictureUrl,
          own,
          warn,
        });
        counts[await save(step, { ...content, pictureUrl }, current)] += 1;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        told.problems.push({ path: type.libraryPath, message: error.message });
      }
    }
  });
  return { types: types.length, ...counts, ...told };
}

async function save(
  step: Step,
  content: Content,
  current: DeviceType | undefined,
): Promise<'created' | 'updated' | 'unchanged'> {
  const now = step.now();
  if (current === undefined) {
    const record = { ...content, id: newId('deviceType'), ...firstVersion(now) };
    await deviceTypeRows.insert(step.db, record);
    step.announce({ kind: 'deviceType', id: record.id, action: 'created' });
    return 'created';
  }
  if (isSame(current, content)) return 'unchanged';
  await deviceTypeRows.save(step.db, {
    ...current,
    ...content,
    ...nextVersion(current, undefined, now),
  });
  step.announce({ kind: 'deviceType', id: current.id, action: 'updated' });
  return 'updated';
}

// Pictures of a device type library: one blob per type (contract 7, 31).

/** Path within the library, with slashes, to base64. */
type LibraryPictures = ReadonlyMap<string, string>;

const pictureBytesMax = 1024 * 1024;
const contentTypes: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
]);

interface Picture {
  readonly path: string;
  readonly base64: string;
}

/** The first picture of each folder by name; folders without the last slash. */
function picturesByFolder(pictures: LibraryPictures): ReadonlyMap<string, Picture> {
  const byFolder = new Map<string, Picture>();
  const sorted = [...pictures].sort(([left], [right]) => (left < right ? -1 : 1));
  for (const [path, base64] of sorted) {
    const folder = folderOf(path).replace(/\/$/, '');
    if (isLibraryPath(path) && !byFolder.has(folder)) byFolder.set(folder, { path, base64 });
  }
  return byFolder;
}

const urlPattern = /^\/v3\/blobs\/([0-9a-f]+)\/content$/;

/**
 * The URL of the type's picture after the import. A new blob replaces the old one; an invalid
 * picture is a warning.
 */
async function pictureOf(
  step: Step,
  type: {
    readonly organizationId: string;
    readonly current: string | null;
    readonly own: Picture | undefined;
    readonly warn: (path: string, message: string) => void;
  },
): Promise<string | null> {
  const { organizationId, current, own, warn } = type;
  if (own === undefined) return current;
  const content = Buffer.from(own.base64, 'base64');
  const name = own.path.slice(folderOf(own.path).length);
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  const sent = contentTypes.get(extension);
  const refusal = await refusalOf(step, organizationId, content, sent);
  if (refusal !== undefined || sent === undefined) {
    warn(own.path, `skipped: ${refusal}`);
    return current;
  }
  const sha256 = sha256Of(content);
  const replaced = await blobRows.find(step.db, urlPattern.exec(current ?? '')?.[1] ?? '');
  if (replaced?.sha256 === sha256) return current;
  if (replaced !== undefined && replaced.organizationId === organizationId) {
    await blobRows.remove(step.db, replaced.id);
    step.announce({ kind: 'blob', id: replaced.id, action: 'deleted' });
  }
  const record: Blob = {
    id: newId('blob'),
    organizationId,
    workspaceId: null,
    name: name.slice(0, blobLimits.nameLengthMax),
    description: null,
    contentType: sent,
    size: content.length,
    sha256,
    ...firstVersion(step.now()),
  };
  await blobRows.insert(step.db, record, content);
  step.announce({ kind: 'blob', id: record.id, action: 'created' });
  return `/v3/blobs/${record.id}/content`;
}

async function refusalOf(
  step: Step,
  organizationId: string,
  content: Uint8Array,
  contentType: string | undefined,
): Promise<string | undefined> {
  if (contentType === undefined)
    return `its type must be one of ${[...contentTypes.keys()].join(', ')}`;
  if (content.length > pictureBytesMax) return `it must be at most ${pictureBytesMax} bytes`;
  try {
    checkedContentType(contentType, content);
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
  const bytes = (await blobRows.bytesOf(step.db, organizationId)) + content.length;
  if (bytes <= blobLimits.organizationBytesMax) return undefined;
  return "the organization's blob quota is used up";
}
