// Integration page: the webhook to set at the server, its settings, what uses it, and a message to try it.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { type IntegrationType, integrationTypes } from '../../../../src/model/connector.ts';
import { faultAt, faultsOf, type FieldFaults } from '../../api/field-faults.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Sheet } from '../../ui/card.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { NameFields } from '../../ui/name-fields.tsx';
import { Page } from '../../ui/page.tsx';
import { RemoveRecord } from '../../ui/remove-record.tsx';
import { Answered, Bone } from '../../ui/states.tsx';
import { UnsavedBar } from '../../ui/unsaved-bar.tsx';
import { useEditor } from '../../ui/use-editor.ts';
import { useWords } from '../../words/language.tsx';
import {
  isSecret,
  missingOf,
  type PropertyName,
  serverNames,
  settingsOf,
  webhookPath,
} from './connector-kinds.ts';
import { type Integration, integrationOf } from './flow-requests.ts';
import { flowsWords, integrationWords } from './flows-words.ts';
import styles from './flows.module.css';
import { SendDialog } from './send-dialog.tsx';
import { SecretValue, UsedBy, useFlowsWith } from './flow-parts.tsx';

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
      <dl className="facts align-center gap-x-20">
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

// Integration form: name, description and the settings of its network server.

export interface IntegrationDraft {
  readonly name: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, string>>;
}

function draftOf({ name, description, properties }: Integration): IntegrationDraft {
  // The interface leaves open which properties there are; all are strings.
  const known = properties as IntegrationDraft['properties'];
  return { name, description: description ?? '', properties: known };
}

/** Members of the bodies that create and change an integration. */
export function bodyOf({ name, description, properties }: IntegrationDraft) {
  const filled = Object.entries(properties).filter(([, value]) => value !== '');
  return {
    name,
    description: description === '' ? null : description,
    properties: Object.fromEntries(filled),
  };
}

interface IntegrationFormProps {
  readonly type: IntegrationType;
  readonly draft: IntegrationDraft;
  readonly change: (draft: IntegrationDraft) => void;
  readonly faults: FieldFaults;
}

export function IntegrationForm({ type, draft, change, faults }: IntegrationFormProps) {
  return (
    <>
      <NameFields draft={draft} change={change} faults={faults} />
      {settingsOf[type].fields.map((name) => (
        <PropertyField
          key={name}
          type={type}
          draft={draft}
          change={change}
          faults={faults}
          name={name}
        />
      ))}
    </>
  );
}

function PropertyField(props: IntegrationFormProps & { readonly name: PropertyName }) {
  const { name, draft, change, faults } = props;
  const words = useWords(integrationWords);
  const hints: Readonly<Record<string, string>> = words.hints;
  const isMasked = isSecret(name) && /^\*+$/.test(draft.properties[name] ?? '');
  const hint = hints[isMasked ? 'secret' : name];
  return (
    <TextField
      label={words.properties[name]}
      {...(hint === undefined ? {} : { hint })}
      value={draft.properties[name] ?? ''}
      error={faultAt(faults, `properties.${name}`)}
      autoComplete="off"
      spellCheck={false}
      onChange={({ currentTarget: { value } }) =>
        change({ ...draft, properties: { ...draft.properties, [name]: value } })
      }
    />
  );
}

// New integration: the network server, and the settings that it has.

const newRoute = '/signed-in/shell/w/$workspaceId/flows/integrations/new';

export function NewIntegration() {
  const words = useWords(integrationWords);
  const lists = useWords(flowsWords);
  const { workspaceId } = useParams({ from: newRoute });
  const { type = 'TTN' } = useSearch({ from: newRoute });
  const editor = useNewIntegration(workspaceId, type);
  const body = { ...bodyOf(editor.value), type, workspaceId };
  const list = (
    <Link key="list" to="/w/$workspaceId/flows/integrations" params={{ workspaceId }}>
      {lists.integrations}
    </Link>
  );
  return (
    <Page
      title={words.add}
      name={words.add}
      path={[list, words.add]}
      actions={<CurlButton request={{ method: 'POST', path: '/v3/integrations', body }} />}
    >
      <Sheet>
        <div className={styles['fields']}>
          <ServerChoice type={type} />
          <IntegrationForm
            key={`${type} ${editor.edition}`}
            type={type}
            draft={editor.value}
            change={editor.change}
            faults={faultsOf(editor.error)}
          />
          <UnsavedBar needs="integration: create" editor={editor} createLabel={words.create} />
        </div>
      </Sheet>
    </Page>
  );
}

function useNewIntegration(workspaceId: string, type: IntegrationType) {
  const words = useWords(integrationWords);
  const navigate = useNavigate();
  const known = useQueryClient();
  return useEditor<IntegrationDraft, Integration>({
    key: `new integration ${workspaceId} ${type}`,
    saved: { name: serverNames[type], description: '', properties: {} },
    isSecret: true,
    list: ['integrations'],
    send: (draft) =>
      ask(platform.POST('/v3/integrations', { body: { ...bodyOf(draft), type, workspaceId } })),
    savedMessage: ({ name }) => words.created(name),
    onSaved: ({ id }) => {
      void known.invalidateQueries({ queryKey: ['device-connectors'] });
      return navigate({
        to: '/w/$workspaceId/flows/integrations/$integrationId',
        params: { workspaceId, integrationId: id },
        ignoreBlocker: true,
      });
    },
  });
}

function ServerChoice({ type }: { readonly type: IntegrationType }) {
  const words = useWords(integrationWords);
  const navigate = useNavigate({ from: '/w/$workspaceId/flows/integrations/new' });
  return (
    <SelectField
      label={words.server}
      value={type}
      onChange={({ currentTarget: { value } }) => {
        const chosen = integrationTypes.find((one) => one === value) ?? 'TTN';
        void navigate({ search: { type: chosen }, replace: true });
      }}
    >
      {integrationTypes.map((one) => (
        <option key={one} value={one}>
          {serverNames[one]}
        </option>
      ))}
    </SelectField>
  );
}
