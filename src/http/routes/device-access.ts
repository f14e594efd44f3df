// Device access: the devices, tags and places of data queries, and the check of their permissions.
import type { IncomingHttpHeaders } from 'node:http';
import type { Static } from 'typebox';
import type { deviceParams, placeParams, tagParams } from '../../contract/sample-queries.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Principal, Scope, Verb } from '../../model/principal.ts';
import { problem, Problem } from '../../model/problem.ts';
import type { Place } from '../../model/record.ts';
import type { QueriedDevice, ReadingStore } from '../../query/accumulation.ts';
import type { Calendars } from '../../query/calendars.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import type { DeviceType } from '../../model/device-type.ts';
import type { EpochMs } from '../../model/instant.ts';

/** A message names ids up to this length. */
const shownIdsMax = 200;

export interface DeviceAccess {
  /** Where a device lives, by service device id; throws Problem `notFound`. */
  readonly placeOfDevice: (deviceId: string) => Place | Promise<Place>;
  /** Custom field name to value; throws Problem `notFound`. */
  readonly fieldsOfDevice: (deviceId: string) => JsonObject | Promise<JsonObject>;
  /** Where a tag lives; throws Problem `notFound`. */
  readonly placeOfTag: (tagId: string) => Place | Promise<Place>;
  /** All devices that carry the tag, in order of name, then id. */
  readonly devicesOfTag: (
    tagId: string,
  ) => readonly QueriedDevice[] | Promise<readonly QueriedDevice[]>;
  /** Where a place (contract 39.2) lives; throws Problem `notFound`. */
  readonly ownerOfPlace: (placeId: string) => Place | Promise<Place>;
  /** All devices at the place and below it, in order of name, then id. */
  readonly devicesOfPlace: (
    placeId: string,
  ) => readonly QueriedDevice[] | Promise<readonly QueriedDevice[]>;
  /** Throws Problem `notFound`. */
  readonly ownerOfWorkspace: (workspaceId: string) => Place | Promise<Place>;
  /**
   * The devices at and below each place: of those of the workspace with the ids, or directly below
   * the parent (null: of those at the top). Throws Problem 400 for too many places or devices.
   */
  readonly devicesByPlace: (
    workspaceId: string,
    of: { readonly parentId: string | null } | { readonly placeIds: readonly string[] },
  ) => Promise<ReadonlyMap<string, readonly string[]>>;
  /** Throws Problem 403, or 404 for a place of another organization. */
  readonly authorize: (principal: Principal, scope: Scope, verb: Verb, place: Place) => void;
  /** Whether an answer to these headers carries the names that older clients read (contract 34). */
  readonly aliased: (headers: IncomingHttpHeaders) => boolean;
}

/** What routes of queries read with. */
export interface Queries extends DeviceAccess {
  readonly calendars: Calendars;
  readonly records: Inventory;
  readonly store: ReadingStore;
  readonly now: () => EpochMs;
  /** Null for a device without a type. Throws Problem `notFound`. */
  readonly typeOfDevice: (deviceId: string) => Promise<DeviceType | null>;
}

/** Finds the device of the path. */
export function deviceInPath({
  placeOfDevice,
}: {
  readonly placeOfDevice: (deviceId: string) => Place | Promise<Place>;
}) {
  return ({ deviceId }: Static<typeof deviceParams>) => placeOfDevice(deviceId);
}

/** Finds the tag of the path. */
export function tagInPath({ placeOfTag }: DeviceAccess) {
  return ({ tagId }: Static<typeof tagParams>) => placeOfTag(tagId);
}

/** Finds the place of the path. */
export function placeInPath({ ownerOfPlace }: DeviceAccess) {
  return ({ placeId }: Static<typeof placeParams>) => ownerOfPlace(placeId);
}

/**
 * The named devices, each once, in their order. Unknown ones, as those of other organizations, are
 * omitted (contract 36). Throws Problem 404 when all are unknown, and 403 when one may not be read.
 */
export async function readableDevices(
  deviceIds: readonly string[],
  principal: Principal,
  parts: DeviceAccess,
): Promise<QueriedDevice[]> {
  const named = [...new Set(deviceIds)];
  const found = named.map((id) => knownOrRead(() => parts.placeOfDevice(id)));
  // Devices in memory need no promise; the others are read together.
  const places = found.some((place) => place instanceof Promise)
    ? await Promise.all(found.map(async (place) => place))
    : (found as readonly Found[]);
  const devices = places.flatMap((place) =>
    place !== undefined && isReadable(principal, place, parts) ? [queriedAt(place.id, place)] : [],
  );
  if (devices.length === 0)
    throw problem('notFound', { what: 'device', id: named.join(', ').slice(0, shownIdsMax) });
  return devices;
}

type Found = Place | undefined;

/** Undefined for a device that does not exist. */
function knownOrRead(read: () => Place | Promise<Place>): Found | Promise<Found> {
  try {
    const place = read();
    return place instanceof Promise ? place.catch(noneIfNotFound) : place;
  } catch (error) {
    return noneIfNotFound(error);
  }
}

/** False for a device of another organization. Throws Problem 403. */
function isReadable(principal: Principal, place: Place, { authorize }: DeviceAccess): boolean {
  try {
    authorize(principal, 'asset', 'read', place);
    return true;
  } catch (error) {
    noneIfNotFound(error);
    return false;
  }
}

/** Throws any other error. */
export function noneIfNotFound(error: unknown): undefined {
  if (error instanceof Problem && error.problem === 'notFound') return undefined;
  throw error;
}

/** The device as queries know it; throws Problem `notFound`. */
export async function queriedDevice(
  deviceId: string,
  { placeOfDevice }: DeviceAccess,
): Promise<QueriedDevice> {
  return queriedAt(deviceId, await placeOfDevice(deviceId));
}

function queriedAt(id: string, { workspaceId }: Place): QueriedDevice {
  if (workspaceId === null) throw new Error(`Device ${id} has no workspace`);
  return { id, workspaceId };
}
