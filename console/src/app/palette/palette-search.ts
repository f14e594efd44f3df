// Search of the palette: what the typed words or a question ask for, what matches, and where each hit leads.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import {
  Boxes,
  Cable,
  ChartLine,
  Cpu,
  FileCode2,
  FileDown,
  Filter,
  FolderClosed,
  Hash,
  KeyRound,
  LayoutDashboard,
  ListFilter,
  ListPlus,
  type LucideIcon,
  MapPin,
  Plug,
  RadioTower,
  SquareArrowOutUpRight,
  SquareFunction,
  Tag,
  UserRound,
  Waypoints,
  Zap,
} from 'lucide-react';
import { useRouter } from '@tanstack/react-router';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { encodeFilter } from '../../screens/devices/device-list.ts';
import { useSettledValue } from '../../ui/use-settled-value.ts';
import { useWorkspaceId } from '../../session/session.ts';
import { useGate } from '../../session/permissions.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { paletteWords } from './palette-words.ts';

type Activity = components['schemas']['Activity'];

/** Ids of requests are looked for in the workspace that is shown. */
interface SearchPlace {
  readonly workspaceId: string;
}

const hitsMax = 20;
const wordsLengthMax = 200;

type Scope = 'all' | 'commands' | 'tags' | 'members' | 'questions';

export interface Wanted {
  readonly scope: Scope;
  /** Without the sign of the scope. */
  readonly words: string;
}

const scopes: Readonly<Record<string, Scope>> = {
  '>': 'commands',
  '#': 'tags',
  '@': 'members',
  '?': 'questions',
};
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
    enabled: words !== '' && scope !== 'commands' && scope !== 'questions',
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

// Items of the palette: what is offered for the typed words, group by group.

export interface PaletteItem {
  readonly id: string;
  readonly label: string;
  /** Shown at the end of the row, such as the id that matched. */
  readonly note?: string | undefined;
  /** Other words that find the item, such as `new` for one that creates a record. */
  readonly alsoFoundBy?: string | undefined;
  readonly icon: LucideIcon;
  readonly isCurrent?: boolean;
  readonly run: () => void;
}

export interface PaletteGroup {
  readonly name: string;
  readonly items: readonly PaletteItem[];
}

/** Whether every word begins a word of the label, or one that finds the item too. */
function isNamed({ label, alsoFoundBy = '' }: PaletteItem, words: string): boolean {
  const parts = `${label} ${alsoFoundBy}`.toLowerCase().split(/[\s:.,–-]+/);
  return words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .every((word) => parts.some((part) => part.startsWith(word)));
}

export function matching(group: PaletteGroup, words: string): PaletteGroup {
  return { ...group, items: group.items.filter((item) => isNamed(item, words)) };
}

export function withItems(groups: readonly PaletteGroup[]): readonly PaletteGroup[] {
  return groups.filter(({ items }) => items.length > 0);
}

// Hit places: where the console shows a record that the search found, and its picture.

export type Hit = components['schemas']['SearchHit'];
type HitKind = Hit['kind'];

interface HitPlace {
  readonly icon: LucideIcon;
  /** Addresses, the best first; the first one that is a page of this console counts. */
  readonly paths: (hit: Hit, place: Around) => readonly string[];
}

/** What an address needs besides the record. */
interface Around {
  readonly organizationId: string;
  readonly workspaceId: string;
}

const below = (page: string) => (hit: Hit, place: Around) => {
  const base = `/w/${hit.workspaceId ?? place.workspaceId}/${page}`;
  return [`${base}/${hit.id}`, base];
};
const ofOrganization = (page: string) => (_hit: Hit, place: Around) => [
  `/o/${place.organizationId}/settings/${page}`,
];

export const hitPlaces: Readonly<Record<HitKind, HitPlace>> = {
  DEVICE: { icon: Cpu, paths: below('devices') },
  TAG: { icon: Tag, paths: taggedDevices },
  CUSTOM_FIELD: { icon: ListPlus, paths: below('settings/fields') },
  DEVICE_TYPE: { icon: FileCode2, paths: below('types') },
  DATA_FLOW: { icon: Waypoints, paths: below('flows') },
  DEVICE_CONNECTOR: {
    icon: Plug,
    paths: (hit, place) => [
      ...below('flows/connectors')(hit, place),
      ...below('flows')(hit, place).slice(1),
    ],
  },
  OUTPUT_CONNECTOR: { icon: Cable, paths: below('outputs') },
  INTEGRATION: {
    icon: RadioTower,
    paths: (hit, place) => [
      ...below('flows/integrations')(hit, place),
      ...below('flows')(hit, place).slice(1),
    ],
  },
  PLACE: { icon: MapPin, paths: below('places') },
  RULE: { icon: Zap, paths: below('rules') },
  CUSTOM_LOGIC: {
    icon: SquareFunction,
    paths: (hit, place) => [...below('rules/logic')(hit, place), ...below('logic')(hit, place)],
  },
  DASHBOARD: { icon: LayoutDashboard, paths: below('dashboards') },
  DASHBOARD_GROUP: {
    icon: FolderClosed,
    paths: (hit, place) => below('dashboards')(hit, place).slice(1),
  },
  VIEW: {
    icon: Filter,
    paths: (hit, place) => [
      `/w/${hit.workspaceId ?? place.workspaceId}/devices?view=%22${hit.id}%22`,
    ],
  },
  BLOB: { icon: FileDown, paths: () => [] },
  WORKSPACE: { icon: Boxes, paths: ({ id }) => [`/w/${id}`] },
  MEMBER: { icon: UserRound, paths: ofOrganization('members') },
  API_KEY: { icon: KeyRound, paths: ofOrganization('keys') },
  OAUTH_CLIENT: {
    icon: KeyRound,
    paths: (hit, place) => [
      ...ofOrganization('clients')(hit, place),
      ...ofOrganization('keys')(hit, place),
    ],
  },
};

function taggedDevices({ id, workspaceId }: Hit, place: Around): readonly string[] {
  const filter = encodeFilter({ field: 'tags.id', predicate: 'CONTAINS_ANY', values: [id] });
  return [`/w/${workspaceId ?? place.workspaceId}/devices?filter=${filter}`];
}

// Asked: what a question means to the platform, as items that lead to its charts, values, and lists.

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
