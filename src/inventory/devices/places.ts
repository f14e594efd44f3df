// Places: create, read, list, move, delete, and the devices of one (contract 39.2).
import type { PlaceDevicesBody, PlaceDraft, PlaceUpdate } from '../../contract/places.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import { type PathStep, placeLimits, type PlaceRecord, type Plan } from '../../model/place.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem, Problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { blobRows } from '../../storage/records/rows/blobs.ts';
import { type PlaceCounts, placeRows } from '../../storage/records/rows/places.ts';
import { ruleRows } from '../../storage/records/rows/rules.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import {
  auditView,
  change,
  Crud,
  found,
  orCurrent,
  placeIn,
  refuseWhenUsed,
  type Step,
  usersNamedMax,
} from '../record-crud.ts';
import { changeDevices, type DeviceChange } from './device-batch.ts';

const { placesMax, depthMax, movedMax } = placeLimits;

const crud = new Crud<PlaceRecord>('place', 'place', () => placeRows, check);

const noDevices: PlaceCounts = { devices: 0, devicesBelow: 0 };

function view(
  record: PlaceRecord,
  path: readonly PathStep[] | undefined,
  counts: PlaceCounts = noDevices,
) {
  const { organizationId: _, ...place } = record;
  return { ...place, path: path ?? [], ...counts, ...auditView(record) };
}

async function views(records: Records, rows: readonly PlaceRecord[]) {
  const ids = rows.map(({ id }) => id);
  const paths = await placeRows.pathsOf(records.db, ids);
  const counts = await placeRows.deviceCountsOf(records.db, ids);
  return rows.map((row) => view(row, paths.get(row.id), counts.get(row.id)));
}

/** Throws 400, 404, or 409. */
async function check(
  step: Step,
  record: PlaceRecord,
  current: PlaceRecord | undefined,
): Promise<void> {
  const { workspaceId, parentId, name, externalId } = record;
  if (current === undefined) await checkCount(step, workspaceId);
  const isMoved = current !== undefined && current.parentId !== parentId;
  if (current === undefined || isMoved) await checkParent(step, record, isMoved);
  const sibling = await placeRows.siblingNamed(step.db, record);
  if (sibling !== undefined && sibling !== record.id) {
    const where =
      parentId === null ? 'the top of the tree' : `place ${await nameOf(step, parentId)}`;
    throw problem('placeTaken', { field: 'name', value: name, where });
  }
  if (externalId === null || externalId === current?.externalId) return;
  const other = await placeRows.withExternalId(step.db, workspaceId, externalId);
  if (other !== undefined)
    throw problem('placeTaken', {
      field: 'externalId',
      value: externalId,
      where: 'this workspace',
    });
}

/** Throws 409 when the workspace has no room for another place. */
async function checkCount(step: Step, workspaceId: string): Promise<void> {
  if ((await placeRows.count(step.db, workspaceId)) >= placesMax)
    throw problem('quotaReached', {
      limitName: 'places',
      limitMax: placesMax,
      per: 'workspace',
      what: 'places',
    });
}

/** The parent is of the workspace and not below the place, and the tree does not become too deep. */
async function checkParent(
  step: Step,
  { id, workspaceId, parentId }: PlaceRecord,
  isMoved: boolean,
): Promise<void> {
  const size = isMoved ? await placeRows.sizeOfTree(step.db, id) : { places: 1, levels: 1 };
  if (size.places > movedMax)
    throw problem('invalidRequest', {
      reason: `body parentId: ${size.places} places would move; at most ${movedMax} can be moved at a time`,
    });
  if (parentId === null) return;
  const parent = await placeRows.find(step.db, parentId);
  if (parent?.workspaceId !== workspaceId) throw unknownPlace('parentId', parentId);
  const above = (await placeRows.pathsOf(step.db, [parentId])).get(parentId) ?? [];
  if (above.some((place) => place.id === id)) throw problem('placeBelowItself', { id: parentId });
  if (above.length + size.levels > depthMax)
    throw problem('invalidRequest', {
      reason: `body parentId: the tree would have ${above.length + size.levels} levels; at most ${depthMax} are permitted`,
    });
}

async function nameOf(step: Step, id: string): Promise<string> {
  return (await placeRows.find(step.db, id))?.name ?? id;
}

