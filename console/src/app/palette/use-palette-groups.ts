// Groups of the palette: recent things, actions, pages, settings, and the hits of the search.
import { useRouter } from '@tanstack/react-router';
import {
  BellRing,
  Building2,
  Cable,
  Clock,
  Cpu,
  FileCode2,
  History,
  Keyboard,
  KeyboardOff,
  KeyRound,
  Languages,
  LayoutDashboard,
  LogOut,
  type LucideIcon,
  Moon,
  Play,
  Plus,
  Sun,
  SunMoon,
  Terminal,
  Upload,
  UserRound,
  UsersRound,
  Waypoints,
  Zap,
} from 'lucide-react';
import { useMemo } from 'react';
import { signOut, useAccount, useWorkspaceId, useWorkspaces } from '../../session/session.ts';
import { useGate } from '../../session/permissions.ts';
import { pageActions } from '../../ui/page.tsx';
import { changePreferences, usePreferences } from '../../ui/preferences.ts';
import { zoneChoices } from '../../words/zone-times.ts';
import { hasSingleKeys, turnSingleKeys } from '../../ui/keys.ts';
import { chooseTheme, themeChoice, type ThemeChoice } from '../../ui/theme.ts';
import { toastFailure } from '../../ui/toasts.tsx';
import { useLanguage, useWords } from '../../words/language.tsx';
import { type Language, languageNames } from '../../words/word-set.ts';
import {
  type Asked,
  exactHit,
  type Found,
  type Hit,
  hitPlaces,
  matching,
  type PaletteGroup,
  type PaletteItem,
  useAskedGroup,
  type Wanted,
  withItems,
} from './palette-search.ts';
import { laterRoutes } from '../routes/later-routes.ts';
import { placeGroups } from '../shell/navigation.ts';
import { shellWords } from '../shell/shell-words.ts';
import { showKeys } from './palette-state.ts';
import { paletteWords } from './palette-words.ts';
import { type RecentPage, recentPageOf } from './use-recents.ts';

const recentIcons: Readonly<Record<RecentPage, LucideIcon>> = {
  devices: Cpu,
  types: FileCode2,
  rules: Zap,
  outputs: Cable,
  flows: Waypoints,
  dashboards: LayoutDashboard,
  alarms: BellRing,
};

/** What is shown for the typed words; `found` and `asked` are the newest answers of the platform. */
export function usePaletteGroups(
  wanted: Wanted,
  found: Found | undefined,
  asked: Asked | undefined,
): readonly PaletteGroup[] {
  const { scope, words } = wanted;
  const answers = useAskedGroup(wanted, asked);
  const texts = useWords(paletteWords);
  const recent = useRecentItems();
  const pages = usePageItems();
  const settings = useSettingItems();
  const itemOf = useHitItem();
  const activityItem = useActivityItem();
  const mayDo = useGate();
  const offered = useMemo(() => pageActions(), []);
  const actions = offered
    .filter(({ needs }) => needs === undefined || mayDo(needs))
    .map(actionItem);
  const local = [
    { name: texts.actions, items: actions },
    { name: texts.pages, items: pages },
    { name: texts.settings, items: settings },
  ];
  if (scope === 'commands') return withItems(local.map((group) => matching(group, words)));
  if (words === '' && scope !== 'all') return [];
  if (scope === 'questions') return withItems([answers]);
  if (words === '') return withItems([{ name: texts.recent, items: recent }, ...local]);
  const ofRequest = activityItem(found);
  if (ofRequest !== undefined) return [{ name: texts.results, items: [ofRequest] }];
  const hits = found === undefined ? [] : hitGroups(found.hits, itemOf, texts.kinds);
  if (scope !== 'all') return hits;
  if (found !== undefined && exactHit(found) !== undefined) return hits;
  const [ofPage, ofPages, ofSettings] = local.map((group) => matching(group, words));
  const groups = [ofPages, ofPage, ...hits, answers, ofSettings];
  return withItems(groups.filter((group) => group !== undefined));
}

