// Search of the palette: what the typed words ask for, and the answer of the platform.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ask, platform } from '../api/platform.ts';
import { useSettledValue } from '../live/use-settled-value.ts';
import type { Hit, HitKind } from './hit-places.ts';

const hitsMax = 20;
const wordsLengthMax = 200;

export type Scope = 'all' | 'commands' | 'tags' | 'members';

export interface Wanted {
  readonly scope: Scope;
  /** Without the sign of the scope. */
  readonly words: string;
}

const scopes: Readonly<Record<string, Scope>> = { '>': 'commands', '#': 'tags', '@': 'members' };
const kindsOf: Partial<Readonly<Record<Scope, HitKind>>> = { tags: 'TAG', members: 'MEMBER' };

export function wantedOf(typed: string): Wanted {
  const scope = scopes[typed.trimStart().slice(0, 1)];
  const words = scope === undefined ? typed : typed.trimStart().slice(1);
  return { scope: scope ?? 'all', words: words.trim().slice(0, wordsLengthMax) };
}

export interface Found {
  readonly hits: readonly Hit[];
  /** The words that the hits are for. */
  readonly words: string;
}

/** Asks once the typist pauses; an answer that is no longer wanted is aborted. */
export function useFound(wanted: Wanted) {
  const words = useSettledValue(wanted.words);
  const { scope } = wanted;
  const kinds = kindsOf[scope];
  return useQuery({
    queryKey: ['search', scope, words],
    enabled: words !== '' && scope !== 'commands',
    placeholderData: keepPreviousData,
    // Without a network the palette says so, and is asked again with the next letter.
    networkMode: 'always',
    retry: false,
    queryFn: async ({ signal }): Promise<Found> => {
      const query = { q: words, limit: hitsMax, ...(kinds === undefined ? {} : { kinds }) };
      const { hits } = await ask(platform.GET('/v3/search', { signal, params: { query } }));
      return { hits, words };
    },
  });
}

const exactFields: readonly Hit['match']['field'][] = ['id', 'deviceId', 'deviceEui'];

/** The only record that a whole id means. */
export function exactHit({ hits }: Found): Hit | undefined {
  const [first, second] = hits;
  if (first === undefined || !exactFields.includes(first.match.field)) return undefined;
  return second !== undefined && exactFields.includes(second.match.field) ? undefined : first;
}
