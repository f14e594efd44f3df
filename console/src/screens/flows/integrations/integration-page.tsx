// Integration page: the webhook to set at the server, its settings, what uses it, and a message to try it.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { faultsOf } from '../../../api/field-faults.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CurlButton } from '../../../ui/curl-button.tsx';
import { Page } from '../../../ui/page.tsx';
import { RemoveRecord } from '../../../ui/remove-record.tsx';
import { Answered, Bone } from '../../../ui/states.tsx';
import { UnsavedBar } from '../../../ui/unsaved-bar.tsx';
import { useEditor } from '../../../ui/use-editor.ts';
import { useWords } from '../../../words/language.tsx';
import { webhookPath } from '../connectors/connector-kinds.ts';
import { type Integration, integrationOf } from '../flow-requests.ts';
import styles from '../flows.module.css';
import { flowsWords } from '../flows-words.ts';
import { SecretValue } from '../secret-value.tsx';
import { SendDialog } from '../send-dialog.tsx';
import { serverNames } from '../server-names.ts';
import { UsedBy, useFlowsWith } from '../used-by.tsx';
import { bodyOf, draftOf, type IntegrationDraft, IntegrationForm } from './integration-form.tsx';
import { missingOf, settingsOf } from './integration-settings.ts';
import { integrationWords } from './integration-words.ts';

const route = '/signed-in/shell/w/$workspaceId/flows/integrations/$integrationId';

export function IntegrationPage() {
  const words = useWords(integrationWords);
  const lists = useWords(flowsWords);
  const { workspaceId, integrationId } = useParams({ from: route });
  const integration = useQuery(integrationOf(integrationId));
  const [isSending, setSending] = useState(false);
  const path = `/v3/integrations/${integrationId}`;
  const name = integration.data?.name ?? lists.integrations;
  const list = (
    <Link key="list" to="/w/$workspaceId/flows/integrations" params={{ workspaceId }}>
      {lists.integrations}
    </Link>
  );
  return (
    <Page
      title={integration.isPending ? <Bone width="8em" /> : name}
      name={name}
      path={[list, name]}
      lead={integration.data === undefined ? <Bone /> : <Lead integration={integration.data} />}
      actions={
        <>
          <CurlButton request={{ path }} />
          <Button disabled={integration.data === undefined} onClick={() => setSending(true)}>
            <Send aria-hidden="true" />
            {words.test}
          </Button>
        </>
      }
    >
      <Answered answer={integration} curl={{ path }} skeleton={<Bone width="100%" />}>
        {(found) => (
          <>
            <Webhook integration={found} />
            <IntegrationSettings key={found.id} integration={found} />
            <UsedBy workspaceId={workspaceId} connectorId={found.deviceConnector.id} />
            {isSending && <Sending integration={found} close={() => setSending(false)} />}
          </>
        )}
      </Answered>
    </Page>
  );
}

interface IntegrationProps {
  readonly integration: Integration;
}

function Lead({ integration }: IntegrationProps) {
  const words = useWords(integrationWords);
  const missing = missingOf(integration).map((name) => words.properties[name]);
  const takesCommands = settingsOf[integration.type].needed.length > 0;
  const said = takesCommands ? words.able : words.uplinksOnly;
  return (
    <>
      {serverNames[integration.type]}
      <span className="mute">
        {missing.length === 0 ? said : words.missing(missing.join(', '))}
      </span>
    </>
  );
}

function Sending({ integration, close }: IntegrationProps & { readonly close: () => void }) {
  const { workspaceId, deviceConnector } = integration;
  const flows = useFlowsWith({ workspaceId, connectorId: deviceConnector.id }).data ?? [];
  return (
    <SendDialog
      workspaceId={workspaceId}
      connector={deviceConnector}
      flowIds={flows.map(({ id }) => id)}
      close={close}
    />
  );
}

function Webhook({ integration: { workspaceId, deviceConnector } }: IntegrationProps) {
  const words = useWords(integrationWords);
  const { id, name, uplinkSecret } = deviceConnector;
  const before = `${location.origin}${webhookPath(deviceConnector)}?secret=`;
  return (
    <Card title={words.webhook} note={words.webhookNote} isPadded>
      <dl className={styles['facts']}>
        <dt>{words.address}</dt>
        <dd>
          {uplinkSecret === null ? (
            <span className="faint">{words.hidden}</span>
          ) : (
            <SecretValue
              secret={uplinkSecret}
              before={before}
              words={{ show: words.show, hide: words.hide, copy: words.copyAddress }}
            />
          )}
        </dd>
        <dt>{words.connector}</dt>
        <dd>
          <Link
            className={styles['link']}
            to="/w/$workspaceId/flows/connectors/$connectorId"
            params={{ workspaceId, connectorId: id }}
          >
            {name}
          </Link>
        </dd>
      </dl>
    </Card>
  );
}

function IntegrationSettings({ integration }: IntegrationProps) {
  const words = useWords(integrationWords);
  const { id, version, type, name, workspaceId } = integration;
  const editor = useEditor<IntegrationDraft, Integration>({
    key: `integration ${id}`,
    saved: draftOf(integration),
    version,
    isSecret: true,
    record: integrationOf(id).queryKey,
    list: ['integrations'],
    send: (draft, from) => {
      const body = { ...bodyOf(draft), ...from };
      return ask(platform.PUT('/v3/integrations/{id}', { params: { path: { id } }, body }));
    },
  });
  return (
    <Card title={words.settings}>
      <div className={styles['fields']} key={editor.edition}>
        <IntegrationForm
          type={type}
          draft={editor.value}
          change={editor.change}
          faults={faultsOf(editor.error)}
        />
      </div>
      <div className={styles['bar']}>
        <UnsavedBar needs="integration: update" editor={editor}>
          <RemoveRecord
            needs="integration: delete"
            name={name}
            note={words.removeNote}
            send={() => ask(platform.DELETE('/v3/integrations/{id}', { params: { path: { id } } }))}
            discard={editor.discard}
            lists={[['integrations'], ['device-connectors']]}
            next={{ to: '/w/$workspaceId/flows/integrations', params: { workspaceId } }}
          />
        </UnsavedBar>
      </div>
    </Card>
  );
}