function actionItem({ label, icon = Play, run }: ReturnType<typeof pageActions>[number]) {
  return { id: `action ${label}`, label, icon, run };
}

/** The kind of the best hit first; omits hits without a page of this console. */
function hitGroups(
  hits: readonly Hit[],
  itemOf: (hit: Hit) => PaletteItem | undefined,
  names: Readonly<Record<Hit['kind'], string>>,
): readonly PaletteGroup[] {
  const groups = [...Map.groupBy(hits, ({ kind }) => kind)].map(([kind, ofKind]) => ({
    name: names[kind],
    items: ofKind.map(itemOf).filter((item) => item !== undefined),
  }));
  return withItems(groups);
}

/** Whether the address, which may have a query, is a page of this console. */
const isPage = (address: string) => laterRoutes.haveScreenAt(address.replace(/\?.*/, ''));

/** The item of what a request changed; undefined when no page shows it. */
export function useActivityItem(): (found: Found | undefined) => PaletteItem | undefined {
  const { history } = useRouter();
  const texts = useWords(paletteWords);
  return (found) => {
    const { activity, words = '' } = found ?? {};
    if (activity === undefined) return undefined;
    const path = `/w/${activity.workspaceId}/activity?open=%22${activity.id}%22`;
    if (!isPage(path)) return undefined;
    const label = texts.changesOf(words);
    const { name: note } = activity.actor;
    return { id: activity.id, label, note, icon: History, run: () => history.push(path) };
  };
}

/** The item of a hit; undefined when no page shows its record. */
export function useHitItem(): (hit: Hit) => PaletteItem | undefined {
  const router = useRouter();
  const workspaceId = useWorkspaceId();
  const { organizationId } = useAccount();
  const workspaces = useWorkspaces().data?.content;
  return (hit) => {
    const { icon, paths } = hitPlaces[hit.kind];
    const path = paths(hit, { organizationId, workspaceId }).find(isPage);
    if (path === undefined) return undefined;
    const elsewhere = hit.workspaceId !== null && hit.workspaceId !== workspaceId;
    const place = elsewhere
      ? workspaces?.find(({ id }) => id === hit.workspaceId)?.name
      : undefined;
    const match = hit.match.field === 'name' ? '' : hit.match.value;
    const note = [match, place].filter(Boolean).join(' · ');
    return { id: hit.id, label: hit.name, note, icon, run: () => router.history.push(path) };
  };
}

function useRecentItems(): readonly PaletteItem[] {
  const { history } = useRouter();
  const workspaceId = useWorkspaceId();
  const workspaces = useWorkspaces().data?.content;
  const { recents = [] } = usePreferences() ?? {};
  return recents
    .filter(({ path }) => !history.location.pathname.startsWith(path))
    .flatMap(({ path, name, workspaceId: owner }) => {
      const page = recentPageOf(path);
      if (page === undefined) return [];
      const place = workspaces?.find(({ id }) => id === owner)?.name;
      const note = owner === workspaceId ? undefined : place;
      return [
        { id: path, label: name, note, icon: recentIcons[page], run: () => history.push(path) },
      ];
    })
    .slice(0, recentShown);
}

const recentShown = 5;

// Page items of the palette: the places of the workspace, and pages that no bar leads to.

