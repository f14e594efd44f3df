// Search over all records that a principal may read (contract 37).
import { holds, type Principal, type Scope, type Verb } from '../../model/principal.ts';
import {
  type SearchKind,
  searchKinds,
  searchLimitDefault,
  type searchFields,
} from '../../model/search.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import {
  type FoundDevice,
  type FoundRow,
  type NamedKind,
  type SearchedPlace,
  recordSearch,
} from '../../storage/records/rows/search.ts';
import { listReach, type ListScope, ownOrganization } from '../list-scope.ts';

// Ranking of search hits: exact ids, then names by how they match, then other fields.

interface Candidate extends FoundRow {
  /** What matched, when it is not found in the searched values. */
  readonly exact?: SearchHit['match'];
  readonly tag?: string;
}

const ranks = {
  exact: 0,
  sameName: 1,
  nameStart: 2,
  wordStarts: 3,
  inName: 4,
  elsewhere: 5,
  tag: 6,
};

const kindOrder = new Map(searchKinds.map((kind, at) => [kind, at]));

interface Ranked {
  readonly hit: SearchHit;
  readonly rank: number;
}

/** The best hits of each record, in order of rank, kind and name; at most `limit`. */
function rankedHits(
  candidates: readonly Candidate[],
  words: readonly string[],
  limit: number,
): SearchHit[] {
  const best = new Map<string, Ranked>();
  for (const candidate of candidates) {
    const ranked = rankOf(candidate, words);
    const known = best.get(candidate.id);
    if (known === undefined || ranked.rank < known.rank) best.set(candidate.id, ranked);
  }
  return [...best.values()]
    .sort(compareRanked)
    .slice(0, limit)
    .map(({ hit }) => hit);
}

function compareRanked(a: Ranked, b: Ranked): number {
  return (
    a.rank - b.rank ||
    orderOf(a.hit) - orderOf(b.hit) ||
    a.hit.name.localeCompare(b.hit.name) ||
    (a.hit.id < b.hit.id ? -1 : 1)
  );
}

function orderOf({ kind }: SearchHit): number {
  return kindOrder.get(kind) ?? 0;
}

function rankOf(candidate: Candidate, words: readonly string[]): Ranked {
  const { kind, id, name, workspaceId, exact, tag } = candidate;
  const hit = (match: SearchHit['match']) => ({ kind, id, name, workspaceId, match });
  if (exact !== undefined) return { rank: ranks.exact, hit: hit(exact) };
  const rank = nameRank(name.toLowerCase(), words);
  if (rank !== undefined) return { rank, hit: hit({ field: 'name', value: name }) };
  if (tag !== undefined) return { rank: ranks.tag, hit: hit({ field: 'tag', value: tag }) };
  return { rank: ranks.elsewhere, hit: hit(otherMatch(candidate, words)) };
}

function nameRank(name: string, words: readonly string[]): number | undefined {
  const phrase = words.join(' ');
  if (name === phrase) return ranks.sameName;
  if (name.startsWith(phrase)) return ranks.nameStart;
  if (!words.every((word) => name.includes(word))) return undefined;
  const starts = name.split(/[^\p{L}\p{N}]+/u);
  const begins = words.every((word) => starts.some((start) => start.startsWith(word)));
  return begins ? ranks.wordStarts : ranks.inName;
}

/** The searched value that contains the most telling word: the longest that the name lacks. */
function otherMatch(candidate: Candidate, words: readonly string[]): SearchHit['match'] {
  const name = candidate.name.toLowerCase();
  const word =
    words.filter((one) => !name.includes(one)).sort((a, b) => b.length - a.length)[0] ?? '';
  const values = candidate.searchText.slice(name.length + 1).split('\n');
  const value = values.find((one) => one.includes(word)) ?? candidate.id;
  return { field: fieldOf(candidate, value), value };
}

const otherFields: Readonly<Partial<Record<FoundRow['kind'], SearchField>>> = {
  DEVICE: 'deviceId',
  DEVICE_TYPE: 'manufacturer',
  MEMBER: 'email',
};

function fieldOf({ kind, id }: Candidate, value: string): SearchField {
  if (value === id) return 'id';
  return otherFields[kind] ?? 'name';
}

/** Further words would only narrow what is read, and each costs a comparison for every row. */
const wordsMax = 8;
/** The store would end a word at a zero byte. */
const controlCharacters = /\p{Cc}/gu;
/** Tags whose devices are found by the name of the tag. */
const tagsMax = 20;

/**
 * The best hits first. An id of a record finds this record and nothing else. Throws 404 for an
 * unknown place and 403 for one out of reach.
 */
