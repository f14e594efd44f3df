// Device type library import: creates or updates types by their path, all in one transaction (contract 7).
import type { Blob } from '../../model/blob.ts';
import type { DeviceType, Script } from '../../model/device-type.ts';
import { newId } from '../../model/ids.ts';
import { Problem, problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { blobBytesOf, findBlob, insertBlob, removeBlob } from '../../storage/records/rows/blobs.ts';
import { deviceTypeRows, findLibraryTypes } from '../../storage/records/rows/device-types.ts';
import { change, firstVersion, nextVersion, type Step } from '../record-change.ts';
import { blobLimits, checkedContentType, sha256Of } from '../workspaces/blobs.ts';
import {
  folderOf,
  identityOf,
  isLibraryPath,
  type LibraryFiles,
  type LibraryNote,
  type LibraryType,
  readLibrary,
} from './library-files.ts';

const scriptBytesMax = 1024 * 1024;

export interface ImportSummary {
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
    const stored = await findLibraryTypes(step.db, organizationId);
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
  const replaced = await findBlob(step.db, urlPattern.exec(current ?? '')?.[1] ?? '');
  if (replaced?.sha256 === sha256) return current;
  if (replaced !== undefined && replaced.organizationId === organizationId) {
    await removeBlob(step.db, replaced.id);
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
  await insertBlob(step.db, record, content);
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
  const bytes = (await blobBytesOf(step.db, organizationId)) + content.length;
  if (bytes <= blobLimits.organizationBytesMax) return undefined;
  return "the organization's blob quota is used up";
}
