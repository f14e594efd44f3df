// Device connectors: where devices send to, with what uses each and when something last arrived.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../../../parts/button.tsx';
import { Sheet } from '../../../parts/card.tsx';
import { ListBones, ListTable } from '../../../parts/list-table.tsx';
import { Pager } from '../../../parts/pager.tsx';
import { Answered, Empty } from '../../../parts/states.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { FlowHealth, healthOfAll } from '../flow-health.tsx';
import { type Connector, connectorsOf, flowHealthOf } from '../flow-requests.ts';
import { FlowsFrame } from '../flows-frame.tsx';
import { flowsWords } from '../flows-words.ts';
import { kindOf } from './connector-kinds.ts';
import { connectorWords } from './connector-words.ts';
import { NewConnector } from './new-connector.tsx';

const route = '/signed-in/shell/w/$workspaceId/flows/connectors';

export function Connectors() {
  const words = useWords(connectorWords);
  const lists = useWords(flowsWords);
  const { workspaceId } = useParams({ from: route });
  const search = useSearch({ from: route });
  const navigate = useNavigate({ from: '/w/$workspaceId/flows/connectors' });
  const [isCreating, setCreating] = useState(false);
  const connectors = useQuery(connectorsOf(workspaceId, search));
  const path = `/v3/device-connectors?workspaceId=${workspaceId}`;
  const add = (
    <Button look="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden="true" />
      {words.add}
    </Button>
  );
  return (
    <FlowsFrame
      workspaceId={workspaceId}
      tab="connectors"
      request={path}
      q={search.q}
      search={(q) => void navigate({ search: q === undefined ? {} : { q }, replace: true })}
      actions={add}
    >
      <Sheet>
        <Answered answer={connectors} curl={{ path }} skeleton={<ListBones />}>
          {({ content, totalPages }) =>
            content.length === 0 ? (
              <NoConnectors
                isFiltered={search.q !== undefined}
                workspaceId={workspaceId}
                add={add}
              />
            ) : (
              <>
                <ListTable headers={[lists.name, lists.kind, lists.usedBy, lists.health]}>
                  {content.map((connector) => (
                    <ConnectorRow
                      key={connector.id}
                      connector={connector}
                      workspaceId={workspaceId}
                    />
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
      {isCreating && (
        <NewConnector
          workspaceId={workspaceId}
          close={() => setCreating(false)}
          onCreated={({ id }) =>
            navigate({
              to: '/w/$workspaceId/flows/connectors/$connectorId',
              params: { workspaceId, connectorId: id },
            })
          }
        />
      )}
    </FlowsFrame>
  );
}

interface ConnectorRowProps {
  readonly connector: Connector;
  readonly workspaceId: string;
}

function ConnectorRow({ connector, workspaceId }: ConnectorRowProps) {
  const words = useWords(connectorWords);
  const lists = useWords(flowsWords);
  const { count } = useFormats();
  const { id, name, description } = connector;
  const flows = useQuery(flowHealthOf(workspaceId)).data?.filter(
    ({ deviceConnector }) => deviceConnector.id === id,
  );
  const many = flows?.length ?? 0;
  return (
    <tr>
      <th scope="row">
        <Link
          to="/w/$workspaceId/flows/connectors/$connectorId"
          params={{ workspaceId, connectorId: id }}
        >
          {name}
        </Link>
        {description !== null && <small className="mute">{description}</small>}
      </th>
      <td>{kindOf(connector, words)}</td>
      <td className={many === 0 ? 'faint' : 'num'}>
        {flows !== undefined && (many === 0 ? lists.unused : lists.flowCount(count(many), many))}
      </td>
      <td>{many > 0 && <FlowHealth health={healthOfAll(flows ?? [])} />}</td>
    </tr>
  );
}

interface NoConnectorsProps {
  readonly isFiltered: boolean;
  readonly workspaceId: string;
  readonly add: ReactNode;
}

function NoConnectors({ isFiltered, workspaceId, add }: NoConnectorsProps) {
  const words = useWords(connectorWords);
  const lists = useWords(flowsWords);
  if (isFiltered) return <Empty title={lists.noMatch} note={lists.noMatchNote} />;
  const body = { name: 'HTTP', workspaceId, connectivity: 'HTTP' };
  return (
    <Empty
      title={words.empty}
      note={words.emptyNote}
      actions={add}
      curl={{ method: 'POST', path: '/v3/device-connectors', body }}
    />
  );
}