function unknownPlace(field: string, id: string): Problem {
  return problem('unknownReference', {
    field: `body ${field}`,
    what: 'place',
    id,
    place: 'workspace',
  });
}

/** Throws 400 for a file that is no picture of the workspace. */
async function planOf(
  records: Records,
  workspaceId: string,
  sent: PlaceDraft['plan'],
): Promise<Plan | null> {
  if (!sent) return null;
  const { blobId } = sent;
  const blob = await blobRows.find(records.db, blobId);
  if (blob?.workspaceId !== workspaceId)
    throw problem('unknownReference', {
      field: 'body plan.blobId',
      what: 'file',
      id: blobId,
      place: 'workspace',
    });
  const content = await blobRows.content(records.db, blobId);
  const size = content && pictureSize(blob.contentType, content);
  if (size === undefined)
    throw problem('invalidRequest', {
      reason: `body plan.blobId: must be a picture of type ${pictureTypes.join(', ')} with a width and height, got ${blob.contentType}`,
    });
  return { blobId, ...size };
}

/** Places of a workspace as callers make and read them (contract 39.2). */
export class Places {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async create(draft: PlaceDraft) {
    const record = await crud.create(this.#records, async (step, fields) => ({
      ...fields,
      ...(await placeIn(step, draft.workspaceId)),
      parentId: draft.parentId ?? null,
      name: draft.name.trim(),
      description: draft.description ?? null,
      kind: draft.kind ?? null,
      externalId: draft.externalId ?? null,
      position: draft.position ?? null,
      plan: await planOf(step, draft.workspaceId, draft.plan),
      properties: draft.properties ?? {},
    }));
    return this.read(record.id);
  }

  async read(id: string) {
    const record = await crud.read(this.#records, id);
    const [shown = view(record, undefined)] = await views(this.#records, [record]);
    return shown;
  }

  /** `parentId`: only those directly below it; `null`: those at the top of the tree. */
  async list(
    principal: Principal,
    filter: ListScope & {
      readonly search?: string | undefined;
      readonly parentId?: string | undefined;
      readonly hasPlan?: boolean | undefined;
    },
    page: PageRequest,
  ) {
    const reach = await listReach(this.#records, principal, filter);
    const { search, parentId, hasPlan } = filter;
    const wanted = { ...reach, search, hasPlan, parentId: parentId === 'null' ? null : parentId };
    const { rows, total } = await placeRows.list(this.#records.db, wanted, page);
    return pageOf(await views(this.#records, rows), total, page);
  }

  /** By place; without those in whose workspace the principal cannot read alarms. */
  async healthOf(
    principal: Principal,
    places: readonly { readonly id: string; readonly workspaceId: string }[],
  ) {
    const shown = places.filter(({ workspaceId }) => holds(principal, 'rule', 'read', workspaceId));
    const { organizationId } = principal;
    return placeRows.healthOf(
      this.#records.elsewhere(organizationId),
      shown.map(({ id }) => id),
    );
  }

  async update(id: string, sent: PlaceUpdate) {
    await change(this.#records, async (step) => {
      const { workspaceId, plan: before } = await crud.read(step, id);
      const isKept = sent.plan === undefined || sent.plan?.blobId === before?.blobId;
      const plan = isKept ? before : await planOf(step, workspaceId, sent.plan);
      const named = sent.name === undefined ? sent : { ...sent, name: sent.name.trim() };
      await crud.update(step, id, named, (current) => ({
        parentId: orCurrent(sent.parentId, current.parentId),
        kind: orCurrent(sent.kind, current.kind),
        externalId: orCurrent(sent.externalId, current.externalId),
        position: orCurrent(sent.position, current.position),
        plan,
        properties: sent.properties === undefined ? current.properties : (sent.properties ?? {}),
      }));
    });
    return this.read(id);
  }

  /**
   * Throws 409 for a place with places below it, with devices, or that a rule uses. With `force` all
   * that is below goes too, the devices are at no place, and the rules find no device there.
   */
  async remove(id: string, force = false): Promise<void> {
    await change(this.#records, async (step) => {
      await crud.read(step, id);
      const ids = await placeRows.below(step.db, id);
      if (!force) refuseWhenUsed('place', await usersOf(step, id, ids.length - 1));
      await placeRows.removeAll(step.db, ids);
      for (const each of ids) step.announce({ kind: 'place', id: each, action: 'deleted' });
    });
  }

  /** Each refused device says why, and stops no other. */
  async changeDevices(id: string, { add, remove, positions }: PlaceDevicesBody) {
    const place = found(await placeRows.find(this.#records.db, id), 'place', id);
    const changes = new Map<string, DeviceChange & { readonly work: 'place' }>();
    const wanted = (deviceId: string) =>
      changes.get(deviceId) ?? { work: 'place' as const, id: deviceId, placeId: id };
    for (const deviceId of add ?? []) changes.set(deviceId, { ...wanted(deviceId), does: 'add' });
    for (const deviceId of remove ?? []) {
      if (changes.has(deviceId))
        throw problem('invalidRequest', {
          reason: `body remove: device ${deviceId} is also in add`,
        });
      changes.set(deviceId, { ...wanted(deviceId), does: 'remove' });
    }
    for (const { deviceId, x, y } of positions ?? [])
      changes.set(deviceId, { does: 'stay', ...wanted(deviceId), position: { x, y } });
    const asked = [...changes.values()];
    const outcomes = await change(this.#records, (step) =>
      changeDevices(step, asked, place.workspaceId),
    );
    const refused = outcomes.flatMap((outcome, at) => {
      const deviceId = asked[at]?.id ?? '';
      return outcome instanceof Problem ? [{ deviceId, message: outcome.message }] : [];
    });
    return { changed: outcomes.length - refused.length, refused };
  }
}

async function usersOf({ db }: Step, id: string, below: number): Promise<string[]> {
  const { devicesBelow = 0 } = (await placeRows.deviceCountsOf(db, [id])).get(id) ?? {};
  const rules = await ruleRows.using(db, 'place', id, usersNamedMax);
  return [
    ...(below > 0 ? [`${below} ${below === 1 ? 'place' : 'places'} below it`] : []),
    ...(devicesBelow > 0 ? [`${devicesBelow} ${devicesBelow === 1 ? 'device' : 'devices'}`] : []),
    ...rules.map((rule) => `rule ${rule.name} (${rule.id})`),
  ];
}

// Picture size: width and height of a PNG, JPEG, WebP or SVG file, read from its header.

interface PictureSize {
  readonly width: number;
  readonly height: number;
}

type Read = (bytes: Buffer) => PictureSize | undefined;

const readers: Readonly<Record<string, Read>> = {
  'image/png': pngSize,
  'image/jpeg': jpegSize,
  'image/webp': webpSize,
  'image/svg+xml': svgSize,
};

export const pictureTypes = Object.keys(readers);

/**
 * Undefined for other types, for a damaged header, and for a picture without extent. Of an SVG the
 * view box counts, else its width and height in pixels.
 */
export function pictureSize(contentType: string, content: Uint8Array): PictureSize | undefined {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const size = readers[contentType]?.(bytes);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function pngSize(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Segments are walked up to the frame header; each has its length behind its marker. */
function jpegSize(bytes: Buffer): PictureSize | undefined {
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    // C4, C8 and CC are tables.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** The first chunk says whether the picture is lossy, lossless or extended. */
function webpSize(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 30) return undefined;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

/** Bytes in which the element must begin: enough for what programs write before it. */
const svgStartMax = 8 * 1024;

function svgSize(bytes: Buffer): PictureSize | undefined {
  const start = bytes.toString('utf8', 0, svgStartMax).replace(/<!--[^]*?-->/g, '');
  const from = start.search(/<svg[\s>]/);
  const end = start.indexOf('>', from);
  if (from === -1 || end === -1) return undefined;
  const element = start.slice(from, end);
  const attribute = (name: string) =>
    new RegExp(`\\s${name}\\s*=\\s*["']([^"']{1,100})["']`).exec(element)?.[1]?.trim();
  const [, , width, height] = (attribute('viewBox') ?? '').split(/[\s,]+/).map(Number);
  if (width !== undefined && height !== undefined && Number.isFinite(width * height))
    return { width, height };
  const pixels = (text = '') => (/^\d{1,9}(\.\d{1,9})?(px)?$/.test(text) ? parseFloat(text) : 0);
  return { width: pixels(attribute('width')), height: pixels(attribute('height')) };
}
