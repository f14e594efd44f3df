// Lists of data flows, device connectors, and integrations.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Dot } from '../../ui/chip.tsx';
import { Tabs } from '../../ui/choice.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { Page } from '../../ui/page.tsx';
import { ListSearchField, PagedList } from '../../ui/paged-list.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { kindOf, missingOf, serverNames, settingsOf } from './connector-kinds.ts';
import { connectorWords } from './connector-words.ts';
import { NewConnector } from './new-connector.tsx';
import {
  type Connector,
  connectorsOf,
  flowHealthOf,
  type FlowItem,
  flowsOf,
  type Integration,
  integrationsOf,
} from './flow-requests.ts';
import { flowsWords, integrationWords } from './flows-words.ts';
import { FlowHealth, healthOfAll, useFlowsWith } from './flow-parts.tsx';

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
        <span className="flow inline wrap gap-y-2 gap-x-8">
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

// Frame of the section: title, tabs, search and actions around the lists.

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
      <div className="flow">
        <ListSearchField key={tab} label={words.search} />
      </div>
      {children}
    </Page>
  );
}

// Device connectors: where devices send to, with what uses each and when something last arrived.

const connectorsRoute = '/signed-in/shell/w/$workspaceId/flows/connectors';

export function Connectors() {
  const words = useWords(connectorWords);
  const lists = useWords(flowsWords);
  const { workspaceId } = useParams({ from: connectorsRoute });
  const search = useSearch({ from: connectorsRoute });
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

// Integrations: accounts at network servers, with what each can do and what uses it.

const integrationsRoute = '/signed-in/shell/w/$workspaceId/flows/integrations';

export function Integrations() {
  const words = useWords(integrationWords);
  const lists = useWords(flowsWords);
  const { workspaceId } = useParams({ from: integrationsRoute });
  const search = useSearch({ from: integrationsRoute });
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
    <span className="flow align-baseline inline gap-8">
      <Dot tone={isReady ? 'ok' : 'off'} />
      {isReady ? said : words.notReady}
    </span>
  );
}
