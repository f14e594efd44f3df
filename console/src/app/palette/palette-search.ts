// Search of the palette: what the typed words ask for, and the answer of the platform.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ask, platform } from '../../api/platform.ts';
import { useSettledValue } from '../../ui/use-settled-value.ts';
import type { components } from '../../../generated/interface-types.ts';
import type { Hit, HitKind } from './hit-places.ts';

type Activity = components['schemas']['Activity'];

/** Ids of requests are looked for in the workspace that is shown. */
interface SearchPlace {
  readonly workspaceId: string;
}

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
  /** What the request changed whose id was typed. */
  readonly activity?: Activity | undefined;
  /** The words that the hits are for. */
  readonly words: string;
}

/** Asks once the typist pauses; an answer that is no longer wanted is aborted. */
export function useFound(wanted: Wanted, place: SearchPlace) {
  const words = useSettledValue(wanted.words);
  const { scope } = wanted;
  const kinds = kindsOf[scope];
  return useQuery({
    queryKey: ['search', scope, words, place],
    enabled: words !== '' && scope !== 'commands',
    placeholderData: keepPreviousData,
    // The palette says so, and is asked again with the next letter.
    retry: false,
    queryFn: async ({ signal }): Promise<Found> => {
      const query = { q: words, limit: hitsMax, ...(kinds === undefined ? {} : { kinds }) };
      const { hits } = await ask(platform.GET('/v3/search', { signal, params: { query } }));
      const isRequest = hits.length === 0 && scope === 'all' && requestId.test(words);
      return {
        hits,
        words,
        ...(isRequest && { activity: await activityOf(words, place, signal) }),
      };
    },
  });
}

/** As the platform creates them; ids that clients send may be shorter. */
const requestId = /^[\w.:-]{16,128}$/;

async function activityOf(request: string, place: SearchPlace, signal: AbortSignal) {
  const query = { ...place, requestId: request, size: 1 };
  const { content } = await ask(platform.GET('/v3/activity', { signal, params: { query } }));
  return content[0];
}

const exactFields: readonly Hit['match']['field'][] = ['id', 'deviceId', 'deviceEui'];

/** The only record that a whole id means. */
export function exactHit({ hits }: Found): Hit | undefined {
  const [first, second] = hits;
  if (first === undefined || !exactFields.includes(first.match.field)) return undefined;
  return second !== undefined && exactFields.includes(second.match.field) ? undefined : first;
}
