// Custom logic: every block of the organization with what it reads.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Ago } from '../../../parts/ago.tsx';
import { Button } from '../../../parts/button.tsx';
import { CurlButton } from '../../../parts/curl-button.tsx';
import { Page } from '../../../parts/page.tsx';
import { ListSearchField, PagedList } from '../../../parts/paged-list.tsx';
import { useAccount } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { rulesWords } from '../rules-words.ts';
import { type LogicItem, logicsOf } from './logic-requests.ts';
import { logicWords } from './logic-words.ts';
import styles from './logic.module.css';
import { NewLogic } from './new-logic.tsx';
import { RulesTabs } from './rules-tabs.tsx';

const route = '/signed-in/shell/w/$workspaceId/rules/logic';

export function LogicList() {
  const words = useWords(logicWords);
  const rules = useWords(rulesWords).title;
  const { organizationId } = useAccount();
  const { workspaceId } = useParams({ from: route });
  const search = useSearch({ from: route });
  const [isCreating, setCreating] = useState(false);
  const logics = useQuery(logicsOf(organizationId, search));
  const path = `/v3/rules/custom?organizationId=${organizationId}`;
  const add = (
    <Button needs="customLogic: create" look="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden="true" />
      {words.add}
    </Button>
  );
  return (
    <Page
      title={rules}
      name={words.title}
      path={[rules, words.title]}
      actions={
        <>
          <CurlButton request={{ path }} />
          {add}
        </>
      }
    >
      <RulesTabs workspaceId={workspaceId} />
      <div className={styles['tools']}>
        <ListSearchField label={words.search} />
      </div>
      <PagedList
        answer={logics}
        path={path}
        headers={[words.name, words.inputs, words.changed]}
        words={words}
        add={add}
        row={(logic) => <LogicRow logic={logic} workspaceId={workspaceId} />}
      />
      {isCreating && <NewLogic workspaceId={workspaceId} close={() => setCreating(false)} />}
    </Page>
  );
}

interface LogicRowProps {
  readonly logic: LogicItem;
  readonly workspaceId: string;
}

function LogicRow({ logic, workspaceId }: LogicRowProps) {
  const words = useWords(logicWords);
  const { id, name, description, dataSources, properties, created, updated } = logic;
  return (
    <tr>
      <th scope="row">
        <Link to="/w/$workspaceId/rules/logic/$logicId" params={{ workspaceId, logicId: id }}>
          {name}
        </Link>
        {description !== null && <small className="mute">{description}</small>}
      </th>
      <td>{words.counts(dataSources.length, properties.length)}</td>
      <td>
        <Ago at={updated ?? created} />
      </td>
    </tr>
  );
}
