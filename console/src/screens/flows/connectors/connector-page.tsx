// Connector page: its settings, how devices reach it, what uses it, and a payload to try it.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { faultsOf } from '../../../api/field-faults.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Button, ButtonLink } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { CheckField } from '../../../parts/check-field.tsx';
import { CurlButton } from '../../../parts/curl-button.tsx';
import { NameFields } from '../../../parts/name-fields.tsx';
import { Page } from '../../../parts/page.tsx';
import { RemoveRecord } from '../../../parts/remove-record.tsx';
import { Answered, Bone } from '../../../parts/states.tsx';
import { UnsavedBar } from '../../../parts/unsaved-bar.tsx';
import { useEditor } from '../../../parts/use-editor.ts';
import { useWords } from '../../../words/language.tsx';
import { FlowHealth, healthOfAll } from '../flow-health.tsx';
import { type Connector, connectorOf } from '../flow-requests.ts';
import styles from '../flows.module.css';
import { flowsWords } from '../flows-words.ts';
import { SendDialog } from '../send-dialog.tsx';
import { UsedBy, useFlowsWith } from '../used-by.tsx';
import { ConnectorAccess } from './connector-access.tsx';
import { kindOf } from './connector-kinds.ts';
import { connectorWords } from './connector-words.ts';
import { RefusalsCard } from './refusals-card.tsx';
import {
  type LineProtocolDraft,
  lineProtocolDraft,
  LineProtocolFields,
  lineProtocolOf,
} from './line-protocol-fields.tsx';
import {
  type SparkplugDraft,
  sparkplugDraft,
  SparkplugFields,
  sparkplugOf,
} from './sparkplug-fields.tsx';

const route = '/signed-in/shell/w/$workspaceId/flows/connectors/$connectorId';

export function ConnectorPage() {
  const words = useWords(connectorWords);
  const lists = useWords(flowsWords);
  const { workspaceId, connectorId } = useParams({ from: route });
  const connector = useQuery(connectorOf(connectorId));
  const flows = useFlowsWith({ workspaceId, connectorId }).data ?? [];
  const [isSending, setSending] = useState(false);
  const path = `/v3/device-connectors/${connectorId}`;
  const name = connector.data?.name ?? lists.connectors;
  const list = (
    <Link key="list" to="/w/$workspaceId/flows/connectors" params={{ workspaceId }}>
      {lists.connectors}
    </Link>
  );
  return (
    <Page
      title={connector.isPending ? <Bone width="8em" /> : name}
      name={name}
      path={[list, name]}
      lead={
        connector.data === undefined ? (
          <Bone />
        ) : (
          <>
            {kindOf(connector.data, words)}
            {flows.length > 0 && <FlowHealth health={healthOfAll(flows)} />}
          </>
        )
      }
      actions={
        <>
          <CurlButton request={{ path }} />
          <Button disabled={connector.data === undefined} onClick={() => setSending(true)}>
            <Send aria-hidden="true" />
            {words.test}
          </Button>
        </>
      }
    >
      <Answered answer={connector} curl={{ path }} skeleton={<Bone width="100%" />}>
        {(found) => (
          <>
            <ConnectorAccess connector={found} />
            <RefusalsCard workspaceId={workspaceId} connectorId={found.id} />
            <ConnectorSettings key={found.id} connector={found} workspaceId={workspaceId} />
            <UsedBy workspaceId={workspaceId} connectorId={connectorId} />
            {isSending && (
              <SendDialog
                workspaceId={workspaceId}
                connector={found}
                flowIds={flows.map(({ id }) => id)}
                close={() => setSending(false)}
              />
            )}
          </>
        )}
      </Answered>
    </Page>
  );
}

interface SettingsProps {
  readonly connector: Connector;
  readonly workspaceId: string;
}

interface ConnectorDraft {
  readonly name: string;
  readonly description: string;
  readonly isPushing: boolean;
  /** Null for connectors that take no points. */
  readonly points: LineProtocolDraft | null;
  /** Null for connectors without edge nodes. */
  readonly nodes: SparkplugDraft | null;
}

function ConnectorSettings({ connector, workspaceId }: SettingsProps) {
  const words = useWords(connectorWords);
  const { id, version, integrationId } = connector;
  const editor = useEditor<ConnectorDraft, Connector>({
    key: `device connector ${id}`,
    saved: draftOf(connector),
    version,
    record: connectorOf(id).queryKey,
    list: ['device-connectors'],
    send: ({ name, description, isPushing, points, nodes }, from) => {
      const about = description === '' ? null : description;
      const mapping = {
        ...(points !== null && { lineProtocol: lineProtocolOf(points) }),
        ...(nodes !== null && { sparkplug: sparkplugOf(nodes) }),
      };
      const pushing = { pushConfigurationAutomatically: isPushing };
      const body = { name, description: about, ...pushing, ...mapping, ...from };
      return ask(platform.PUT('/v3/device-connectors/{id}', { params: { path: { id } }, body }));
    },
  });
  return (
    <Card title={words.settings}>
      <ConnectorFields
        connector={connector}
        draft={editor.value}
        change={editor.change}
        error={editor.error}
      />
      <div className={styles['bar']}>
        <UnsavedBar needs="dataFlow: update" editor={editor}>
          {integrationId === null ? (
            <RemoveRecord
              needs="dataFlow: delete"
              name={connector.name}
              note={words.removeNote}
              send={() =>
                ask(platform.DELETE('/v3/device-connectors/{id}', { params: { path: { id } } }))
              }
              discard={editor.discard}
              lists={[['device-connectors']]}
              next={{ to: '/w/$workspaceId/flows/connectors', params: { workspaceId } }}
            />
          ) : (
            <ButtonLink
              to="/w/$workspaceId/flows/integrations/$integrationId"
              params={{ workspaceId, integrationId }}
            >
              {words.openIntegration}
            </ButtonLink>
          )}
        </UnsavedBar>
      </div>
    </Card>
  );
}

function draftOf(connector: Connector): ConnectorDraft {
  const { name, description, pushConfigurationAutomatically, lineProtocol, sparkplug } = connector;
  return {
    name,
    description: description ?? '',
    isPushing: pushConfigurationAutomatically,
    points: lineProtocol && lineProtocolDraft(lineProtocol),
    nodes: sparkplug && sparkplugDraft(sparkplug),
  };
}

interface FieldsProps {
  readonly connector: Connector;
  readonly draft: ConnectorDraft;
  readonly change: (draft: ConnectorDraft) => void;
  readonly error: Error | null;
}

function ConnectorFields({ connector, draft, change, error }: FieldsProps) {
  const words = useWords(connectorWords);
  const faults = faultsOf(error);
  return (
    <div className={styles['fields']}>
      {connector.integrationId !== null && <p className="mute">{words.madeBy}</p>}
      <NameFields draft={draft} change={change} faults={faults} />
      {connector.connectivity === 'MQTT' && draft.nodes === null && (
        <CheckField
          label={words.push}
          isOn={draft.isPushing}
          change={(isOn) => change({ ...draft, isPushing: isOn })}
        />
      )}
      {draft.nodes !== null && (
        <SparkplugFields
          draft={draft.nodes}
          change={(nodes) => change({ ...draft, nodes })}
          faults={faults}
        />
      )}
      {draft.points !== null && (
        <LineProtocolFields
          draft={draft.points}
          change={(points) => change({ ...draft, points })}
          faults={faults}
        />
      )}
    </div>
  );
}
