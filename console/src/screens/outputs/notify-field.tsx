// Notifications of an alarm: which change goes to which output of the workspace.
import { useQuery } from '@tanstack/react-query';
import { Plus, X } from 'lucide-react';
import { Button } from '../../parts/button.tsx';
import { SelectField } from '../../parts/field.tsx';
import { ask, platform } from '../../api/platform.ts';
import { useWords } from '../../words/language.tsx';
import { formWords, wordAt } from './form-words.ts';
import { alarmMail, MailInPlace } from './mail-in-place.tsx';
import styles from './outputs.module.css';

interface Notification {
  readonly on: string;
  readonly outputConnectorId: string;
}

const changes = ['OPENED', 'ACKNOWLEDGED', 'CLEARED', 'ESCALATED'] as const;
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
  readonly workspaceId: string;
  readonly change: (value: readonly Notification[]) => void;
}

export function NotifyField({ value, workspaceId, change }: NotifyFieldProps) {
  const words = useWords(formWords);
  const rows = Array.isArray(value) ? (value as readonly Notification[]) : [];
  const outputs = useMessageOutputs(workspaceId);
  const replace = (at: number, row: Notification) => change(rows.with(at, row));
  const add = () => change([...rows, { on: 'OPENED', outputConnectorId: outputs[0]?.id ?? '' }]);
  return (
    <fieldset className={styles['notify']}>
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
            value={row.outputConnectorId}
            onChange={({ currentTarget }) =>
              replace(at, { ...row, outputConnectorId: currentTarget.value })
            }
          >
            <option value="">{words.notifyNew}</option>
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
          {row.outputConnectorId === '' && (
            <MailInPlace
              workspaceId={workspaceId}
              templates={alarmMail}
              done={({ id }) => replace(at, { ...row, outputConnectorId: id })}
            />
          )}
        </div>
      ))}
      <span>
        <Button onClick={add}>
          <Plus aria-hidden="true" />
          {words.notifyAdd}
        </Button>
      </span>
    </fieldset>
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
