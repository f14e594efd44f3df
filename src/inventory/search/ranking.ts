// Ranking of search hits: exact ids, then names by how they match, then other fields.
import { type SearchField, type SearchHit, searchKinds } from '../../model/search.ts';
import type { FoundRow } from '../../records/rows/search.ts';

export interface Candidate extends FoundRow {
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
export function rankedHits(
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
