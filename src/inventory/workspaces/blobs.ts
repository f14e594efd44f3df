// Blobs: create, read, download, delete (contract 31).
import { createHash } from 'node:crypto';
import { type Blob, blobBytesMax } from '../../model/blob.ts';
import { newId } from '../../model/ids.ts';
import { formatInstant } from '../../model/instant.ts';
import { parsedJson } from '../../model/json-keys.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { blobRows } from '../../storage/records/rows/blobs.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import { change, firstVersion, found } from '../record-crud.ts';

export const blobLimits = {
  organizationBytesMax: 1024 * 1024 * 1024,
  nameLengthMax: 255,
};

/** Hexadecimal. */
export function sha256Of(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function view(record: Blob) {
  const { id, name, contentType, size, organizationId, workspaceId, sha256, created } = record;
  return {
    id,
    name,
    contentType,
    size,
    organizationId,
    workspaceId,
    sha256,
    created: formatInstant(created),
  };
}

/** Blobs as callers store and read them. */
export class Blobs {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Of the workspace when one is named, else of the organization. */
  async create(
    principal: Principal,
    place: {
      readonly organizationId?: string | undefined;
      readonly workspaceId?: string | undefined;
    },
    file: {
      readonly name: string;
      readonly contentType: string | undefined;
      readonly content: Uint8Array;
    },
  ) {
    if (place.organizationId === undefined && place.workspaceId === undefined) {
      throw problem('invalidRequest', { reason: 'Set organizationId or workspaceId' });
    }
    const workspaceIds = [place.workspaceId ?? []].flat();
    const reach = { organizationId: place.organizationId, workspaceIds };
    const { organizationId } = await listReach(this.#records, principal, reach, ['blob', 'create']);
    const { content } = file;
    if (content.length === 0) throw problem('invalidRequest', { reason: 'The file is empty' });
    if (content.length > blobBytesMax) throw problem('payloadTooLarge', { bytesMax: blobBytesMax });
    const record: Blob = {
      id: newId('blob'),
      organizationId,
      workspaceId: place.workspaceId ?? null,
      name: file.name.slice(0, blobLimits.nameLengthMax),
      description: null,
      contentType: checkedContentType(file.contentType, content),
      size: content.length,
      sha256: sha256Of(content),
      ...firstVersion(this.#records.now()),
    };
    await change(this.#records, async (step) => {
      const bytes = (await blobRows.bytesOf(step.db, organizationId)) + record.size;
      if (bytes > blobLimits.organizationBytesMax) {
        throw problem('payloadTooLarge', { bytesMax: blobLimits.organizationBytesMax });
      }
      await blobRows.insert(step.db, record, content);
      step.announce({ kind: 'blob', id: record.id, action: 'created' });
    });
    return view(record);
  }

  /** Files of the named workspaces; without any, all of the organization. */
  async list(
    principal: Principal,
    filter: ListScope & { readonly search?: string | undefined },
    page: PageRequest,
  ) {
    const reach = await listReach(this.#records, principal, filter);
    const { rows, total } = await blobRows.list(
      this.#records.db,
      { ...reach, search: filter.search },
      page,
    );
    return pageOf(rows.map(view), total, page);
  }

  async read(id: string) {
    return view(found(await blobRows.find(this.#records.db, id), 'blob', id));
  }

  /** The bytes, and the headers of a download. */
  async readContent(id: string) {
    const record = found(await blobRows.find(this.#records.db, id), 'blob', id);
    const content = found(await blobRows.content(this.#records.db, id), 'blob', id);
    return { content, headers: downloadHeaders(record.contentType, record.name) };
  }

  async remove(id: string): Promise<void> {
    await change(this.#records, async (step) => {
      found(await blobRows.find(step.db, id), 'blob', id);
      await blobRows.remove(step.db, id);
      step.announce({ kind: 'blob', id, action: 'deleted' });
    });
  }
}

// Blob content: the types that are accepted, and the check of the bytes against the type (contract 31).

type Looks = (bytes: Uint8Array) => boolean;

const startsWith =
  (...magic: readonly number[]): Looks =>
  (bytes) =>
    magic.every((byte, at) => bytes[at] === byte);
const ascii =
  (text: string, from = 0): Looks =>
  (bytes) =>
    Buffer.from(bytes.subarray(from, from + text.length)).toString('latin1') === text;

const isText: Looks = (bytes) => {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\0');
  } catch {
    return false;
  }
};

const isSvg: Looks = (bytes) => isText(bytes) && Buffer.from(bytes).includes('<svg');

const isJson: Looks = (bytes) => {
  try {
    parsedJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
};

/**
 * No HTML and no script. Browsers run no script of an SVG in an `img`, and none of a download in a
 * sandbox.
 */
const contentTypes: ReadonlyMap<string, Looks> = new Map(
  Object.entries({
    'image/png': startsWith(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
    'image/jpeg': startsWith(0xff, 0xd8, 0xff),
    'image/gif': ascii('GIF8'),
    'image/webp': (bytes) => ascii('RIFF')(bytes) && ascii('WEBP', 8)(bytes),
    'image/svg+xml': isSvg,
    'application/pdf': ascii('%PDF-'),
    'application/zip': ascii('PK'),
    'application/json': isJson,
    'text/plain': isText,
    'text/csv': isText,
    'application/octet-stream': () => true,
  }),
);

/** Safe to show in a browser; everything else is only downloaded. */
const shownInline: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]);

/**
 * The content type without parameters. Throws 415 for a type that is not accepted, 400 for bytes of
 * another type.
 */
export function checkedContentType(sent: string | undefined, content: Uint8Array): string {
  const [named = ''] = (sent ?? 'application/octet-stream').split(';', 1);
  const type = named.trim().toLowerCase();
  const looks = contentTypes.get(type);
  if (looks === undefined)
    throw problem('blobTypeNotTaken', { contentType: type, taken: [...contentTypes.keys()] });
  if (!looks(content))
    throw problem('invalidRequest', { reason: `The content does not match the type ${type}` });
  return type;
}

/** Headers of a download, which make untrusted content harmless. */
function downloadHeaders(contentType: string, name: string): Readonly<Record<string, string>> {
  const kind = shownInline.has(contentType) ? 'inline' : 'attachment';
  const charset = contentType.startsWith('text/') ? '; charset=utf-8' : '';
  const plain = name.replace(/[^\w. -]/g, '_');
  return {
    'content-type': contentType + charset,
    'content-disposition': `${kind}; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  };
}
