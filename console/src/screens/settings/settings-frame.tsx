// Settings frame: the tabs of a workspace's settings around the one that is open.
import { useQuery } from '@tanstack/react-query';
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
import { type Workspace, workspaceOf } from './workspace-requests.ts';

export const settingsTabs = [
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
