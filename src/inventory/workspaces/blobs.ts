// Blobs: create, read, download, delete (contract 31).
import { createHash } from 'node:crypto';
import { type Blob, blobBytesMax } from '../../model/blob.ts';
import { newId } from '../../model/ids.ts';
import { formatInstant } from '../../model/instant.ts';
import { type PageRequest, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import {
  blobBytesOf,
  findBlob,
  findBlobContent,
  insertBlob,
  listBlobs as listRows,
  removeBlob,
} from '../../storage/records/rows/blobs.ts';
import type { Records } from '../../storage/records/records.ts';
import { checkedContentType, downloadHeaders } from './blob-content.ts';
import { change, firstVersion, found } from '../record-change.ts';
import { type ListScope, listReach } from '../list-scope.ts';

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

/** Of the workspace when one is named, else of the organization. */
export async function createBlob(
  records: Records,
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
  const { organizationId } = await listReach(records, principal, reach, ['blob', 'create']);
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
    ...firstVersion(records.now()),
  };
  await change(records, async (step) => {
    const bytes = (await blobBytesOf(step.db, organizationId)) + record.size;
    if (bytes > blobLimits.organizationBytesMax) {
      throw problem('payloadTooLarge', { bytesMax: blobLimits.organizationBytesMax });
    }
    await insertBlob(step.db, record, content);
    step.announce({ kind: 'blob', id: record.id, action: 'created' });
  });
  return view(record);
}

/** Files of the named workspaces; without any, all of the organization. */
export async function listBlobs(
  records: Records,
  principal: Principal,
  filter: ListScope & { readonly search?: string | undefined },
  page: PageRequest,
) {
  const reach = await listReach(records, principal, filter);
  const { rows, total } = await listRows(records.db, { ...reach, search: filter.search }, page);
  return pageOf(rows.map(view), total, page);
}

export async function readBlob(records: Records, id: string) {
  return view(found(await findBlob(records.db, id), 'blob', id));
}

/** The bytes, and the headers of a download. */
export async function readBlobContent(records: Records, id: string) {
  const record = found(await findBlob(records.db, id), 'blob', id);
  const content = found(await findBlobContent(records.db, id), 'blob', id);
  return { content, headers: downloadHeaders(record.contentType, record.name) };
}

export async function deleteBlob(records: Records, id: string): Promise<void> {
  await change(records, async (step) => {
    found(await findBlob(step.db, id), 'blob', id);
    await removeBlob(step.db, id);
    step.announce({ kind: 'blob', id, action: 'deleted' });
  });
}
