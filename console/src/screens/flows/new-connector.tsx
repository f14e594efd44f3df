// New connector: its name and kind, and what that kind lets one choose.
import { useState } from 'react';
import { type DecodingType, decodingTypes } from '../../../../src/model/connector.ts';
import { ask, platform } from '../../api/platform.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { useFormSave } from '../../ui/use-form-save.ts';
import { useWords } from '../../words/language.tsx';
import type { Connector } from './flow-requests.ts';
import { serverNames } from './connector-kinds.ts';
import { connectorWords } from './connector-words.ts';

interface NewConnectorProps {
  readonly workspaceId: string;
  readonly close: () => void;
  readonly onCreated: (connector: Connector) => unknown;
}

const connectivities = ['HTTP', 'MQTT', 'COAP'] as const;
/** A form of points, and not of a network server. */
const lineProtocol = 'LINE_PROTOCOL';
/** A form of messages over MQTT. */
const sparkplug = 'SPARKPLUG';
const authTypes = ['BASIC', 'DEVICE_CREDENTIALS'] as const;

interface Choice {
  readonly name: string;
  readonly description: string;
  readonly connectivity: (typeof connectivities)[number];
  readonly decodingType: DecodingType | typeof lineProtocol | typeof sparkplug;
  readonly authType: (typeof authTypes)[number];
  readonly isPushing: boolean;
}

const firstChoice: Choice = {
  name: '',
  description: '',
  connectivity: 'HTTP',
  decodingType: 'NONE',
  authType: 'BASIC',
  isPushing: false,
};

export function NewConnector({ workspaceId, close, onCreated }: NewConnectorProps) {
  const words = useWords(connectorWords);
  const [choice, setChoice] = useState(firstChoice);
  const { save, faultOf, isBusy, error } = useFormSave({
    send: (body: ReturnType<typeof bodyOf>) =>
      ask(platform.POST('/v3/device-connectors', { body })),
    fields: ['name'],
    refreshes: [['device-connectors']],
    message: ({ name }) => words.created(name),
    open: onCreated,
  });
  return (
    <FormDialog
      title={words.add}
      submitLabel={words.create}
      submit={() => save(bodyOf(choice, workspaceId))}
      isBusy={isBusy}
      error={error}
      close={close}
    >
      <Fields choice={choice} change={setChoice} nameFault={faultOf('name')} />
    </FormDialog>
  );
}

interface FieldsProps {
  readonly choice: Choice;
  readonly change: (choice: Choice) => void;
  readonly nameFault: string | undefined;
}

function Fields({ choice, change, nameFault }: FieldsProps) {
  const words = useWords(connectorWords);
  const { name, description, connectivity } = choice;
  return (
    <>
      <TextField
        label={words.name}
        value={name}
        required
        maxLength={255}
        error={nameFault}
        onChange={({ currentTarget }) => change({ ...choice, name: currentTarget.value })}
      />
      <TextField
        label={words.description}
        value={description}
        onChange={({ currentTarget }) => change({ ...choice, description: currentTarget.value })}
      />
      <SelectField
        label={words.kind}
        hint={words.loraNote}
        value={connectivity}
        onChange={({ currentTarget: { value } }) => {
          const chosen = connectivities.find((one) => one === value) ?? 'HTTP';
          change({ ...firstChoice, name, description, connectivity: chosen });
        }}
      >
        {connectivities.map((one) => (
          <option key={one} value={one}>
            {words.kinds[one]}
          </option>
        ))}
      </SelectField>
      {connectivity === 'HTTP' && <HttpFields choice={choice} change={change} />}
      {connectivity === 'MQTT' && <MqttFields choice={choice} change={change} />}
    </>
  );
}

const forms = [...decodingTypes, lineProtocol] as const;

function HttpFields({ choice, change }: Omit<FieldsProps, 'nameFault'>) {
  const words = useWords(connectorWords);
  return (
    <SelectField
      label={words.decoding}
      value={choice.decodingType}
      onChange={({ currentTarget: { value } }) => {
        const decodingType = forms.find((one) => one === value) ?? 'NONE';
        change({ ...choice, decodingType });
      }}
    >
      <option value="NONE">{words.ownJson}</option>
      <option value={lineProtocol}>{words.lineProtocol}</option>
      {decodingTypes.map(
        (one) =>
          one !== 'NONE' && (
            <option key={one} value={one}>
              {words.webhookOf(serverNames[one])}
            </option>
          ),
      )}
    </SelectField>
  );
}

function MqttFields({ choice, change }: Omit<FieldsProps, 'nameFault'>) {
  const words = useWords(connectorWords);
  const form = (
    <SelectField
      label={words.decoding}
      value={choice.decodingType}
      onChange={({ currentTarget: { value } }) => {
        // Edge nodes sign in with the secret.
        if (value === sparkplug)
          change({ ...choice, decodingType: sparkplug, authType: 'BASIC', isPushing: false });
        else change({ ...choice, decodingType: 'NONE' });
      }}
    >
      <option value="NONE">{words.ownJson}</option>
      <option value={sparkplug}>{words.sparkplug}</option>
    </SelectField>
  );
  if (choice.decodingType === sparkplug) return form;
  return (
    <>
      {form}
      <SelectField
        label={words.signIn}
        value={choice.authType}
        onChange={({ currentTarget: { value } }) => {
          const authType = authTypes.find((one) => one === value) ?? 'BASIC';
          change({ ...choice, authType });
        }}
      >
        {authTypes.map((one) => (
          <option key={one} value={one}>
            {words.signInWith[one]}
          </option>
        ))}
      </SelectField>
      <CheckField
        label={words.push}
        isOn={choice.isPushing}
        change={(isOn) => change({ ...choice, isPushing: isOn })}
      />
    </>
  );
}

function bodyOf(choice: Choice, workspaceId: string) {
  const { name, description, connectivity, decodingType, authType, isPushing } = choice;
  return {
    name,
    workspaceId,
    connectivity,
    ...formOf(decodingType),
    authType,
    pushConfigurationAutomatically: isPushing,
    ...(description === '' ? {} : { description }),
  };
}

function formOf(form: Choice['decodingType']) {
  if (form === lineProtocol) return { lineProtocol: {} };
  return form === sparkplug ? { sparkplug: {} } : { decodingType: form };
}
