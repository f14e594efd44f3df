// Search over all records that a principal may read (contract 37).
import type { Principal } from '../../model/principal.ts';
import {
  type SearchHit,
  type SearchKind,
  searchKinds,
  searchLimitDefault,
} from '../../model/search.ts';
import type { Records, RecordsDb } from '../../records/records.ts';
import {
  findById,
  findByNameStart,
  findByWords,
  findDevicesByPhysicalId,
  findDevicesOfTags,
  findMembers,
  type FoundDevice,
  type FoundRow,
  type SearchedPlace,
} from '../../records/rows/search.ts';
import { type ListScope, listReach, ownOrganization } from '../list-scope.ts';
import { type Candidate, rankedHits } from './ranking.ts';
import { type SearchReach, searchReach } from './search-reach.ts';

/** Further words would only narrow what is read, and each costs a comparison for every row. */
const wordsMax = 8;
/** The store would end a word at a zero byte. */
const controlCharacters = /\p{Cc}/gu;
/** Tags whose devices are found by the name of the tag. */
const tagsMax = 20;

export interface SearchRequest extends ListScope {
  readonly q: string;
  readonly kinds?: readonly SearchKind[] | undefined;
  readonly limit?: number | undefined;
}

/**
 * The best hits first. An id of a record finds this record and nothing else. Throws 404 for an
 * unknown place and 403 for one out of reach.
 */
export async function search(
  records: Records,
  principal: Principal,
  request: SearchRequest,
): Promise<{ readonly hits: SearchHit[] }> {
  const { limit = searchLimitDefault, kinds = searchKinds } = request;
  const workspaceIds = await namedWorkspaces(records, principal, request);
  const { organizationId } = principal;
  // Reading many records holds up no other organization there.
  const db = records.elsewhere(organizationId);
  const phrase = request.q.replace(controlCharacters, ' ').trim();
  const words = phrase.toLowerCase().split(/\s+/).slice(0, wordsMax);
  const reach = searchReach(principal, new Set(kinds), workspaceIds);
  if (phrase === '') return { hits: [] };
  const [byId] = await findById(db, reach.places, phrase.toLowerCase());
  if (byId !== undefined) return { hits: rankedHits([exactId(byId)], words, limit) };
  const sought = { phrase, words, limit };
  const candidates = [
    ...(await exactDevices(db, reach, sought)),
    ...(await namedRecords(db, reach, sought)),
    ...(await devicesOfTags(db, principal, workspaceIds, { ...sought, reach })),
    ...(await members(db, organizationId, { ...sought, reach })),
  ];
  return { hits: rankedHits(candidates, words, limit) };
}

interface Sought {
  readonly phrase: string;
  readonly words: readonly string[];
  readonly limit: number;
}

async function namedWorkspaces(records: Records, principal: Principal, scope: ListScope) {
  if ((scope.workspaceIds ?? []).length > 0)
    return (await listReach(records, principal, scope)).workspaceIds;
  ownOrganization(principal, scope.organizationId);
  return undefined;
}

function exactId(row: FoundRow): Candidate {
  return { ...row, exact: { field: 'id', value: row.id } };
}

async function exactDevices(
  db: RecordsDb,
  { places }: SearchReach,
  { phrase, limit }: Sought,
): Promise<Candidate[]> {
  const place = placeOf(places, 'DEVICE');
  if (place === undefined) return [];
  // An EUI is also written in pairs, as in 00-11-22.
  const eui = phrase.replace(/[-:]/g, '');
  const found = await findDevicesByPhysicalId(db, place, { physicalId: phrase, eui }, limit);
  return found.map((row) => ({ ...row, exact: exactMatch(row, phrase) }));
}

function exactMatch({ deviceId, deviceEui }: FoundDevice, phrase: string): SearchHit['match'] {
  if (deviceId.toLowerCase() === phrase.toLowerCase())
    return { field: 'deviceId', value: deviceId };
  return { field: 'deviceEui', value: deviceEui ?? deviceId };
}

/** By the start of the name from an index; only kinds with too few such records are read through. */
async function namedRecords(
  db: RecordsDb,
  { places }: SearchReach,
  { phrase, words, limit }: Sought,
): Promise<Candidate[]> {
  const starting = await findByNameStart(db, places, phrase.toLowerCase(), limit);
  const counts = Map.groupBy(starting, ({ kind }) => kind);
  const isOpen = ({ kind }: SearchedPlace) => (counts.get(kind)?.length ?? 0) < limit;
  const containing = await findByWords(db, places.filter(isOpen), words, limit);
  return [...starting, ...containing];
}

/** Devices by the name of a tag that they carry. */
async function devicesOfTags(
  db: RecordsDb,
  principal: Principal,
  workspaceIds: readonly string[] | undefined,
  { reach, words, limit }: Sought & { readonly reach: SearchReach },
): Promise<Candidate[]> {
  const place = placeOf(reach.places, 'DEVICE');
  if (place === undefined) return [];
  const { places } = searchReach(principal, new Set(['TAG']), workspaceIds);
  const tags = await findByWords(db, places, words, tagsMax);
  const names = new Map(tags.map(({ id, name }) => [id, name]));
  const found = await findDevicesOfTags(db, place, [...names.keys()], limit);
  return found.map((row) => ({ ...row, tag: names.get(row.tagId) ?? '' }));
}

async function members(
  db: RecordsDb,
  organizationId: string,
  { reach, phrase, words, limit }: Sought & { readonly reach: SearchReach },
): Promise<Candidate[]> {
  if (!reach.members) return [];
  const rows = await findMembers(db, organizationId, { id: phrase, words }, limit);
  return rows.map((row) => (row.id === phrase ? exactId(row) : row));
}

function placeOf(
  places: readonly SearchedPlace[],
  wanted: SearchedPlace['kind'],
): SearchedPlace | undefined {
  return places.find(({ kind }) => kind === wanted);
}
