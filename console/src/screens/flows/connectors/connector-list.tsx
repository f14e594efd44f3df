// Device connectors: where devices send to, with what uses each and when something last arrived.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { PagedList } from '../../../ui/paged-list.tsx';
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
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  const connectors = useQuery(connectorsOf(workspaceId, search));
  const path = `/v3/device-connectors?workspaceId=${workspaceId}`;
  const add = (
    <Button needs="dataFlow: create" look="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden="true" />
      {words.add}
    </Button>
  );
  return (
    <FlowsFrame workspaceId={workspaceId} tab="connectors" request={path} actions={add}>
      <PagedList
        answer={connectors}
        path={path}
        headers={[lists.name, lists.kind, lists.usedBy, lists.health]}
        words={{ ...lists, ...words }}
        add={add}
        row={(connector) => <ConnectorRow connector={connector} workspaceId={workspaceId} />}
      />
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
