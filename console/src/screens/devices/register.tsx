// Register a device: its name and id, and the data flow for its payloads, chosen or new.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Sheet } from '../../parts/card.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Page } from '../../parts/page.tsx';
import { useAccount } from '../../session/session.ts';
import { ask, platform } from '../../api/platform.ts';
import { useWords } from '../../words/language.tsx';
import { useFlows } from './move-dialog.tsx';
import styles from './devices.module.css';
import { Registered } from './registered.tsx';
import {
  connectivities,
  createFlow,
  registerDevice,
  type Registration,
} from './register-requests.ts';
import { registerWords } from './register-words.ts';
import { ActionFailure } from '../../parts/action-failure.tsx';
import { useAction } from '../../parts/use-action.ts';

const route = getRouteApi('/signed-in/shell/w/$workspaceId/devices/new');
const newFlow = '';

export function Register() {
  const words = useWords(registerWords);
  const { workspaceId } = route.useParams();
  const { deviceId = '' } = route.useSearch();
  const client = useQueryClient();
  const registration = useAction({
    mutationFn: async (sent: Registration) => {
      if (sent.flowId !== newFlow) return registerDevice(sent, sent.flowId);
      const made = await createFlow(sent);
      try {
        return await registerDevice(sent, made.flowId);
      } catch (error) {
        await made.discard();
        throw error;
      }
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['devices'] });
      void client.invalidateQueries({ queryKey: ['flows'] });
    },
  });
  const devices = (
    <Link to="/w/$workspaceId/devices" params={{ workspaceId }} search={{}}>
      {words.devices}
    </Link>
  );
  const made = registration.data;
  return (
    <Page title={words.title} name={words.title} path={[devices, words.title]}>
      {made === undefined ? (
        <RegisterForm
          workspaceId={workspaceId}
          deviceId={deviceId}
          isBusy={registration.isPending}
          error={registration.error}
          register={registration.mutate}
        />
      ) : (
        <Registered device={made} another={registration.reset} />
      )}
    </Page>
  );
}

interface RegisterFormProps {
  readonly workspaceId: string;
  /** Of a refused uplink, or empty. */
  readonly deviceId: string;
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly register: (sent: Registration) => void;
}

function RegisterForm({ workspaceId, deviceId, isBusy, error, register }: RegisterFormProps) {
  const words = useWords(registerWords);
  const [sent, setSent] = useState<Registration>({
    workspaceId,
    name: deviceId,
    deviceId,
    description: '',
    flowId: newFlow,
    connectivity: 'HTTP',
    deviceTypeId: '',
  });
  const change = (changes: Partial<Registration>) => setSent({ ...sent, ...changes });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    register(sent);
  };
  return (
    <Sheet>
      <form className={`${styles['page']} ${styles['form']}`} onSubmit={submit}>
        <TextField
          label={words.name}
          required
          maxLength={200}
          autoComplete="off"
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the first field of a page that is only a form
          autoFocus
          value={sent.name}
          onChange={(event) => change({ name: event.target.value })}
        />
        <TextField
          label={words.deviceId}
          hint={words.deviceIdHint}
          required
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          value={sent.deviceId}
          onChange={(event) => change({ deviceId: event.target.value })}
        />
        <FlowFields sent={sent} change={change} />
        <TextField
          label={words.description}
          autoComplete="off"
          value={sent.description}
          onChange={(event) => change({ description: event.target.value })}
        />
        <ActionFailure error={error} />
        <div className={styles['formEnd']}>
          <ButtonLink to="/w/$workspaceId/devices" params={{ workspaceId }}>
            {words.cancel}
          </ButtonLink>
          <Button needs="asset: create" look="primary" type="submit" disabled={isBusy}>
            {words.register}
          </Button>
        </div>
      </form>
    </Sheet>
  );
}

interface FlowFieldsProps {
  readonly sent: Registration;
  readonly change: (changes: Partial<Registration>) => void;
}

function FlowFields({ sent, change }: FlowFieldsProps) {
  const words = useWords(registerWords);
  const flows = useFlows(sent.workspaceId).data?.content ?? [];
  const usable = flows.filter(({ deviceConnector }) => deviceConnector.connectivity !== 'LORA');
  const hint = usable.length < flows.length ? `${words.flowHint} ${words.lora}` : words.flowHint;
  return (
    <>
      <SelectField
        label={words.flow}
        hint={hint}
        value={sent.flowId}
        onChange={(event) => change({ flowId: event.target.value })}
      >
        <option value={newFlow}>{words.newFlow}</option>
        {usable.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      {sent.flowId === newFlow && <NewFlowFields sent={sent} change={change} />}
    </>
  );
}

function NewFlowFields({ sent, change }: FlowFieldsProps) {
  const words = useWords(registerWords);
  const types = useTypes();
  return (
    <>
      <SelectField
        label={words.connectivity}
        value={sent.connectivity}
        onChange={(event) => {
          const chosen = connectivities.find((one) => one === event.target.value);
          if (chosen !== undefined) change({ connectivity: chosen });
        }}
      >
        {connectivities.map((connectivity) => (
          <option key={connectivity}>{connectivity}</option>
        ))}
      </SelectField>
      <SelectField
        label={words.deviceType}
        hint={words.typeHint}
        value={sent.deviceTypeId}
        onChange={(event) => change({ deviceTypeId: event.target.value })}
      >
        <option value="">{words.noType}</option>
        {types.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
    </>
  );
}

function useTypes(): readonly { readonly id: string; readonly name: string }[] {
  const { organizationId } = useAccount();
  const types = useQuery({
    queryKey: ['type-names', organizationId],
    queryFn: ({ signal }) => {
      const query = { organizationId, size: 1_000, sort: 'name,asc', fields: 'id,name' };
      return ask(platform.GET('/v3/device-types', { signal, params: { query } }));
    },
  });
  return types.data?.content ?? [];
}
