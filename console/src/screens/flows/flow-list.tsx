// Data flows: every flow of the workspace with its connector, decoder, outputs and health.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { CurlRequest } from '../../api/curl.ts';
import { ButtonLink } from '../../parts/button.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { FlowHealth } from './flow-health.tsx';
import { connectorChoice, type FlowItem, flowsOf } from './flow-requests.ts';
import { FlowsFrame } from './flows-frame.tsx';
import styles from './flows.module.css';
import { flowsWords } from './flows-words.ts';

const route = '/signed-in/shell/w/$workspaceId/flows';

export function Flows() {
  const words = useWords(flowsWords);
  const { workspaceId } = useParams({ from: route });
  const search = useSearch({ from: route });
  const flows = useQuery(flowsOf(workspaceId, search));
  const enabled = flows.data?.totalElements === 0;
  const connector = useQuery({ ...connectorChoice(workspaceId), enabled }).data?.[0]?.id;
  const path = `/v3/data-flows?workspaceId=${workspaceId}&details=health`;
  const add = (
    <ButtonLink look="primary" to="/w/$workspaceId/flows/new" params={{ workspaceId }}>
      <Plus aria-hidden="true" />
      {words.add}
    </ButtonLink>
  );
  return (
    <FlowsFrame workspaceId={workspaceId} tab="flows" request={path} actions={add}>
      <PagedList
        answer={flows}
        path={path}
        headers={[words.flow, words.way, words.outputs, words.health]}
        words={words}
        add={add}
        example={firstStep(workspaceId, connector)}
        row={(flow) => <FlowRow flow={flow} />}
      />
    </FlowsFrame>
  );
}

function FlowRow({ flow }: { readonly flow: FlowItem }) {
  const words = useWords(flowsWords);
  const { count } = useFormats();
  const { id, workspaceId, name, description, deviceConnector, deviceType, outputConnectors } =
    flow;
  const outputs = outputConnectors.length;
  return (
    <tr>
      <th scope="row">
        <Link to="/w/$workspaceId/flows/$flowId" params={{ workspaceId, flowId: id }}>
          {name}
        </Link>
        {description !== null && <small className="mute">{description}</small>}
      </th>
      <td>
        <span className={styles['way']}>
          {deviceConnector.name}
          <span className="faint" aria-hidden="true">
            →
          </span>
          {deviceType === null || flow.passThrough ? (
            <span className="mute">{words.asSent}</span>
          ) : (
            deviceType.name
          )}
        </span>
      </td>
      <td className={outputs === 0 ? 'faint' : 'num'}>
        {outputs === 0 ? words.noOutput : words.outputCount(count(outputs), outputs)}
      </td>
      <td>
        <FlowHealth health={flow.health ?? null} />
      </td>
    </tr>
  );
}

/** A flow needs a connector, which is created before it. */
function firstStep(workspaceId: string, connectorId: string | undefined): CurlRequest {
  if (connectorId === undefined) {
    const body = { name: 'HTTP', workspaceId, connectivity: 'HTTP' };
    return { method: 'POST', path: '/v3/device-connectors', body };
  }
  const body = { name: 'Climate', workspaceId, deviceConnector: { id: connectorId } };
  return { method: 'POST', path: '/v3/data-flows', body };
}
