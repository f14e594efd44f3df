// Settings frame: the tabs of a workspace's settings around the one that is open.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import type { CurlRequest } from '../../api/curl.ts';
import { Sheet } from '../../ui/card.tsx';
import { Tabs } from '../../ui/choice.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { Page } from '../../ui/page.tsx';
import { ReadOnlyNote } from '../../ui/unsaved-bar.tsx';
import { Answered, Bone } from '../../ui/states.tsx';
import { useWords } from '../../words/language.tsx';
import { settingsWords } from './settings-words.ts';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { type Editor, useEditor } from '../../ui/use-editor.ts';

const settingsTabs = [
  'general',
  'hours',
  'retention',
  'map',
  'usage',
  'tags',
  'fields',
  'members',
  'notifications',
] as const;
export type SettingsTab = (typeof settingsTabs)[number];

/** What a change on a tab needs. */
const changeNeeds: Partial<Record<SettingsTab, Need>> = {
  tags: { scope: 'asset', verb: 'update' },
  fields: { scope: 'asset', verb: 'update' },
  members: { scope: 'workspace.member', verb: 'update' },
  notifications: { scope: 'rule', verb: 'update' },
};
type Need = Pick<ComponentProps<typeof ReadOnlyNote>, 'scope' | 'verb'>;

interface SettingsFrameProps {
  readonly tab: SettingsTab;
  /** The request behind the tab. */
  readonly curl: (workspaceId: string) => CurlRequest;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function SettingsFrame({ tab, curl, actions, children }: SettingsFrameProps) {
  const words = useWords(settingsWords);
  const workspaceId = useSettingsWorkspace();
  const workspace = useQuery(workspaceOf(workspaceId));
  const params = { workspaceId };
  const needed = changeNeeds[tab];
  return (
    <Page
      title={words.title}
      name={`${words.tabs[tab]} · ${words.title}`}
      path={[words.title, words.tabs[tab]]}
      lead={workspace.data?.name ?? <Bone />}
      actions={
        <>
          <CurlButton request={curl(workspaceId)} />
          {actions}
        </>
      }
    >
      <Tabs
        label={words.title}
        tabs={settingsTabs.map((one) => ({
          label: words.tabs[one],
          link: { to: `/w/$workspaceId/settings/${one}`, params },
        }))}
      />
      {needed !== undefined && <ReadOnlyNote workspaceId={workspaceId} {...needed} />}
      {children}
    </Page>
  );
}

/** The workspace of the address; only below its settings. */
export function useSettingsWorkspace(): string {
  return useParams({ from: '/signed-in/shell/w/$workspaceId' }).workspaceId;
}

/** Shows the record, its skeleton or why it cannot be read. */
export function WithWorkspace({
  children,
}: {
  readonly children: (workspace: Workspace) => ReactNode;
}) {
  const workspaceId = useSettingsWorkspace();
  const workspace = useQuery(workspaceOf(workspaceId));
  return (
    <Answered
      answer={workspace}
      curl={{ path: `/v3/workspaces/${workspaceId}` }}
      skeleton={
        <Sheet>
          <Bone width="40%" />
        </Sheet>
      }
    >
      {children}
    </Answered>
  );
}

// Requests of a workspace's settings: the record, and an editor of some of its members.

export type Workspace = components['schemas']['Workspace'];
export type WorkspaceUpdate = Omit<components['schemas']['WorkspaceUpdate'], 'id' | 'version'>;

export const workspaceOf = (id: string) =>
  queryOptions({
    queryKey: ['workspace', id],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/workspaces/{id}', { signal, params: { path: { id } } })),
  });

interface PartEditor<T> {
  /** The record. */
  readonly workspace: Workspace;
  /** Names this part among the drafts of the workspace. */
  readonly part: string;
  readonly saved: T;
  /** Only the members that the part edits, so that other parts stay as they are. */
  readonly updateOf: (draft: T) => WorkspaceUpdate;
  readonly onSaved?: (workspace: Workspace) => unknown;
}

export function useWorkspaceEditor<T>(parts: PartEditor<T>) {
  const { workspace, part, saved, updateOf, onSaved } = parts;
  const { id, version } = workspace;
  return useEditor<T, Workspace>({
    key: `workspace ${id} ${part}`,
    saved,
    version,
    record: workspaceOf(id).queryKey,
    list: ['workspaces'],
    ...(onSaved && { onSaved }),
    send: (draft, from) => {
      const body = { id, ...updateOf(draft), ...from };
      return ask(platform.PUT('/v3/workspaces/{id}', { params: { path: { id } }, body }));
    },
  }) satisfies Editor<T>;
}
