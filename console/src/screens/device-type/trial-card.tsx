// Trial card: the payload box with what it was recognized as, the results, and the examples.
import { useQuery } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { TextArea, TextField } from '../../parts/field.tsx';
import { Failure } from '../../parts/states.tsx';
import { toast, toastFailure } from '../../parts/toasts.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { type DeviceType, lastRealEvent } from './device-type-requests.ts';
import styles from './device-type.module.css';
import { deviceTypeWords } from './device-type-words.ts';
import { useEditedType } from './edited-type.tsx';
import { ExampleList } from './example-list.tsx';
import { examplesIn } from './examples.ts';
import type { ReadPayload, ScriptPart } from './payload.ts';
import { Results } from './results.tsx';
import type { Trials } from './use-trials.ts';
import { useAction } from '../../parts/use-action.ts';

interface PayloadBox {
  readonly payload: string;
  readonly setPayload: (payload: string) => void;
  readonly port: number;
  readonly setPort: (port: number) => void;
  readonly read: ReadPayload;
}

/** What the box holds at first: the first example, else the last real uplink, else one of the type's form. */
export function useFirstPayload(part: ScriptPart): string {
  const { type, workspaceId } = useEditedType();
  const [example] = examplesIn(type.sampleData, part);
  const last = useQuery({
    queryKey: ['last-real-event', workspaceId, type.id],
    enabled: example === undefined && part === 'uplinkScript',
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await lastRealEvent(workspaceId, type.id)) ?? null,
  });
  const event = example?.event ?? last.data?.event;
  if (event !== undefined) return JSON.stringify(event, null, 2);
  return inventedPayload(type, part);
}

function inventedPayload({ meta }: DeviceType, part: ScriptPart): string {
  if (part === 'downlinkScript') return '{\n  "on": true\n}';
  return meta.encoding === 'HEX' ? '00e6' : '{\n  "temperature": 21.5,\n  "humidity": 48\n}';
}

interface TrialCardProps {
  readonly part: ScriptPart;
  readonly box: PayloadBox;
  readonly trials: Trials;
  readonly run: () => void;
}

export function TrialCard({ part, box, trials, run }: TrialCardProps) {
  const words = useWords(deviceTypeWords);
  return (
    <Card
      title={words.tryIt}
      actions={
        <>
          {part === 'uplinkScript' && <LastUplinkButton setPayload={box.setPayload} />}
          <Button onClick={run} disabled={trials.isRunning || !('event' in box.read)}>
            <Play aria-hidden="true" />
            {words.run}
            <kbd aria-hidden="true">Ctrl ↵</kbd>
          </Button>
        </>
      }
    >
      <div className={styles['trial']}>
        <PayloadFields part={part} box={box} />
        {trials.error !== null && <Failure error={trials.error} retry={run} />}
        <Results run={trials.run} before={trials.before} />
        <ExampleList part={part} trials={trials} load={box.setPayload} />
      </div>
    </Card>
  );
}

interface PayloadFieldsProps {
  readonly part: ScriptPart;
  readonly box: PayloadBox;
}

function PayloadFields({
  part,
  box: { payload, setPayload, port, setPort, read },
}: PayloadFieldsProps) {
  const words = useWords(deviceTypeWords);
  const formats = useFormats();
  const isRead = 'event' in read;
  const hasPort = part === 'downlinkScript' || (isRead && read.bytes !== undefined);
  return (
    <div className={styles['payload']}>
      <TextArea
        label={part === 'uplinkScript' ? words.payload : words.payloadDown}
        value={payload}
        rows={6}
        spellCheck={false}
        onChange={({ target }) => setPayload(target.value)}
        hint={isRead ? words.forms[read.form](formats.count(read.bytes ?? 0)) : undefined}
        error={isRead ? undefined : words.notRead(read.problem)}
      />
      {hasPort && (
        <TextField
          label={words.port}
          type="number"
          min={1}
          max={255}
          value={port}
          onChange={({ target }) => setPort(Number(target.value))}
        />
      )}
    </div>
  );
}

function LastUplinkButton({ setPayload }: Pick<PayloadBox, 'setPayload'>) {
  const words = useWords(deviceTypeWords);
  const formats = useFormats();
  const { type, workspaceId } = useEditedType();
  const last = useAction({
    mutationFn: () => lastRealEvent(workspaceId, type.id),
    onSuccess(found) {
      if (found === undefined) return toast(words.noUplink);
      setPayload(JSON.stringify(found.event, null, 2));
      toast(words.lastUplinkOf(found.device.name, formats.instant(found.uplink.timestamp)));
    },
    onError: toastFailure,
  });
  return (
    <Button look="ghost" disabled={last.isPending} onClick={() => last.mutate()}>
      {words.lastUplink}
    </Button>
  );
}
