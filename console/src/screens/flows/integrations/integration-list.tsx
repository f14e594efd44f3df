// Integrations: accounts at network servers, with what each can do and what uses it.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { ButtonLink } from '../../../parts/button.tsx';
import { Sheet } from '../../../parts/card.tsx';
import { Dot } from '../../../parts/chip.tsx';
import { ListBones, ListTable } from '../../../parts/list-table.tsx';
import { Pager } from '../../../parts/pager.tsx';
import { Answered, Empty } from '../../../parts/states.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { type Integration, integrationsOf } from '../flow-requests.ts';
import { FlowsFrame } from '../flows-frame.tsx';
import styles from '../flows.module.css';
import { flowsWords } from '../flows-words.ts';
import { serverNames } from '../server-names.ts';
import { useFlowsWith } from '../used-by.tsx';
import { missingOf, settingsOf } from './integration-settings.ts';
import { integrationWords } from './integration-words.ts';

const route = '/signed-in/shell/w/$workspaceId/flows/integrations';

export function Integrations() {
  const words = useWords(integrationWords);
  const lists = useWords(flowsWords);
  const { workspaceId } = useParams({ from: route });
  const search = useSearch({ from: route });
  const navigate = useNavigate({ from: '/w/$workspaceId/flows/integrations' });
  const integrations = useQuery(integrationsOf(workspaceId, search));
  const path = `/v3/integrations?workspaceId=${workspaceId}`;
  const add = (
    <ButtonLink look="primary" to="/w/$workspaceId/flows/integrations/new" params={{ workspaceId }}>
      <Plus aria-hidden="true" />
      {words.add}
    </ButtonLink>
  );
  return (
    <FlowsFrame
      workspaceId={workspaceId}
      tab="integrations"
      request={path}
      q={search.q}
      search={(q) => void navigate({ search: q === undefined ? {} : { q }, replace: true })}
      actions={add}
    >
      <Sheet>
        <Answered answer={integrations} curl={{ path }} skeleton={<ListBones />}>
          {({ content, totalPages }) =>
            content.length === 0 ? (
              <NoIntegrations
                isFiltered={search.q !== undefined}
                workspaceId={workspaceId}
                add={add}
              />
            ) : (
              <>
                <ListTable headers={[lists.name, words.server, lists.usedBy, lists.state]}>
                  {content.map((integration) => (
                    <IntegrationRow key={integration.id} integration={integration} />
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
    </FlowsFrame>
  );
}

function IntegrationRow({ integration }: { readonly integration: Integration }) {
  const lists = useWords(flowsWords);
  const { count } = useFormats();
  const { id, name, description, type, workspaceId, deviceConnector } = integration;
  const flows = useFlowsWith({ workspaceId, connectorId: deviceConnector.id }).data;
  const many = flows?.length ?? 0;
  return (
    <tr>
      <th scope="row">
        <Link
          to="/w/$workspaceId/flows/integrations/$integrationId"
          params={{ workspaceId, integrationId: id }}
        >
          {name}
        </Link>
        {description !== null && <small className="mute">{description}</small>}
      </th>
      <td>{serverNames[type]}</td>
      <td className={many === 0 ? 'faint' : 'num'}>
        {flows !== undefined && (many === 0 ? lists.unused : lists.flowCount(count(many), many))}
      </td>
      <td>
        <Abilities integration={integration} />
      </td>
    </tr>
  );
}

function Abilities({ integration }: { readonly integration: Integration }) {
  const words = useWords(integrationWords);
  const takesCommands = settingsOf[integration.type].needed.length > 0;
  const isReady = missingOf(integration).length === 0;
  const said = takesCommands ? words.ready : words.readyUp;
  return (
    <span className={styles['health']}>
      <Dot tone={isReady ? 'ok' : 'off'} />
      {isReady ? said : words.notReady}
    </span>
  );
}

interface NoIntegrationsProps {
  readonly isFiltered: boolean;
  readonly workspaceId: string;
  readonly add: ReactNode;
}

function NoIntegrations({ isFiltered, workspaceId, add }: NoIntegrationsProps) {
  const words = useWords(integrationWords);
  const lists = useWords(flowsWords);
  if (isFiltered) return <Empty title={lists.noMatch} note={lists.noMatchNote} />;
  const body = { name: 'ChirpStack', workspaceId, type: 'CHIRP_STACK' };
  return (
    <Empty
      title={words.empty}
      note={words.emptyNote}
      actions={add}
      curl={{ method: 'POST', path: '/v3/integrations', body }}
    />
  );
}
