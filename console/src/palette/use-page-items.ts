// Page items of the palette: the places of the workspace, and pages that no bar leads to.
import { useRouter } from '@tanstack/react-router';
import {
  Building2,
  History,
  KeyRound,
  type LucideIcon,
  Plus,
  Upload,
  UserRound,
  UsersRound,
} from 'lucide-react';
import { useWorkspaceId } from '../session/last-workspace.ts';
import { useGate } from '../session/permissions.ts';
import { useAccount, useWorkspaces } from '../session/session.ts';
import { placeGroups } from '../shell/navigation.ts';
import { shellWords } from '../shell/shell-words.ts';
import { useWords } from '../words/language.tsx';
import type { PaletteItem } from './palette-items.ts';
import { paletteWords } from './palette-words.ts';

export function usePageItems(): readonly PaletteItem[] {
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
