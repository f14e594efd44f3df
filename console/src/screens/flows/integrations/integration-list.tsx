// Integrations: accounts at network servers, with what each can do and what uses it.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { ButtonLink } from '../../../ui/button.tsx';
import { Dot } from '../../../ui/chip.tsx';
import { PagedList } from '../../../ui/paged-list.tsx';
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
  const integrations = useQuery(integrationsOf(workspaceId, search));
  const path = `/v3/integrations?workspaceId=${workspaceId}`;
  const add = (
    <ButtonLink look="primary" to="/w/$workspaceId/flows/integrations/new" params={{ workspaceId }}>
      <Plus aria-hidden="true" />
      {words.add}
    </ButtonLink>
  );
  return (
    <FlowsFrame workspaceId={workspaceId} tab="integrations" request={path} actions={add}>
      <PagedList
        answer={integrations}
        path={path}
        headers={[lists.name, words.server, lists.usedBy, lists.state]}
        words={{ ...lists, ...words }}
        add={add}
        row={(integration) => <IntegrationRow integration={integration} />}
      />
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
