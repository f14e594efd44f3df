// Frame of the section: title, tabs, search and actions around the lists.
import type { ReactNode } from 'react';
import { Tabs } from '../../ui/choice.tsx';
import { CurlButton } from '../../ui/curl-button.tsx';
import { Page } from '../../ui/page.tsx';
import { ListSearchField } from '../../ui/paged-list.tsx';
import { useWords } from '../../words/language.tsx';
import styles from './flows.module.css';
import { flowsWords } from './flows-words.ts';

interface FlowsFrameProps {
  readonly workspaceId: string;
  readonly tab: 'flows' | 'connectors' | 'integrations';
  /** Path of the request behind the list. */
  readonly request: string;
  readonly actions: ReactNode;
  readonly children: ReactNode;
}

export function FlowsFrame(props: FlowsFrameProps) {
  const { workspaceId, tab, request, actions, children } = props;
  const words = useWords(flowsWords);
  const params = { workspaceId };
  return (
    <Page
      title={words.title}
      name={words[tab]}
      path={[words.title, words[tab]]}
      lead={words.lead}
      actions={
        <>
          <CurlButton request={{ path: request }} />
          {actions}
        </>
      }
    >
      <Tabs
        label={words.tabs}
        tabs={[
          { label: words.flows, link: { to: '/w/$workspaceId/flows', params } },
          { label: words.connectors, link: { to: '/w/$workspaceId/flows/connectors', params } },
          { label: words.integrations, link: { to: '/w/$workspaceId/flows/integrations', params } },
        ]}
      />
      <div className={styles['tools']}>
        <ListSearchField key={tab} label={words.search} />
      </div>
      {children}
    </Page>
  );
}
