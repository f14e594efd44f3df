// Custom logic: every block of the organization with what it reads.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Ago } from '../../../parts/ago.tsx';
import { Button } from '../../../parts/button.tsx';
import { Sheet } from '../../../parts/card.tsx';
import { CurlButton } from '../../../parts/curl-button.tsx';
import { ListBones, ListTable } from '../../../parts/list-table.tsx';
import { Page } from '../../../parts/page.tsx';
import { Pager } from '../../../parts/pager.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { Answered, Empty } from '../../../parts/states.tsx';
import { useAccount } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { rulesWords } from '../rules-words.ts';
import { bodyOf, newLogic } from './logic-draft.ts';
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
  const navigate = useNavigate({ from: '/w/$workspaceId/rules/logic' });
  const [isCreating, setCreating] = useState(false);
  const logics = useQuery(logicsOf(organizationId, search));
  const path = `/v3/rules/custom?organizationId=${organizationId}`;
  const add = (
    <Button look="primary" onClick={() => setCreating(true)}>
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
        <SearchField
          label={words.search}
          value={search.q ?? ''}
          change={(q) => void navigate({ search: q === '' ? {} : { q }, replace: true })}
        />
      </div>
      <Sheet>
        <Answered answer={logics} curl={{ path }} skeleton={<ListBones />}>
          {({ content, totalPages }) =>
            content.length === 0 ? (
              <NoLogic isFiltered={search.q !== undefined} add={add} />
            ) : (
              <>
                <ListTable headers={[words.name, words.inputs, words.changed]}>
                  {content.map((logic) => (
                    <LogicRow key={logic.id} logic={logic} workspaceId={workspaceId} />
                  ))}
                </ListTable>
                <Pager
                  page={search.page ?? 0}
                  pages={totalPages}
                  go={(page) => void navigate({ search: (before) => ({ ...before, page }) })}
                />
              </>
            )
          }
        </Answered>
      </Sheet>
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

function NoLogic({ isFiltered, add }: { readonly isFiltered: boolean; readonly add: ReactNode }) {
  const words = useWords(logicWords);
  const { organizationId } = useAccount();
  if (isFiltered) return <Empty title={words.noMatch} note={words.noMatchNote} />;
  const body = { ...bodyOf(newLogic('Heat', '')), organizationId };
  return (
    <Empty
      title={words.empty}
      note={words.emptyNote}
      actions={add}
      curl={{ method: 'POST', path: '/v3/rules/custom', body }}
    />
  );
}
