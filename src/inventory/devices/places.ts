// Places: create, read, list, move, delete, and the devices of one (contract 39.2).
import type { PlaceDevicesBody, PlaceDraft, PlaceUpdate } from '../../contract/places.ts';
import { type PageRequest, pageOf } from '../../model/page.ts';
import { type PathStep, type Plan, placeLimits, type PlaceRecord } from '../../model/place.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { Problem, problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { findBlob, findBlobContent } from '../../storage/records/rows/blobs.ts';
import {
  countPlaces,
  deviceCountsOfPlaces,
  healthOfPlaces,
  pathsOf,
  type PlaceCounts,
  placeRows,
  placesBelow,
  placeWithExternalId,
  removePlaces,
  siblingNamed,
  sizeOfTree,
} from '../../storage/records/rows/places.ts';
import { rulesUsing } from '../../storage/records/rows/rules.ts';
import { type ListScope, listReach } from '../list-scope.ts';
import {
  auditView,
  change,
  found,
  orCurrent,
  refuseWhenUsed,
  type Step,
  usersNamedMax,
} from '../record-change.ts';
import { Crud, placeIn } from '../record-crud.ts';
import { changeDevices, type DeviceChange } from './device-batch.ts';
import { pictureSize, pictureTypes } from './picture-size.ts';

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

async function views(records: Pick<Records, 'db'>, rows: readonly PlaceRecord[]) {
  const ids = rows.map(({ id }) => id);
  const paths = await pathsOf(records.db, ids);
  const counts = await deviceCountsOfPlaces(records.db, ids);
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
  const sibling = await siblingNamed(step.db, record);
  if (sibling !== undefined && sibling !== record.id) {
    const where =
      parentId === null ? 'the top of the tree' : `place ${await nameOf(step, parentId)}`;
    throw problem('placeTaken', { field: 'name', value: name, where });
  }
  if (externalId === null || externalId === current?.externalId) return;
  const other = await placeWithExternalId(step.db, workspaceId, externalId);
  if (other !== undefined)
    throw problem('placeTaken', {
      field: 'externalId',
      value: externalId,
      where: 'this workspace',
    });
}

/** Throws 409 when the workspace has no room for another place. */
async function checkCount(step: Step, workspaceId: string): Promise<void> {
  if ((await countPlaces(step.db, workspaceId)) >= placesMax)
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
  const size = isMoved ? await sizeOfTree(step.db, id) : { places: 1, levels: 1 };
  if (size.places > movedMax)
    throw problem('invalidRequest', {
      reason: `body parentId: ${size.places} places would move; at most ${movedMax} can be moved at a time`,
    });
  if (parentId === null) return;
  const parent = await placeRows.find(step.db, parentId);
  if (parent?.workspaceId !== workspaceId) throw unknownPlace('parentId', parentId);
  const above = (await pathsOf(step.db, [parentId])).get(parentId) ?? [];
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
  const blob = await findBlob(records.db, blobId);
  if (blob?.workspaceId !== workspaceId)
    throw problem('unknownReference', {
      field: 'body plan.blobId',
      what: 'file',
      id: blobId,
      place: 'workspace',
    });
  const content = await findBlobContent(records.db, blobId);
  const size = content && pictureSize(blob.contentType, content);
  if (size === undefined)
    throw problem('invalidRequest', {
      reason: `body plan.blobId: must be a picture of type ${pictureTypes.join(', ')} with a width and height, got ${blob.contentType}`,
    });
  return { blobId, ...size };
}

export async function createPlace(records: Records, draft: PlaceDraft) {
  const record = await crud.create(records, async (step, fields) => ({
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
  return readPlace(records, record.id);
}

export async function readPlace(records: Records, id: string) {
  const record = await crud.read(records, id);
  const [shown = view(record, undefined)] = await views(records, [record]);
  return shown;
}

/** `parentId`: only those directly below it; `null`: those at the top of the tree. */
export async function listPlaces(
  records: Records,
  principal: Principal,
  filter: ListScope & {
    readonly search?: string | undefined;
    readonly parentId?: string | undefined;
    readonly hasPlan?: boolean | undefined;
  },
  page: PageRequest,
) {
  const reach = await listReach(records, principal, filter);
  const { search, parentId, hasPlan } = filter;
  const wanted = { ...reach, search, hasPlan, parentId: parentId === 'null' ? null : parentId };
  const { rows, total } = await placeRows.list(records.db, wanted, page);
  return pageOf(await views(records, rows), total, page);
}

/** By place; without those in whose workspace the principal cannot read alarms. */
export async function readHealthOfPlaces(
  records: Records,
  principal: Principal,
  places: readonly { readonly id: string; readonly workspaceId: string }[],
) {
  const shown = places.filter(({ workspaceId }) => holds(principal, 'rule', 'read', workspaceId));
  const { organizationId } = principal;
  return healthOfPlaces(
    records.elsewhere(organizationId),
    shown.map(({ id }) => id),
  );
}

export async function updatePlace(records: Records, id: string, sent: PlaceUpdate) {
  await change(records, async (step) => {
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
  return readPlace(records, id);
}

/**
 * Throws 409 for a place with places below it, with devices, or that a rule uses. With `force` all
 * that is below goes too, the devices are at no place, and the rules find no device there.
 */
export async function deletePlace(records: Records, id: string, force = false): Promise<void> {
  await change(records, async (step) => {
    await crud.read(step, id);
    const ids = await placesBelow(step.db, id);
    if (!force) refuseWhenUsed('place', await usersOf(step, id, ids.length - 1));
    await removePlaces(step.db, ids);
    for (const each of ids) step.announce({ kind: 'place', id: each, action: 'deleted' });
  });
}

async function usersOf({ db }: Step, id: string, below: number): Promise<string[]> {
  const { devicesBelow = 0 } = (await deviceCountsOfPlaces(db, [id])).get(id) ?? {};
  const rules = await rulesUsing(db, 'place', id, usersNamedMax);
  return [
    ...(below > 0 ? [`${below} ${below === 1 ? 'place' : 'places'} below it`] : []),
    ...(devicesBelow > 0 ? [`${devicesBelow} ${devicesBelow === 1 ? 'device' : 'devices'}`] : []),
    ...rules.map((rule) => `rule ${rule.name} (${rule.id})`),
  ];
}

/** Each refused device says why, and stops no other. */
export async function changeDevicesOfPlace(
  records: Records,
  id: string,
  { add, remove, positions }: PlaceDevicesBody,
) {
  const place = found(await placeRows.find(records.db, id), 'place', id);
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
  const outcomes = await change(records, (step) => changeDevices(step, asked, place.workspaceId));
  const refused = outcomes.flatMap((outcome, at) => {
    const deviceId = asked[at]?.id ?? '';
    return outcome instanceof Problem ? [{ deviceId, message: outcome.message }] : [];
  });
  return { changed: outcomes.length - refused.length, refused };
}