export async function search(
  records: Records,
  principal: Principal,
  request: ListScope & {
    readonly q: string;
    readonly kinds?: readonly SearchKind[] | undefined;
    readonly limit?: number | undefined;
  },
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
  const [byId] = await recordSearch.byId(db, reach.places, phrase.toLowerCase());
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
  const found = await recordSearch.devicesByPhysicalId(
    db,
    place,
    { physicalId: phrase, eui },
    limit,
  );
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
  const starting = await recordSearch.byNameStart(db, places, phrase.toLowerCase(), limit);
  const counts = Map.groupBy(starting, ({ kind }) => kind);
  const isOpen = ({ kind }: SearchedPlace) => (counts.get(kind)?.length ?? 0) < limit;
  const containing = await recordSearch.byWords(db, places.filter(isOpen), words, limit);
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
  const tags = await recordSearch.byWords(db, places, words, tagsMax);
  const names = new Map(tags.map(({ id, name }) => [id, name]));
  const found = await recordSearch.devicesOfTags(db, place, [...names.keys()], limit);
  return found.map((row) => ({ ...row, tag: names.get(row.tagId) ?? '' }));
}

async function members(
  db: RecordsDb,
  organizationId: string,
  { reach, phrase, words, limit }: Sought & { readonly reach: SearchReach },
): Promise<Candidate[]> {
  if (!reach.members) return [];
  const rows = await recordSearch.members(db, organizationId, { id: phrase, words }, limit);
  return rows.map((row) => (row.id === phrase ? exactId(row) : row));
}

function placeOf(
  places: readonly SearchedPlace[],
  wanted: SearchedPlace['kind'],
): SearchedPlace | undefined {
  return places.find(({ kind }) => kind === wanted);
}

// Search reach: the kinds of records that a principal may read, and in which workspaces (contract 37).

interface SearchedKind {
  readonly needs: readonly [Scope, Verb];
  /** Whether the records are in workspaces; else they belong to the organization. */
  readonly inWorkspaces: boolean;
  /** Only signed-in users read them. */
  readonly userOnly?: true;
}

const inWorkspace = (scope: Scope): SearchedKind => ({
  needs: [scope, 'read'],
  inWorkspaces: true,
});
const inOrganization = (scope: Scope): SearchedKind => ({
  needs: [scope, 'read'],
  inWorkspaces: false,
});
const credential: SearchedKind = {
  needs: ['organization', 'manage'],
  inWorkspaces: false,
  userOnly: true,
};

const kinds: Readonly<Record<SearchKind, SearchedKind>> = {
  DEVICE: inWorkspace('asset'),
  TAG: inWorkspace('asset'),
  PLACE: inWorkspace('asset'),
  CUSTOM_FIELD: inWorkspace('asset'),
  DEVICE_TYPE: inOrganization('deviceType'),
  DATA_FLOW: inWorkspace('dataFlow'),
  DEVICE_CONNECTOR: inWorkspace('dataFlow'),
  OUTPUT_CONNECTOR: inWorkspace('dataFlow'),
  INTEGRATION: inWorkspace('integration'),
  RULE: inWorkspace('rule'),
  CUSTOM_LOGIC: inOrganization('customLogic'),
  DASHBOARD: inWorkspace('dashboard'),
  DASHBOARD_GROUP: inWorkspace('dashboard.group'),
  VIEW: inWorkspace('workspace'),
  BLOB: inWorkspace('blob'),
  WORKSPACE: inWorkspace('workspace'),
  MEMBER: inOrganization('organization.member'),
  API_KEY: credential,
  OAUTH_CLIENT: credential,
};

interface SearchReach {
  /** Every kind except members. */
  readonly places: readonly SearchedPlace[];
  readonly members: boolean;
}

/** `workspaceIds` are those that the request names and the principal reaches. */
function searchReach(
  principal: Principal,
  wanted: ReadonlySet<SearchKind>,
  workspaceIds: readonly string[] | undefined,
): SearchReach {
  const { organizationId, id: viewerId } = principal;
  const named = workspaceIds ?? reachedWorkspaces(principal);
  const places: SearchedPlace[] = [];
  for (const kind of searchKinds) {
    if (kind === 'MEMBER' || !wanted.has(kind)) continue;
    const readable = readableIn(principal, kinds[kind], named);
    if (readable === 'nowhere') continue;
    places.push({
      kind: kind satisfies NamedKind,
      organizationId,
      viewerId,
      workspaceIds: readable,
    });
  }
  const members = wanted.has('MEMBER') && readableIn(principal, kinds.MEMBER, named) !== 'nowhere';
  return { places, members };
}

function reachedWorkspaces({ workspaces }: Principal): readonly string[] | undefined {
  return workspaces === 'all' ? undefined : [...workspaces];
}

/** The workspaces with readable records; undefined for all, and for records of the organization. */
function readableIn(
  principal: Principal,
  { needs: [scope, verb], inWorkspaces, userOnly }: SearchedKind,
  named: readonly string[] | undefined,
): readonly string[] | undefined | 'nowhere' {
  if (userOnly && principal.kind !== 'USER') return 'nowhere';
  if (!inWorkspaces || named === undefined)
    return holds(principal, scope, verb, null) ? undefined : 'nowhere';
  const readable = named.filter((id) => holds(principal, scope, verb, id));
  return readable.length > 0 ? readable : 'nowhere';
}

type SearchField = (typeof searchFields)[number];

interface SearchHit {
  readonly kind: SearchKind;
  readonly id: string;
  readonly name: string;
  /** Null for records of the organization itself. */
  readonly workspaceId: string | null;
  readonly match: { readonly field: SearchField; readonly value: string };
}
