// Groups of the palette: recent things, actions, pages, settings, and the hits of the search.
import { useRouter } from '@tanstack/react-router';
import {
  BellRing,
  Cable,
  Cpu,
  FileCode2,
  History,
  LayoutDashboard,
  type LucideIcon,
  Play,
  Waypoints,
  Zap,
} from 'lucide-react';
import { useMemo } from 'react';
import { usePreferences } from '../session/preferences.ts';
import { useWorkspaceId } from '../session/last-workspace.ts';
import { useAccount, useWorkspaces } from '../session/session.ts';
import { useGate } from '../session/permissions.ts';
import { useWords } from '../words/language.tsx';
import { type Hit, hitPlaces } from './hit-places.ts';
import { pageActions } from './page-actions.ts';
import { matching, type PaletteGroup, type PaletteItem, withItems } from './palette-items.ts';
import { exactHit, type Found, type Wanted } from './palette-search.ts';
import { paletteWords } from './palette-words.ts';
import { usePageItems } from './use-page-items.ts';
import { type RecentPage, recentPageOf } from './use-recents.ts';
import { useSettingItems } from './use-setting-items.ts';

const recentIcons: Readonly<Record<RecentPage, LucideIcon>> = {
  devices: Cpu,
  types: FileCode2,
  rules: Zap,
  outputs: Cable,
  flows: Waypoints,
  dashboards: LayoutDashboard,
  alarms: BellRing,
};

/** What is shown for the typed words; `found` is the newest answer of the search. */
export function usePaletteGroups(
  { scope, words }: Wanted,
  found: Found | undefined,
): readonly PaletteGroup[] {
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
  if (words === '') return withItems([{ name: texts.recent, items: recent }, ...local]);
  const ofRequest = activityItem(found);
  if (ofRequest !== undefined) return [{ name: texts.results, items: [ofRequest] }];
  const hits = found === undefined ? [] : hitGroups(found.hits, itemOf, texts.kinds);
  if (scope !== 'all') return hits;
  if (found !== undefined && exactHit(found) !== undefined) return hits;
  const [ofPage, ofPages, ofSettings] = local.map((group) => matching(group, words));
  return withItems([ofPages, ofPage, ...hits, ofSettings].filter((group) => group !== undefined));
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

function useIsPage(): (address: string) => boolean {
  const router = useRouter();
  return (address) => {
    const [, params, route] = router.getMatchedRoutes(address.replace(/\?.*/, ''));
    // A page above this address, which would say that nothing is there, has the rest as `**`.
    return route !== undefined && !('**' in params);
  };
}

/** The item of what a request changed; undefined when no page shows it. */
export function useActivityItem(): (found: Found | undefined) => PaletteItem | undefined {
  const { history } = useRouter();
  const isPage = useIsPage();
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
  const isPage = useIsPage();
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
