// Asked: what a question means to the platform, as items that lead to its charts, values, and lists.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { ChartLine, Hash, ListFilter, type LucideIcon, SquareArrowOutUpRight } from 'lucide-react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { useWorkspaceId } from '../../session/session.ts';
import { useGate } from '../../session/permissions.ts';
import { useSettledValue } from '../../ui/use-settled-value.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import type { PaletteGroup, Wanted } from './palette-search.ts';
import { paletteWords } from './palette-words.ts';

type Reading = components['schemas']['Reading'];

/** The limit of the endpoint: words beyond it are no question but a text. */
const questionWordsMax = 16;

const icons: Readonly<Record<Reading['kind'], LucideIcon>> = {
  CHART: ChartLine,
  VALUE: Hash,
  DEVICES: ListFilter,
  OPEN: SquareArrowOutUpRight,
};

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== '');

/** Beside a search only what looks like a question is one: a word alone names a record. */
export function isQuestion({ scope, words }: Wanted): boolean {
  if (scope === 'questions') return words !== '';
  const count = wordsOf(words).length;
  return scope === 'all' && count > 1 && count <= questionWordsMax;
}

/** Asks once the typist pauses, in the zone in which times are shown. */
export function useAsked(wanted: Wanted) {
  const q = useSettledValue(wanted.words);
  const workspaceId = useWorkspaceId();
  const timeZone = useFormats().zone;
  const mayRead = useGate()('asset: read');
  return useQuery({
    queryKey: ['ask', workspaceId, q, timeZone],
    enabled: mayRead && workspaceId !== '' && isQuestion({ ...wanted, words: q }),
    placeholderData: keepPreviousData,
    // The palette says so, and is asked again with the next letter.
    retry: false,
    queryFn: ({ signal }) => {
      const query = { q, workspaceId, timeZone };
      return ask(platform.GET('/v3/ask', { signal, params: { query } }));
    },
  });
}

export type Asked = NonNullable<ReturnType<typeof useAsked>['data']>;

/** The readings of a question, the best first; records to open are left to the search where it runs too. */
export function useAskedGroup(wanted: Wanted, asked: Asked | undefined): PaletteGroup {
  const texts = useWords(paletteWords);
  const { history } = useRouter();
  const readings = isQuestion(wanted) ? (asked?.readings ?? []) : [];
  const shown = readings.filter(({ kind }) => wanted.scope === 'questions' || kind !== 'OPEN');
  return {
    name: texts.answers,
    items: shown.map(({ kind, sentence, link }) => ({
      id: `answer ${kind} ${sentence} ${link}`,
      label: sentence,
      note: texts.readings[kind],
      icon: icons[kind],
      run: () => history.push(link),
    })),
  };
}