function usePageItems(): readonly PaletteItem[] {
  const { history } = useRouter();
  const texts = useWords(paletteWords);
  const names = useWords(shellWords);
  const workspaceId = useWorkspaceId();
  const { organizationId } = useAccount();
  const workspaces = useWorkspaces().data?.content ?? [];
  const mayDo = useGate();
  const base = `/w/${workspaceId}`;
  const organization = `/o/${organizationId}/settings`;
  const item = (label: string, path: string, icon: LucideIcon, note?: string): PaletteItem => ({
    id: `page ${path}`,
    label,
    note,
    alsoFoundBy: icon === Plus ? texts.createWords : undefined,
    icon,
    run: () => history.push(path),
  });
  const places = placeGroups
    .flatMap((group) => group.places)
    .map(({ path, word, icon, key }) => item(names[word], `${base}/${path}`, icon, `g ${key}`));
  return [
    ...places,
    ...(mayDo('asset: create')
      ? [
          item(texts.newDevice, `${base}/devices/new`, Plus),
          item(texts.importDevices, `${base}/devices/import`, Upload),
        ]
      : []),
    ...(mayDo('rule: create') ? [item(texts.newRule, `${base}/rules/new`, Plus)] : []),
    ...(mayDo('dataFlow: create') ? [item(texts.newOutput, `${base}/outputs/new`, Plus)] : []),
    item(texts.members, `${organization}/members`, UsersRound),
    item(texts.apiKeys, `${organization}/keys`, KeyRound),
    item(texts.audit, `${organization}/audit`, History),
    item(names.account, '/me', UserRound),
    ...workspaces
      .filter(({ id }) => id !== workspaceId)
      .slice(0, workspacesShown)
      .map(({ id, name }) => item(name, `/w/${id}`, Building2, names.workspace)),
  ];
}

/** More are found by their name. */
const workspacesShown = 5;

// Setting items of the palette: theme, language, times and keys, and the end of the session.

const themeIcons: Readonly<Record<ThemeChoice, LucideIcon>> = {
  light: Sun,
  dark: Moon,
  system: SunMoon,
};

function useSettingItems(): readonly PaletteItem[] {
  const texts = useWords(paletteWords);
  return [
    ...useThemeItems(),
    ...useZoneItems(),
    ...useLanguageItems(),
    keysItem(texts),
    { id: 'keys', label: texts.allKeys, note: '?', icon: Keyboard, run: showKeys },
    ...curlItems(texts),
    useSignOutItem(),
  ];
}

function useThemeItems(): readonly PaletteItem[] {
  const texts = useWords(paletteWords);
  return (['light', 'dark', 'system'] as const).map((theme) => ({
    id: `theme ${theme}`,
    label: texts.themes[theme],
    icon: themeIcons[theme],
    isCurrent: themeChoice() === theme,
    run: () => chooseTheme(theme),
  }));
}

function useZoneItems(): readonly PaletteItem[] {
  const texts = useWords(paletteWords);
  const { zone: current } = usePreferences() ?? {};
  return zoneChoices.map((zone) => ({
    id: `zone ${zone}`,
    label: texts.zones[zone],
    icon: Clock,
    isCurrent: zone === current,
    run: () => changePreferences((before) => ({ ...before, zone })),
  }));
}

function useLanguageItems(): readonly PaletteItem[] {
  const texts = useWords(paletteWords);
  const { language: current, speak } = useLanguage();
  return (Object.keys(languageNames) as Language[]).map((language) => ({
    id: `language ${language}`,
    label: texts.language(languageNames[language]),
    icon: Languages,
    isCurrent: language === current,
    run: () => {
      speak(language);
      changePreferences((before) => ({ ...before, language }));
    },
  }));
}

type Texts = (typeof paletteWords)['en'];

function keysItem(texts: Texts): PaletteItem {
  const isOn = hasSingleKeys();
  return {
    id: 'single keys',
    label: isOn ? texts.keysOff : texts.keysOn,
    icon: isOn ? KeyboardOff : Keyboard,
    run: () => {
      turnSingleKeys(!isOn);
      changePreferences((before) => ({ ...before, singleKeys: !isOn }));
    },
  };
}

/** The button of the page does it, which then says so. */
function curlItems(texts: Texts): readonly PaletteItem[] {
  const button = document.querySelector<HTMLElement>('main [aria-keyshortcuts~="c"]');
  if (button === null) return [];
  return [{ id: 'curl', label: texts.curl, note: 'c', icon: Terminal, run: () => button.click() }];
}

function useSignOutItem(): PaletteItem {
  const texts = useWords(paletteWords);
  return {
    id: 'sign out',
    label: texts.signOut,
    icon: LogOut,
    run: () => void signOut().catch(toastFailure),
  };
}
