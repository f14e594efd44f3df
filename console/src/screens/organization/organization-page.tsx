// Organization page: the frame of its tabs.
import type { ReactNode } from 'react';
import { Tabs } from '../../ui/choice.tsx';
import { Page } from '../../ui/page.tsx';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { organizationWords } from './organization-words.ts';

type Tab = 'members' | 'keys' | 'clients' | 'audit';

interface OrganizationPageProps {
  readonly tab: Tab;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function OrganizationPage({ tab, actions, children }: OrganizationPageProps) {
  const words = useWords(organizationWords);
  const { organizationId, organizations } = useAccount();
  const name = organizations.find((one) => one.organizationId === organizationId)?.name;
  const title = name ?? words.organization;
  const params = { organizationId };
  return (
    <Page
      title={title}
      name={`${words[tab]} · ${title}`}
      path={[words.organization, words[tab]]}
      actions={actions}
    >
      <Tabs
        label={words.organization}
        tabs={[
          { label: words.members, link: { to: '/o/$organizationId/settings/members', params } },
          { label: words.keys, link: { to: '/o/$organizationId/settings/keys', params } },
          {
            label: words.clients,
            link: { to: '/o/$organizationId/settings/clients', params },
          },
          { label: words.audit, link: { to: '/o/$organizationId/settings/audit', params } },
        ]}
      />
      {children}
    </Page>
  );
}
