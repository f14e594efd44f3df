// Pictures of a device type library: one blob per type (contract 7, 31).
import type { Blob } from '../../model/blob.ts';
import { newId } from '../../model/new-id.ts';
import { Problem } from '../../model/problem.ts';
import { blobBytesOf, findBlob, insertBlob, removeBlob } from '../../records/rows/blobs.ts';
import { checkedContentType } from '../workspaces/blob-content.ts';
import { blobLimits, sha256Of } from '../workspaces/blobs.ts';
import { firstVersion, type Step } from '../record-change.ts';
import { folderOf, isLibraryPath } from './library-files.ts';

/** Path within the library, with slashes, to base64. */
export type LibraryPictures = ReadonlyMap<string, string>;

const pictureBytesMax = 1024 * 1024;
const contentTypes: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
]);

export interface Picture {
  readonly path: string;
  readonly base64: string;
}

/** The first picture of each folder by name; folders without the last slash. */
export function picturesByFolder(pictures: LibraryPictures): ReadonlyMap<string, Picture> {
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
export async function pictureOf(
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
