// Account page: the frame of its tabs, with the name of the signed-in user.
import type { ReactNode } from 'react';
import { Tabs } from '../../ui/choice.tsx';
import { Page } from '../../ui/page.tsx';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { accountWords } from './account-words.ts';

interface AccountPageProps {
  readonly tab: 'appearance' | 'security';
  readonly children: ReactNode;
}

export function AccountPage({ tab, children }: AccountPageProps) {
  const words = useWords(accountWords);
  const { name, email } = useAccount();
  return (
    <Page
      title={name || email}
      name={`${words[tab]} · ${words.title}`}
      path={[words.title, words[tab]]}
      lead={email}
    >
      <Tabs
        label={words.title}
        tabs={[
          { label: words.appearance, link: { to: '/me' } },
          { label: words.security, link: { to: '/me/security' } },
        ]}
      />
      {children}
    </Page>
  );
}
