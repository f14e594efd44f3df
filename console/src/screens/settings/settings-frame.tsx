// Settings frame: the tabs of a workspace's settings around the one that is open.
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CurlRequest } from '../../api/curl.ts';
import { Sheet } from '../../parts/card.tsx';
import { Tabs } from '../../parts/choice.tsx';
import { CurlButton } from '../../parts/curl-button.tsx';
import { Page } from '../../parts/page.tsx';
import { Answered, Bone } from '../../parts/states.tsx';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import styles from './settings.module.css';
import { settingsWords } from './settings-words.ts';
import { type Workspace, workspaceOf } from './workspace-requests.ts';

export const settingsTabs = [
  'general',
  'hours',
  'retention',
  'usage',
  'tags',
  'fields',
  'members',
] as const;
export type SettingsTab = (typeof settingsTabs)[number];

/** What a change on a tab needs, as scope and verb. */
const changeNeeds: Partial<Record<SettingsTab, readonly [string, Verb]>> = {
  general: ['workspace', 'update'],
  hours: ['workspace', 'update'],
  retention: ['workspace', 'update'],
  tags: ['asset', 'update'],
  fields: ['asset', 'update'],
  members: ['workspace.member', 'update'],
};
type Verb = 'create' | 'read' | 'update' | 'delete';

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
      <ReadOnlyNote tab={tab} />
      {children}
    </Page>
  );
}

/** Says before an edit that it would be refused. */
function ReadOnlyNote({ tab }: { readonly tab: SettingsTab }) {
  const words = useWords(settingsWords);
  const workspaceId = useSettingsWorkspace();
  const { permissions } = useAccount();
  const [scope, verb] = changeNeeds[tab] ?? [];
  const own = permissions[workspaceId];
  if (scope === undefined || verb === undefined || own?.[scope]?.includes(verb) === true)
    return null;
  return <p className={styles['notice']}>{words.readOnly(`${scope}: ${verb}`)}</p>;
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
