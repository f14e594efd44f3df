// New integration: the network server, and the settings that it has.
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type IntegrationType, integrationTypes } from '../../../../../src/model/integration.ts';
import { faultsOf } from '../../../api/field-faults.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Sheet } from '../../../ui/card.tsx';
import { CurlButton } from '../../../ui/curl-button.tsx';
import { SelectField } from '../../../ui/field.tsx';
import { Page } from '../../../ui/page.tsx';
import { UnsavedBar } from '../../../ui/unsaved-bar.tsx';
import { useEditor } from '../../../ui/use-editor.ts';
import { useWords } from '../../../words/language.tsx';
import type { Integration } from '../flow-requests.ts';
import styles from '../flows.module.css';
import { flowsWords } from '../flows-words.ts';
import { serverNames } from '../server-names.ts';
import { bodyOf, type IntegrationDraft, IntegrationForm } from './integration-form.tsx';
import { integrationWords } from './integration-words.ts';

const route = '/signed-in/shell/w/$workspaceId/flows/integrations/new';

export function NewIntegration() {
  const words = useWords(integrationWords);
  const lists = useWords(flowsWords);
  const { workspaceId } = useParams({ from: route });
  const { type = 'TTN' } = useSearch({ from: route });
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
