// Data flows: every flow of the workspace with its connector, decoder, outputs and health.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { ButtonLink } from '../../ui/button.tsx';
import { PagedList } from '../../ui/paged-list.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { FlowHealth } from './flow-health.tsx';
import { type FlowItem, flowsOf } from './flow-requests.ts';
import { FlowsFrame } from './flows-frame.tsx';
import styles from './flows.module.css';
import { flowsWords } from './flows-words.ts';

const route = '/signed-in/shell/w/$workspaceId/flows';

export function Flows() {
  const words = useWords(flowsWords);
  const { workspaceId } = useParams({ from: route });
  const search = useSearch({ from: route });
  const flows = useQuery(flowsOf(workspaceId, search));
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
