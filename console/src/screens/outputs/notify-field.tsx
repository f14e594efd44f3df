// Notifications of an alarm: who learns of which change, an output of the workspace, email addresses, or whoever is on call.
import { useQuery } from '@tanstack/react-query';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { aboutQuery, ask, platform } from '../../api/platform.ts';
import { onCallOrders } from '../../api/on-call.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { formWords, wordAt } from './form-words.ts';
import styles from './outputs.module.css';

/** An item of `alarmProperties.notify`. */
export type Notification = { readonly on: string } & (
  | { readonly outputConnectorId: string }
  | { readonly emails: readonly string[] }
  | { readonly onCallId: string }
);

const changes = ['OPENED', 'ACKNOWLEDGED', 'CLEARED', 'ESCALATED', 'REMINDER'] as const;
const outputsMax = 1_000;
const messageTypes = new Set([
  'WEBHOOK',
  'MAIL',
  'SMS',
  'SLACK',
  'MS_TEAMS',
  'MQTT',
  'AMQP',
  'NATS',
]);

interface NotifyFieldProps {
  readonly value: unknown;
  readonly error: string | undefined;
  readonly workspaceId: string;
  readonly change: (value: readonly Notification[]) => void;
}

export function NotifyField({ value, error, workspaceId, change }: NotifyFieldProps) {
  const words = useWords(formWords);
  const rows = Array.isArray(value) ? (value as readonly Notification[]) : [];
  const outputs = useMessageOutputs(workspaceId);
  const orders = useQuery(onCallOrders(workspaceId)).data?.content ?? [];
  const replace = (at: number, row: Notification) => change(rows.with(at, row));
  const [first] = outputs;
  const recipient = first === undefined ? { emails: [] } : { outputConnectorId: first.id };
  const add = () => change([...rows, { on: 'OPENED', ...recipient }]);
  return (
    <fieldset className={`stack gap-8 ${styles['notify']}`}>
      <legend className="mute">{words.notify}</legend>
      {rows.map((row, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- a notification has no other identity
        <div key={at}>
          <SelectField
            label={words.notifyOn}
            value={row.on}
            onChange={(event) => replace(at, { ...row, on: event.currentTarget.value })}
          >
            {changes.map((one) => (
              <option key={one} value={one}>
                {wordAt(words.choices, one)}
              </option>
            ))}
          </SelectField>
          <SelectField
            label={words.notifyVia}
            value={recipientId(row)}
            onChange={({ currentTarget: { value: id } }) => {
              const isOrder = orders.some((order) => order.id === id);
              const to = isOrder ? { onCallId: id } : { outputConnectorId: id };
              replace(at, { on: row.on, ...(id === '' ? { emails: [] } : to) });
            }}
          >
            <option value="">{words.notifyMail}</option>
            {orders.map(({ id, name }) => (
              <option key={id} value={id}>
                {words.notifyOnCall(name)}
              </option>
            ))}
            {outputs.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
          <Button
            look="ghost"
            isIcon
            aria-label={words.notifyRemove}
            onClick={() => change(rows.toSpliced(at, 1))}
          >
            <X aria-hidden="true" />
          </Button>
          {'emails' in row && (
            <span className={styles['addresses']}>
              <AddressField
                emails={row.emails}
                change={(emails) => replace(at, { on: row.on, emails })}
              />
            </span>
          )}
        </div>
      ))}
      {error !== undefined && <p role="alert">{error}</p>}
      <span>
        <Button onClick={add}>
          <Plus aria-hidden="true" />
          {words.notifyAdd}
        </Button>
      </span>
    </fieldset>
  );
}

/** Empty for addresses. */
function recipientId(row: Notification): string {
  if ('emails' in row) return '';
  return 'onCallId' in row ? row.onCallId : row.outputConnectorId;
}

interface AddressFieldProps {
  readonly emails: readonly string[];
  readonly error?: string | undefined;
  readonly change: (emails: readonly string[]) => void;
}

/** Addresses as typed, so that one that is not complete yet stays; disabled without a mail server. */
function AddressField({ emails, error, change }: AddressFieldProps) {
  const words = useWords(formWords);
  const sendsMail = useQuery(aboutQuery).data?.features.mail;
  const [typed, setTyped] = useState(() => emails.join(', '));
  return (
    <TextField
      label={words.mailAddresses}
      hint={sendsMail === false ? words.noMail : words.mailAddressesHint}
      error={error}
      value={typed}
      inputMode="email"
      autoComplete="off"
      disabled={sendsMail === false}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        change(currentTarget.value.split(/[\s,;]+/).filter((one) => one !== ''));
      }}
    />
  );
}

/** Outputs that a person or a service reads. */
function useMessageOutputs(workspaceId: string) {
  const outputs = useQuery({
    queryKey: ['message outputs', workspaceId],
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/output-connectors', {
          signal,
          params: { query: { workspaceId, size: outputsMax, fields: 'id,name,type' } },
        }),
      ),
  });
  return (outputs.data?.content ?? []).filter(({ type }) => messageTypes.has(type));
}
